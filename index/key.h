// Index keys: the order-preserving, self-delimiting encoding of an indexed value.
//
// Each column has one part; the parts follow one another. All numbers are big-endian:
//   OFFSET SIZE FIELD  MEANING
//        0    1 tag    1 absent (the part ends here), 2 present
//        1    - value  bytes, text: the bytes, 0x00 as 0x00 0xFF, ended by 0x00 0x01
//                      int64, timestamp (microseconds since 1970): 8 bytes, the sign bit flipped
//                      uint64: 8 bytes
//                      double: 8 bytes, the sign bit flipped when positive, else all bits; no NaN,
//                      no -0
//                      bool: 1 byte, 0 or 1
// A `_be` type has the encoding of its twin. A descending column has all its bytes inverted. A
// value encodes to at most kIndexKeyBytesMax, its tag included.
//
// Examples: text "a" is 02 61 00 01, descending fd 9e ff fe; int64 -1 is 02 7f ff ff ff ff ff ff
// ff.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "format/ordered_bytes.h"
#include "format/schema.h"
#include "tandem/schema.h"
#include "tandem/status.h"

namespace tandem::format {

/// "column 'name'", or "lower(name)" where it has functions.
std::string Described(const IndexColumnRecord& column);

/// Appends the encoding of a stored value (nullopt: absent), or of what functions made of it.
/// Errors: kInvalidArgument when the value does not fit the type or encodes to more than
/// kIndexKeyBytesMax; the message names type and value, and `*out` is unchanged.
Status AppendIndexKey(const IndexColumnRecord& column, std::optional<std::string_view> value,
                      std::string* out);
/// The same for an absent value.
void AppendAbsentKey(const IndexColumnRecord& column, std::string* out);
/// Whether the column's part, with which `key` starts, is that of an absent value.
bool StartsAbsent(const IndexColumnRecord& column, std::string_view key);
/// Whether a present value has an encoding. Errors: those of AppendIndexKey.
Status CheckIndexValue(const IndexColumnRecord& column, std::string_view value);
bool FitsIndex(const IndexColumnRecord& column, std::string_view value);
/// Whether bytes or text of this size have an encoding whatever they are, if they fit the type.
bool AlwaysFitsIndex(size_t value_bytes);
/// Appends the encoding of a present value. False: it has none, and `*out` is unchanged.
bool AppendKeyIfFits(const IndexColumnRecord& column, std::string_view value, std::string* out);
/// Decodes one column's part and advances `*key` past it; nullopt: absent. Yields the value in its
/// plain textual form (integers as decimal text, timestamps as integer microseconds, bytes as they
/// are). Errors: kCorruption.
Result<std::optional<std::string>> DecodeIndexKey(const IndexColumnRecord& column,
                                                  std::string_view* key);

/// The text of an entry: the value of the only column, nullopt if it is absent; of several columns,
/// or of a partial index, their values, separated by commas, NULL for an absent one. Errors:
/// kCorruption.
Result<std::optional<std::string>> DecodeEntry(const IndexRecord& index, std::string_view key);

/// The encoded keys [low, high).
struct KeyRange {
  std::string low;                  ///< First encoded key in the range.
  std::optional<std::string> high;  ///< First encoded key after it; nullopt: none.

  bool Contains(std::string_view key) const {
    return key >= std::string_view(low) && (!high.has_value() || key < std::string_view(*high));
  }
};
/// The keys of all values that start with `prefix`. Requires: the column is bytes or text.
KeyRange PrefixRange(const IndexColumnRecord& column, std::string_view prefix);
/// The keys that start with `key`.
KeyRange StartingWith(std::string key);
/// Exactly the keys equal to `key`.
KeyRange EqualRange(std::string key);
/// All present values.
KeyRange PresentRange(const IndexColumnRecord& column);
/// The key that `value` would have, whatever its length and bytes, for use as the end of a range.
/// Requires: the column is bytes or text.
std::string BoundKey(const IndexColumnRecord& column, std::string_view value);
/// Converts a key of an ascending column to that of a descending one, and back.
void InvertIndexKey(std::string* key);

}  // namespace tandem::format
