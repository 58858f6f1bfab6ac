// The cursors, pinned rows and snapshots that are open: counted, so that Close can refuse, and cut
// off when the database goes away under them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/call_gate.h"
#include "base/cancellation.h"
#include "base/fork_mark.h"
#include "base/mutex.h"
#include "engine/advice/query_watch.h"
#include "engine/query/point_reader.h"
#include "engine/query/token.h"
#include "engine/read/row_source.h"
#include "engine/region/named_snapshots.h"
#include "engine/region/schema_history.h"
#include "engine/region/snapshots.h"
#include "tandem/database.h"
#include "tandem/status.h"

namespace tandem::engine {

class OpenHandles;
class OwnWrites;
class BulkLoader;

/// What a cursor holds of the database, shared with the list so that it can be cut off.
struct OpenSource {
  static constexpr size_t kUnlisted = SIZE_MAX;

  std::string table;
  size_t place = kUnlisted;  ///< In the list, under its mutex.
  Gate gate;
  std::unique_ptr<RowSource> source;  ///< Used inside the gate; reset when it is closed.
};

/// The state of a Cursor. Threads: one at a time. Lifetime: may outlive its database.
class OpenCursor {
 public:
  OpenCursor(std::shared_ptr<OpenHandles> handles, std::shared_ptr<OpenSource> open,
             std::unique_ptr<format::RowBatch> batch, CursorOrigin origin)
      : handles_(std::move(handles)),
        open_(std::move(open)),
        origin_(std::move(origin)),
        batch_(std::move(batch)) {}
  ~OpenCursor();
  OpenCursor(const OpenCursor&) = delete;
  OpenCursor& operator=(const OpenCursor&) = delete;

  /// From now on the watch counts the time that it takes, and hears of its end.
  /// Requires: no row was read.
  void Watch(std::unique_ptr<QueryWatch> watch) { watch_ = std::move(watch); }

  /// The next row, if it was read along with the one before. A cursor that was cut off or cancelled
  /// has none.
  bool NextOfBatch(RowView* row) {
    if (left_.empty() || open_->gate.is_closed() || origin_.limits.cancellation.is_cancelled()) {
      return false;
    }
    *row = left_.front();
    left_ = left_.subspan(1);
    return true;
  }
  /// The next row, or the next piece of one; false at the end. Errors: those of
  /// RowSource::NextBatch; kClosed. Lifetime of `*row`: until the next call.
  Result<bool> Next(RowView* row);
  /// A token of where the cursor is. Errors: kClosed.
  Result<std::string> Token() const;
  bool continues_exactly() const { return origin_.is_exact; }
  /// Whether this process is a forked child of the one that made it: then it must be neither used
  /// nor destroyed.
  bool in_child() const;

 private:
  const std::shared_ptr<OpenHandles> handles_;
  const std::shared_ptr<OpenSource> open_;
  const CursorOrigin origin_;
  // Where the rows before the batch end; nullopt: there is none before it.
  std::optional<Position> before_batch_;
  bool is_in_batch_ = false;  // The row given last is one of it.
  // Not in the source: Invalidate may end that while the cursor's thread looks for its next row.
  std::unique_ptr<format::RowBatch> batch_;
  std::span<const RowView> left_;  // Of the batch.

  std::unique_ptr<QueryWatch> watch_;  // Null: none, or the query has ended.
  uint64_t rows_read_ = 0;             // In batches; counted for the watch.

  Result<bool> NextInside(RowView* row);
  void EndWatch(bool is_whole, const Status& status);
  void GetPositionInBatch(std::optional<Position>* position) const;
  std::optional<Position> Where() const;
  Status WithProgress(const Status& status) const;
};

/// What a PinnedRow holds of the database, shared with the list so that it can be cut off.
struct PinSource {
  explicit PinSource(std::string_view table_name) : table(table_name) {}

  const std::string table;
  std::string key;  ///< Of the row.
  Gate gate;
  PointReader reader;  ///< Used inside the gate; it holds nothing when that is closed.
  /// Relaxed: it orders nothing; who closes the database sees it again when no call is inside.
  std::atomic<bool> holds_row{false};
};

/// The state of a PinnedRow: for rows of one table, since the lists of the reader are. Threads: one
/// at a time. Lifetime: may outlive its database.
class OpenPin {
 public:
  OpenPin(std::shared_ptr<OpenHandles> handles, std::shared_ptr<PinSource> source)
      : handles_(std::move(handles)), source_(std::move(source)) {}
  ~OpenPin();
  OpenPin(const OpenPin&) = delete;
  OpenPin& operator=(const OpenPin&) = delete;

