// A merge claims its bytes before it asks what is free, and what merges may still write is read
// before that too: bytes that one of them writes in between count twice rather than not at all, and
// of two merges that ask at the same time the later one knows of the earlier.
#include "engine/runtime/merge_space.h"

#include <algorithm>
#include <string>

namespace tandem::engine {

MergeSpace::Claim::Claim(MergeSpace* space, uint64_t bytes)
    : space_(*space), bytes_(bytes), left_(bytes) {
  space_.Add(bytes);
}

MergeSpace::Claim::~Claim() { space_.Release(left_); }

void MergeSpace::Claim::Wrote(uint64_t bytes) {
  const uint64_t written = std::min(bytes, left_);
  left_ -= written;
  space_.Release(written);
}

void MergeSpace::Claim::BeginAgain() {
  space_.Add(bytes_ - left_);
  left_ = bytes_;
}

uint64_t MergeSpace::claimed() const {
  base::MutexLock lock(mutex_);
  return claimed_;
}

void MergeSpace::Add(uint64_t bytes) {
  base::MutexLock lock(mutex_);
  claimed_ += bytes;
}

void MergeSpace::Release(uint64_t bytes) {
  base::MutexLock lock(mutex_);
  claimed_ -= bytes;
}

Result<std::shared_ptr<MergeSpace::Claim>> MergeSpace::Take(uint64_t bytes) {
  auto claim = std::make_shared<Claim>(this, bytes);
  if (bytes == 0) return claim;
  const uint64_t written = claimed();  // At most.
  const Result<uint64_t> free = free_space_();
  if (!free.has_value()) return claim;
  const uint64_t needed = written + std::min(written, reserve_bytes_);
  if (*free >= needed) return claim;
  return Status::NoSpace("a merge of " + std::to_string(bytes) + " bytes needs " +
                         std::to_string(needed) +
                         " bytes of free space, with what other merges may still write and a "
                         "reserve, and " +
                         std::to_string(*free) + " are free");
}

// Of f free bytes merges may claim x where x + min(x, reserve) <= f.
uint64_t MergeSpace::Room() const {
  const uint64_t before = claimed();
  const Result<uint64_t> free = free_space_();
  if (!free.has_value()) return UINT64_MAX;
  const uint64_t all = *free - std::min(reserve_bytes_, *free - *free / 2);
  return all - std::min(all, before);
}

}  // namespace tandem::engine
