// The index entries of a row: a pure function of its cells (rules 6 to 8). Flush, compaction,
// verification and tests all use it.
//
// Of an index over one column each Put has an entry, or if the column is multi-valued one for each
// distinct value. Of one over several columns
//   - a row with a cell or marker of any of them has one current entry: of each column the newest
//     Put that no marker of the file hides,
//   - each other Put of the first column has an older entry, with the other columns left out, and
//   - in a memstore each operation on any of them has an entry, of the columns that it puts.
// A partial index is kept as one over several columns, those of its predicate among them, though
// these have no part in the key. It has the current entries alone, and leaves out those of which
// the predicate is false by what the source knows (index/partial.h). It may be over one
// multi-valued column: then each value of the current Put has a current entry.
// An index over parts of the row key, or over some and columns, is kept as one over several columns
// too: each row of a source has a Put of its key there (RowKeyPut). A row has no entry if it has
// the row key alone and the functions make no value of it.
// An index over a column that joins others (concat) is kept as one over all of them. The column has
// a value in a source that has Puts of all that it joins, and else is left out. It has the current
// entries alone.
// A column that has no such Put there is encoded as absent, and that means: not known here. The row
// may have the column in another source (engine/source/column_order.h). So a write reads no old
// row.
// An index over the qualifiers or values of a family is kept as one over one column: each Put of
// the family has an entry, whatever its qualifier. An entry of a row's current Put of some column
// is current.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/cell/cell.h"
#include "format/cell/cell_buffer.h"
#include "format/schema.h"
#include "index/put_key.h"

namespace tandem::format {

struct IndexEntry {
  std::string key;       ///< Encoded by AppendIndexKey.
  bool current = false;  ///< Of the newest Put of the row that no marker of this file hides.
};

/// Whether something in a newer source makes postings dead (rule 13). Not of an index that depends
/// on more than the Puts of its first column: of several columns, of the row key.
bool MayDie(const IndexRecord& index);
/// Whether a newer Put of the first column does. Not of an index over a family, whose postings are
/// made dead by DeleteFamily alone (rule 32): a newer Put may be of another of its columns.
bool DiesByPuts(const IndexRecord& index);

/// What one index has to know about one row of a file.
struct RowIndexFacts {
  std::vector<IndexEntry> entries;  ///< Distinct keys in no order. At most one is current, of a
                                    ///< multi-valued column those of one Put, of a family those of
                                    ///< one Put of each column. A key that is current is not
                                    ///< repeated as older.
  bool present = false;             ///< The row has a Put of the first column that has a key.
  bool touched = false;             ///< Any cell or marker of the row concerns the first column.
  bool complete = true;             ///< False: IsHiddenFrom is true of some Put.
};

/// The cells of one row that concern one column, or all columns of a family.
/// Lifetime: the spans point into the row they were found in.
struct ColumnCells {
  std::span<const Cell> family_deletes;  ///< The family's DeleteFamily markers.
  std::span<const Cell> cells;           ///< Puts and markers of the column itself.

  bool empty() const { return family_deletes.empty() && cells.empty(); }
  /// The column is one Put that nothing in this row can hide, the common case.
  bool is_single_put() const {
    return family_deletes.empty() && cells.size() == 1 && cells[0].kind == CellKind::kPut;
  }
};
/// Requires: `cells` is one row, sorted by CellLess.
ColumnCells FindColumn(FamilyId family, std::string_view qualifier, std::span<const Cell> cells);
ColumnCells FindColumn(const IndexColumnRecord& column, std::span<const Cell> cells);

/// The same; of a part of the row key, the row's own `row_put`. Lifetime: also of that.
inline ColumnCells FindColumn(const IndexColumnRecord& column, const Cell& row_put,
                              std::span<const Cell> cells) {
  if (column.is_of_row_key()) return {{}, {&row_put, 1}};
  return FindColumn(column, cells);
}

/// Whether `cell` is of the column or columns, or a DeleteFamily of the family.
bool ConcernsColumn(const IndexColumnRecord& column, const Cell& cell);
/// Adds `cell` to `*kept` if the index entries of a row, or their records, depend on it: it is of a
/// column that is indexed or included, or a DeleteFamily of a family that has one. Without its
/// value if they do not depend on that: a row may have millions of qualifiers.
void KeepIndexed(const TableRecord& table, const Cell& cell, CellBuffer* kept);

/// Calls `use(column, put, joined)` for each column of an index with its Put, and those of the
/// columns that it joins. `puts`: by place (IndexRecord::ForEachPlace); nullptr: none.
template <typename Use>
void ForEachColumnOf(const IndexRecord& index, std::span<const Cell* const> puts, Use&& use) {
  JoinedPuts rest = puts.subspan(index.columns.size());
  for (size_t i = 0; i < index.columns.size(); ++i) {
    const size_t joined = index.columns[i].joined.size();
    use(index.columns[i], puts[i], rest.first(joined));
    rest = rest.subspan(joined);
  }
}

/// Appends the entry of an index whose columns have the Puts, one for each place
/// (IndexRecord::ForEachPlace); nullptr: none. A column without a key counts as absent. Returns how
/// many have a key. Requires: no column is multi-valued.
size_t AppendEntry(const IndexRecord& index, std::span<const Cell* const> puts, std::string* out);

/// Fills `*facts` (replaced). Requires: `cells` is one row as the file holds it, at least the cells
/// that concern the index, sorted by CellLess.
void FactsOfRow(const IndexRecord& index, std::string_view row_key, std::span<const Cell> cells,
                RowIndexFacts* facts);

/// Whether a row is clean: at least one Put, at most one Put per column, no marker (rule 7).
bool IsCleanRow(std::span<const Cell> cells);

}  // namespace tandem::format
