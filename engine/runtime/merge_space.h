// Whether the disk has room for a merge. A merge writes about as much as it reads before its inputs
// can go, so on a disk that is nearly full it would take the space that flushes and the log need.
// It is asked before a merge begins; docs/decisions/0068 has the reasons.
//
// Free are to be, beside what this merge and those that run may still write, as many bytes again,
// but no more than a reserve. So a small merge is refused only when the disk is as good as full,
// and a large one leaves the reserve.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "base/mutex.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: any.
class MergeSpace {
 public:
  /// Bytes that can still be written. An error: it is not known, and no merge is refused.
  using FreeSpace = std::function<Result<uint64_t>()>;
  /// `free_space` is called without a lock. `reserve_bytes`: for what is written beside merges.
  MergeSpace(FreeSpace free_space, uint64_t reserve_bytes)
      : free_space_(std::move(free_space)), reserve_bytes_(reserve_bytes) {}

  /// What one merge may still write, which others do not count on while this lives. Threads: one at
  /// a time. Lifetime: the MergeSpace outlives it.
  class Claim {
   public:
    Claim(MergeSpace* space, uint64_t bytes);
    ~Claim();
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;

    /// The merge has written `bytes` more, which are no longer free.
    void Wrote(uint64_t bytes);
    /// The merge begins again, and what it wrote is deleted.
    void BeginAgain();

   private:
    MergeSpace& space_;
    const uint64_t bytes_;
    uint64_t left_;
  };

  /// Room for a merge of inputs of `bytes`. Errors: kNoSpace, with the bytes that are needed and
  /// those that are free.
  Result<std::shared_ptr<Claim>> Take(uint64_t bytes) EXCLUDES(mutex_);
  /// The most that Take would give now; UINT64_MAX where that is not known.
  uint64_t Room() const EXCLUDES(mutex_);

 private:
  uint64_t claimed() const EXCLUDES(mutex_);
  void Release(uint64_t bytes) EXCLUDES(mutex_);
  void Add(uint64_t bytes) EXCLUDES(mutex_);

  const FreeSpace free_space_;
  const uint64_t reserve_bytes_;
  mutable base::Mutex mutex_;
  uint64_t claimed_ GUARDED_BY(mutex_) = 0;  // By all claims together.
};

}  // namespace tandem::engine
