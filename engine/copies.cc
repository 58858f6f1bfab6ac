// Copies of the database as of one point in time, while writers continue.
//
// How a database that is written to is copied:
// 1. All memstores are flushed, while writers continue: nearly everything is in store files then,
//    including operations at kMemory.
// 2. Commits pause: the log is written and rolled, so that every segment but a new, empty one is
//    sealed, and segments that no memstore needs are dropped from the catalog.
// 3. The catalog at this point and what is left of the log are the copy. Writers continue, and no
//    file of the copy is deleted before it is made.
// For a database that was opened read-only, the point in time is that of its opening.
#include <utility>

#include "base/status_macros.h"
#include "engine/backup/backup.h"
#include "engine/backup/checkpoint.h"
#include "engine/engine_impl.h"
#include "wal/log.h"

namespace tandem::engine {

Result<PinnedStore> EngineImpl::PinStore() {
  if (options_.read_only) return database_.opened.storage->PinStore();
  RETURN_IF_ERROR(FlushTable({}));
  Result<PinnedStore> pinned = Status::Unsupported("nothing was pinned");
  RETURN_IF_ERROR(queue_->RunAlone([&] {
    pinned = PinStoreAlone();
    return pinned.status();
  }));
  return pinned;
}

// Steps 2 and 3. The copy's counters are raised to the last values in use, which the catalog may
// lack.
Result<PinnedStore> EngineImpl::PinStoreAlone() {
  RETURN_IF_ERROR(log_->WriteBuffered());
  if (log_->segment_bytes() > wal::kSegmentHeaderBytes) RETURN_IF_ERROR(log_->Roll());
  RETURN_IF_ERROR(maintenance_->DropSegments());
  ASSIGN_OR_RETURN(PinnedStore pinned, database_.opened.storage->PinStore());
  format::CatalogCounters& counters = pinned.catalog.counters;
  counters.last_timestamp = std::max(counters.last_timestamp, time_.last_timestamp());
  counters.clock_high_micros = std::max(counters.clock_high_micros, time_.Now());
  counters.last_sequence = std::max(counters.last_sequence, queue_->last_sequence().value);
  return pinned;
}

Status EngineImpl::Checkpoint(const std::string& path) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  ASSIGN_OR_RETURN(const PinnedStore pinned, PinStore());
  return WriteCheckpoint(
      pinned, {.file_system = environment_.file_system, .random = environment_.random}, path);
}

Result<BackupInfo> EngineImpl::Backup(const std::string& directory) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  ASSIGN_OR_RETURN(const PinnedStore pinned, PinStore());
  return WriteBackup(pinned,
                     {.file_system = environment_.file_system,
                      .random = environment_.random,
                      .clock = environment_.clock},
                     directory);
}

}  // namespace tandem::engine
