// Wires the engine's components, each a class in a file of its own: their dependencies, the order
// of construction and destruction, and the calls of the API.
//
// Locks. Two kinds, with one rule each.
//
// Mutexes guard memory and are leaves: while one is held, no other is taken, no I/O is done and no
// user's code is called. They are, from the writer's end to the reader's:
//   1. WriteThrottle      writers that wait for flushes; WriteStops, those that wait for a copy
//   2. CommitQueue        the queue of writers
//   3. CatalogEditor      whose turn it is
//   4. RegionSet          the tables' names
//   5. Region             its version, its turns
//   6. Flusher, Compactor, MergeSpace, OverlapWorker, SegmentTracker, Health; of the Monitor
//      WriteWaits and RunningJobs
//   7. SnapshotRegistry   registered sequences; StoreFiles, NamedSnapshots: what is open;
//      Sequences          ids that are reserved
//   8. OpenHandles, Gate  cursors, calls and jobs that are inside
//
// Turns are flags that one thread holds across I/O. A holder takes only later ones; of two regions
// that are merged, first the left one's, then the right one's of the same kind:
//   1. a region's overlaps turn, or its compaction turn
//   2. a region's flush turn
//   3. leadership of the commit queue (log and active memstores); a sequence's turn to reserve ids
//   4. the catalog editor's turn (manifest)
//   5. the storage's own turn
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/call_gate.h"
#include "base/fork_mark.h"
#include "base/mutex.h"
#include "engine/commit/applier.h"
#include "engine/commit/commit_queue.h"
#include "engine/commit/group_log.h"
#include "engine/commit/write_stops.h"
#include "engine/commit/write_throttle.h"
#include "engine/engine.h"
#include "engine/group/aggregate.h"
#include "engine/jobs/bulk_loader.h"
#include "engine/jobs/compactor.h"
#include "engine/jobs/flush.h"
#include "engine/jobs/index_builder.h"
#include "engine/jobs/overlap_builder.h"
#include "engine/jobs/region_merger.h"
#include "engine/jobs/schema_editor.h"
#include "engine/jobs/snapshot_editor.h"
#include "engine/jobs/splitter.h"
#include "engine/maintenance.h"
#include "engine/observer/observed_write.h"
#include "engine/open_handles.h"
#include "engine/query/reader.h"
#include "engine/recovery.h"
#include "engine/region/hot_regions.h"
#include "engine/region/named_snapshots.h"
#include "engine/region/snapshots.h"
#include "engine/runtime/background.h"
#include "engine/runtime/health.h"
#include "engine/runtime/monitor.h"
#include "engine/runtime/observers.h"
#include "engine/runtime/read_threads.h"
#include "engine/runtime/time_source.h"
#include "engine/scan/merged_scan.h"
#include "engine/storage/catalog_editor.h"
#include "engine/storage/sequences.h"
#include "engine/verify/scrub.h"
#include "engine/verify/view.h"
#include "engine/write_call.h"

namespace tandem::engine {

class EngineImpl final : public Engine {
 public:
  EngineImpl(const std::string& path, const Options& options, const Tuning& tuning,
             const Environment& environment, std::shared_ptr<const base::ForkMark> fork_mark);
  ~EngineImpl() override;
  /// Recovers the database and starts background work.
  Status Start();

