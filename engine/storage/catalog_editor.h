// Changes of the catalog, one after the other: each is built from the state that the one before
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
  /// `last_sequence` tells the last sequence assigned. All outlive this.
  CatalogEditor(Storage* storage, TimeSource* time, Health* health,
                std::function<format::SequenceNumber()> last_sequence)
      : storage_(storage), time_(time), health_(health), last_sequence_(std::move(last_sequence)) {}

  struct Change {
    /// Fills in the edit (its counters are the present ones). Errors end the change.
    std::function<Status(const format::Catalog&, format::CatalogEdit*)> prepare;
    /// Shows the committed change to readers. Does no I/O. Where it fails for want of memory, the
    /// database turns read-only: what is open would not be what the catalog says.
    std::function<void()> publish;
    /// An edit without a change of its own is committed for the sake of its counters.
    bool counters_alone = false;
  };
  /// Waits for its turn, then prepares, commits and publishes. With every edit go the last
  /// timestamp, the last sequence and the clock's high mark. An edit without a change of its own is
  /// not committed otherwise. Errors: those of `prepare` and of Storage::CommitEdits.
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
