// The flushes and merges that run now, and how far each has come.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "tandem/statistics.h"

namespace tandem::engine {

/// Bytes of a job's input that it has read. The job changes it about once a block, or once in a
/// batch of rows. Relaxed: a report that orders nothing.
using JobProgress = std::atomic<uint64_t>;

/// Threads: any.
class RunningJobs {
 public:
  /// `clock` outlives it.
  explicit RunningJobs(base::Clock* clock) : clock_(clock) {}

  /// The jobs in the order in which they began. `time_micros`: the database's time now.
  std::vector<JobInfo> Describe(int64_t time_micros) const EXCLUDES(mutex_);

 private:
  friend class RunningJob;
  struct Job {
    JobKind kind = JobKind::kFlush;
    std::string table;
    uint64_t region_id = 0;
    uint64_t input_bytes = 0;
    int64_t began_micros = 0;  // By the monotonic clock.
    JobProgress read_bytes{0};
  };

  base::Clock* const clock_;
  mutable base::Mutex mutex_;
  std::list<Job> running_ GUARDED_BY(mutex_);
};

/// A job is listed while this lives.
class RunningJob {
 public:
  struct Description {
    JobKind kind = JobKind::kFlush;
    std::string_view table = {};
    uint64_t region_id = 0;
    uint64_t input_bytes = 0;
  };
  /// `jobs` outlives it.
  RunningJob(RunningJobs* jobs, const Description& description);
  ~RunningJob();
  RunningJob(const RunningJob&) = delete;
  RunningJob& operator=(const RunningJob&) = delete;

  /// Lifetime: as this.
  JobProgress* progress() { return &job_->read_bytes; }

 private:
  RunningJobs& jobs_;
  std::list<RunningJobs::Job>::iterator job_;
};

}  // namespace tandem::engine
