// Makes the catalog's record of a table from its declaration.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "format/registry/registered.h"
#include "format/schema.h"
#include "tandem/schema.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Errors: kInvalidArgument.
Status CheckTableName(const std::string& name);
/// The record of a new table, complete but for its id: families and indexes are numbered, the hash
/// secret is drawn from `random`. Errors: kInvalidArgument (names, counts, ranges, an index over an
/// unknown family, a function that `functions` has not); the message names what is wrong.
Result<format::TableRecord> MakeTableRecord(const TableOptions& options, base::RandomSource* random,
                                            const format::FunctionRegistry& functions = {});
/// Errors: kAlreadyExists (two indexes of the same placement are alike). A record that is copied
/// may have such: tables were once created with them.
Status CheckIndexesUnlike(const format::TableRecord& table);
/// The record of the table that has the entries of a global index of `table`.
format::TableRecord EntriesRecord(const format::TableRecord& table,
                                  const format::GlobalIndexRecord& global,
                                  base::RandomSource* random);
/// Adds an index to the record; its id is one that the table has never had. The type of its column
/// stays what it is. It may call `functions`. Errors: kInvalidArgument, kAlreadyExists (an index of
/// that name).
Status AddIndexTo(const IndexOptions& options, const format::FunctionRegistry& functions,
                  format::TableRecord* table);
/// kNotFound "table 'T' has no index 'I'".
Status IndexNotFound(const format::TableRecord& table, std::string_view index);
/// Takes the index out. The type of its column stays what it is. Errors: kNotFound.
Status RemoveIndexFrom(std::string_view index, format::TableRecord* table);
/// Errors: kInvalidArgument (an unknown family or type, a qualifier that is too long, too many
/// columns with types).
Status SetColumnTypeIn(const ColumnOptions& options, format::TableRecord* table);
/// Adds a family to the record; its id is one that the table has never had. Errors:
/// kInvalidArgument, kAlreadyExists (a family of that name).
Status AddFamilyTo(const FamilyOptions& options, format::TableRecord* table);
/// The place of a change of a family.
struct AlterPoint {
  format::SequenceNumber sequence = {};  ///< Its own, if it adds former limits.
  int64_t now_micros = 0;                ///< Not below that of any flush or merge so far.
  /// No operation in the table's files is before it. kSequenceMax: they hold none.
  format::SequenceNumber oldest_in_files = {};
};
/// Whether AlterFamilyIn would add former limits: the number of versions is another one, or cells
/// live longer.
bool ChangesFormerLimits(const FamilyOptions& options, const format::TableRecord& table);
/// The family of that name gets these options; what its limits have hidden stays hidden
/// (FormerLimits). Requires, if it adds former limits: no operation before it is outside of files.
/// Errors: kNotFound, kInvalidArgument, kUnsupported (kFormerLimitsMax).
Status AlterFamilyIn(const FamilyOptions& options, const AlterPoint& point,
                     format::TableRecord* table);
/// Marks the family as dropped; types of its columns go. Errors: kNotFound, kInvalidArgument (an
/// index is over one of its columns; it is the last family).
Status DropFamilyOf(std::string_view family, format::TableRecord* table);
/// Errors: kInvalidArgument (a name that is invalid or repeated; too many).
Status SetObserversIn(std::span<const std::string> names, format::TableRecord* table);
/// The keys at which the regions of a new table start, in order; the first, which holds the
/// smallest keys, starts at the empty one. Errors: kInvalidArgument (split keys that are empty, too
/// long, repeated, or too many); the message names which.
Result<std::vector<std::string>> RegionStarts(const TableOptions& options);
/// The declaration that a record was made from.
TableOptions OptionsOf(const format::TableRecord& table);

}  // namespace tandem::engine
