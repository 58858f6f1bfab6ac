// Memory in use, by part. Holders add what they allocate and subtract what they free; the owner of
// a budget reads the sums.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/heap_return.h"

namespace tandem::base {

enum class MemoryPart : uint8_t {
  kBlockCache,
  kMemstores,
  kAppendBuffers,
  kBlockIndexes,
  kKeyHashes,
  kFilters,
  kBitmaps,
  kDictionaries,
  kIndexDirectories,
  kReadBuffers,
  kOverlaps,
  kFileWindows,  ///< Windows of merges, checks and copies.
  kFileWriters,  ///< Files being written, and a merge's state of its inputs.
  kHits,         ///< Rows that queries are about to read.
  kLog,          ///< Writes waiting to be appended to the log.
  kCatalog,      ///< Metadata of each open file.
};
inline constexpr size_t kMemoryParts = 16;

/// Threads: any. Sums are relaxed: counters that order nothing.
class MemoryAccount {
 public:
  MemoryAccount() = default;
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  void Add(MemoryPart part, uint64_t bytes) {
    sum(part).fetch_add(bytes, std::memory_order_relaxed);
  }
  void Subtract(MemoryPart part, uint64_t bytes) {
    sum(part).fetch_sub(bytes, std::memory_order_relaxed);
  }
  uint64_t bytes(MemoryPart part) const {
    return sums_[static_cast<size_t>(part)].load(std::memory_order_relaxed);
  }
  /// The sum of all parts.
  uint64_t bytes() const {
    uint64_t bytes = 0;
    for (const std::atomic<uint64_t>& sum : sums_) bytes += sum.load(std::memory_order_relaxed);
    return bytes;
  }
  /// Report large amounts of freed memory here.
  HeapReturn& heap() { return heap_; }

 private:
  /// A smaller value would cost more time; memory freed between trims is mostly reused.
  static constexpr uint64_t kFreedMax = 4 << 20;

  std::atomic<uint64_t>& sum(MemoryPart part) { return sums_[static_cast<size_t>(part)]; }

  std::array<std::atomic<uint64_t>, kMemoryParts> sums_{};
  HeapReturn heap_{kFreedMax};
};

/// The memory of one holder, subtracted on destruction. Threads: one at a time.
class MemoryCharge {
 public:
  MemoryCharge() = default;
  /// `account` may be null: nothing is counted. It outlives the charge.
  MemoryCharge(MemoryAccount* account, MemoryPart part, uint64_t bytes = 0)
      : account_(account), part_(part) {
    Set(bytes);
  }
  MemoryCharge(MemoryCharge&& other) noexcept
      : account_(other.account_), part_(other.part_), bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryCharge& operator=(MemoryCharge&& other) noexcept {
    std::swap(account_, other.account_);
    std::swap(part_, other.part_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MemoryCharge() { Set(0); }

  void Set(uint64_t bytes) {
    if (account_ == nullptr || bytes == bytes_) return;
    account_->Add(part_, bytes - bytes_);  // Modulo 2^64, so that it may shrink.
    bytes_ = bytes;
  }

 private:
  MemoryAccount* account_ = nullptr;
  MemoryPart part_{};
  uint64_t bytes_ = 0;
};

/// A value and the charge for its memory.
template <typename T>
struct Charged {
  T value;
  MemoryCharge charge;
};

}  // namespace tandem::base
