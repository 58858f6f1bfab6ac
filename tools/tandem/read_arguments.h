// What the verbs that read share: from the words of the command line to the engine's options, and
// to the layout of the rows that come back.
#pragma once

#include <memory>
#include <string_view>

#include "tandem/database.h"
#include "tools/tandem/key_fields.h"
#include "tools/tandem/options.h"
#include "tools/tandem/row_output.h"

namespace tandem::tools {

/// Errors: kInvalidArgument, with the option that is wrong.
Result<ReadOptions> ReadOptionsOf(const ReadArguments& arguments);
/// Errors: kInvalidArgument, with the option that is wrong.
Result<ReadBudget> BudgetOf(const std::string& text);
/// Sets which rows of a result are asked for; `limit` is that of the verb. Errors:
/// kInvalidArgument (page or page size 0; a page too far).
Status SetPage(const PageArguments& arguments, uint64_t limit, uint64_t* offset,
               uint64_t* rows_max);
/// Errors: kInvalidArgument, and those of ParseBytes.
Result<ScanOptions> ScanOptionsOf(const RangeArguments& arguments);
/// Opens the snapshot that was named, and makes `read` one of it; null: none was. Lifetime:
/// outlives the reads. Errors: kNotFound, with suggestion.
Result<std::unique_ptr<const Snapshot>> ReadAtSnapshot(const ReadArguments& arguments,
                                                       Database& database, ReadOptions* read);

/// A table that was read.
struct TableRead {
  Database& database;
  std::string_view table;
  std::string_view snapshot;  ///< As it was typed. Empty: the present.
};
/// As of database_access.h; at a snapshot nothing is suggested.
Status WithSuggestion(const TableRead& from, Status status);
/// The typed row key of the table, as it was then. nullopt: it has none, or there is no such table,
/// which the engine will say.
Result<OptionalRowKey> RowKeyOf(const TableRead& from);
/// Adds the ranges of keys that the fields say. Errors: kInvalidArgument (the table's keys have no
/// fields; a value; a range), kUnsupported.
Status AddFields(const FieldArguments& arguments, const OptionalRowKey& row_key, ScanOptions* scan);
/// The same for a query, whose rows come in the order of the fields then. By key where more than
/// kScanLeadsMax values lead the keys, or where the query has an order. Errors: kInvalidArgument.
Status AddFields(const FieldArguments& arguments, const OptionalRowKey& row_key,
                 QueryOptions* query);
/// The condition that the row key is in those ranges. Errors: as AddFields.
Result<Predicate> ConditionOf(const FieldArguments& arguments, const OptionalRowKey& row_key);
/// How rows that were read so are printed. Errors: kNotFound (the table; with suggestion).
Result<RowLayout> LayoutOf(OutputMode mode, const ReadOptions& read, const TableRead& from);

}  // namespace tandem::tools
