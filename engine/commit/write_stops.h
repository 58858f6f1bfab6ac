// Tables whose writes wait while what was written last is copied (engine/copy_table.cc). Nothing is
// written to a table that is stopped:
//   1. Stop, then a task alone in the commit queue that counts a change of the tables: what was
//      planned before is planned again, and comes here before it queues again. Bulk loads are
//      linked alone in the queue, and look there.
//   2. Release: what has waited goes on; or all writes of the table are refused from then on, for a
//      writer may have chosen the table before the program moved over, and come later.
// Writes that outrun the copy are delayed before that.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include "base/clock.h"
#include "base/mutex.h"
#include "engine/region/region_set.h"
#include "format/schema.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: any.
class WriteStops {
 public:
  /// `clock` outlives it.
  explicit WriteStops(base::Clock* clock) : clock_(*clock) {}

  /// Each write of the table waits so long from now on; 0: none does.
  void Delay(format::TableId table, int64_t micros) EXCLUDES(mutex_);
  /// Writes that come to Pass wait from now on. False: the table is stopped already.
  bool Stop(format::TableId table) EXCLUDES(mutex_);
  /// If `verdict` is an error, writes of the stopped table return it from now on. Does nothing for
  /// one that is forgotten.
  void Release(format::TableId table, const Status& verdict) EXCLUDES(mutex_);
  /// The table is gone: nobody has to be refused any more.
  void Forget(format::TableId table) EXCLUDES(mutex_);
  bool IsStopped(format::TableId table) const EXCLUDES(mutex_);
  /// Returns when none of the tables is stopped. Errors: kBusy (`no_wait`), that of Release.
  Status Pass(std::span<const std::shared_ptr<const Table>> tables, bool no_wait) EXCLUDES(mutex_);

 private:
  Status WaitForStops(std::span<const std::shared_ptr<const Table>> tables, bool no_wait,
                      int64_t* delay) EXCLUDES(mutex_);
  struct Stopped {
    bool is_over = false;
    Status verdict;
  };
  base::Clock& clock_;
  std::atomic<uint32_t> count_{0};  // Of the two maps; sequentially consistent.
  mutable base::Mutex mutex_;
  base::CondVar changed_;
  std::map<format::TableId, int64_t> delays_ GUARDED_BY(mutex_);
  std::map<format::TableId, std::shared_ptr<Stopped>> tables_ GUARDED_BY(mutex_);
};

}  // namespace tandem::engine
