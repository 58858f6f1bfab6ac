// The cursors and snapshots that are open: counted, so that Close can refuse, and cut off when the
// database goes away under them.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/call_gate.h"
#include "base/fork_mark.h"
#include "base/mutex.h"
#include "engine/query/reader.h"
#include "engine/region/snapshots.h"
#include "tandem/status.h"

namespace tandem::engine {

class OpenHandles;

/// The state of a Snapshot. Lifetime: may outlive its database.
struct SnapshotState {
  SnapshotState(std::shared_ptr<OpenHandles> open_handles,
                std::shared_ptr<const SnapshotRegistry::Registration> registered);
  ~SnapshotState();
  SnapshotState(const SnapshotState&) = delete;
  SnapshotState& operator=(const SnapshotState&) = delete;

  const std::shared_ptr<OpenHandles> handles;  ///< Also says which database it belongs to.
  const std::shared_ptr<const SnapshotRegistry::Registration> registration;
};

/// Threads: any. Held by shared_ptr: handles keep it alive.
class OpenHandles : public std::enable_shared_from_this<OpenHandles> {
 public:
  explicit OpenHandles(std::shared_ptr<const base::ForkMark> fork_mark)
      : fork_mark_(std::move(fork_mark)) {}

  /// This process is a forked child of the one that opened the handles. Takes no lock.
  bool in_child() const { return fork_mark_->in_child(); }
  /// A source that is counted while it lives and returns kClosed after Invalidate. `table` is for
  /// the message of CheckNoneOpen.
  std::unique_ptr<RowSource> Track(std::unique_ptr<RowSource> source, std::string_view table)
      EXCLUDES(mutex_);
  std::unique_ptr<SnapshotState> NewSnapshot(
      std::shared_ptr<const SnapshotRegistry::Registration> registration);

  /// OK, or kBusy "2 cursors (of 'a', 'b') and 1 snapshot (of sequence 7) are open".
  Status CheckNoneOpen() const EXCLUDES(mutex_);
  /// Releases what the open cursors hold and forgets all snapshots; waits for a Next that is
  /// running.
  void Invalidate() EXCLUDES(mutex_);

 private:
  friend struct SnapshotState;
  class TrackedSource;
  /// What a cursor holds, shared with the list so that it can be cut off.
  struct OpenSource {
    std::string table;
    Gate gate;
    std::unique_ptr<RowSource> source;  // Used inside the gate; reset when it is closed.
  };

  const std::shared_ptr<const base::ForkMark> fork_mark_;
  mutable base::Mutex mutex_;
  std::set<std::shared_ptr<OpenSource>> sources_ GUARDED_BY(mutex_);
  /// The sequences of the open snapshots; none after Invalidate.
  std::multiset<uint64_t> snapshots_ GUARDED_BY(mutex_);
};

}  // namespace tandem::engine
