// Bitmap sections over the rows of a file: blocks of words with a rank directory, or no bytes at
// all when every bit or no bit is set.
//
// A block (kind kBitmap) holds at most kBitmapBlockBits bits; first = its first bit, a multiple of
// kBitmapBlockBits; count = its bits; not compressed. With w = (count + 63) / 64 words and
// r = (w + 7) / 8 ranks:
//   OFFSET SIZE FIELD   MEANING
//        0   8w words   bit i of the block is bit i % 64 of word i / 64; bits from count on are 0
//       8w   4r ranks   ones of the whole bitmap before bit 512 * i of the block
// The section's count is the number of ones. Flags: kSectionFlagFull, kSectionFlagEmpty (no
// blocks).
//
// Example, 3 bits of which 0 and 2 are set: 05 00 00 00 00 00 00 00 | 00 00 00 00
#pragma once

#include <cstdint>

#include "format/bitmap.h"
#include "format/block/block_file.h"
#include "format/block/section_writer.h"
#include "tandem/status.h"

namespace tandem::format {

inline constexpr uint32_t kBitmapBlockBits = 1u << 20;

/// Writes `bitmap` as one section.
Status WriteBitmapSection(SectionKind kind, uint32_t owner, const Bitmap& bitmap,
                          SectionWriter* out);
/// Reads a section of `size` bits, bypassing the cache. Errors: kCorruption.
Result<Bitmap> ReadBitmapSection(const BlockFile& file, const SectionEntry& section, uint32_t size);

}  // namespace tandem::format
