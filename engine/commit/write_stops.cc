// Stops of tables. Few tables are stopped at a time, as a rule none.
#include "engine/commit/write_stops.h"

#include "base/quote.h"

namespace tandem::engine {

bool WriteStops::Stop(format::TableId table) {
  auto stopped = std::make_shared<Stopped>();
  base::MutexLock lock(mutex_);
  if (!tables_.emplace(table, std::move(stopped)).second) return false;
  count_.fetch_add(1);
  return true;
}

void WriteStops::Release(format::TableId table, const Status& verdict) {
  base::MutexLock lock(mutex_);
  const auto stopped = tables_.extract(table);
  stopped.mapped()->is_over = true;
  stopped.mapped()->verdict = verdict;
  count_.fetch_sub(1);
  changed_.NotifyAll();
}

bool WriteStops::IsStopped(format::TableId table) const {
  if (count_.load() == 0) return false;
  base::MutexLock lock(mutex_);
  return tables_.contains(table);
}

Status WriteStops::Pass(std::span<const std::shared_ptr<const Table>> tables, bool no_wait) {
  if (count_.load() == 0) return {};
  base::MutexLock lock(mutex_);
  for (const std::shared_ptr<const Table>& table : tables) {
    const auto found = tables_.find(table->record->id);
    if (found == tables_.end()) continue;
    if (no_wait) {
      return Status::Busy("the last changes of table " + base::Quote(table->record->name) +
                          " are copied");
    }
    const std::shared_ptr<Stopped> stopped = found->second;
    while (!stopped->is_over) changed_.Wait(mutex_);
    if (!stopped->verdict.ok()) return stopped->verdict;
  }
  return {};
}

}  // namespace tandem::engine
