// A change that no pin is older than is released, outside the mutex: the last reference to a file
// removes it.
#include "engine/region/schema_history.h"

#include <algorithm>
#include <utility>

namespace tandem::engine {

std::shared_ptr<const SchemaHistory::Pin> SchemaHistory::PinNow() {
  auto pin = std::make_shared<const Pin>(shared_from_this());
  return pin;
}

SchemaHistory::Pin::Pin(std::shared_ptr<SchemaHistory> history) : history_(std::move(history)) {
  base::MutexLock lock(history_->mutex_);
  number_ = history_->regions_.changes();
  history_->pinned_.insert(number_);
}

uint64_t SchemaHistory::number() const {
  base::MutexLock lock(mutex_);
  return number_;
}

void SchemaHistory::Add(std::list<Change> change) {
  base::MutexLock lock(mutex_);
  number_ = regions_.changes() + 1;
  change.front().number = number_;
  changes_.splice(changes_.end(), change);
}

void SchemaHistory::Shown() {
  std::list<Change> unpinned;
  base::MutexLock lock(mutex_);
  unpinned = TakeUnpinned();
}

std::list<SchemaHistory::Change> SchemaHistory::TakeUnpinned() {
  const uint64_t oldest = pinned_.empty() ? regions_.changes() : *pinned_.begin();
  const auto kept = std::find_if(changes_.begin(), changes_.end(),
                                 [oldest](const Change& change) { return change.number > oldest; });
  std::list<Change> unpinned;
  unpinned.splice(unpinned.end(), changes_, changes_.begin(), kept);
  return unpinned;
}

SchemaHistory::Found SchemaHistory::Find(const Pin& pin, std::string_view name) const {
  base::MutexLock lock(mutex_);
  Found found;
  found.number = number_;
  for (const Change& change : changes_) {
    if (change.number <= pin.number()) continue;
    const bool is_it =
        found.renamed.has_value() ? change.table == *found.renamed : change.name == name;
    if (is_it) {
      found.is_changed = true;
      found.former = change.former;
      if (found.former != nullptr) return found;
      found.renamed = change.table;
    } else if (!found.renamed.has_value() && change.renamed == name) {
      found.is_changed = true;  // No table had this name then.
      return found;
    }
  }
  return found;
}

void SchemaHistory::End() {
  releases_.Close();
  std::list<Change> changes;
  base::MutexLock lock(mutex_);
  changes.swap(changes_);
}

void SchemaHistory::Release(uint64_t number) {
  GatePass pass(releases_);
  std::list<Change> unpinned;
  base::MutexLock lock(mutex_);
  pinned_.erase(pinned_.find(number));
  if (pass.inside()) unpinned = TakeUnpinned();
}

}  // namespace tandem::engine
