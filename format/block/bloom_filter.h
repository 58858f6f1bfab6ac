// A blocked Bloom filter (Putze, Sanders and Singler 2007) over keyed row hashes: one lookup
// touches one cache line. The same class serves memstores and files.
//
// The filter is an array of 64-byte blocks of 512 bits, with 10 bits per row. Of a hash, the high
// half h chooses the block, (h * blocks) >> 32; the low half x chooses eight bits: eight times x =
// x * 0x9E3779B9 modulo 2^32, then bit x >> 23 of the block. Bit i of a block is bit i % 8 of its
// byte i / 8.
//
// The section (kFilter) is a sequence of blocks of kind kFilter; first = number of the first filter
// block, count = filter blocks, at most 16,384; the raw bytes are the filter blocks, not
// compressed. The section's count is the number of filter blocks.
//
// Example: the hash 1 (h = 0, x = 1) sets bits 316, 454, 230, 107, 445, 8, 104 and 342 of block 0.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/page_memory.h"
#include "format/block/block_file.h"
#include "format/block/section_writer.h"
#include "tandem/status.h"

namespace tandem::format {

/// Threads: const methods from any.
class BloomFilter {
 public:
  /// An empty filter for about `rows` rows.
  explicit BloomFilter(uint64_t rows);
  void Add(uint64_t hash);
  /// False: the hash was certainly not added.
  bool MayContain(uint64_t hash) const;
  /// Sets found[i] to MayContain(hashes[i]), overlapping the cache misses of the lookups. Requires:
  /// equal sizes.
  void MayContainEach(std::span<const uint64_t> hashes, std::span<bool> found) const;
  size_t size_bytes() const { return blocks_.size() * sizeof(FilterBlock); }

  /// Writes the filter's section.
  Status Write(SectionWriter* out) const;
  /// Reads a section, bypassing the cache. Errors: kCorruption.
  static Result<BloomFilter> Read(const BlockFile& file, const SectionEntry& section);

 private:
  struct alignas(64) FilterBlock {
    std::array<uint64_t, 8> words{};
  };
  BloomFilter() = default;
  const FilterBlock& BlockFor(uint64_t hash) const {
    return blocks_[((hash >> 32) * blocks_.size()) >> 32];
  }

  base::PageVector<FilterBlock> blocks_;
};

/// The same; without a filter all may be there.
void MayContainEach(const BloomFilter* filter, std::span<const uint64_t> hashes,
                    std::span<bool> found);

}  // namespace tandem::format