  bool IsFor(const OpenHandles* handles, std::string_view table) const {
    return handles_.get() == handles && source_->table == table;
  }
  /// Reads a row and holds it if it is there. Errors: those of PointReader::Read; kClosed.
  Result<bool> Read(RegionView view, const ReadOptions& options, std::string_view row);
  /// Requires: Read returned true.
  const RowView& row() const { return row_; }
  /// From now on the row that was read has these cells alone. They are views of its own.
  void ShowCells(std::vector<Cell> cells) {
    cells_ = std::move(cells);
    row_ = RowView(row_.key(), cells_);
  }
  void Release();
  /// As of OpenCursor.
  bool in_child() const;

 private:
  const std::shared_ptr<OpenHandles> handles_;
  const std::shared_ptr<PinSource> source_;
  RowView row_;
  std::vector<Cell> cells_;  // Of a row that observers have filtered.
};

/// A point in time that a snapshot pins: its sequence and time, and the schema; or a named
/// snapshot, which is all of this.
struct SnapshotPoint {
  std::shared_ptr<const SnapshotRegistry::Registration> registration;
  std::shared_ptr<const SchemaHistory::Pin> schema;
  std::shared_ptr<const OwnWrites> own;  ///< What a transaction adds to it; null: it is none.
  std::shared_ptr<const NamedSnapshots::Pin> named;  ///< Null: the two above are set.

  format::ReadPoint point() const {
    return named == nullptr ? registration->point() : named->snapshot().point();
  }
  /// What a view keeps of it.
  std::shared_ptr<const void> pinned() const {
    if (named == nullptr) return registration;
    return named;
  }
};

/// The state of a Snapshot. Lifetime: may outlive its database.
struct SnapshotState {
  SnapshotState(std::shared_ptr<OpenHandles> open_handles, SnapshotPoint pinned);
  ~SnapshotState();
  SnapshotState(const SnapshotState&) = delete;
  SnapshotState& operator=(const SnapshotState&) = delete;

  const std::shared_ptr<OpenHandles> handles;  ///< Also says which database it belongs to.
  const SnapshotPoint point;
};

/// What a Transaction holds of the database, shared with the list so that it can be cut off.
/// Threads: any; Enter and Leave by one at a time.
class OpenTransaction {
 public:
  OpenTransaction(Snapshot snapshot, int64_t begun_micros);

  /// The snapshot that it reads, kept until Leave. Errors: kClosed; kCancelled (it has expired).
  Result<const Snapshot*> Enter() EXCLUDES(mutex_);
  void Leave() EXCLUDES(mutex_);
  /// From now on Enter fails. Does not wait: the snapshot is released by Leave if one is due.
  void Expire() EXCLUDES(mutex_);
  /// The same, as closed, and waits for Leave.
  void Close() EXCLUDES(mutex_);

  int64_t begun_micros() const { return begun_micros_; }  ///< By the monotonic clock.
  /// Its snapshot's sequence and time; nullopt: it is released.
  std::optional<std::pair<uint64_t, int64_t>> taken() const EXCLUDES(mutex_);

 private:
  const int64_t begun_micros_;
  Gate gate_;
  mutable base::Mutex mutex_;
  std::unique_ptr<const Snapshot> snapshot_ GUARDED_BY(mutex_);
  int entries_ GUARDED_BY(mutex_) = 0;  // Calls that are in it: a hook of one may make another.
  bool is_expired_ GUARDED_BY(mutex_) = false;
};

/// What a BulkLoad holds of the database, shared with the list so that it can be cut off.
class OpenLoad {
 public:
  explicit OpenLoad(std::unique_ptr<BulkLoader> loader);
  ~OpenLoad();
  Gate& gate() { return gate_; }
  /// Requires: the caller is inside the gate.
  BulkLoader& loader() { return *loader_; }
  const std::string& table() const { return table_; }
  /// From now on the gate is closed. Waits for those inside, and deletes what was not linked.
  void End();

