// A wrapper of an engine that runs something around every call, but not around its caller's own
// code.
#pragma once

#include <memory>
#include <utility>

#include "base/guarded.h"
#include "engine/engine.h"
#include "engine/transaction_state.h"

namespace tandem::reliability {

/// Threads: one.
class CallGuard {
 public:
  virtual ~CallGuard() = default;
  virtual void Begin() = 0;
  virtual void End() = 0;
};

/// Returns what `call` does; a failed allocation ends in it as at the edge of the API.
template <typename Call>
auto Within(CallGuard* guard, Call call) {
  if (guard == nullptr) return call();
  guard->Begin();
  auto result = engine::Guarded(call);
  guard->End();
  return result;
}

/// An engine with a guard around each call; Info and GetStatistics, which answer no error, go
/// without.
class GuardedEngine final : public engine::Engine {
 public:
  /// `guard` outlives it.
  GuardedEngine(std::unique_ptr<engine::Engine> engine, CallGuard* guard)
      : engine_(std::move(engine)), guard_(guard) {}

  bool in_child() const override { return engine_->in_child(); }
  Status Close() override {
    return Within(guard_, [&] { return engine_->Close(); });
  }
  Status CreateTable(const TableOptions& options) override {
    return Within(guard_, [&] { return engine_->CreateTable(options); });
  }
  Status DropTable(std::string_view table) override {
    return Within(guard_, [&] { return engine_->DropTable(table); });
  }
  Status TruncateTable(std::string_view table) override {
    return Within(guard_, [&] { return engine_->TruncateTable(table); });
  }
  Status RenameTable(std::string_view from, const std::string& to) override {
    return Within(guard_, [&] { return engine_->RenameTable(from, to); });
  }
  Status CreateIndex(std::string_view table, const IndexOptions& index) override {
    return Within(guard_, [&] { return engine_->CreateIndex(table, index); });
  }
  Result<UniqueReport> EnforceUnique(std::string_view table, std::string_view index,
                                     const std::atomic<bool>* cancelled) override {
    return Within(guard_, [&] { return engine_->EnforceUnique(table, index, cancelled); });
  }
  Status DropIndex(std::string_view table, std::string_view index) override {
    return Within(guard_, [&] { return engine_->DropIndex(table, index); });
  }
  Status SetColumnType(std::string_view table, const ColumnOptions& column) override {
    return Within(guard_, [&] { return engine_->SetColumnType(table, column); });
  }
  Status SetRowKey(std::string_view table, std::string_view declaration) override {
    return Within(guard_, [&] { return engine_->SetRowKey(table, declaration); });
  }
  Status ChangeRowKey(std::string_view table, std::string_view declaration) override {
    return Within(guard_, [&] { return engine_->ChangeRowKey(table, declaration); });
  }
  Result<RowKeyEpochs> RowKeysOf(const ReadOptions& options, std::string_view table) override {
    return Within(guard_, [&] { return engine_->RowKeysOf(options, table); });
  }
  Result<std::string> KeyForWrite(const WriteOptions& options, std::string_view table,
                                  std::span<const RowKeyField> fields) override {
    return Within(guard_, [&] { return engine_->KeyForWrite(options, table, fields); });
  }
  Result<RewriteKeysReport> RewriteKeys(std::string_view table,
                                        const RewriteKeysOptions& options) override {
    return Within(guard_, [&] { return engine_->RewriteKeys(table, options); });
  }
  Result<CopyTableReport> CopyTable(std::string_view from, const std::string& to,
                                    const CopyTableOptions& options) override {
    return Within(guard_, [&] { return engine_->CopyTable(from, to, options); });
  }
  Status AddFamily(std::string_view table, const FamilyOptions& family) override {
    return Within(guard_, [&] { return engine_->AddFamily(table, family); });
  }
  Status AlterFamily(std::string_view table, const FamilyOptions& family) override {
    return Within(guard_, [&] { return engine_->AlterFamily(table, family); });
  }
  Status DropFamily(std::string_view table, std::string_view family) override {
    return Within(guard_, [&] { return engine_->DropFamily(table, family); });
  }
  Status SetObservers(std::string_view table, std::span<const std::string> observers) override {
    return Within(guard_, [&] { return engine_->SetObservers(table, observers); });
  }
  Status Write(const WriteOptions& options, const WriteBatch& batch) override {
    return Within(guard_, [&] { return engine_->Write(options, batch); });
  }
  Result<std::vector<int64_t>> IncrementColumns(const WriteOptions& options, std::string_view table,
                                                std::string_view row, std::string_view family,
                                                std::span<const ColumnDelta> columns) override {
    return Within(guard_,
                  [&] { return engine_->IncrementColumns(options, table, row, family, columns); });
  }
  Result<std::vector<std::string>> AppendColumns(const WriteOptions& options,
                                                 std::string_view table, std::string_view row,
                                                 std::string_view family,
                                                 std::span<const ColumnValue> columns) override {
    return Within(guard_,
                  [&] { return engine_->AppendColumns(options, table, row, family, columns); });
  }
  Result<bool> CheckAndMutate(const WriteOptions& options, std::string_view table,
                              std::string_view row, const Predicate& condition,
                              const WriteBatch& batch) override {
    return Within(guard_,
                  [&] { return engine_->CheckAndMutate(options, table, row, condition, batch); });
  }
  Result<std::optional<Row>> Get(const ReadOptions& options, std::string_view table,
                                 std::string_view row) override {
    return Within(guard_, [&] { return engine_->Get(options, table, row); });
  }
  Result<bool> GetPinned(const ReadOptions& options, std::string_view table, std::string_view row,
                         PinnedRow* pinned) override {
    return Within(guard_, [&] { return engine_->GetPinned(options, table, row, pinned); });
  }
  Result<std::vector<std::optional<Row>>> MultiGet(
      const ReadOptions& options, std::string_view table,
      std::span<const std::string_view> rows) override {
    return Within(guard_, [&] { return engine_->MultiGet(options, table, rows); });
  }
  Result<Cursor> Scan(const ReadOptions& options, std::string_view table,
                      const ScanOptions& scan) override {
    return Within(guard_, [&] { return engine_->Scan(options, table, scan); });
  }
  Result<Cursor> Query(const ReadOptions& options, std::string_view table,
                       const Predicate& predicate, const QueryOptions& query) override {
    return Within(guard_, [&] { return engine_->Query(options, table, predicate, query); });
  }
  Result<uint64_t> Count(const ReadOptions& options, std::string_view table,
                         const Predicate& predicate, const QueryOptions& query) override {
    return Within(guard_, [&] { return engine_->Count(options, table, predicate, query); });
  }
  Result<Explanation> Explain(const ReadOptions& options, std::string_view table,
                              const Predicate& predicate, const QueryOptions& query) override {
    return Within(guard_, [&] { return engine_->Explain(options, table, predicate, query); });
  }
  Result<PreparedQuery> Prepare(std::string_view table, const Predicate& predicate,
                                const QueryOptions& query) override {
    return Within(guard_, [&] { return engine_->Prepare(table, predicate, query); });
  }
  Result<Cursor> Query(const ReadOptions& options, PreparedQuery* query) override {
    return Within(guard_, [&] { return engine_->Query(options, query); });
  }
  Result<uint64_t> Count(const ReadOptions& options, PreparedQuery* query) override {
    return Within(guard_, [&] { return engine_->Count(options, query); });
  }
  Result<Explanation> Explain(const ReadOptions& options, PreparedQuery* query) override {
    return Within(guard_, [&] { return engine_->Explain(options, query); });
  }
  // The load's calls go to the engine itself.
  Result<BulkLoad> BeginBulkLoad(std::string_view table, const BulkLoadOptions& options) override {
    return Within(guard_, [&] { return engine_->BeginBulkLoad(table, options); });
  }
  Status AddToBulkLoad(const WriteBatch& batch, engine::BulkLoader* loader) override {
    return Within(guard_, [&] { return engine_->AddToBulkLoad(batch, loader); });
  }
  Status CommitBulkLoad(engine::BulkLoader* loader) override {
    return Within(guard_, [&] { return engine_->CommitBulkLoad(loader); });
  }
  Result<std::unique_ptr<engine::TransactionState>> BeginTransaction() override {
    return Within(guard_, [&] { return engine_->BeginTransaction(); });
  }
  Status AddToTransaction(const Snapshot& snapshot, const WriteBatch& batch,
                          engine::TransactionState* state) override {
    return Within(guard_, [&] { return engine_->AddToTransaction(snapshot, batch, state); });
  }
  Result<std::vector<std::string>> UpdateInTransaction(const Snapshot& snapshot,
                                                       const WriteBatch& batch,
                                                       engine::TransactionState* state) override {
    return Within(guard_, [&] { return engine_->UpdateInTransaction(snapshot, batch, state); });
  }
  Status CheckUnchanged(const Snapshot& snapshot, std::string_view table,
                        std::string_view row) override {
    return Within(guard_, [&] { return engine_->CheckUnchanged(snapshot, table, row); });
  }
  Result<engine::KeyRanges> RowsOfQuery(const ReadOptions& options, std::string_view table,
                                        const Predicate& predicate,
                                        const QueryOptions& query) override {
    return Within(guard_, [&] { return engine_->RowsOfQuery(options, table, predicate, query); });
  }
  Status CommitTransaction(const WriteOptions& options, const Snapshot& snapshot,
                           const engine::TransactionState& state) override {
    return Within(guard_, [&] { return engine_->CommitTransaction(options, snapshot, state); });
  }
  void BackOff(uint32_t attempt) override { engine_->BackOff(attempt); }
  Result<Snapshot> TakeSnapshot() override {
    return Within(guard_, [&] { return engine_->TakeSnapshot(); });
  }
  Status CreateSnapshot(const std::string& name, const std::vector<std::string>& tables) override {
    return Within(guard_, [&] { return engine_->CreateSnapshot(name, tables); });
  }
  Result<Snapshot> OpenSnapshot(std::string_view name) override {
    return Within(guard_, [&] { return engine_->OpenSnapshot(name); });
  }
  Status DropSnapshot(std::string_view name) override {
    return Within(guard_, [&] { return engine_->DropSnapshot(name); });
  }
  Result<Cursor> Aggregate(const ReadOptions& options, std::string_view table,
                           const Predicate& predicate, const AggregateOptions& aggregate) override {
    return Within(guard_, [&] { return engine_->Aggregate(options, table, predicate, aggregate); });
  }
  Result<Explanation> ExplainAggregate(const ReadOptions& options, std::string_view table,
                                       const Predicate& predicate,
                                       const AggregateOptions& aggregate) override {
    return Within(guard_,
                  [&] { return engine_->ExplainAggregate(options, table, predicate, aggregate); });
  }
  Result<std::vector<RowRange>> SplitScan(const ReadOptions& options, std::string_view table,
                                          uint32_t parts) override {
    return Within(guard_, [&] { return engine_->SplitScan(options, table, parts); });
  }
  Status CreateSequence(const SequenceOptions& options) override {
    return Within(guard_, [&] { return engine_->CreateSequence(options); });
  }
  Status DropSequence(std::string_view name) override {
    return Within(guard_, [&] { return engine_->DropSequence(name); });
  }
  Result<std::vector<SequenceInfo>> ListSequences() override {
    return Within(guard_, [&] { return engine_->ListSequences(); });
  }
  Result<uint64_t> NextIds(std::string_view name, uint64_t count) override {
    return Within(guard_, [&] { return engine_->NextIds(name, count); });
  }
  Result<std::vector<NamedSnapshotInfo>> ListSnapshots() override {
    return Within(guard_, [&] { return engine_->ListSnapshots(); });
  }
  Status Flush(std::string_view table) override {
    return Within(guard_, [&] { return engine_->Flush(table); });
  }
  Status Compact(std::string_view table) override {
    return Within(guard_, [&] { return engine_->Compact(table); });
  }
  Result<std::vector<CompactionPlan>> PlanCompaction(std::string_view table) override {
    return Within(guard_, [&] { return engine_->PlanCompaction(table); });
  }
  Result<SplitResult> Split(std::string_view table, const SplitOptions& options) override {
    return Within(guard_, [&] { return engine_->Split(table, options); });
  }
  Result<RegionMergeResult> MergeRegions(std::string_view table,
                                         const RegionMergeOptions& options) override {
    return Within(guard_, [&] { return engine_->MergeRegions(table, options); });
  }
  Result<VerifyReport> Verify(bool deep) override {
    return Within(guard_, [&] { return engine_->Verify(deep); });
  }
  Result<VerifyReport> VerifyIndex(std::string_view table, std::string_view index) override {
    return Within(guard_, [&] { return engine_->VerifyIndex(table, index); });
  }
  Result<IndexAdvice> AdviseIndexes(std::string_view table,
                                    const std::vector<AdvisedQuery>& queries,
                                    const AdviseOptions& options) override {
    return Within(guard_, [&] { return engine_->AdviseIndexes(table, queries, options); });
  }
  Result<IndexStatistics> GetIndexStatistics(std::string_view table, std::string_view index,
                                             const std::atomic<bool>* cancelled) override {
    return Within(guard_, [&] { return engine_->GetIndexStatistics(table, index, cancelled); });
  }
  Status Checkpoint(const std::string& path) override {
    return Within(guard_, [&] { return engine_->Checkpoint(path); });
  }
  Result<BackupInfo> Backup(const std::string& directory) override {
    return Within(guard_, [&] { return engine_->Backup(directory); });
  }
  Result<TableCopy> ExportFiles(std::string_view table, const std::string& path,
                                const ExportFilesOptions& options) override {
    return Within(guard_, [&] { return engine_->ExportFiles(table, path, options); });
  }
  Result<TableCopy> Attach(std::string_view table, const std::string& path,
                           const AttachOptions& options) override {
    return Within(guard_, [&] { return engine_->Attach(table, path, options); });
  }
  Result<TableCopy> RestoreTable(const std::string& path, std::string_view table,
                                 const RestoreTableOptions& options) override {
    return Within(guard_, [&] { return engine_->RestoreTable(path, table, options); });
  }
  Result<SpaceUsage> GetSpaceUsage(const SpaceOptions& options) override {
    return Within(guard_, [&] { return engine_->GetSpaceUsage(options); });
  }
  DatabaseInfo Info() override { return engine_->Info(); }
  Statistics GetStatistics() override { return engine_->GetStatistics(); }

 private:
  const std::unique_ptr<engine::Engine> engine_;
  CallGuard* const guard_;
};

}  // namespace tandem::reliability
