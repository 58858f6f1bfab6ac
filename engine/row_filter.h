// A Bloom filter over the rows of a memstore, blocked (Putze, Sanders, Singler 2007): all probes of
// a row fall into one cache line.
//
// Threads: one adds, any number ask. Words are relaxed: a reader that may see a row learned its
// sequence through a release store made after the row's bits were set.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace tandem::engine {

class RowFilter {
 public:
  /// About one false answer in a hundred while at most `expected_rows` were added.
  explicit RowFilter(uint64_t expected_rows);

  void Add(uint64_t row_hash);
  /// False: certainly not added.
  bool MayContain(uint64_t row_hash) const;
  /// Rows up to which it is sharp.
  uint64_t expected_rows() const;
  size_t size_bytes() const { return (block_mask_ + 1) * kBlockWords * sizeof(uint64_t); }

 private:
  static constexpr size_t kBlockWords = 8;
  static constexpr int kProbes = 6;

  size_t BlockOf(uint64_t hash) const { return ((hash >> 32) & block_mask_) * kBlockWords; }

  uint64_t block_mask_;
  std::unique_ptr<std::atomic<uint64_t>[]> words_;
};

}  // namespace tandem::engine