 private:
  const std::string table_;
  Gate gate_;
  std::unique_ptr<BulkLoader> loader_;
};

/// Threads: any. Held by shared_ptr: handles keep it alive.
class OpenHandles : public std::enable_shared_from_this<OpenHandles> {
 public:
  explicit OpenHandles(std::shared_ptr<const base::ForkMark> fork_mark)
      : fork_mark_(std::move(fork_mark)) {}

  /// This process is a forked child of the one that opened the handles. Takes no lock.
  bool in_child() const { return fork_mark_->in_child(); }
  /// Counts the cursor while it lives. `table` is for the message of CheckNoneOpen.
  std::unique_ptr<OpenCursor> NewCursor(std::unique_ptr<RowSource> source, std::string_view table,
                                        CursorOrigin origin) EXCLUDES(mutex_);
  /// Lists the pin, which counts while it holds a row.
  std::unique_ptr<OpenPin> NewPin(std::string_view table) EXCLUDES(mutex_);
  std::unique_ptr<SnapshotState> NewSnapshot(SnapshotPoint point);
  /// Lists the transaction until EndTransaction. `snapshot` is of a point with own writes.
  std::shared_ptr<OpenTransaction> NewTransaction(Snapshot snapshot, int64_t begun_micros)
      EXCLUDES(mutex_);
  void EndTransaction(const std::shared_ptr<OpenTransaction>& open) EXCLUDES(mutex_);
  /// Expires those that began at that time or before. Returns when the oldest of the others began;
  /// nullopt: there is none.
  std::optional<int64_t> ExpireTransactions(int64_t begun_micros) EXCLUDES(mutex_);

  /// Lists the load until EndLoad.
  std::shared_ptr<OpenLoad> NewLoad(std::unique_ptr<BulkLoader> loader) EXCLUDES(mutex_);
  void EndLoad(const std::shared_ptr<OpenLoad>& open) EXCLUDES(mutex_);

  /// OK, or kBusy "2 cursors (of 'a', 'b') and 1 snapshot (of sequence 7) are open".
  Status CheckNoneOpen() const EXCLUDES(mutex_);
  /// A snapshot's sequence and the time at which it was taken.
  using Taken = std::pair<uint64_t, int64_t>;
  /// The open snapshots and those of transactions, the oldest first.
  std::vector<Taken> snapshots() const EXCLUDES(mutex_);
  /// Those of transactions alone.
  std::vector<Taken> transactions() const EXCLUDES(mutex_);
  /// The table of each open cursor and each pinned row, in order.
  std::vector<std::string> cursors() const EXCLUDES(mutex_);
  /// Releases what the open cursors hold and forgets all snapshots; waits for a Next that is
  /// running.
  void Invalidate() EXCLUDES(mutex_);

 private:
  friend struct SnapshotState;
  friend class OpenCursor;
  friend class OpenPin;

  std::unique_ptr<format::RowBatch> TakeBatch() EXCLUDES(mutex_);
  /// Does nothing if Invalidate has taken it off.
  void Unlist(OpenSource* open) REQUIRES(mutex_);

  // Batches kept for the next cursors: making one costs more than finding a row.
  static constexpr size_t kBatchesKept = 4;

  const std::shared_ptr<const base::ForkMark> fork_mark_;
  mutable base::Mutex mutex_;
  std::vector<std::unique_ptr<format::RowBatch>> batches_ GUARDED_BY(mutex_);
  /// In no order, so that a cursor comes and goes in constant time.
  std::vector<std::shared_ptr<OpenSource>> sources_ GUARDED_BY(mutex_);
  std::set<std::shared_ptr<PinSource>> pins_ GUARDED_BY(mutex_);
  std::set<std::shared_ptr<OpenTransaction>> transactions_ GUARDED_BY(mutex_);
  std::set<std::shared_ptr<OpenLoad>> loads_ GUARDED_BY(mutex_);
  /// The open snapshots but those of transactions; none after Invalidate.
  std::multiset<Taken> snapshots_ GUARDED_BY(mutex_);
};

inline bool OpenCursor::in_child() const { return handles_->in_child(); }
inline bool OpenPin::in_child() const { return handles_->in_child(); }

}  // namespace tandem::engine
