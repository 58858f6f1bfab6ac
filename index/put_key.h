// The index keys of a stored Put.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/cell/cell.h"
#include "format/schema.h"
#include "format/value_list.h"
#include "tandem/status.h"

namespace tandem::format {

/// The Put that a row is taken to have of each part of its key. Lifetime: of `row_key`.
Cell RowKeyPut(std::string_view row_key);

/// The Puts of the columns that a column joins (IndexColumnRecord::joined), one for each; nullptr:
/// there is none, and so no value.
using JoinedPuts = std::span<const Cell* const>;

/// Whether a Put of the column has several values, or several Puts of a row have one each. Such a
/// column is the only one of its index.
bool IsMultiValued(const IndexColumnRecord& column);
/// Whether the column is the one of `family` and `qualifier`: no part of the row key, nor all
/// columns of a family.
bool IsColumn(const IndexColumnRecord& column, FamilyId family, std::string_view qualifier);
/// Whether a cell of `family` and `qualifier` may be a Put of the column.
bool HasPutsOf(const IndexColumnRecord& column, FamilyId family, std::string_view qualifier);
/// Whether what it makes of a Put depends on the Put's value, and not on its qualifier alone.
bool DependsOnValue(const IndexColumnRecord& column);

/// Replaces `*value` by what the column's functions make of a stored Put. False: there is no value.
/// Requires: the column has functions and is not multi-valued.
bool ValueOfPut(const IndexColumnRecord& column, const Cell& put, std::string* value,
                JoinedPuts joined = {});
/// Replaces `*values` by those of a stored Put, in no order and perhaps repeated. Requires: the
/// column is multi-valued.
void ValuesOfPut(const IndexColumnRecord& column, const Cell& put, ValueList* values,
                 JoinedPuts joined = {});

/// The index keys of a Put.
/// Threads: one at a time (it keeps scratch memory).
class PutKeys {
 public:
  /// Distinct, ascending; none or one unless the column is multi-valued. Values that do not fit the
  /// type have none. Lifetime: until the next call.
  std::span<const std::string_view> Of(const IndexColumnRecord& column, const Cell& put,
                                       JoinedPuts joined = {});
  /// Requires: the column is not of a family.
  std::span<const std::string_view> Of(const IndexColumnRecord& column, std::string_view value,
                                       int64_t timestamp);

 private:
  ValueList values_;
  std::string key_;
  std::vector<size_t> ends_;  // In key_.
  std::vector<std::string_view> keys_;
};

/// Appends the index key of a stored Put, or of what the column's functions make of it. False: it
/// has no value, or one that does not fit the type, as may be that was written before the index was
/// made. The column is absent then for the index, and for conditions of its type. Requires: the
/// column is not multi-valued.
bool AppendPutKey(const IndexColumnRecord& column, const Cell& put, std::string* out,
                  JoinedPuts joined = {});
bool AppendPutKey(const IndexColumnRecord& column, std::string_view value, int64_t timestamp,
                  std::string* out);
/// Whether a Put may be made in the column. Without functions its value must have an index key.
/// What functions make of it must not be text, or bytes, that are too long for one, unless it is
/// joined with other columns: then such a text is absent. Requires: the value is in `put`, of
/// whatever size. Errors: those of AppendIndexKey.
Status CheckPut(const IndexColumnRecord& column, const Cell& put);
/// Whether the index cannot have a Put that conditions of its type see: bytes compare at any
/// length, and a key has kIndexKeyBytesMax; words of another version of Unicode cannot be computed,
/// nor functions of the program that are not registered; a part is looked for in bytes of any
/// length, and trigrams are those of kFunctionValueBytesMax. An index with such a Put serves no
/// read.
bool IsHiddenFrom(const IndexColumnRecord& column, const Cell& put);
/// Whether it may be true of some Put, though the functions can be computed.
bool MayHide(const IndexColumnRecord& column);

}  // namespace tandem::format
