// Sequences are registered in rising order, so a registration is found at the end of the list or by
// binary search.
#include "engine/region/snapshots.h"

#include <algorithm>

#include "base/check.h"

namespace tandem::engine {

SnapshotRegistry::Registration::~Registration() { registry_->Release(*this); }

void SnapshotRegistry::Add(format::SequenceNumber sequence) {
  if (entries_.empty() || entries_.back().sequence < sequence) {
    entries_.push_back({.sequence = sequence, .readers = 0});
  }
  ++entries_.back().readers;
}

std::shared_ptr<const SnapshotRegistry::Registration> SnapshotRegistry::RegisterRead() {
  auto registration = std::make_shared<Registration>(shared_from_this());
  base::MutexLock lock(mutex_);
  registration->point_.sequence = visible();
  Add(registration->point_.sequence);
  registration->keeps_sequence_ = true;
  return registration;
}

std::shared_ptr<const SnapshotRegistry::Registration> SnapshotRegistry::RegisterSnapshot() {
  auto registration = std::make_shared<Registration>(shared_from_this());
  {
    base::MutexLock lock(mutex_);
    registration->point_ = {.sequence = visible(), .now_micros = time_->Now()};
    Add(registration->point_.sequence);
    registration->keeps_sequence_ = true;
    snapshot_times_.insert(registration->point_.now_micros);
    registration->keeps_time_ = true;
  }
  return registration;
}

void SnapshotRegistry::Release(const Registration& registration) {
  base::MutexLock lock(mutex_);
  if (registration.keeps_time_) {
    snapshot_times_.erase(snapshot_times_.find(registration.point_.now_micros));
  }
  if (!registration.keeps_sequence_) return;
  const format::SequenceNumber sequence = registration.point_.sequence;
  const auto entry =
      std::lower_bound(entries_.begin(), entries_.end(), sequence,
                       [](const Entry& e, format::SequenceNumber s) { return e.sequence < s; });
  CHECK(entry != entries_.end() && entry->sequence == sequence);
  if (--entry->readers == 0) entries_.erase(entry);
}

SnapshotRegistry::RetentionPoint SnapshotRegistry::TakeRetentionPoint() const {
  base::MutexLock lock(mutex_);
  RetentionPoint point;
  for (const Entry& entry : entries_) point.snapshots.push_back(entry.sequence);
  point.now_micros = time_->Now();
  if (!snapshot_times_.empty()) {
    point.now_micros = std::min(point.now_micros, *snapshot_times_.begin());
  }
  return point;
}

}  // namespace tandem::engine