  bool in_child() const override { return fork_mark_->in_child(); }
  Status Close() override;
  Status CreateTable(const TableOptions& options) override;
  Status DropTable(std::string_view table) override;
  Status TruncateTable(std::string_view table) override;
  Status RenameTable(std::string_view from, const std::string& to) override;
  Status CreateIndex(std::string_view table, const IndexOptions& index) override;
  Result<UniqueReport> EnforceUnique(std::string_view table, std::string_view index,
                                     const std::atomic<bool>* cancelled) override;
  Status DropIndex(std::string_view table, std::string_view index) override;
  Status SetColumnType(std::string_view table, const ColumnOptions& column) override;
  Status SetRowKey(std::string_view table, std::string_view declaration) override;
  Status ChangeRowKey(std::string_view table, std::string_view declaration) override;
  Result<RowKeyEpochs> RowKeysOf(const ReadOptions& options, std::string_view table) override;
  Result<std::string> KeyForWrite(const WriteOptions& options, std::string_view table,
                                  std::span<const RowKeyField> fields) override;
  Result<RewriteKeysReport> RewriteKeys(std::string_view table,
                                        const RewriteKeysOptions& options) override;
  Result<CopyTableReport> CopyTable(std::string_view from, const std::string& to,
                                    const CopyTableOptions& options) override;
  Status AddFamily(std::string_view table, const FamilyOptions& family) override;
  Status AlterFamily(std::string_view table, const FamilyOptions& family) override;
  Status DropFamily(std::string_view table, std::string_view family) override;
  Status SetObservers(std::string_view table, std::span<const std::string> observers) override;
  Status Write(const WriteOptions& options, const WriteBatch& batch) override;
  Result<std::vector<int64_t>> IncrementColumns(const WriteOptions& options, std::string_view table,
                                                std::string_view row, std::string_view family,
                                                std::span<const ColumnDelta> columns) override;
  Result<std::vector<std::string>> AppendColumns(const WriteOptions& options,
                                                 std::string_view table, std::string_view row,
                                                 std::string_view family,
                                                 std::span<const ColumnValue> columns) override;
  Result<bool> CheckAndMutate(const WriteOptions& options, std::string_view table,
                              std::string_view row, const Predicate& condition,
                              const WriteBatch& batch) override;
  Result<std::optional<Row>> Get(const ReadOptions& options, std::string_view table,
                                 std::string_view row) override;
  Result<bool> GetPinned(const ReadOptions& options, std::string_view table, std::string_view row,
                         PinnedRow* pinned) override;
  Result<std::vector<std::optional<Row>>> MultiGet(const ReadOptions& options,
                                                   std::string_view table,
                                                   std::span<const std::string_view> rows) override;
  Result<Cursor> Scan(const ReadOptions& options, std::string_view table,
                      const ScanOptions& scan) override;
  Result<Cursor> Query(const ReadOptions& options, std::string_view table,
                       const Predicate& predicate, const QueryOptions& query) override;
  Result<uint64_t> Count(const ReadOptions& options, std::string_view table,
                         const Predicate& predicate, const QueryOptions& query) override;
  Result<Explanation> Explain(const ReadOptions& options, std::string_view table,
                              const Predicate& predicate, const QueryOptions& query) override;
  Result<Cursor> Aggregate(const ReadOptions& options, std::string_view table,
                           const Predicate& predicate, const AggregateOptions& aggregate) override;
  Result<Explanation> ExplainAggregate(const ReadOptions& options, std::string_view table,
                                       const Predicate& predicate,
                                       const AggregateOptions& aggregate) override;
  Result<std::vector<RowRange>> SplitScan(const ReadOptions& options, std::string_view table,
                                          uint32_t parts) override;
  Result<PreparedQuery> Prepare(std::string_view table, const Predicate& predicate,
                                const QueryOptions& query) override;
  Result<Cursor> Query(const ReadOptions& options, PreparedQuery* query) override;
  Result<uint64_t> Count(const ReadOptions& options, PreparedQuery* query) override;
  Result<Explanation> Explain(const ReadOptions& options, PreparedQuery* query) override;
  Result<Snapshot> TakeSnapshot() override;
  Status CreateSnapshot(const std::string& name, const std::vector<std::string>& tables) override;
  Result<Snapshot> OpenSnapshot(std::string_view name) override;
  Status DropSnapshot(std::string_view name) override;
  Result<std::vector<NamedSnapshotInfo>> ListSnapshots() override;
  Status CreateSequence(const SequenceOptions& options) override;
  Status DropSequence(std::string_view name) override;
  Result<std::vector<SequenceInfo>> ListSequences() override;
  Result<uint64_t> NextIds(std::string_view sequence, uint64_t count) override;
  Result<BulkLoad> BeginBulkLoad(std::string_view table, const BulkLoadOptions& options) override;
  Status AddToBulkLoad(const WriteBatch& batch, BulkLoader* loader) override;
  Status CommitBulkLoad(BulkLoader* loader) override;
  Result<std::unique_ptr<TransactionState>> BeginTransaction() override;
  Status AddToTransaction(const Snapshot& snapshot, const WriteBatch& batch,
                          TransactionState* state) override;
  Result<std::vector<std::string>> UpdateInTransaction(const Snapshot& snapshot,
                                                       const WriteBatch& batch,
                                                       TransactionState* state) override;
  Status CheckUnchanged(const Snapshot& snapshot, std::string_view table,
                        std::string_view row) override;
  Result<KeyRanges> RowsOfQuery(const ReadOptions& options, std::string_view table,
                                const Predicate& predicate, const QueryOptions& query) override;
  Status CommitTransaction(const WriteOptions& options, const Snapshot& snapshot,
                           const TransactionState& state) override;
  void BackOff(uint32_t attempt) override;
  Status Flush(std::string_view table) override;
  Status Compact(std::string_view table) override;
  Result<std::vector<CompactionPlan>> PlanCompaction(std::string_view table) override;
  Result<SplitResult> Split(std::string_view table, const SplitOptions& options) override;
  Result<RegionMergeResult> MergeRegions(std::string_view table,
                                         const RegionMergeOptions& options) override;
  Result<VerifyReport> Verify(bool deep) override;
  Result<VerifyReport> VerifyIndex(std::string_view table, std::string_view index) override;
  Result<IndexStatistics> GetIndexStatistics(std::string_view table, std::string_view index,
                                             const std::atomic<bool>* cancelled) override;
  Result<IndexAdvice> AdviseIndexes(std::string_view table,
                                    const std::vector<AdvisedQuery>& queries,
                                    const AdviseOptions& options) override;
  Status Checkpoint(const std::string& path) override;
  Result<BackupInfo> Backup(const std::string& directory) override;
  Result<TableCopy> ExportFiles(std::string_view table, const std::string& path,
                                const ExportFilesOptions& options) override;
  Result<TableCopy> Attach(std::string_view table, const std::string& path,
                           const AttachOptions& options) override;
  Result<TableCopy> RestoreTable(const std::string& path, std::string_view table,
                                 const RestoreTableOptions& options) override;
  Result<SpaceUsage> GetSpaceUsage(const SpaceOptions& options) override;
  DatabaseInfo Info() override;
  Statistics GetStatistics() override;

