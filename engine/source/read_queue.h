// The reads that a cursor has in flight. The IoQueue is made at the first read, so a cursor that
// finds everything in the cache needs none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/file_system.h"
#include "base/memory_account.h"
#include "base/page_memory.h"

namespace tandem::engine {

/// One read into a buffer of its own, which the queue uses again if it is large. Lifetime: it must
/// not move or die between Start and Finish.
struct QueuedRead : base::IoRequest {
  base::PageBuffer bytes;
  bool is_started = false;  ///< In flight: started and not completed.
  bool has_place = false;   ///< Counted among those in flight.
};

/// Threads: one at a time.
class ReadQueue {
 public:
  static constexpr uint32_t kReadsMax = 32;          ///< In flight at once.
  static constexpr uint32_t kReadsTogether = 8;      ///< Started with one call in steady state.
  static constexpr uint64_t kBytesMax = 4ull << 20;  ///< Read or being read, and not released.
  /// Of one read for many blocks: still in the processor's cache when the blocks are unpacked.
  static constexpr uint64_t kReadBytesMax = 256 << 10;
  static constexpr uint64_t kReadBytesMin = 64 << 10;  ///< The same where memory is short.

  /// `account` (may be null) counts the buffers. The buffers of all queues of the account share
  /// `budget_bytes`; a queue that finds nothing left reads kReadBytesMin at a time.
  explicit ReadQueue(base::FileSystem* file_system, base::MemoryAccount* account = nullptr,
                     uint64_t budget_bytes = UINT64_MAX)
      : file_system_(file_system),
        account_(account),
        budget_bytes_(budget_bytes),
        buffers_(account, base::MemoryPart::kReadBuffers) {}
  /// Reports the bytes of all its reads as freed: what was decoded from them is freed, too.
  ~ReadQueue();
  ReadQueue(const ReadQueue&) = delete;
  ReadQueue& operator=(const ReadQueue&) = delete;

  /// Whether another read may start. A caller that has none may always start one.
  bool HasRoom() const { return in_flight_ < kReadsMax && bytes_ < BytesMax(); }
  /// Whether enough reads are done that it pays to start a group of new ones.
  bool HasRoomForMany() const {
    const uint64_t most = BytesMax();
    return in_flight_ + kReadsTogether <= kReadsMax && bytes_ <= most - most / 4;
  }
  /// The most bytes of one read for neighbouring blocks; a single block is read whatever its size.
  uint64_t ReadBytes() const {
    return std::clamp(Left() / 2 / kReadsTogether, kReadBytesMin, kReadBytesMax);
  }

  /// Makes `*read` a read of `size` bytes at `offset`; it counts as in flight from here on.
  /// Lifetime: its buffer belongs to the queue again after Release.
  void Prepare(base::File* file, uint64_t offset, size_t size, QueuedRead* read);
  void Start(std::span<QueuedRead* const> reads);
  /// If `read` is in flight, waits until any read completes and returns true; otherwise returns
  /// false.
  bool WaitBefore(const QueuedRead& read);
  /// Waits for `*read`. Errors: kIoError.
  Status Finish(QueuedRead* read);
  /// Frees the memory of a prepared read; if it was started, waits for it first.
  void Release(QueuedRead* read);
  /// The bytes that the destructor would report: the caller reports them, with those of others.
  uint64_t TakeReadBytes() { return std::exchange(read_bytes_, 0); }

 private:
  /// Bytes of the budget that no queue has taken.
  uint64_t Left() const {
    if (account_ == nullptr) return budget_bytes_;
    const uint64_t taken = account_->bytes(base::MemoryPart::kReadBuffers);
    return taken < budget_bytes_ ? budget_bytes_ - taken : 0;
  }
  /// Bytes of reads that this queue may hold: its own plus half of what is left, so that the next
  /// queue finds some, too.
  uint64_t BytesMax() const {
    if (account_ == nullptr) return kBytesMax;
    return std::clamp(bytes_ + spare_bytes_ + Left() / 2, kReadBytesMin, kBytesMax);
  }

  base::PageBuffer TakeBuffer(size_t size);

  base::FileSystem* file_system_;
  base::MemoryAccount* account_;
  uint64_t budget_bytes_;
  std::unique_ptr<base::IoQueue> queue_;
  std::vector<base::IoRequest*> starting_;
  uint32_t in_flight_ = 0;  // Started or prepared.
  uint64_t bytes_ = 0;
  std::vector<base::PageBuffer> spare_;  // Of released large reads: pages cost more than reading.
  uint64_t spare_bytes_ = 0;
  uint64_t read_bytes_ = 0;  // In all.
  base::MemoryCharge buffers_;
};

}  // namespace tandem::engine
