// Index keys: the order-preserving, self-delimiting encoding of an indexed value.
//
// Per column a tag (1 absent, 2 present) and the value: bytes and text with 0x00 as 0x00 0xFF, ended
// by 0x00 0x01; integers sign-flipped big-endian; doubles in total order; bool one byte; timestamps
// as int64 microseconds. A descending column has all its bytes inverted.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "format/schema.h"
#include "tandem/schema.h"
#include "tandem/status.h"

namespace tandem::format {

/// Appends the encoding of a stored value (nullopt: absent). Errors: kInvalidArgument when the value
/// does not fit the type or encodes to more than kIndexKeyBytesMax; the message names type and value.
Status AppendIndexKey(const IndexColumnRecord& column, std::optional<std::string_view> value,
                      std::string* out);
/// Decodes one column's part and advances `*key` past it; nullopt: absent. Yields the value in its
/// plain textual form (integers as decimal text, timestamps as integer microseconds, bytes as they
/// are). Errors: kCorruption.
Result<std::optional<std::string>> DecodeIndexKey(const IndexColumnRecord& column,
                                                  std::string_view* key);
/// The key of the smallest value that does not start with `prefix` (bytes and text, as encoded keys
/// [low, high) of all values that start with it).
struct KeyRange {
  std::string low;                  ///< First encoded key in the range.
  std::optional<std::string> high;  ///< First encoded key after it; nullopt: none.
};
/// Requires: the column is bytes or text.
KeyRange PrefixRange(const IndexColumnRecord& column, std::string_view prefix);
/// Exactly the keys equal to `key`.
KeyRange EqualRange(std::string key);
/// All present values.
KeyRange PresentRange(const IndexColumnRecord& column);
/// The smallest key greater than every key that starts with `key`; nullopt when there is none.
std::optional<std::string> Successor(std::string_view key);

}  // namespace tandem::format