 private:
  // engine_impl.cc
  /// What a call after Close returns.
  static Status Closed();
  bool HasGlobalIndexes() const;
  void BuildComponents();
  void BuildCommitQueue();
  void BuildMaintenance();
  void BuildCompactor(const FileWork& work);
  void BuildSchemaEditor();
  void BuildLoadWork(const FileWork& files);
  void SectionBroken(const format::StoreFile& file, const format::BrokenSection& broken);
  Status CreateTableAlone(format::TableRecord record, const std::vector<std::string>& starts);
  Result<std::vector<std::shared_ptr<Region>>> RegionsOf(std::string_view table);
  Status FlushTable(std::string_view table);
  Status FlushAllOf(Region& region);
  Status FlushEverything();
  Status PrepareClose();
  /// `*closed`: it is, cleanly or not.
  Status Close(bool* closed);
  void MergeLittle();
  Status SealLog();
  void ForgetStop(const Table* table);
  Status CommitCounters();
  Status SyncLog();
  Status ChangeTable(std::string_view table,
                     const std::function<Status(format::TableRecord*)>& change);
  Status KeepTime();
  void ReportClock();
  void Shutdown();

  // writes.cc
  using MakePlan = std::function<Result<WritePlan>(const WriteBatch&)>;
  /// `make_plan` gets the batch as the observers of its tables have left it.
  template <typename Function>
  Result<Written> WritePlanned(const WriteCall& call, const Function& make_plan) {
    // A function that refers to the callable has no copy of it to allocate.
    const MakePlan by_reference = std::cref(make_plan);
    return WritePlanned(call, by_reference);
  }
  Result<Written> WritePlanned(const WriteCall& call, const MakePlan& make_plan);
  Result<Written> WriteAsPlanned(const WriteCall& call, const MakePlan& make_plan, RowsRead* rows);
  /// Writes increments or appends, and returns the first `count` new values.
  Result<std::vector<std::string>> WriteForValues(const WriteOptions& options,
                                                  const WriteBatch& batch, size_t count);

  // unique_indexes.cc
  struct UniqueTarget;
  Result<UniqueTarget> FindUnique(std::string_view table, std::string_view index) const;
  Status SetUniqueState(const UniqueTarget& target, format::IndexState state);
  Result<UniqueReport> CheckAllRows(const UniqueTarget& target, const std::atomic<bool>* cancelled);

