// A file system whose queues say how many operations were in flight whenever one was submitted or
// came back, and into which memory they read. Everything else is the file system beneath, whichever
// that is.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "base/mutex.h"

namespace tandem::test {

/// Threads: any.
class TracedFileSystem final : public base::FileSystem {
 public:
  /// `beneath` outlives it.
  explicit TracedFileSystem(base::FileSystem* beneath) : beneath_(beneath) {}

  Result<std::unique_ptr<base::Directory>> OpenDirectory(const std::string& path,
                                                         bool create) override {
    return beneath_->OpenDirectory(path, create);
  }
  std::unique_ptr<base::IoQueue> NewQueue(uint32_t depth) override;
  std::string_view name() const override { return beneath_->name(); }

  /// The numbers in flight since the last call, over all queues.
  std::vector<uint32_t> TakeDepths() EXCLUDES(mutex_);
  /// Where the reads of at least `size_bytes` since the last call went, one by one.
  std::vector<const char*> TakeBuffers(size_t size_bytes) EXCLUDES(mutex_);
  void Note(int32_t change) EXCLUDES(mutex_);
  void Note(const base::IoRequest& request) EXCLUDES(mutex_);

 private:
  base::FileSystem* const beneath_;
  base::Mutex mutex_;
  uint32_t in_flight_ GUARDED_BY(mutex_) = 0;
  std::vector<uint32_t> depths_ GUARDED_BY(mutex_);
  std::vector<std::span<char>> buffers_ GUARDED_BY(mutex_);  // Of reads.
};

/// The middle one. Requires: not empty.
uint32_t Median(std::vector<uint32_t> numbers);

}  // namespace tandem::test
