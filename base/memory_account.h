// Who holds how much memory, by part. Holders say what they take and give back; the holder of a
// budget reads the sums.
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
  kFileWindows,  ///< What merges, checks and copies read files through.
  kFileWriters,  ///< Files in the making, and what a merge knows of its inputs.
  kHits,         ///< Rows that queries are going to look at.
  kLog,          ///< What waits to be appended to the log.
  kCatalog,      ///< What is known of each file that is open.
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
  /// Of all parts.
  uint64_t bytes() const {
    uint64_t bytes = 0;
    for (const std::atomic<uint64_t>& sum : sums_) bytes += sum.load(std::memory_order_relaxed);
    return bytes;
  }
  /// Hears of memory that was freed, as far as it is much.
  HeapReturn& heap() { return heap_; }

 private:
  /// Less would cost more time; what is freed meanwhile is mostly used again.
  static constexpr uint64_t kFreedMax = 4 << 20;

  std::atomic<uint64_t>& sum(MemoryPart part) { return sums_[static_cast<size_t>(part)]; }

  std::array<std::atomic<uint64_t>, kMemoryParts> sums_{};
  HeapReturn heap_{kFreedMax};
};

/// What one holder takes, given back when it ends. Threads: one at a time.
class MemoryCharge {
 public:
  MemoryCharge() = default;
  /// `account` may be null: nobody counts. It outlives the charge.
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

/// A value with what it takes.
template <typename T>
struct Charged {
  T value;
  MemoryCharge charge;
};

}  // namespace tandem::base
