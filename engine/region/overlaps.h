// Which rows the files of a region share, and which postings newer files have made dead (rules 12
// to 14): bitmaps over the rows of two files. They are derived from the files and kept only in
// memory. If one is missing, readers fall back on filters and keys.
//
// Bitmaps cover whole files, whatever part of them belongs to the region. A row of a file that is
// in none of its shared bitmaps is certainly in none of the other files. Rows are matched by keyed
// hash within the block that may hold the key, so a shared bit may, very rarely, be wrong.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/memory_account.h"
#include "engine/region/row_set.h"
#include "format/types.h"

namespace tandem::engine {

/// Bounds the bytes of all bitmaps of a database and of the data that they are built from. Threads:
/// any.
class OverlapMemory {
 public:
  /// `account` (may be null) counts them and outlives this.
  explicit OverlapMemory(uint64_t limit_bytes, base::MemoryAccount* account = nullptr)
      : limit_bytes_(limit_bytes), account_(account) {}
  /// A share of `whole`: what is reserved here is reserved there too.
  OverlapMemory(uint64_t limit_bytes, std::shared_ptr<OverlapMemory> whole)
      : limit_bytes_(limit_bytes), account_(nullptr), whole_(std::move(whole)) {}
  /// False: they do not fit, and nothing is reserved.
  bool Reserve(uint64_t bytes);
  void Release(uint64_t bytes);
  uint64_t used_bytes() const { return used_bytes_.load(std::memory_order_relaxed); }

 private:
  const uint64_t limit_bytes_;
  base::MemoryAccount* const account_;
  const std::shared_ptr<OverlapMemory> whole_;
  std::atomic<uint64_t> used_bytes_{0};  // Relaxed: a count that orders nothing.
};

/// Bytes that stay reserved while this lives. Threads: one at a time.
class OverlapCharge {
 public:
  OverlapCharge() = default;
  /// `bytes` of `memory` are reserved already.
  OverlapCharge(std::shared_ptr<OverlapMemory> memory, uint64_t bytes)
      : memory_(std::move(memory)), bytes_(bytes) {}
  OverlapCharge(OverlapCharge&& other) noexcept
      : memory_(std::move(other.memory_)), bytes_(std::exchange(other.bytes_, 0)) {}
  OverlapCharge& operator=(OverlapCharge&& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~OverlapCharge() { ShrinkTo(0); }
  /// Reserves up to `bytes`. False: they do not fit, and nothing changes.
  bool GrowTo(uint64_t bytes);
  /// Gives back what is reserved beyond `bytes`.
  void ShrinkTo(uint64_t bytes);

 private:
  std::shared_ptr<OverlapMemory> memory_;
  uint64_t bytes_ = 0;
};

/// The overlap of an older and a newer file, by sequence. An empty set is null; equal sets are one
/// object. Immutable. Threads: any.
struct PairOverlap {
  using Set = std::shared_ptr<const RowSet>;

  Set older_shared;  ///< Rows of the older file that the newer one may hold.
  Set newer_shared;  ///< Rows of the newer file that the older one may hold.
  /// The k-th row of one set is the k-th row of the other. False only if hashes collide.
  bool is_aligned = true;
  /// By index over one column or family: rows of the older file whose postings in it are dead for
  /// every view that sees all of the newer file and has no as-of bound.
  std::vector<std::pair<format::IndexId, Set>> dead;
  OverlapCharge charge;

  const RowSet* Dead(format::IndexId index) const;
  /// Of the distinct sets.
  uint64_t size_bytes() const;
};

/// The pairs of a region's files whose key ranges overlap and whose bitmaps are built. Immutable.
/// Threads: any.
class Overlaps {
 public:
  struct Key {
    format::FileNumber older, newer;
    auto operator<=>(const Key&) const = default;
  };
  using Pairs = std::map<Key, std::shared_ptr<const PairOverlap>>;

  explicit Overlaps(Pairs pairs) : pairs_(std::move(pairs)) {}
  /// nullptr: not built.
  const PairOverlap* Find(const Key& key) const;
  const Pairs& pairs() const { return pairs_; }

 private:
  Pairs pairs_;
};

/// `overlaps` (may be null) plus `added`. Requires: no pair of `added` is in `overlaps`.
std::shared_ptr<const Overlaps> WithPairs(const std::shared_ptr<const Overlaps>& overlaps,
                                          Overlaps::Pairs added);
/// `overlaps` (may be null) without pairs that have a file not in `files`, which ascend.
std::shared_ptr<const Overlaps> WithoutOthers(const std::shared_ptr<const Overlaps>& overlaps,
                                              std::span<const format::FileNumber> files);

}  // namespace tandem::engine
