// Builds the overlaps of a region's files in the background: after a flush or a compaction it finds
// the missing pairs, one newer file at a time, and publishes them with a new version of the region.
// What cannot be built is left to the filter path.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "base/mutex.h"
#include "engine/region/flushed_rows.h"
#include "engine/region/overlaps.h"
#include "engine/region/region.h"
#include "engine/runtime/background.h"
#include "engine/runtime/monitor.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: any.
class OverlapWorker {
 public:
  /// All bitmaps and records of rows together take at most `memory_bytes`. `account` (may be null)
  /// counts them and outlives them. `monitor` (may be null) counts what was built and outlives
  /// this.
  explicit OverlapWorker(uint64_t memory_bytes, base::MemoryAccount* account = nullptr,
                         Monitor* monitor = nullptr)
      : memory_(std::make_shared<OverlapMemory>(memory_bytes, account)),
        record_memory_(std::make_shared<OverlapMemory>(memory_bytes / kRecordPart, memory_)),
        memstore_memory_(std::make_shared<OverlapMemory>(memory_bytes / kMemstorePart, memory_)),
        monitor_(monitor) {}

  /// A recorder for the rows of a file that is being flushed to the region; null when no file of
  /// `version` may hold any of the memstore's rows.
  std::unique_ptr<FlushedRows::Recorder> NewRecorder(const RegionVersion& version,
                                                     const Memstore& memstore) const;
  /// Builds the missing pairs that fit in memory. If another thread is doing so, returns at once,
  /// since a flush may need this thread; the other one then also sees the files added meanwhile.
  /// Drops the records of the region's files, whatever the result. `jobs`: if not null, the caller
  /// is one of their tasks, and runs the urgent ones during the walks. Errors: kCancelled,
  /// kCorruption, kIoError; what was published before stays.
  Status BuildMissing(Region& region, BackgroundJobs* jobs) EXCLUDES(mutex_);
  /// Drops the records of the version's files: nothing will be built from them.
  static void DropRecords(const RegionVersion& version);
  /// Running and later walks end with kCancelled.
  void Cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  uint64_t memory_bytes() const { return memory_->used_bytes(); }
  /// Its share for the overlaps of memstores, which readers build.
  const std::shared_ptr<OverlapMemory>& memstore_memory() const { return memstore_memory_; }

 private:
  // Records, which live from a flush to the walk after it, take at most 1 / kRecordPart of the
  // memory.
  static constexpr uint64_t kRecordPart = 4;
  // Those of memstores at most 1 / kMemstorePart.
  static constexpr uint64_t kMemstorePart = 2;

  // A newer file and the older ones whose pairs with it are missing.
  struct Missing {
    std::shared_ptr<LiveFile> newer;
    std::vector<std::shared_ptr<LiveFile>> older;
  };

  static std::vector<Missing> FindMissing(const RegionVersion& version);
  Status BuildInTurn(Region& region, BackgroundJobs* jobs) EXCLUDES(mutex_);
  Result<bool> BuildNext(Region& region, const RegionVersion& version, BackgroundJobs* jobs,
                         std::set<format::FileNumber>* walked) EXCLUDES(mutex_);
  Result<Overlaps::Pairs> Build(const format::TableRecord& table, const Missing& missing,
                                BackgroundJobs* jobs) EXCLUDES(mutex_);
  std::shared_ptr<const PairOverlap> FindBuilt(const Overlaps::Key& key) EXCLUDES(mutex_);
  void Remember(const Overlaps::Pairs& pairs) EXCLUDES(mutex_);

  bool ReserveFor(const Missing& missing, uint64_t bytes);
  void Tell(const Region& region, const Overlaps::Pairs& pairs, int64_t began_micros);

  const std::shared_ptr<OverlapMemory> memory_, record_memory_, memstore_memory_;
  Monitor* const monitor_;
  std::atomic<bool> cancelled_{false};  // Relaxed: it is polled.
  base::Mutex mutex_;
  /// Pairs that regions share are built once.
  std::map<Overlaps::Key, std::weak_ptr<const PairOverlap>> built_ GUARDED_BY(mutex_);
};

}  // namespace tandem::engine
