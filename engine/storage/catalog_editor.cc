// The turn is a flag under a mutex, so that no mutex is held during manifest I/O.
#include "engine/storage/catalog_editor.h"

#include <algorithm>

#include "base/guarded.h"
#include "base/status_macros.h"

namespace tandem::engine {
namespace {

bool IsEmpty(const format::CatalogEdit& edit) {
  return edit.put_tables.empty() && edit.remove_tables.empty() && edit.add_files.empty() &&
         edit.put_regions.empty() && edit.remove_regions.empty() && edit.remove_files.empty() &&
         edit.add_segments.empty() && edit.remove_segments.empty() && edit.add_snapshots.empty() &&
         edit.remove_snapshots.empty() && edit.put_sequences.empty() &&
         edit.remove_sequences.empty();
}

}  // namespace

Status CatalogEditor::CommitInTurn(const Change& change) {
  const format::Catalog catalog = storage_->catalog();
  format::CatalogEdit edit;
  format::CatalogCounters& counters = edit.counters.emplace(catalog.counters);
  RETURN_IF_ERROR(change.prepare(catalog, &edit));
  if (IsEmpty(edit) && !change.counters_alone) return {};
  counters.last_timestamp = std::max(counters.last_timestamp, time_->last_timestamp());
  counters.clock_high_micros = std::max(counters.clock_high_micros, time_->Now());
  counters.last_sequence = std::max(counters.last_sequence, last_sequence_().value);
  RETURN_IF_ERROR(storage_->CommitEdits(catalog.epoch, edit));
  const Status published = Guarded([&change] {
    change.publish();
    return Status();
  });
  if (!published.ok()) health_->TurnReadOnly("publishing a change of the catalog", published);
  return published;
}

Status CatalogEditor::Commit(const Change& change) {
  {
    base::MutexLock lock(mutex_);
    while (busy_) free_.Wait(mutex_);
    busy_ = true;
  }
  const Status status = Guarded([&] { return CommitInTurn(change); });
  base::MutexLock lock(mutex_);
  busy_ = false;
  free_.NotifyOne();
  return status;
}

}  // namespace tandem::engine
