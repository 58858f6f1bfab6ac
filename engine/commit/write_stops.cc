// Stops of tables. Few tables are stopped at a time, as a rule none.
#include "engine/commit/write_stops.h"

#include <algorithm>

#include "base/quote.h"
#include "base/status_macros.h"

namespace tandem::engine {

void WriteStops::Delay(format::TableId table, int64_t micros) {
  base::MutexLock lock(mutex_);
  count_.fetch_sub(static_cast<uint32_t>(delays_.erase(table)));
  if (micros == 0) return;
  delays_.emplace(table, micros);
  count_.fetch_add(1);
}

bool WriteStops::Stop(format::TableId table) {
  auto stopped = std::make_shared<Stopped>();
  base::MutexLock lock(mutex_);
  if (!tables_.emplace(table, std::move(stopped)).second) return false;
  count_.fetch_add(1);
  return true;
}

void WriteStops::Release(format::TableId table, const Status& verdict) {
  base::MutexLock lock(mutex_);
  const auto found = tables_.find(table);
  if (found == tables_.end()) return;  // The table went meanwhile.
  found->second->is_over = true;
  found->second->verdict = verdict;
  if (verdict.ok()) count_.fetch_sub(static_cast<uint32_t>(tables_.erase(table)));
  changed_.NotifyAll();
}

// What has waited goes on, and finds that the table is gone.
void WriteStops::Forget(format::TableId table) {
  if (count_.load() == 0) return;
  base::MutexLock lock(mutex_);
  const auto found = tables_.find(table);
  if (found == tables_.end()) return;
  found->second->is_over = true;
  count_.fetch_sub(static_cast<uint32_t>(tables_.erase(table)));
  changed_.NotifyAll();
}

bool WriteStops::IsStopped(format::TableId table) const {
  if (count_.load() == 0) return false;
  base::MutexLock lock(mutex_);
  return tables_.contains(table);
}

Status WriteStops::Pass(std::span<const std::shared_ptr<const Table>> tables, bool no_wait) {
  if (count_.load() == 0) return {};
  int64_t delay = 0;
  RETURN_IF_ERROR(WaitForStops(tables, no_wait, &delay));
  if (delay > 0 && !no_wait) clock_.SleepMicros(delay);
  return {};
}

// `*delay`: the longest of the tables.
Status WriteStops::WaitForStops(std::span<const std::shared_ptr<const Table>> tables, bool no_wait,
                                int64_t* delay) {
  base::MutexLock lock(mutex_);
  for (const std::shared_ptr<const Table>& table : tables) {
    const auto delayed = delays_.find(table->record->id);
    if (delayed != delays_.end()) *delay = std::max(*delay, delayed->second);
    const auto found = tables_.find(table->record->id);
    if (found == tables_.end()) continue;
    if (no_wait && !found->second->is_over) {
      return Status::Busy("the last changes of table " + base::Quote(table->record->name) +
                          " are copied");
    }
    const std::shared_ptr<Stopped> stopped = found->second;
    while (!stopped->is_over) changed_.Wait(mutex_);
    RETURN_IF_ERROR(stopped->verdict);
  }
  return {};
}

}  // namespace tandem::engine