  // row_key_calls.cc
  Status CheckNewLeads(const format::TableRecord& before, const format::TableRecord& after);
  struct RowMove;
  struct KeyRewrite;
  struct KeyStep;
  Status MoveRows(const WriteOptions& options, const format::TableRecord& table,
                  std::span<const RowMove> moves, RewriteKeysReport* report);
  Result<size_t> MoveSome(const WriteOptions& options, const format::TableRecord& table,
                          std::span<const RowMove> moves, RewriteKeysReport* report);
  Result<std::optional<KeyRewrite>> BeginRewrite(std::string_view table);
  Status PassOverKeys(const KeyRewrite& rewrite, const RewriteKeysOptions& options,
                      RewriteKeysReport* report);
  Result<KeyStep> TakeKeyStep(const KeyRewrite& rewrite, const std::string& start,
                              const RewriteKeysOptions& options, RewriteKeysReport* report);
  Result<std::optional<uint64_t>> CloseRowKeys(const KeyRewrite& rewrite);

  // copy_table.cc
  class TableCopier;

  // global_indexes.cc
  enum class RegionsOfQuery : uint8_t { kSome, kAll };
  std::optional<TableView> PinEntries(format::TableId id, const SnapshotPoint& point,
                                      const KeyRanges& ranges, bool is_present);
  Result<std::shared_ptr<const GlobalRows>> AskGlobal(const Table& table,
                                                      const SnapshotPoint& point,
                                                      const QueryRequest& request);
  /// Of the regions that may have rows of the query, or of all; sets `request->global`.
  Result<TableView> ViewOf(std::string_view table, QueryRequest* request,
                           RegionsOfQuery which = RegionsOfQuery::kSome);
  Status VerifyGlobalIndex(std::string_view table, std::string_view index, VerifyReport* report);
  IndexStatistics StatisticsOfGlobal(const format::TableRecord& table,
                                     const format::GlobalIndexRecord& global) const;
  void BuildGlobalIndexes();
  Result<int64_t> BuildSomeEntries();
  Result<int64_t> BuildEntries(const Table& table, const format::GlobalIndexRecord& global);
  /// Empty: nothing has hindered the build.
  std::string WhyNotBuilt(format::TableId entries) const;
  Result<std::optional<std::vector<std::string>>> RowsToBuild(
      std::string_view name, const format::GlobalIndexRecord& global, const std::string& first,
      std::optional<std::string>* next);

  // observed_calls.cc
  bool IsObserved(const format::TableRecord& table) const {
    return !observers_.empty() && !table.observers.empty() && !observers_.IsInHook();
  }
  ObserverList ObserversOf(std::string_view table) const;
  /// Those of the view's table. Lets go of what the view pins, since hooks may take long.
  template <typename View>
  ObserverList TakeObservers(View* view) const {
    ObserverList observers = observers_.Of(*view->table);
    *view = View();
    return observers;
  }
  /// Asks the observers of the table before a call that they may refuse. `ask` gets one, and the
  /// table's name.
  Status AskOf(std::string_view table, std::string_view hook,
               const std::function<Status(Observer&, std::string_view)>& ask) const;
  Status AskBeforeCompact(std::string_view table) const;
  Result<WritePlan> PlanObserved(const WriteCall& call, const MakePlan& make_plan, RowsRead* rows,
                                 std::optional<ObservedWrite>* observed);
  Result<std::optional<Row>> GetForHook(const ReadOptions& options, std::string_view table,
                                        std::string_view row, RowsRead* rows);
  Result<std::optional<Row>> GetObserved(const ReadOptions& options, std::string_view table,
                                         std::string_view row, const ObserverList& observers);
  Result<bool> GetPinnedObserved(const ReadOptions& options, std::string_view table,
                                 std::string_view row, const ObserverList& observers,
                                 PinnedRow* pinned);
  Result<std::vector<std::optional<Row>>> MultiGetObserved(const ReadOptions& options,
                                                           std::string_view table,
                                                           std::span<const std::string_view> rows,
                                                           const ObserverList& observers);
  Result<Cursor> ScanObserved(const ReadOptions& options, std::string_view table,
                              const ScanOptions& scan, const ObserverList& observers);
  Result<std::unique_ptr<RowSource>> FilteredQuery(const QueryRequest& request,
                                                   const ObserverList& observers, TableView* view);
  Result<Cursor> QueryObserved(std::string_view table, QueryRequest request,
                               const ObserverList& observers);
  Result<uint64_t> CountObserved(std::string_view table, QueryRequest request,
                                 const ObserverList& observers);
  Result<Cursor> AggregateObserved(std::string_view table, QueryRequest request, GroupSpec spec,
                                   const ObserverList& observers);

