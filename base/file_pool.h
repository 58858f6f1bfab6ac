// Read-only files that share a bounded number of descriptors. A pooled file is a File like any
// other, but its descriptor comes and goes: when another file needs a place, the least recently
// used descriptor is closed; its file is opened again when it is next read.
//
// A file is held open while it is used, so a read never goes to a descriptor that has been reused
// for another file:
// - Briefly, by each call of the file. A call that finds all places held waits; no caller holds two
//   files, so the wait ends.
// - By pins (File::Pin), for operations in flight, which may last as long as a cursor does. They
//   hold at most half of the places and never wait: if there is no free place the pin is empty.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "base/file_system.h"
#include "base/mutex.h"
#include "tandem/status.h"

namespace tandem::base {

/// Threads: any. Held by shared_ptr: its files keep it alive.
class FilePool : public std::enable_shared_from_this<FilePool> {
 public:
  /// Where a file of the pool comes from. Threads: one at a time.
  class Source {
   public:
    virtual ~Source() = default;
    /// Opens the file: once when it joins the pool, and again each time it is used after being
    /// closed. On reopening, the source checks that it is the same file.
    virtual Result<std::unique_ptr<File>> Open() = 0;
  };

  struct Counters {
    uint64_t open = 0;      ///< Descriptors now, at most the pool's places.
    uint64_t reopened = 0;  ///< How often a file was opened again.
  };

  /// A pool with `places` for open files. Requires: 2 or more.
  static std::shared_ptr<FilePool> Make(uint32_t places) {
    return std::shared_ptr<FilePool>(new FilePool(places));
  }

  /// Opens a file of `source` for reading. Errors: those of the source.
  Result<std::unique_ptr<File>> Open(std::string name, std::unique_ptr<Source> source);
  /// Closes the least recently used idle file, for a caller that needs its descriptor. False: no
  /// file is idle.
  bool CloseIdle() EXCLUDES(mutex_);
  Counters counters() const EXCLUDES(mutex_);

 private:
  class PooledFile;
  class Use;
  class Opening;
  enum class Hold : uint8_t { kBrief, kLasting };

  explicit FilePool(uint32_t places) : places_(places), lasting_max_(places / 2) {}

  Result<File*> Acquire(PooledFile* file, Hold hold) EXCLUDES(mutex_);
  void Release(PooledFile* file, Hold hold) EXCLUDES(mutex_);
  void Forget(PooledFile* file) EXCLUDES(mutex_);
  Result<std::unique_ptr<File>> OpenFreeingPlaces(PooledFile* file) EXCLUDES(mutex_);
  bool MakeRoom(std::unique_ptr<File>* closing) REQUIRES(mutex_);
  std::unique_ptr<File> TakeIdle() REQUIRES(mutex_);
  void Count(PooledFile* file, Hold hold) REQUIRES(mutex_);
  void Uncount(PooledFile* file, Hold hold) REQUIRES(mutex_);

  const uint32_t places_;
  const uint32_t lasting_max_;  // Of the places, for files with pins.
  mutable Mutex mutex_;
  CondVar changed_;  // A file was opened, closed, or released.
  uint32_t open_ GUARDED_BY(mutex_) = 0;
  uint32_t lasting_ GUARDED_BY(mutex_) = 0;         // Files with pins.
  std::list<PooledFile*> idle_ GUARDED_BY(mutex_);  // Open and not held, by their last use.
  uint64_t reopened_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tandem::base
