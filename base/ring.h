// What a queue of asynchronous operations needs of the kernel: a ring that takes operations and
// gives completions back. uring_file_system.cc has the one over liburing, the tests one that
// completes out of order, in part and with errors.
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
  int result = 0;  ///< Bytes transferred, fewer than asked at the ring's pleasure, or -errno.
};

/// Threads: one at a time.
class Ring {
 public:
  virtual ~Ring() = default;
  /// Whether `file` is of the kind that this ring works on.
  virtual bool Takes(const File& file) const = 0;
  /// Adds an operation behind those that were pushed and not yet taken. False when there is no
  /// room. Requires: Takes(*operation.file), a buffer below 2 GiB that lives until the completion.
  virtual bool Push(const RingOperation& operation) = 0;
  /// Has the kernel take pushed operations, in their order, and waits until `wait_count`
  /// completions are there, or less long. Returns how many were taken, or -errno when none was.
  /// What was taken completes by and by in any case, also when later calls fail.
  virtual int Enter(unsigned wait_count) = 0;
  /// Waits for a completion without having anything taken. Returns 0 or -errno.
  virtual int Await() = 0;
  /// Gives the next completion, if there is one.
  virtual bool Reap(RingCompletion* completion) = 0;
};

/// The most operations that a queue has in its ring at a time.
inline constexpr uint32_t kRingDepthMax = 4096;

/// A queue over `ring` with at most `depth` operations in it. Requires: depth in [1,
/// kRingDepthMax], and room for as many in the ring.
std::unique_ptr<IoQueue> NewRingQueue(std::unique_ptr<Ring> ring, uint32_t depth);

}  // namespace tandem::base