  // transactions.cc
  void ExpireTransactions();
  Status CheckTable(const SnapshotPoint& point, std::string_view table);
  Status AddChecks(RowsRead* rows, WritePlan* plan);
  Result<WritePlan> PlanInTransaction(const SnapshotPoint& point, const WriteBatch& batch);

  // transaction_writes.cc
  Status MakeOwnWrites(const SnapshotPoint& point, TransactionState* state);
  Status AddWrites(const SnapshotPoint& point, const WriteBatch& batch, TransactionState* state);
  Status AddPlanned(const SnapshotPoint& point, const WritePlan& plan, TransactionState* state);

  // info.cc
  FilesInfo OpenFiles() const;

  // space_usage.cc
  std::shared_ptr<const format::TableRecord> NamedByIndex(const format::TableRecord& entries) const;
  Result<std::vector<TableView>> PinTables();
  Status FinishOverlaps(const SpaceOptions& options);
  Status MeasureRegions(const std::vector<TableView>& tables, const SpaceOptions& options,
                        SpaceUsage* usage);

  // named_snapshots.cc
  std::vector<NamedSnapshotInfo> DescribeSnapshots();
  Status VerifySnapshots(VerifyRun* run);
  Result<Snapshot> OpenNamed(const std::string& name);

  // copies.cc
  Result<PinnedStore> PinStore();
  Result<PinnedStore> PinStoreAlone();

  // table_copies.cc
  /// Another database, opened inside a call of this one.
  struct Nested;
  struct TableRows;
  Result<Nested> OpenNested(const std::string& path, const Options& options,
                            std::unique_ptr<base::FileSystem> view);
  Result<Nested> OpenSource(const std::string& path, uint64_t backup);
  Status VerifyFiles(format::TableId table, const std::atomic<bool>* cancelled);
  Result<TableOptions> DefinitionOf(const ReadOptions& options, std::string_view table,
                                    format::TableRecord* record);
  Result<format::TableId> ReserveTableId();
  /// Names of unique indexes that the rows of a new table were not checked for.
  using UncheckedIndexes = std::set<std::string>;
  /// `source`: the record that the options were made of.
  Result<TableCopy> LoadNewTable(const TableOptions& options, const format::TableRecord& source,
                                 const UncheckedIndexes& unchecked, TableRows* rows);
  Result<TableCopy> LoadTable(const std::shared_ptr<const Table>& table, TableRows* rows);
  static Result<TableCopy> LoadRows(TableRows* rows, bool checks_values, LoadFiles* files);

