// Queries by global indexes (docs/decisions/0046-entries-of-global-indexes-are-rows-of-a-table.md):
// 1. The conditions on the first columns of the index are ranges of entries, which are the first
//    keys of rows in the table that has the entries.
// 2. Their row keys, at the sequence of the query, are those of all matches, and perhaps of others.
// 3. The query asks for these rows besides: what follows is a look-up of single row keys, and each
//    row is checked for the whole predicate.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/predicate/bound.h"
#include "engine/predicate/key_ranges.h"
#include "engine/query/request.h"
#include "engine/region/view.h"
#include "engine/source/read_resources.h"
#include "format/schema.h"
#include "tandem/database.h"
#include "tandem/status.h"

namespace tandem::engine {

/// More entries are read only of an index that is asked for.
inline constexpr size_t kGlobalEntriesMax = 1 << 14;

/// The keys, in the table with the entries of the index, under which every match of the predicate
/// has one. nullopt: a match may have none.
std::optional<KeyRanges> EntryRanges(const format::IndexRecord& index,
                                     const BoundPredicate& predicate);
/// Why EntryRanges returns nullopt.
std::string WhyNoEntryRanges(const format::IndexRecord& index);

/// The key of the row in the key of its entry. Errors: kCorruption.
Result<std::string_view> RowOfEntry(const format::IndexRecord& index, std::string_view key);

/// The rows of the entries in `ranges`, ascending, each once. nullopt: there are more entries than
/// `most`. `entries` has the regions with these keys. Errors: kCorruption, kIoError, kCancelled.
Result<std::optional<std::vector<std::string>>> RowsOfEntries(const ReadResources& resources,
                                                              const ReadOptions& options,
                                                              TableView entries,
                                                              const format::IndexRecord& index,
                                                              const KeyRanges& ranges, size_t most);

/// The options of a query that is planned without its global index. Errors: kInvalidArgument (one
/// that cannot serve is asked for).
Result<QueryOptions> WithoutGlobal(const format::TableRecord& table, const QueryRequest& request,
                                   QueryOptions options);

/// Says in an explanation what the query found in global indexes.
void ExplainGlobal(const GlobalRows& global, Explanation* explanation);

}  // namespace tandem::engine
