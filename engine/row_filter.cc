// The upper half of a hash chooses the block, the lower half the bits in it: each probe takes nine
// bits of the lower half, spread by a multiplication.
#include "engine/row_filter.h"

#include <bit>
#include <limits>

namespace tandem::engine {
namespace {

constexpr uint64_t kBitsPerRow = 10;
constexpr uint64_t kBlockBits = 512;
constexpr uint64_t kBlocksMax = uint64_t{1} << 20;  // 64 MiB: a memstore has no use for more.

uint64_t BlockCount(uint64_t expected_rows) {
  const uint64_t wanted = expected_rows * kBitsPerRow / kBlockBits + 1;
  return wanted >= kBlocksMax ? kBlocksMax : std::bit_ceil(wanted);
}

// Nine bits a probe, from the top of a product that mixes the lower half of the hash.
uint64_t ProbeBits(uint64_t hash) { return (hash & 0xffff'ffff) * 0x9E37'79B9'7F4A'7C15; }

}  // namespace

RowFilter::RowFilter(uint64_t expected_rows)
    : block_mask_(BlockCount(expected_rows) - 1),
      words_(std::make_unique<std::atomic<uint64_t>[]>((block_mask_ + 1) * kBlockWords)) {}

uint64_t RowFilter::expected_rows() const {
  const uint64_t blocks = block_mask_ + 1;
  return blocks == kBlocksMax ? std::numeric_limits<uint64_t>::max()
                              : blocks * kBlockBits / kBitsPerRow;
}

void RowFilter::Add(uint64_t row_hash) {
  std::atomic<uint64_t>* block = &words_[BlockOf(row_hash)];
  uint64_t bits = ProbeBits(row_hash);
  for (int probe = 0; probe < kProbes; ++probe, bits <<= 9) {
    const uint64_t place = bits >> 55;
    std::atomic<uint64_t>& word = block[place >> 6];
    const uint64_t bit = uint64_t{1} << (place & 63);
    word.store(word.load(std::memory_order_relaxed) | bit, std::memory_order_relaxed);
  }
}

bool RowFilter::MayContain(uint64_t row_hash) const {
  const std::atomic<uint64_t>* block = &words_[BlockOf(row_hash)];
  uint64_t bits = ProbeBits(row_hash);
  for (int probe = 0; probe < kProbes; ++probe, bits <<= 9) {
    const uint64_t place = bits >> 55;
    const uint64_t word = block[place >> 6].load(std::memory_order_relaxed);
    if ((word >> (place & 63) & 1) == 0) return false;
  }
  return true;
}

}  // namespace tandem::engine