  // reads.cc
  std::unique_ptr<QueryWatch> WatchOf(std::string_view call, std::string_view table,
                                      const QueryRequest& request);
  static void EndCall(std::unique_ptr<QueryWatch> watch, Result<Cursor>* cursor);
  static void EndCall(std::unique_ptr<QueryWatch> watch, Result<uint64_t>* count);
  /// Runs a query or count, `run(QueryWatch*)`, and counts its time and reads. `watch` may be null.
  template <typename Answer, typename Run>
  static Result<Answer> Watched(std::unique_ptr<QueryWatch> watch, QueryRequest* request,
                                const Run& run);
  /// What a query was asked for, prepared or not.
  struct Question {
    std::string_view table;
    const Predicate& predicate;
    const QueryOptions& query;
    const ParameterValues* values = nullptr;
    std::shared_ptr<const PreparedLookup>* lookup = nullptr;
    std::string_view asked = {};
  };
  static Question QuestionOf(PreparedState* state);
  /// Lifetime: that of the arguments.
  static QueryRequest RequestOf(const Question& question, const ReadResources& resources,
                                const ExpressionRead& read);
  Result<Cursor> Query(const ReadOptions& options, const Question& question);
  Result<uint64_t> Count(const ReadOptions& options, const Question& question);
  Result<Explanation> Explain(const ReadOptions& options, const Question& question);
  Result<Cursor> RunQuery(std::string_view table, QueryRequest* request);
  Result<uint64_t> RunCount(std::string_view table, QueryRequest* request);
  void LookForHotRegions(int64_t now_micros) {
    if (hot_regions_ != nullptr) hot_regions_->Tick(now_micros);
  }
  Result<std::shared_ptr<const Table>> TableAt(const SchemaHistory::Pin* schema,
                                               std::string_view name,
                                               std::shared_ptr<const FormerTable>* former) const;
  /// The table at the snapshot, with the regions that `regions_of` chooses of it.
  template <typename Chooser>
  static Result<TableView> PinNamed(OpenNamedSnapshot& snapshot, std::string_view table,
                                    const Chooser& regions_of);
  /// The table with the regions that `regions_of` chooses of a const Table&, by the schema of the
  /// point, or the present one, and with a transaction's own writes.
  template <typename Chooser>
  Result<TableView> PinRegionsOf(std::string_view table, const SnapshotPoint& point,
                                 const Chooser& regions_of);
  SnapshotPoint TakePoint();
  Result<SnapshotPoint> PointOf(const Snapshot& snapshot) const;
  Result<std::optional<Row>> GetAt(const SnapshotPoint& point, const ReadOptions& options,
                                   std::string_view table, std::string_view row);
  Result<TableView> ViewOfRows(const ReadOptions& options, std::string_view table,
                               std::span<const std::string_view> rows);
  /// The regions of a scan; none of them, with `*are_many`, if they are to be pinned in parts.
  Result<TableView> ViewOfScan(const ReadOptions& options, std::string_view table,
                               const ScanOptions& scan, bool* are_many);
  /// See Splitter::Dependencies.
  Result<std::optional<std::string>> LiveMiddleOf(const Region& region);
  /// A scan that was begun: of the rows after its token, or before it.
  struct ScanCall {
    ScanOptions scan;
    TableView view;
    bool are_many = false;   ///< See ViewOfScan.
    bool is_merged = false;  ///< Its rows are `leads`, which are merged.
    std::vector<LeadRows> leads = {};
    CursorOrigin origin;
  };
  Result<ScanCall> BeginScan(const ReadOptions& options, std::string_view table,
                             const ScanOptions& scan);
  Result<ScanCall> BeginMergedScan(const ReadOptions& options, std::string_view table,
                                   const ScanOptions& scan);
  /// `request->from` will point into `*origin`, which outlives the use of the request.
  Status BeginQuery(const TableView& view, TokenUse use, QueryRequest* request,
                    CursorOrigin* origin);
  /// A call of Aggregate, or of its explanation, that was begun.
  struct GroupCall {
    ReadOptions read;
    QueryOptions query;
    GroupSpec spec;
    TableView view;
    CursorOrigin origin;
    std::shared_ptr<const GlobalRows> global = {};
  };
  Result<GroupCall> BeginGroups(const ReadOptions& options, std::string_view table,
                                const Predicate& predicate, const AggregateOptions& aggregate);
  Result<std::unique_ptr<RowSource>> OpenScan(const ReadOptions& options, std::string_view table,
                                              ScanCall* call);
  Result<Cursor> ScanStored(const ReadOptions& options, std::string_view table,
                            const ScanOptions& scan);
  Result<std::unique_ptr<RowSource>> ScanManyRegions(const ReadOptions& options,
                                                     std::string_view table, ScanCall* call);
  Result<RegionView> ViewOfRow(const ReadOptions& options, std::string_view table,
                               std::string_view row);
  /// `*taken` (may be null) is the point while the regions are chosen; it is registered.
  template <typename Chooser>
  Result<TableView> ViewOfRegions(const ReadOptions& options, std::string_view name,
                                  const Chooser& regions_of, const SnapshotPoint** taken = nullptr);
  /// Of all regions.
  Result<TableView> ViewOf(const ReadOptions& options, std::string_view table);
  /// nullopt: it was dropped.
  Result<std::optional<TableView>> ViewOf(format::TableId id);
  Result<Cursor> NewCursor(Result<std::unique_ptr<RowSource>> source, std::string_view table,
                           CursorOrigin origin);
  /// Of a call: with threads that help where it may have some.
  ReadResources read_resources(const ReadOptions& options) const;
  /// Errors: kInvalidArgument (the number of threads).
  static Status CheckThreads(const ReadOptions& options);
  ReadResources read_resources() const {
    return {.file_system = environment_.file_system,
            .cache_bytes = tuning_.block_cache_bytes,
            .memory = database_.memory.get(),
            .overlap_memory = overlaps_->memstore_memory(),
            .index_reads = index_reads_.get(),
            .read_buffer_bytes = tuning_.read_buffer_bytes,
            .hit_rows_first = tuning_.hit_rows_first,
            .hit_bytes = tuning_.hit_bytes,
            .clock = environment_.clock,
            .functions = &options_.functions};
  }

