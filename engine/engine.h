// The engine behind tandem::Database: it wires storage, memstores, commit, background work and
// reads.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/predicate/key_ranges.h"
#include "engine/runtime/environment.h"
#include "tandem/advice.h"
#include "tandem/bulk_load.h"
#include "tandem/database.h"

namespace tandem::engine {

class BulkLoader;

/// See Database for the meaning of each call.
class Engine {
 public:
  /// `environment` outlives the engine.
  static Result<std::unique_ptr<Engine>> Open(const std::string& path, const Options& options,
                                              const Tuning& tuning, const Environment& environment);
  virtual ~Engine() = default;
  /// This process is a forked child of the one that opened the engine: nothing else of it may be
  /// called, nor may it be destroyed. Takes no lock.
  virtual bool in_child() const = 0;
  virtual Status Close() = 0;
  virtual Status CreateTable(const TableOptions& options) = 0;
  virtual Status DropTable(std::string_view table) = 0;
  virtual Status TruncateTable(std::string_view table) = 0;
  virtual Status RenameTable(std::string_view from, const std::string& to) = 0;
  virtual Status CreateIndex(std::string_view table, const IndexOptions& index) = 0;
  virtual Result<UniqueReport> EnforceUnique(std::string_view table, std::string_view index,
                                             const std::atomic<bool>* cancelled) = 0;
  virtual Status DropIndex(std::string_view table, std::string_view index) = 0;
  virtual Status SetColumnType(std::string_view table, const ColumnOptions& column) = 0;
  virtual Status SetRowKey(std::string_view table, std::string_view declaration) = 0;
  virtual Status ChangeRowKey(std::string_view table, std::string_view declaration) = 0;
  virtual Result<RowKeyEpochs> RowKeysOf(const ReadOptions& options, std::string_view table) = 0;
  virtual Result<std::string> KeyForWrite(const WriteOptions& options, std::string_view table,
                                          std::span<const RowKeyField> fields) = 0;
  virtual Result<CopyTableReport> CopyTable(std::string_view from, const std::string& to,
                                            const CopyTableOptions& options) = 0;
  virtual Result<RewriteKeysReport> RewriteKeys(std::string_view table,
                                                const RewriteKeysOptions& options) = 0;
  virtual Status AddFamily(std::string_view table, const FamilyOptions& family) = 0;
  virtual Status AlterFamily(std::string_view table, const FamilyOptions& family) = 0;
  virtual Status DropFamily(std::string_view table, std::string_view family) = 0;
  virtual Status SetObservers(std::string_view table, std::span<const std::string> observers) = 0;
  virtual Status Write(const WriteOptions& options, const WriteBatch& batch) = 0;
  virtual Result<std::vector<int64_t>> IncrementColumns(const WriteOptions& options,
                                                        std::string_view table,
                                                        std::string_view row,
                                                        std::string_view family,
                                                        std::span<const ColumnDelta> columns) = 0;
  virtual Result<std::vector<std::string>> AppendColumns(const WriteOptions& options,
                                                         std::string_view table,
                                                         std::string_view row,
                                                         std::string_view family,
                                                         std::span<const ColumnValue> columns) = 0;
  virtual Result<bool> CheckAndMutate(const WriteOptions& options, std::string_view table,
                                      std::string_view row, const Predicate& condition,
                                      const WriteBatch& batch) = 0;
  virtual Result<std::optional<Row>> Get(const ReadOptions&, std::string_view table,
                                         std::string_view row) = 0;
  virtual Result<bool> GetPinned(const ReadOptions&, std::string_view table, std::string_view row,
                                 PinnedRow* pinned) = 0;
  virtual Result<std::vector<std::optional<Row>>> MultiGet(
      const ReadOptions&, std::string_view table, std::span<const std::string_view> rows) = 0;
  virtual Result<Cursor> Scan(const ReadOptions&, std::string_view table, const ScanOptions&) = 0;
  virtual Result<Cursor> Query(const ReadOptions&, std::string_view table, const Predicate&,
                               const QueryOptions&) = 0;
  virtual Result<uint64_t> Count(const ReadOptions&, std::string_view table, const Predicate&,
                                 const QueryOptions&) = 0;
  virtual Result<Explanation> Explain(const ReadOptions&, std::string_view table, const Predicate&,
                                      const QueryOptions&) = 0;
  /// A row for each group: see engine/group/aggregate.h.
  virtual Result<Cursor> Aggregate(const ReadOptions&, std::string_view table, const Predicate&,
                                   const AggregateOptions&) = 0;
  virtual Result<Explanation> ExplainAggregate(const ReadOptions&, std::string_view table,
                                               const Predicate&, const AggregateOptions&) = 0;
  virtual Result<std::vector<RowRange>> SplitScan(const ReadOptions&, std::string_view table,
                                                  uint32_t parts) = 0;
  virtual Result<PreparedQuery> Prepare(std::string_view table, const Predicate&,
                                        const QueryOptions&) = 0;
  virtual Result<Cursor> Query(const ReadOptions&, PreparedQuery*) = 0;
  virtual Result<uint64_t> Count(const ReadOptions&, PreparedQuery*) = 0;
  virtual Result<Explanation> Explain(const ReadOptions&, PreparedQuery*) = 0;
  virtual Result<Snapshot> TakeSnapshot() = 0;
  virtual Status CreateSnapshot(const std::string& name,
                                const std::vector<std::string>& tables) = 0;
  virtual Result<Snapshot> OpenSnapshot(std::string_view name) = 0;
  virtual Status DropSnapshot(std::string_view name) = 0;
  virtual Result<std::vector<NamedSnapshotInfo>> ListSnapshots() = 0;
  virtual Status CreateSequence(const SequenceOptions& options) = 0;
  virtual Status DropSequence(std::string_view name) = 0;
  virtual Result<std::vector<SequenceInfo>> ListSequences() = 0;
  virtual Result<uint64_t> NextIds(std::string_view sequence, uint64_t count) = 0;
  virtual Result<BulkLoad> BeginBulkLoad(std::string_view table,
                                         const BulkLoadOptions& options) = 0;
  virtual Status AddToBulkLoad(const WriteBatch& batch, BulkLoader* loader) = 0;
  virtual Status CommitBulkLoad(BulkLoader* loader) = 0;
  virtual Result<std::unique_ptr<TransactionState>> BeginTransaction() = 0;
  /// Plans the batch, and adds it to what the transaction has written.
  virtual Status AddToTransaction(const Snapshot& snapshot, const WriteBatch& batch,
                                  TransactionState* state) = 0;
  /// Adds what the increments and appends of the batch make of the columns that the transaction
  /// sees, and returns the new values, those of increments as text. Does not note the rows as read.
  virtual Result<std::vector<std::string>> UpdateInTransaction(const Snapshot& snapshot,
                                                               const WriteBatch& batch,
                                                               TransactionState* state) = 0;
  /// The row keys that the conditions of the query on them leave, in the table as the snapshot of
  /// `options` sees it. Errors: those of Query.
  virtual Result<KeyRanges> RowsOfQuery(const ReadOptions& options, std::string_view table,
                                        const Predicate& predicate, const QueryOptions& query) = 0;
  /// kConflict if somebody else is known to have changed the row since.
  virtual Status CheckUnchanged(const Snapshot& snapshot, std::string_view table,
                                std::string_view row) = 0;
  virtual Status CommitTransaction(const WriteOptions& options, const Snapshot& snapshot,
                                   const TransactionState& state) = 0;
  /// Waits before the next attempt after a conflict, from attempt 1 on, for a random time.
  virtual void BackOff(uint32_t attempt) = 0;
  virtual Status Flush(std::string_view table) = 0;
  virtual Status Compact(std::string_view table) = 0;
  virtual Result<std::vector<CompactionPlan>> PlanCompaction(std::string_view table) = 0;
  virtual Result<SplitResult> Split(std::string_view table, const SplitOptions& options) = 0;
  virtual Result<RegionMergeResult> MergeRegions(std::string_view table,
                                                 const RegionMergeOptions& options) = 0;
  virtual Result<VerifyReport> Verify(bool deep) = 0;
  virtual Result<VerifyReport> VerifyIndex(std::string_view table, std::string_view index) = 0;
  virtual Result<IndexStatistics> GetIndexStatistics(std::string_view table, std::string_view index,
                                                     const std::atomic<bool>* cancelled) = 0;
  virtual Result<IndexAdvice> AdviseIndexes(std::string_view table,
                                            const std::vector<AdvisedQuery>& queries,
                                            const AdviseOptions& options) = 0;
  virtual Status Checkpoint(const std::string& path) = 0;
  virtual Result<BackupInfo> Backup(const std::string& directory) = 0;
  virtual Result<TableCopy> ExportFiles(std::string_view table, const std::string& path,
                                        const ExportFilesOptions& options) = 0;
  virtual Result<TableCopy> Attach(std::string_view table, const std::string& path,
                                   const AttachOptions& options) = 0;
  virtual Result<TableCopy> RestoreTable(const std::string& path, std::string_view table,
                                         const RestoreTableOptions& options) = 0;
  virtual Result<SpaceUsage> GetSpaceUsage(const SpaceOptions& options) = 0;
  virtual DatabaseInfo Info() = 0;
  virtual Statistics GetStatistics() = 0;
};

}  // namespace tandem::engine
