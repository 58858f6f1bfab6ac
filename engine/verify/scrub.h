// The scrub: store files are read and verified in the background, at a given rate, over and over,
// so that damage is found while a good copy still exists. The file verified longest ago comes
// first. A new file counts as verified when it was written, one that existed at the open as
// verified at the open.
//
// Files that only named snapshots have are opened for it, one at a time.
//
// It runs in slices of low priority: one reads and verifies for a few milliseconds, then the next
// is scheduled for when the rate allows it; one that finds no memory begins again. Findings are
// reported, and the scrub continues with the next file; a damaged file is reported again on the
// next round.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "engine/region/region_set.h"
#include "engine/region/store_files.h"
#include "engine/region/view.h"
#include "engine/runtime/background.h"
#include "engine/runtime/health.h"
#include "engine/runtime/monitor.h"
#include "engine/storage/storage.h"
#include "engine/verify/incremental.h"

namespace tandem::engine {

class Scrubber {
 public:
  /// All outlive it; jobs are stopped before.
  struct Dependencies {
    RegionSet* regions = nullptr;
    Storage* storage = nullptr;
    StoreFiles* files = nullptr;
    Monitor* monitor = nullptr;
    Health* health = nullptr;
    BackgroundJobs* jobs = nullptr;
    uint64_t bytes_per_second = 0;  ///< 0: nothing is done.
  };
  explicit Scrubber(const Dependencies& dependencies)
      : deps_(dependencies), slices_(deps_.jobs, base::Priority::kLow, [this] { RunSlice(); }) {}

  /// Schedules the first slice. Called once.
  void Start();
  /// The age in microseconds of the oldest verification among the files that the last slice knew;
  /// 0: no file. Allocates nothing. Threads: any.
  uint64_t OldestMicros() EXCLUDES(mutex_);

 private:
  /// Null: only a snapshot has the file.
  using Files = std::map<format::FileNumber, std::shared_ptr<LiveFile>>;
  Files LiveFiles() const;
  void NoteFiles(const Files& files, int64_t for_new) EXCLUDES(mutex_);
  void RunSlice();
  uint64_t Slice();
  std::shared_ptr<LiveFile> Current() EXCLUDES(mutex_);
  std::shared_ptr<LiveFile> OpenOfSnapshot(format::FileNumber number);
  void Finish(const LiveFile& file) EXCLUDES(mutex_);
  void Report(format::FileNumber number, const Status& status);

  const Dependencies deps_;
  BackgroundTask slices_;
  // Used by slices, of which one runs at a time.
  std::weak_ptr<LiveFile> file_;    // Weak: between slices a file may go.
  std::shared_ptr<LiveFile> kept_;  // The same, if nobody else may have it open.
  std::unique_ptr<format::IncrementalVerifier> verifier_;
  int64_t began_micros_ = 0;

  base::Mutex mutex_;
  std::map<format::FileNumber, int64_t> verified_micros_ GUARDED_BY(mutex_);
};

}  // namespace tandem::engine
