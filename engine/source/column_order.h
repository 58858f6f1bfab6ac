// Whether an index over several columns may be asked for all of them at once.
//
// The columns of a row may lie in several sources. Each source has an entry of what it has of the
// row, and leaves out the other columns (index/entries.h). Let a row satisfy conditions on some
// columns of the index, none of which an absent value satisfies. Of the sources with the cells that
// count, take the newest. If no source has a Put with a larger timestamp than a newer source has,
// every one of these columns that it puts is the one that counts: nothing newer puts it, and a
// marker that hides it hides all older ones too. So its entry satisfies the conditions on the
// columns that it has, and leaves out the others: the row is found by look-ups of each combination
// of values and left out columns (engine/query/composite_ranges.h).
//
// An absent value satisfies such conditions too if "the cells that count" includes the markers of
// absent columns, and Puts without a key: the newest source with any of them has an entry, which
// leaves out all columns that are absent. Only a column that expires leaves no trace, and one whose
// newest Put was taken back where the number of versions was raised: the Put before it is gone, but
// in a file it has the entry.
//
// A column that joins others (concat) has a value in a source that has Puts of all of them, and
// else is left out. Take the newest source with any cell of the columns with conditions, those that
// are joined among them: what it puts of them is what counts. So each column of the index has in
// its entry the value of the row, or is left out, perhaps all of them: that combination is asked
// for too. Where timestamps go back no entry need have the value: of a=1 at time 5 and b=7 at 1 in
// one file, and a=9 at 4 and b=2 at 6 in a newer one, the entries are "17" and "92", and the row
// has "12". There is no first column to be asked for alone, so there sources are scanned.
//
// A partial index is one over the columns of its predicate too, which have no place in its entries.
// Of the sources with cells of these and of the columns with conditions, take the newest: what it
// knows of them is what counts, or has expired, so the predicate is not false by it and it has an
// entry (index/partial.h), perhaps with all columns left out. A column that expires can only make
// the predicate false, unless a comparison of it is true of an absent value: then the index does
// not serve (engine/query/partial_index.h). Entries that are left out tell nothing where columns
// are not in order: there its sources are scanned.
//
// Each operation in a memstore counts as a source of its own. A file is one as it is seen by who
// sees all of it: its entries are of the newest Puts. Where this does not hold, an index of all
// rows is asked for its first column alone, unless its entries depend on more than they have
// (IndexRecord::needs_order).
#pragma once

#include <vector>

#include "engine/source/sources.h"
#include "format/schema.h"

namespace tandem::engine {

/// Whether Puts of the family may be gone though no source has an operation on their columns that
/// hides them.
bool MayVanish(const format::FamilyRecord& family);
/// Whether timestamps of columns that such indexes depend on never fall from an older source of the
/// cluster to a newer one that may share rows with it, and the view sees all of each file. Cost: a
/// look at each source, and where they fall at each pair.
bool AreColumnsInOrder(const format::TableRecord& table, const Cluster& cluster);
/// Sets `in_order` of the clusters and their files. Does nothing if the table has no such index, or
/// for a view of the past: a Put that it does not see leaves no trace in memstores.
void FindColumnOrder(const TableView& view, std::vector<Cluster>* clusters);

}  // namespace tandem::engine
