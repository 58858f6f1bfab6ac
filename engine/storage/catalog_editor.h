// Makes changes of the catalog one at a time: each is built from the state that the previous one
// left, committed to the manifest, and then published to readers.
#pragma once

#include <functional>

#include "base/mutex.h"
#include "engine/runtime/health.h"
#include "engine/runtime/time_source.h"
#include "engine/storage/catalog.h"
#include "engine/storage/storage.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: any.
class CatalogEditor {
 public:
  /// `last_sequence` returns the last sequence assigned. All outlive this.
  CatalogEditor(Storage* storage, TimeSource* time, Health* health,
                std::function<format::SequenceNumber()> last_sequence)
      : storage_(storage), time_(time), health_(health), last_sequence_(std::move(last_sequence)) {}

  struct Change {
    /// Fills in the edit (its counters are the current ones). Errors end the change.
    std::function<Status(const format::Catalog&, format::CatalogEdit*)> prepare;
    /// Shows the committed change to readers. Does no I/O. If it runs out of memory, the database
    /// turns read-only: the open state would no longer match the catalog.
    std::function<void()> publish;
    /// Commits an edit that changes nothing else for its counters.
    bool counters_alone = false;
  };
  /// Waits for its turn, then prepares, commits and publishes. Every edit also records the last
  /// timestamp, the last sequence and the clock's high mark. An edit that changes nothing else is
  /// not committed, unless `counters_alone`. Errors: those of `prepare` and of
  /// Storage::CommitEdits.
  Status Commit(const Change& change) EXCLUDES(mutex_);

 private:
  Status CommitInTurn(const Change& change);

  Storage* storage_;
  TimeSource* time_;
  Health* health_;
  std::function<format::SequenceNumber()> last_sequence_;
  base::Mutex mutex_;
  base::CondVar free_;
  bool busy_ GUARDED_BY(mutex_) = false;  // A change is under way; no lock is held over its I/O.
};

}  // namespace tandem::engine
