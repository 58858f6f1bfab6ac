// Encoding and checked decoding of bitmap sections.
#include "format/block/bitmap_section.h"

#include <algorithm>
#include <bit>
#include <string>

#include "base/status_macros.h"
#include "format/block/sequential_reader.h"
#include "format/byte_reader.h"
#include "format/coding.h"
#include "format/corruption.h"

namespace tandem::format {
namespace {

constexpr uint32_t kWordsPerBlock = kBitmapBlockBits / 64;
constexpr uint32_t kWordsPerRank = 8;

// Copies the block's words to `words` and adds the number of ones to `*ones`; false when the block
// does not match the byte table.
bool DecodeWords(const Block& block, std::span<uint64_t> words, uint32_t* ones) {
  ByteReader reader(block.raw());
  uint32_t before = *ones;
  std::vector<uint32_t> ranks;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i % kWordsPerRank == 0) ranks.push_back(before);
    words[i] = reader.U64();
    before += static_cast<uint32_t>(std::popcount(words[i]));
  }
  const bool ranks_agree =
      std::all_of(ranks.begin(), ranks.end(), [&](uint32_t rank) { return reader.U32() == rank; });
  const uint32_t tail = block.count % 64;
  const bool tail_is_zero = tail == 0 || words.back() >> tail == 0;
  *ones = before;
  return reader.done() && ranks_agree && tail_is_zero;
}

}  // namespace

Status WriteBitmapSection(SectionKind kind, uint32_t owner, const Bitmap& bitmap,
                          SectionWriter* out) {
  const uint32_t total = bitmap.CountOnes();
  if (total == bitmap.size() || total == 0) {
    const uint32_t flags = total == 0 ? kSectionFlagEmpty : kSectionFlagFull;
    RETURN_IF_ERROR(out->Begin(kind, owner, flags));
    return out->End(total);
  }
  RETURN_IF_ERROR(out->Begin(kind, owner));
  std::string raw;
  uint32_t ones = 0;
  for (size_t word = 0; word < bitmap.words().size(); word += kWordsPerBlock) {
    const auto words = bitmap.words().subspan(
        word, std::min<size_t>(kWordsPerBlock, bitmap.words().size() - word));
    const uint32_t first = static_cast<uint32_t>(word * 64);
    raw.clear();
    std::string ranks;
    for (size_t i = 0; i < words.size(); ++i) {
      if (i % kWordsPerRank == 0) AppendU32(&ranks, ones);
      AppendU64(&raw, words[i]);
      ones += static_cast<uint32_t>(std::popcount(words[i]));
    }
    raw += ranks;
    BlockContent content{.kind = BlockKind::kBitmap, .raw = raw};
    content.count = std::min(kBitmapBlockBits, bitmap.size() - first);
    content.first = first;
    RETURN_IF_ERROR(out->Append(content).status());
  }
  return out->End(total);
}

Result<Bitmap> ReadBitmapSection(const BlockFile& file, const SectionEntry& section,
                                 uint32_t size) {
  if ((section.flags & (kSectionFlagFull | kSectionFlagEmpty)) != 0) {
    const bool full = (section.flags & kSectionFlagFull) != 0;
    if (section.size_bytes != 0 || section.count != (full ? size : 0)) {
      return file.Corrupt(section.offset, "a bitmap without bytes has a size or another count");
    }
    return Bitmap(size, full);
  }
  if (section.size_bytes < size / 8) {
    return file.Corrupt(section.offset,
                        Mismatch("bytes of bitmap, at least", size / 8, section.size_bytes));
  }
  Bitmap bitmap(size);
  SequentialReader blocks(file, section);
  uint32_t ones = 0;
  for (uint64_t bit = 0; bit < size; bit += kBitmapBlockBits) {
    const uint64_t offset = blocks.offset();
    ASSIGN_OR_RETURN(const BlockRef block, blocks.Next(BlockKind::kBitmap));
    const uint32_t count = static_cast<uint32_t>(std::min<uint64_t>(kBitmapBlockBits, size - bit));
    const auto words = bitmap.mutable_words().subspan(bit / 64, (count + 63) / 64);
    if (block->first != bit || block->count != count || !DecodeWords(*block, words, &ones)) {
      return file.Corrupt(offset, "bitmap block breaks its layout");
    }
  }
  if (!blocks.done() || ones != section.count) {
    return file.Corrupt(section.offset, Mismatch("ones of bitmap", section.count, ones));
  }
  return bitmap;
}

}  // namespace tandem::format
