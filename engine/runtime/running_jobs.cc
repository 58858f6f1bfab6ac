// An entry of the list is made before the mutex is locked and freed after it.
#include "engine/runtime/running_jobs.h"

#include <algorithm>

namespace tandem::engine {

std::vector<JobInfo> RunningJobs::Describe(int64_t time_micros) const {
  std::vector<JobInfo> described;
  const int64_t now_micros = clock_->MonotonicMicros();
  base::MutexLock lock(mutex_);
  for (const Job& job : running_) {
    const uint64_t read_bytes = job.read_bytes.load(std::memory_order_relaxed);
    described.push_back({.kind = job.kind,
                         .table = job.table,
                         .region_id = job.region_id,
                         .input_bytes = job.input_bytes,
                         .read_bytes = std::min(read_bytes, job.input_bytes),
                         .since_micros = time_micros - (now_micros - job.began_micros)});
  }
  return described;
}

RunningJob::RunningJob(RunningJobs* jobs, const Description& description) : jobs_(*jobs) {
  std::list<RunningJobs::Job> made(1);
  job_ = made.begin();
  job_->kind = description.kind;
  job_->table = description.table;
  job_->region_id = description.region_id;
  job_->input_bytes = description.input_bytes;
  job_->began_micros = jobs_.clock_->MonotonicMicros();
  base::MutexLock lock(jobs_.mutex_);
  jobs_.running_.splice(jobs_.running_.end(), made);
}

RunningJob::~RunningJob() {
  std::list<RunningJobs::Job> ended;
  base::MutexLock lock(jobs_.mutex_);
  ended.splice(ended.end(), jobs_.running_, job_);
}

}  // namespace tandem::engine
