// The kernel interface of an asynchronous I/O queue: a ring that takes operations and returns
// completions. uring_file_system.cc implements it over liburing; the tests have one that completes
// out of order, partially and with errors.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/file_system.h"

namespace tandem::base {

struct RingOperation {
  IoRequest::Kind kind = IoRequest::Kind::kRead;
  File* file = nullptr;
  uint64_t offset = 0;
  std::span<char> buffer{};
  uint64_t user_data = 0;  ///< Comes back in the completion.
};

struct RingCompletion {
  uint64_t user_data = 0;
  int result = 0;  ///< Bytes transferred, possibly fewer than requested, or -errno.
};

/// Threads: one at a time.
class Ring {
 public:
  virtual ~Ring() = default;
  /// Whether this ring can operate on `file`.
  virtual bool Takes(const File& file) const = 0;
  /// Adds an operation after those that are pushed and not yet taken. False when there is no room.
  /// Requires: Takes(*operation.file), a buffer below 2 GiB that lives until the completion.
  virtual bool Push(const RingOperation& operation) = 0;
  /// Submits pushed operations to the kernel, in order, and waits for `wait_count` completions; it
  /// may return earlier. Returns how many operations the kernel took, or -errno if it took none.
  /// Operations that were taken complete eventually, even if later calls fail.
  virtual int Enter(unsigned wait_count) = 0;
  /// Waits for a completion without submitting anything. Returns 0 or -errno.
  virtual int Await() = 0;
  /// Gets the next completion; false if there is none.
  virtual bool Reap(RingCompletion* completion) = 0;
};

/// The most operations that a queue has in its ring at a time.
inline constexpr uint32_t kRingDepthMax = 4096;

/// A queue over `ring` with at most `depth` operations in it. Requires: depth in [1,
/// kRingDepthMax], and the ring has room for that many.
std::unique_ptr<IoQueue> NewRingQueue(std::unique_ptr<Ring> ring, uint32_t depth);

}  // namespace tandem::base
