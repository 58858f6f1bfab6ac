// The public classes. Each call goes to the engine; allocation failures become a Status here.
#include "tandem/database.h"

#include <algorithm>
#include <utility>

#include "base/guarded.h"
#include "base/status_macros.h"
#include "engine/default_environment.h"
#include "engine/engine.h"
#include "engine/open_handles.h"
#include "engine/transaction_state.h"
#include "tandem/bulk_load.h"
#include "tandem/transaction.h"

namespace tandem {

using engine::Guarded;

namespace {

Status ForkedChild() {
  return Status::Busy("this process is a forked child: the database is open in its parent");
}

// Runs a call of the API, except in a forked child, where a mutex may be locked forever by a thread
// that the child does not have.
template <typename Call>
auto Entered(const engine::Engine& engine, Call&& call) -> decltype(call()) {
  if (engine.in_child()) [[unlikely]]
    return Guarded(ForkedChild);
  return Guarded(std::forward<Call>(call));
}

// A forked child leaves what it inherited as it is.
void LeaveInChild(std::unique_ptr<engine::SnapshotState>* state) {
  if (*state != nullptr && (*state)->handles->in_child()) (void)state->release();
}
void LeaveInChild(std::unique_ptr<engine::OpenCursor>* open) {
  if (*open != nullptr && (*open)->in_child()) (void)open->release();
}
void LeaveInChild(std::unique_ptr<engine::OpenPin>* open) {
  if (*open != nullptr && (*open)->in_child()) (void)open->release();
}

}  // namespace

Snapshot::Snapshot(std::unique_ptr<engine::SnapshotState> state) : state_(std::move(state)) {}
Snapshot::Snapshot(Snapshot&&) noexcept = default;
Snapshot& Snapshot::operator=(Snapshot&& other) noexcept {
  LeaveInChild(&state_);
  state_ = std::move(other.state_);
  return *this;
}
Snapshot::~Snapshot() { LeaveInChild(&state_); }

uint64_t Snapshot::sequence() const { return state_->point.point().sequence.value; }

Cursor::Cursor(std::unique_ptr<engine::OpenCursor> open) : open_(std::move(open)) {}
Cursor::Cursor(Cursor&&) noexcept = default;
Cursor& Cursor::operator=(Cursor&& other) noexcept {
  LeaveInChild(&open_);
  open_ = std::move(other.open_);
  row_ = other.row_;
  status_ = std::move(other.status_);
  return *this;
}
Cursor::~Cursor() { LeaveInChild(&open_); }

bool Cursor::Next() {
  if (!status_.ok()) return false;
  if (open_->in_child()) [[unlikely]] {
    status_ = Guarded(ForkedChild);
    return false;
  }
  if (open_->NextOfBatch(&row_)) return true;
  const Result<bool> found = Guarded([this] { return open_->Next(&row_); });
  if (!found.has_value()) status_ = found.error();
  return found.has_value() && *found;
}

Result<std::string> Cursor::Token() const {
  return Guarded([this]() -> Result<std::string> {
    if (open_ == nullptr) return Status::Closed("the cursor was moved from");
    if (open_->in_child()) return ForkedChild();
    return open_->Token();
  });
}

bool Cursor::continues_exactly() const { return open_->continues_exactly(); }

bool GroupCursor::Next() {
  if (!rows_.Next()) return false;
  const std::span<const Cell> cells = rows_.row().cells();
  for (size_t i = 0; i < texts_.size(); ++i) {
    texts_[i] = cells[i].timestamp == 0 ? std::nullopt : std::optional(cells[i].value);
  }
  return true;
}

std::span<const std::optional<std::string_view>> GroupCursor::keys() const {
  return std::span(texts_).first(key_count_);
}

std::span<const std::optional<std::string_view>> GroupCursor::values() const {
  return std::span(texts_).subspan(key_count_);
}

PinnedRow::PinnedRow() noexcept = default;
PinnedRow::PinnedRow(PinnedRow&& other) noexcept
    : open_(std::move(other.open_)), view_(std::exchange(other.view_, {})) {}
PinnedRow& PinnedRow::operator=(PinnedRow&& other) noexcept {
  LeaveInChild(&open_);
  open_ = std::move(other.open_);
  view_ = std::exchange(other.view_, {});
  return *this;
}
PinnedRow::~PinnedRow() { LeaveInChild(&open_); }

void PinnedRow::Release() {
  view_ = {};
  LeaveInChild(&open_);
  if (open_ != nullptr) open_->Release();
}

Database::Database(std::unique_ptr<engine::Engine> engine) : engine_(std::move(engine)) {}
Database::~Database() {
  if (engine_->in_child()) (void)engine_.release();
}

Result<std::unique_ptr<Database>> Database::Open(const std::string& path, const Options& options) {
  return Guarded([&]() -> Result<std::unique_ptr<Database>> {
    ASSIGN_OR_RETURN(const engine::Environment environment, engine::DefaultEnvironment(options));
    ASSIGN_OR_RETURN(std::unique_ptr<engine::Engine> engine,
                     engine::Engine::Open(path, options, engine::TuningFor(options), environment));
    return std::unique_ptr<Database>(new Database(std::move(engine)));
  });
}

Status Database::Close() {
  return Entered(*engine_, [&] { return engine_->Close(); });
}

Status Database::CreateTable(const TableOptions& options) {
  return Entered(*engine_, [&] { return engine_->CreateTable(options); });
}

Status Database::DropTable(std::string_view table) {
  return Entered(*engine_, [&] { return engine_->DropTable(table); });
}

Status Database::TruncateTable(std::string_view table) {
  return Entered(*engine_, [&] { return engine_->TruncateTable(table); });
}

Status Database::RenameTable(std::string_view from, const std::string& to) {
  return Entered(*engine_, [&] { return engine_->RenameTable(from, to); });
}

Status Database::CreateIndex(std::string_view table, const IndexOptions& index) {
  return Entered(*engine_, [&] { return engine_->CreateIndex(table, index); });
}

Result<UniqueReport> Database::EnforceUnique(std::string_view table, std::string_view index,
                                             const std::atomic<bool>* cancelled) {
  return Entered(*engine_, [&] { return engine_->EnforceUnique(table, index, cancelled); });
}

Status Database::DropIndex(std::string_view table, std::string_view index) {
  return Entered(*engine_, [&] { return engine_->DropIndex(table, index); });
}

Status Database::SetColumnType(std::string_view table, const ColumnOptions& column) {
  return Entered(*engine_, [&] { return engine_->SetColumnType(table, column); });
}

Status Database::SetRowKey(std::string_view table, std::string_view declaration) {
  return Entered(*engine_, [&] { return engine_->SetRowKey(table, declaration); });
}

Status Database::ChangeRowKey(std::string_view table, std::string_view declaration) {
  return Entered(*engine_, [&] { return engine_->ChangeRowKey(table, declaration); });
}

Result<RowKeyEpochs> Database::RowKeysOf(const ReadOptions& options, std::string_view table) {
  return Entered(*engine_, [&] { return engine_->RowKeysOf(options, table); });
}

Result<std::string> Database::KeyForWrite(const WriteOptions& options, std::string_view table,
                                          std::span<const RowKeyField> fields) {
  return Entered(*engine_, [&] { return engine_->KeyForWrite(options, table, fields); });
}

Result<CopyTableReport> Database::CopyTable(std::string_view from, const std::string& to,
                                            const CopyTableOptions& options) {
  return Entered(*engine_, [&] { return engine_->CopyTable(from, to, options); });
}

Result<RewriteKeysReport> Database::RewriteKeys(std::string_view table,
                                                const RewriteKeysOptions& options) {
  return Entered(*engine_, [&] { return engine_->RewriteKeys(table, options); });
}

Status Database::AddFamily(std::string_view table, const FamilyOptions& family) {
  return Entered(*engine_, [&] { return engine_->AddFamily(table, family); });
}

Status Database::AlterFamily(std::string_view table, const FamilyOptions& family) {
  return Entered(*engine_, [&] { return engine_->AlterFamily(table, family); });
}

Status Database::DropFamily(std::string_view table, std::string_view family) {
  return Entered(*engine_, [&] { return engine_->DropFamily(table, family); });
}

Status Database::SetObservers(std::string_view table, std::span<const std::string> observers) {
  return Entered(*engine_, [&] { return engine_->SetObservers(table, observers); });
}

Result<std::vector<CompactionPlan>> Database::PlanCompaction(std::string_view table) {
  return Entered(*engine_, [&] { return engine_->PlanCompaction(table); });
}

Result<SplitResult> Database::Split(std::string_view table, const SplitOptions& options) {
  return Entered(*engine_, [&] { return engine_->Split(table, options); });
}

Result<RegionMergeResult> Database::MergeRegions(std::string_view table,
                                                 const RegionMergeOptions& options) {
  return Entered(*engine_, [&] { return engine_->MergeRegions(table, options); });
}

Status Database::Write(const WriteOptions& options, const WriteBatch& batch) {
  return Entered(*engine_, [&] { return engine_->Write(options, batch); });
}

Result<int64_t> Database::Increment(const WriteOptions& options, std::string_view table,
                                    std::string_view row, std::string_view family,
                                    std::string_view qualifier, int64_t delta) {
  const ColumnDelta column{.qualifier = qualifier, .delta = delta};
  return Entered(*engine_, [&]() -> Result<int64_t> {
    ASSIGN_OR_RETURN(const std::vector<int64_t> sums,
                     engine_->IncrementColumns(options, table, row, family, {&column, 1}));
    return sums.front();
  });
}

Result<std::vector<int64_t>> Database::IncrementColumns(const WriteOptions& options,
                                                        std::string_view table,
                                                        std::string_view row,
                                                        std::string_view family,
                                                        std::span<const ColumnDelta> columns) {
  return Entered(*engine_,
                 [&] { return engine_->IncrementColumns(options, table, row, family, columns); });
}

Result<std::string> Database::Append(const WriteOptions& options, std::string_view table,
                                     std::string_view row, std::string_view family,
                                     std::string_view qualifier, std::string_view value) {
  const ColumnValue column{.qualifier = qualifier, .value = value};
  return Entered(*engine_, [&]() -> Result<std::string> {
    ASSIGN_OR_RETURN(std::vector<std::string> values,
                     engine_->AppendColumns(options, table, row, family, {&column, 1}));
    return std::move(values.front());
  });
}

Result<std::vector<std::string>> Database::AppendColumns(const WriteOptions& options,
                                                         std::string_view table,
                                                         std::string_view row,
                                                         std::string_view family,
                                                         std::span<const ColumnValue> columns) {
  return Entered(*engine_,
                 [&] { return engine_->AppendColumns(options, table, row, family, columns); });
}

Result<bool> Database::CheckAndMutate(const WriteOptions& options, std::string_view table,
                                      std::string_view row, const Predicate& condition,
                                      const WriteBatch& batch) {
  return Entered(*engine_,
                 [&] { return engine_->CheckAndMutate(options, table, row, condition, batch); });
}

Result<std::optional<Row>> Database::Get(const ReadOptions& options, std::string_view table,
                                         std::string_view row) {
  return Entered(*engine_, [&] { return engine_->Get(options, table, row); });
}

Result<bool> Database::GetPinned(const ReadOptions& options, std::string_view table,
                                 std::string_view row, PinnedRow* pinned) {
  pinned->view_ = {};
  LeaveInChild(&pinned->open_);
  return Entered(*engine_, [&] { return engine_->GetPinned(options, table, row, pinned); });
}

Result<std::vector<std::optional<Row>>> Database::MultiGet(const ReadOptions& options,
                                                           std::string_view table,
                                                           std::span<const std::string_view> rows) {
  return Entered(*engine_, [&] { return engine_->MultiGet(options, table, rows); });
}

Result<Cursor> Database::Scan(const ReadOptions& options, std::string_view table,
                              const ScanOptions& scan) {
  return Entered(*engine_, [&] { return engine_->Scan(options, table, scan); });
}

Result<Cursor> Database::Query(const ReadOptions& options, std::string_view table,
                               const Predicate& predicate, const QueryOptions& query) {
  return Entered(*engine_, [&] { return engine_->Query(options, table, predicate, query); });
}

Result<uint64_t> Database::Count(const ReadOptions& options, std::string_view table,
                                 const Predicate& predicate, const QueryOptions& query) {
  return Entered(*engine_, [&] { return engine_->Count(options, table, predicate, query); });
}

Result<Explanation> Database::Explain(const ReadOptions& options, std::string_view table,
                                      const Predicate& predicate, const QueryOptions& query) {
  return Entered(*engine_, [&] { return engine_->Explain(options, table, predicate, query); });
}

Result<GroupCursor> Database::Aggregate(const ReadOptions& options, std::string_view table,
                                        const Predicate& predicate,
                                        const AggregateOptions& aggregate) {
  return Entered(*engine_, [&]() -> Result<GroupCursor> {
    ASSIGN_OR_RETURN(Cursor rows, engine_->Aggregate(options, table, predicate, aggregate));
    GroupCursor groups(std::move(rows), aggregate.group_by.size());
    groups.texts_.resize(aggregate.group_by.size() + aggregate.values.size());
    return groups;
  });
}

Result<Explanation> Database::ExplainAggregate(const ReadOptions& options, std::string_view table,
                                               const Predicate& predicate,
                                               const AggregateOptions& aggregate) {
  return Entered(*engine_,
                 [&] { return engine_->ExplainAggregate(options, table, predicate, aggregate); });
}

// The versions come newest first, in pieces where they are many.
Result<std::vector<HistoryValue>> Database::History(const ReadOptions& options,
                                                    std::string_view table, std::string_view row,
                                                    const ColumnName& column) {
  return Entered(*engine_, [&]() -> Result<std::vector<HistoryValue>> {
    ReadOptions read = options;
    read.columns = {column};
    read.families.clear();
    read.versions = UINT32_MAX;
    read.pieces = true;
    ScanOptions scan;
    scan.start = row;
    scan.end = scan.start + '\0';
    ASSIGN_OR_RETURN(Cursor cursor, engine_->Scan(read, table, scan));
    std::vector<HistoryValue> values;
    while (cursor.Next()) {
      for (const Cell& cell : cursor.row().cells()) {
        HistoryValue& value = values.emplace_back();
        value.from = cell.timestamp;
        if (values.size() > 1) value.to = values[values.size() - 2].from;
        value.value = cell.value;
      }
    }
    RETURN_IF_ERROR(cursor.status());
    std::ranges::reverse(values);
    return values;
  });
}

Result<std::vector<RowRange>> Database::SplitScan(const ReadOptions& options,
                                                  std::string_view table, uint32_t parts) {
  return Entered(*engine_, [&] { return engine_->SplitScan(options, table, parts); });
}

Result<PreparedQuery> Database::Prepare(std::string_view table, const Predicate& predicate,
                                        const QueryOptions& query) {
  return Entered(*engine_, [&] { return engine_->Prepare(table, predicate, query); });
}

Result<Cursor> Database::Query(const ReadOptions& options, PreparedQuery* query) {
  return Entered(*engine_, [&] { return engine_->Query(options, query); });
}

Result<uint64_t> Database::Count(const ReadOptions& options, PreparedQuery* query) {
  return Entered(*engine_, [&] { return engine_->Count(options, query); });
}

Result<Explanation> Database::Explain(const ReadOptions& options, PreparedQuery* query) {
  return Entered(*engine_, [&] { return engine_->Explain(options, query); });
}

Result<BulkLoad> Database::BeginBulkLoad(std::string_view table, const BulkLoadOptions& options) {
  return Entered(*engine_, [&] { return engine_->BeginBulkLoad(table, options); });
}

Result<Transaction> Database::Begin(const TransactionOptions& options) {
  return Entered(*engine_, [&] { return engine::TransactionState::Begin(engine_.get(), options); });
}

Status Database::Transact(const std::function<Status(Transaction&)>& body,
                          const TransactOptions& options) {
  if (options.attempts_max == 0) {
    return Guarded([] { return Status::InvalidArgument("attempts_max is 0, expected 1 or more"); });
  }
  for (uint32_t attempt = 1;; ++attempt) {
    Result<Transaction> transaction = Begin(options.transaction);
    if (!transaction.has_value()) return transaction.error();
    Status status = body(*transaction);
    if (status.ok()) status = transaction->Commit(options.write);
    const bool is_over = status.code() != StatusCode::kConflict || attempt == options.attempts_max;
    if (is_over) return status;
    transaction->Rollback();
    engine_->BackOff(attempt);
  }
}

Result<Snapshot> Database::TakeSnapshot() {
  return Entered(*engine_, [&] { return engine_->TakeSnapshot(); });
}

Status Database::CreateSnapshot(const std::string& name, const std::vector<std::string>& tables) {
  return Entered(*engine_, [&] { return engine_->CreateSnapshot(name, tables); });
}

Status Database::CreateSequence(const SequenceOptions& options) {
  return Entered(*engine_, [&] { return engine_->CreateSequence(options); });
}

Status Database::DropSequence(std::string_view name) {
  return Entered(*engine_, [&] { return engine_->DropSequence(name); });
}

Result<std::vector<SequenceInfo>> Database::ListSequences() {
  return Entered(*engine_, [&] { return engine_->ListSequences(); });
}

Result<uint64_t> Database::NextIds(std::string_view sequence, uint64_t count) {
  return Entered(*engine_, [&] { return engine_->NextIds(sequence, count); });
}

Result<Snapshot> Database::OpenSnapshot(std::string_view name) {
  return Entered(*engine_, [&] { return engine_->OpenSnapshot(name); });
}

Status Database::DropSnapshot(std::string_view name) {
  return Entered(*engine_, [&] { return engine_->DropSnapshot(name); });
}

Result<std::vector<NamedSnapshotInfo>> Database::ListSnapshots() {
  return Entered(*engine_, [&] { return engine_->ListSnapshots(); });
}

Status Database::Flush(std::string_view table) {
  return Entered(*engine_, [&] { return engine_->Flush(table); });
}

Status Database::Compact(std::string_view table) {
  return Entered(*engine_, [&] { return engine_->Compact(table); });
}

Result<VerifyReport> Database::Verify(bool deep) {
  return Entered(*engine_, [&] { return engine_->Verify(deep); });
}

Result<VerifyReport> Database::VerifyIndex(std::string_view table, std::string_view index) {
  return Entered(*engine_, [&] { return engine_->VerifyIndex(table, index); });
}

Result<IndexAdvice> Database::AdviseIndexes(std::string_view table,
                                            const std::vector<AdvisedQuery>& queries,
                                            const AdviseOptions& options) {
  return Entered(*engine_, [&] { return engine_->AdviseIndexes(table, queries, options); });
}

Result<IndexStatistics> Database::GetIndexStatistics(std::string_view table, std::string_view index,
                                                     const std::atomic<bool>* cancelled) {
  return Entered(*engine_, [&] { return engine_->GetIndexStatistics(table, index, cancelled); });
}

Status Database::Checkpoint(const std::string& path) {
  return Entered(*engine_, [&] { return engine_->Checkpoint(path); });
}

Result<BackupInfo> Database::Backup(const std::string& directory) {
  return Entered(*engine_, [&] { return engine_->Backup(directory); });
}

Result<TableCopy> Database::ExportFiles(std::string_view table, const std::string& path,
                                        const ExportFilesOptions& options) {
  return Entered(*engine_, [&] { return engine_->ExportFiles(table, path, options); });
}

Result<TableCopy> Database::Attach(std::string_view table, const std::string& path,
                                   const AttachOptions& options) {
  return Entered(*engine_, [&] { return engine_->Attach(table, path, options); });
}

Result<TableCopy> Database::RestoreTable(const std::string& path, std::string_view table,
                                         const RestoreTableOptions& options) {
  return Entered(*engine_, [&] { return engine_->RestoreTable(path, table, options); });
}

Result<DatabaseInfo> Database::Info() {
  return Entered(*engine_, [&]() -> Result<DatabaseInfo> { return engine_->Info(); });
}

Result<SpaceUsage> Database::GetSpaceUsage(const SpaceOptions& options) {
  return Entered(*engine_, [&] { return engine_->GetSpaceUsage(options); });
}

Statistics Database::GetStatistics() {
  return engine_->in_child() ? Statistics() : engine_->GetStatistics();
}

}  // namespace tandem
