// A job that waits is owned by the node that the job itself came with: taking the node out of its
// map gives both back.
#include "base/job_queue.h"

#include <utility>

namespace tandem::base {

Job::Job(Priority priority, std::function<void()> work)
    : priority_(priority), work_(std::move(work)) {
  Map map;
  node_ = map.extract(map.emplace(0, nullptr));
}

bool JobQueue::Add(int64_t now_micros, int64_t delay_micros, std::shared_ptr<Job> job) {
  const int64_t due_micros = now_micros + delay_micros;
  if (job->state_ == Job::State::kDue) return false;
  Job::Map::node_type node;
  if (job->state_ == Job::State::kDelayed) {
    if (delay_micros > 0 && job->place_->first <= due_micros) return false;
    node = delayed_.extract(job->place_);
  } else {
    node = std::move(job->node_);
    node.mapped() = std::move(job);
  }
  if (delay_micros <= 0) {
    MakeDue(std::move(node));
    return true;
  }
  node.key() = due_micros;
  Insert(Job::State::kDelayed, std::move(node), &delayed_);
  return false;
}

void JobQueue::MoveDue(int64_t now_micros) {
  while (!delayed_.empty() && delayed_.begin()->first <= now_micros) {
    MakeDue(delayed_.extract(delayed_.begin()));
  }
}

std::shared_ptr<Job> JobQueue::Take(Priority lowest) {
  const bool middle_waits = !due(Priority::kMiddle).empty();
  const bool is_turn_of_middle =
      middle_waits && passed_over_ >= kPassedOverMax && lowest <= Priority::kMiddle;
  if (!due(Priority::kHigh).empty() && !is_turn_of_middle) {
    passed_over_ = middle_waits ? passed_over_ + 1 : 0;
    return TakeFirst(Priority::kHigh);
  }
  if (middle_waits && lowest <= Priority::kMiddle) {
    passed_over_ = 0;
    return TakeFirst(Priority::kMiddle);
  }
  return lowest <= Priority::kLow ? TakeFirst(Priority::kLow) : nullptr;
}

std::shared_ptr<Job> JobQueue::TakeFirst(Priority priority) {
  Job::Map& jobs = due(priority);
  return jobs.empty() ? nullptr : Release(jobs.extract(jobs.begin()));
}

std::shared_ptr<Job> JobQueue::TakeDelayed() {
  return delayed_.empty() ? nullptr : Release(delayed_.extract(delayed_.begin()));
}

bool JobQueue::TakeDue(Job& job) {
  if (job.state_ != Job::State::kDue) return false;
  Release(due(job.priority_).extract(job.place_));
  return true;
}

void JobQueue::DropDelayed() {
  while (TakeDelayed() != nullptr) {
  }
}

size_t JobQueue::due_count() const {
  size_t count = 0;
  for (const Job::Map& jobs : due_) count += jobs.size();
  return count;
}

std::optional<int64_t> JobQueue::next_due_micros() const {
  if (delayed_.empty()) return std::nullopt;
  return delayed_.begin()->first;
}

void JobQueue::MakeDue(Job::Map::node_type node) {
  node.key() = ++arrivals_;
  Job::Map* map = &due(node.mapped()->priority_);
  Insert(Job::State::kDue, std::move(node), map);
}

void JobQueue::Insert(Job::State state, Job::Map::node_type node, Job::Map* map) {
  Job& job = *node.mapped();
  job.place_ = map->insert(std::move(node));
  job.state_ = state;
}

std::shared_ptr<Job> JobQueue::Release(Job::Map::node_type node) {
  std::shared_ptr<Job> job = std::move(node.mapped());
  job->node_ = std::move(node);
  job->state_ = Job::State::kIdle;
  return job;
}

}  // namespace tandem::base
