// Overflow values: a value of more than kInlineValueBytesMax bytes is stored in its own value
// blocks, before the block whose cell refers to it, and is read only on request.
//
// Value block (kind kValue; count = bytes; first = number of the block within its value): at most
// kValueBlockBytes of the value, all but the last exactly that; compressed as the family says.
// Instead of the value, the cell (flag 64) holds as its length-prefixed bytes:
//   varint   length of the value
//   varint   offset of the first value block; the others follow it without anything between
//   8        XXH3-64 of the whole value
//
// Example: a value of 70,000 bytes in one block at 4,096, its hash 0x1122334455667788:
//   F0 A2 04   80 20   88 77 66 55 44 33 22 11
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "format/block/block_file.h"
#include "format/block/section_writer.h"
#include "format/cell/cell.h"
#include "tandem/limits.h"
#include "tandem/schema.h"
#include "tandem/status.h"

namespace tandem::format {

inline constexpr size_t kInlineValueBytesMax = 64 * 1024;
inline constexpr size_t kOverflowValueBytesMax = 16 * 1024 * 1024;
static_assert(kValueBytesMax <= kOverflowValueBytesMax);
inline constexpr size_t kValueBlockBytes = 1 << 20;

struct OverflowReference {
  uint64_t length = 0;
  uint64_t offset = 0;
  uint64_t hash = 0;
  bool operator==(const OverflowReference&) const = default;
};

void AppendOverflowReference(const OverflowReference& reference, std::string* out);
/// The reference in a cell's bytes; nullopt when it is malformed or its length is not that of an
/// overflow value.
std::optional<OverflowReference> DecodeOverflowReference(std::string_view bytes);
/// Requires: cell.is_overflow(). Errors: kCorruption (malformed, a length of kInlineValueBytesMax
/// or less or above kOverflowValueBytesMax, an offset outside the file).
Result<OverflowReference> ReadOverflowReference(const Cell& cell);

/// Writes `value` as value blocks into the open section. Requires: kInlineValueBytesMax <
/// value.size() <= kOverflowValueBytesMax.
Result<OverflowReference> WriteOverflowValue(std::string_view value, Compression compression,
                                             SectionWriter* out);
/// Copies the overflow value of `cell` block by block. Errors: kCorruption, kIoError, kNoSpace.
Result<OverflowReference> CopyOverflowValue(const Cell& cell, Compression compression,
                                            SectionWriter* out);

/// The `overflow_file` of cells whose references point into the file being written. It marks the
/// value as a reference; every read through it fails.
const BlockFile* OverflowInFileBeingWritten();

/// Appends the value of an overflow cell to `*value`, bypassing the cache. After an error,
/// std::bad_alloc included, `*value` is unchanged. Errors: kCorruption, kIoError, kOutOfMemory.
Status ReadOverflowValue(const Cell& cell, std::string* value);
/// Length of the value of any cell as the user wrote it. Errors: kCorruption.
Result<uint64_t> ValueBytes(const Cell& cell);

}  // namespace tandem::format
