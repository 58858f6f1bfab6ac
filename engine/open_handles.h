// The cursors and snapshots that are open: counted, so that Close can refuse, and cut off when the
// database goes away under them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "base/mutex.h"
#include "engine/gate.h"
#include "engine/reader.h"
#include "engine/snapshot_registry.h"
#include "tandem/status.h"

namespace tandem::engine {

class OpenHandles;

/// What a Snapshot stands on. Lifetime: may outlive its database.
struct SnapshotState {
  SnapshotState(std::shared_ptr<OpenHandles> open_handles,
                std::shared_ptr<const SnapshotRegistry::Registration> registered);
  ~SnapshotState();
  SnapshotState(const SnapshotState&) = delete;
  SnapshotState& operator=(const SnapshotState&) = delete;

  const std::shared_ptr<OpenHandles> handles;  ///< Also tells which database it is of.
  const std::shared_ptr<const SnapshotRegistry::Registration> registration;
};

/// Threads: any. Held by shared_ptr: handles keep it alive.
class OpenHandles : public std::enable_shared_from_this<OpenHandles> {
 public:
  /// A source that is counted while it lives and answers kClosed after CutOff.
  std::unique_ptr<RowSource> Track(std::unique_ptr<RowSource> source) EXCLUDES(mutex_);
  std::shared_ptr<SnapshotState> NewSnapshot(
      std::shared_ptr<const SnapshotRegistry::Registration> registration);

  /// OK, or kBusy "2 cursors and 1 snapshot are open".
  Status CheckNoneOpen() const EXCLUDES(mutex_);
  /// Lets go of what the open cursors hold and counts no snapshot any more; waits for a Next that
  /// runs.
  void CutOff() EXCLUDES(mutex_);

 private:
  friend struct SnapshotState;
  class TrackedSource;
  /// What a cursor holds, shared with the list so that it can be cut off.
  struct OpenSource {
    Gate gate;
    std::unique_ptr<RowSource> source;  // Used inside the gate; reset when it is closed.
  };

  mutable base::Mutex mutex_;
  std::set<std::shared_ptr<OpenSource>> sources_ GUARDED_BY(mutex_);
  std::atomic<uint64_t> snapshots_{0};  // Relaxed: a count.
  std::atomic<bool> cut_off_{false};    // Relaxed: set by the database's last caller.
};

}  // namespace tandem::engine