  const std::string path_;
  const Options options_;
  const Tuning tuning_;
  const Environment environment_;
  const std::unique_ptr<base::Executor> read_threads_;  // Null: jobs are all the executor's.
  const std::shared_ptr<const base::ForkMark> fork_mark_;

  const Observers observers_;
  Monitor monitor_;
  const std::unique_ptr<IndexReads> index_reads_ = std::make_unique<IndexReads>();
  Health health_;
  TimeSource time_;
  const std::shared_ptr<SnapshotRegistry> snapshots_;
  const std::shared_ptr<OpenHandles> handles_;
  format::DatabaseId database_id_;
  Gate calls_;  // Every call of the API is inside; Close waits for them.
  std::unique_ptr<BackgroundJobs> jobs_;

  // Created by Start; empty before it and after Close.
  RecoveredDatabase database_;
  std::shared_ptr<SchemaHistory> history_;  // Of its regions; pins may outlive both.
  std::shared_ptr<NamedSnapshots> named_snapshots_;
  SegmentTracker segments_;
  std::unique_ptr<GroupLog> log_;
  std::unique_ptr<GroupApplier> applier_;
  std::unique_ptr<CatalogEditor> editor_;
  std::unique_ptr<Sequences> sequences_;
  std::unique_ptr<HotRegions> hot_regions_;  // Null: nobody would hear of them.
  std::unique_ptr<CommitQueue> queue_;
  std::unique_ptr<Flusher> flusher_;
  std::unique_ptr<IndexBuilder> index_builder_;
  std::unique_ptr<MergePace> merge_pace_;
  std::unique_ptr<Compactor> compactor_;
  std::unique_ptr<OverlapWorker> overlaps_;
  std::unique_ptr<WriteThrottle> gate_;
  WriteStops write_stops_{environment_.clock};
  std::unique_ptr<Splitter> splitter_;
  std::unique_ptr<RegionMerger> region_merger_;
  std::unique_ptr<SchemaEditor> schema_;
  std::unique_ptr<LoadWork> load_work_;
  std::unique_ptr<SnapshotEditor> snapshot_editor_;
  std::unique_ptr<Maintenance> maintenance_;
  std::unique_ptr<Scrubber> scrubber_;
  std::unique_ptr<BackgroundTask> transaction_limit_;
  std::atomic<bool> limit_is_due_{false};  // It is scheduled; sequentially consistent.
  bool is_open_ = false;                   // Set by Start, cleared by Close when no call is inside.
  std::atomic<bool> clock_reported_{false};  // As doubted, or behind; sequentially consistent.
  std::unique_ptr<BackgroundTask> global_builds_;
  std::atomic<bool> builds_global_{false};  // One run at a time; acquire and release around it.
  /// Of the run: rows before `next` have the entries that they need in the table `entries`.
  struct GlobalPosition {
    format::TableId entries = {};
    std::string next = {};
  };
  GlobalPosition global_position_;
  /// Why a row cannot have an entry of an index, which is not built then, by the table of its
  /// entries.
  mutable base::Mutex global_failures_mutex_;
  std::map<format::TableId, std::string> global_failures_ GUARDED_BY(global_failures_mutex_);
  std::atomic<bool> checks_unique_{false};  // EnforceUnique runs; acquire and release around it.
  std::atomic<bool> closing_{false};  // A Close runs or is done; acquire and release around it.
};

}  // namespace tandem::engine
