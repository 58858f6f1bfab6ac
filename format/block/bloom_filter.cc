// Filling, probing, writing and reading blocked Bloom filters.
#include "format/block/bloom_filter.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/check.h"
#include "base/status_macros.h"
#include "format/block/sequential_reader.h"
#include "format/corruption.h"

namespace tandem::format {
namespace {

constexpr uint64_t kBitsPerRow = 10;
constexpr uint64_t kBlockBits = 512;
constexpr int kProbes = 8;
constexpr uint32_t kMultiplier = 0x9E3779B9;  // 2^32 / golden ratio.
constexpr size_t kFilterBlocksPerBlock = 16 * 1024;

// Calls `probe` with each word and mask of the eight bits.
template <typename Probe>
inline void ForEachBit(uint64_t hash, Probe probe) {
  uint32_t x = static_cast<uint32_t>(hash);
  for (int i = 0; i < kProbes; ++i) {
    x *= kMultiplier;
    const uint32_t bit = x >> 23;
    probe(bit / 64, uint64_t{1} << (bit % 64));
  }
}

}  // namespace

BloomFilter::BloomFilter(uint64_t rows)
    : blocks_(std::max<uint64_t>(1, (rows * kBitsPerRow + kBlockBits - 1) / kBlockBits)) {
  static_assert(sizeof(FilterBlock) == 64);
}

void BloomFilter::Add(uint64_t hash) {
  FilterBlock& block = const_cast<FilterBlock&>(BlockFor(hash));
  ForEachBit(hash, [&](uint32_t word, uint64_t mask) { block.words[word] |= mask; });
}

bool BloomFilter::MayContain(uint64_t hash) const {
  const FilterBlock& block = BlockFor(hash);
  uint64_t missing = 0;
  ForEachBit(hash, [&](uint32_t word, uint64_t mask) { missing |= ~block.words[word] & mask; });
  return missing == 0;
}

void BloomFilter::MayContainEach(std::span<const uint64_t> hashes, std::span<bool> found) const {
  DCHECK(hashes.size() == found.size());
  constexpr size_t kAhead = 16;
  for (size_t i = 0; i < hashes.size(); ++i) {
    if (i + kAhead < hashes.size()) __builtin_prefetch(&BlockFor(hashes[i + kAhead]));
    found[i] = MayContain(hashes[i]);
  }
}

void MayContainEach(const BloomFilter* filter, std::span<const uint64_t> hashes,
                    std::span<bool> found) {
  if (filter != nullptr) return filter->MayContainEach(hashes, found);
  std::ranges::fill(found, true);
}

Status BloomFilter::Write(SectionWriter* out) const {
  RETURN_IF_ERROR(out->Begin(SectionKind::kFilter, 0));
  for (size_t first = 0; first < blocks_.size(); first += kFilterBlocksPerBlock) {
    const size_t count = std::min(kFilterBlocksPerBlock, blocks_.size() - first);
    BlockContent content{.kind = BlockKind::kFilter};
    content.count = static_cast<uint32_t>(count);
    content.first = static_cast<uint32_t>(first);
    content.raw = {reinterpret_cast<const char*>(&blocks_[first]), count * sizeof(FilterBlock)};
    RETURN_IF_ERROR(out->Append(content).status());
  }
  return out->End(blocks_.size());
}

Result<BloomFilter> BloomFilter::Read(const BlockFile& file, const SectionEntry& section) {
  if (section.count == 0 || section.count > section.size_bytes / sizeof(FilterBlock)) {
    return file.Corrupt(section.offset, "filter is empty or has more blocks than bytes");
  }
  BloomFilter filter;
  filter.blocks_.resize(section.count);
  SequentialReader blocks(file, section);
  for (uint64_t first = 0; first < section.count; first += kFilterBlocksPerBlock) {
    ASSIGN_OR_RETURN(const BlockRef block, blocks.Next(BlockKind::kFilter));
    const uint64_t count = std::min<uint64_t>(kFilterBlocksPerBlock, section.count - first);
    if (block->first != first || block->count != count ||
        block->raw_bytes != count * sizeof(FilterBlock)) {
      return block->Corrupt("filter block breaks its layout");
    }
    std::memcpy(static_cast<void*>(&filter.blocks_[first]), block->raw().data(), block->raw_bytes);
  }
  if (!blocks.done()) return file.Corrupt(blocks.offset(), "filter section has bytes left");
  return filter;
}

}  // namespace tandem::format
