// Tells the process that made an object from a child that fork() copied it into. Threads, rings and
// mutexes do not survive fork(), so a child must not touch anything that uses them.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "tandem/status.h"

namespace tandem::base {

/// One page that the kernel wipes in every child (MADV_WIPEONFORK), so that a check is one load,
/// without a system call or lock. Threads: any.
class ForkMark {
 public:
  /// Errors: kOutOfMemory, kUnsupported (the kernel has no MADV_WIPEONFORK).
  static Result<std::shared_ptr<const ForkMark>> Make();
  ~ForkMark();
  ForkMark(const ForkMark&) = delete;
  ForkMark& operator=(const ForkMark&) = delete;

  /// This process is a child, of any degree, of the one that called Make.
  bool in_child() const { return made_here_->load(std::memory_order_relaxed) == 0; }

 private:
  ForkMark() = default;
  // Relaxed: only fork changes it.
  std::atomic<unsigned char>* made_here_ = nullptr;
  size_t size_bytes_ = 0;
};

}  // namespace tandem::base
