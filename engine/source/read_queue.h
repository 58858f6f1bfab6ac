// The reads that a cursor has in flight, over one IoQueue that is made at the first of them: a
// cursor that finds everything in the cache costs none.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/file_system.h"
#include "base/memory_account.h"
#include "base/page_memory.h"

namespace tandem::engine {

/// One read into memory of its own, which goes back to the system where it is large. Lifetime: it
/// must not move or die between Start and Finish.
struct QueuedRead : base::IoRequest {
  base::PageBuffer bytes;
  bool is_started = false;  ///< In flight: started and not completed.
  bool has_place = false;   ///< Counted among those in flight.
};

/// Threads: one at a time.
class ReadQueue {
 public:
  static constexpr uint32_t kReadsMax = 32;          ///< In flight at once.
  static constexpr uint32_t kReadsTogether = 8;      ///< Started with one call, once it flows.
  static constexpr uint64_t kBytesMax = 8ull << 20;  ///< Read or being read, and not released.
  static constexpr uint64_t kReadBytesMax = 1 << 20;  ///< Of one read for many blocks,
  static constexpr uint64_t kReadBytesMin = 64 << 10;  ///< and where memory is short.

  /// `account` (may be null) counts the buffers. The buffers of all queues of the account share
  /// `budget_bytes`; one that finds nothing left reads kReadBytesMin at a time.
  explicit ReadQueue(base::FileSystem* file_system, base::MemoryAccount* account = nullptr,
                     uint64_t budget_bytes = UINT64_MAX)
      : file_system_(file_system),
        account_(account),
        budget_bytes_(budget_bytes),
        buffers_(account, base::MemoryPart::kReadBuffers) {}
  /// What was made of the blocks that it read is free, too.
  ~ReadQueue();
  ReadQueue(const ReadQueue&) = delete;
  ReadQueue& operator=(const ReadQueue&) = delete;

  /// Whether another read may start. One may always start when the caller has none.
  bool HasRoom() const { return in_flight_ < kReadsMax && bytes_ < BytesMax(); }
  /// Whether enough reads are done that it pays to start the next ones together.
  bool HasRoomForMany() const {
    const uint64_t most = BytesMax();
    return in_flight_ + kReadsTogether <= kReadsMax && bytes_ <= most - most / 4;
  }
  /// How long a read of neighbouring blocks may be; one block is read whatever its size.
  uint64_t ReadBytes() const {
    return std::clamp(Left() / 2 / kReadsTogether, kReadBytesMin, kReadBytesMax);
  }

  /// Makes `*read` one of `size` bytes at `offset`, counted from here on.
  /// Lifetime: its bytes belong to the queue again when it is released.
  void Prepare(base::File* file, uint64_t offset, size_t size, QueuedRead* read);
  void Start(std::span<QueuedRead* const> reads);
  /// Waits for one read, any of those in flight, if `*read` is among them; false when it is not.
  bool WaitBefore(const QueuedRead& read);
  /// Waits for `*read`. Errors: kIoError.
  Status Finish(QueuedRead* read);
  /// Frees the memory of a read that was prepared, after waiting for it where it was started.
  void Release(QueuedRead* read);

 private:
  /// What no queue has taken.
  uint64_t Left() const {
    if (account_ == nullptr) return budget_bytes_;
    const uint64_t taken = account_->bytes(base::MemoryPart::kReadBuffers);
    return taken < budget_bytes_ ? budget_bytes_ - taken : 0;
  }
  /// What this queue may hold: its own and a half of what is left, so that the next one finds
  /// something, too.
  uint64_t BytesMax() const {
    if (account_ == nullptr) return kBytesMax;
    return std::clamp(bytes_ + Left() / 2, kReadBytesMin, kBytesMax);
  }

  base::PageBuffer TakeBuffer(size_t size);

  base::FileSystem* file_system_;
  base::MemoryAccount* account_;
  uint64_t budget_bytes_;
  std::unique_ptr<base::IoQueue> queue_;
  std::vector<base::IoRequest*> starting_;
  uint32_t in_flight_ = 0;  // Or prepared, to be so soon.
  uint64_t bytes_ = 0;
  std::vector<base::PageBuffer> spare_;  // Of released reads: their pages are there already.
  uint64_t spare_bytes_ = 0;
  uint64_t read_bytes_ = 0;  // In all.
  base::MemoryCharge buffers_;
};

}  // namespace tandem::engine
