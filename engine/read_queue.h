// The reads that a cursor has in flight, over one IoQueue that is made at the first of them: a
// cursor that finds everything in the cache costs none.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/file_system.h"
#include "base/memory_account.h"

namespace tandem::engine {

/// One read into memory of its own. Lifetime: it must not move or die between Start and Finish.
struct QueuedRead : base::IoRequest {
  std::unique_ptr<char[]> bytes;
  bool is_started = false;  ///< In flight: started and not completed.
  bool has_place = false;   ///< Counted among those in flight.
};

/// Threads: one at a time.
class ReadQueue {
 public:
  static constexpr uint32_t kReadsMax = 32;          ///< In flight at once.
  static constexpr uint32_t kReadsTogether = 8;      ///< Started with one call, once it flows.
  static constexpr uint64_t kBytesMax = 8ull << 20;  ///< Read or being read, and not released.

  /// `account` (may be null) counts the buffers.
  explicit ReadQueue(base::FileSystem* file_system, base::MemoryAccount* account = nullptr)
      : file_system_(file_system), buffers_(account, base::MemoryPart::kReadBuffers) {}

  /// Whether another read may start. One may always start when the caller has none.
  bool HasRoom() const { return in_flight_ < kReadsMax && bytes_ < kBytesMax; }
  /// Whether so many reads are done that it pays to start the next ones together.
  bool HasRoomForMany() const {
    return in_flight_ + kReadsTogether <= kReadsMax && bytes_ <= kBytesMax - kBytesMax / 4;
  }

  /// Makes `*read` one of `size` bytes at `offset`, counted from here on.
  void Prepare(base::File* file, uint64_t offset, size_t size, QueuedRead* read);
  void Start(std::span<QueuedRead* const> reads);
  /// Waits for one read, any of those in flight, if `*read` is among them; false when it is not.
  bool WaitBefore(const QueuedRead& read);
  /// Waits for `*read`. Errors: kIoError.
  Status Finish(QueuedRead* read);
  /// Frees the memory of a read that was prepared, after waiting for it where it was started.
  void Release(QueuedRead* read);

 private:
  base::FileSystem* file_system_;
  std::unique_ptr<base::IoQueue> queue_;
  std::vector<base::IoRequest*> starting_;
  uint32_t in_flight_ = 0;  // Or prepared, to be so soon.
  uint64_t bytes_ = 0;
  base::MemoryCharge buffers_;
};

}  // namespace tandem::engine
