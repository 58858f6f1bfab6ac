// CopyTable: a table's rows under row keys of another design, in a new table, while the first one
// takes writes (docs/decisions/0069-a-copy-catches-up-with-its-table.md).
//   1. All rows at a snapshot come by a bulk load.
//   2. A pass takes the next snapshot and copies the rows that were written between the two. The
//      content of both tables is compared after the first one; what a later one writes, it reads
//      again.
//   3. When a pass has taken little of the time that writes may wait, they wait during the next
//      one, and nothing is written after its snapshot. If it takes too long, it was not the last.
//   4. The log is synced, and the program switches over.
// A row is copied as it is at the snapshot of the pass: it replaces the row of the copy, by one
// batch. So it does not matter if a pass copies a row that is as it was, or ends early. Cells may
// expire meanwhile, so rows of both tables are compared at one time, that of an open snapshot.
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/cancellation.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/commit/range_checks.h"
#include "engine/create_table.h"
#include "engine/engine_impl.h"
#include "engine/query/reader.h"
#include "engine/read/row_content.h"
#include "engine/row_key_record.h"
#include "engine/scan/changed_rows.h"
#include "tandem/bulk_load.h"
#include "tandem/row_key.h"

namespace tandem::engine {
namespace {

constexpr uint64_t kBatchBytes = 1 << 20;
constexpr size_t kKeysPerStep = 256;
constexpr uint32_t kPassesMax = 64;
// Writes wait for a pass when the one before took less than this part of what they may wait.
constexpr int64_t kLastPassPart = 4;
constexpr int64_t kBackOffMicros = 10'000;
constexpr int64_t kDelayMicrosMin = 100;
constexpr int64_t kDelayMicrosMax = 100'000;

Result<RowKeyEpochs> KeysAs(const format::TableRecord& table, const std::string& declaration) {
  if (!declaration.empty()) return RowKeyEpochs::Parse(declaration);
  if (!table.row_key.empty()) return KeysOf(table);
  return Status::InvalidArgument("the row keys of table " + base::Quote(table.name) +
                                 " are bytes; from_row_key says what fields they are made of");
}

Status CheckSameFields(const RowKeySchema& from, const RowKeySchema& to) {
  const std::vector<std::string> from_fields = from.fields(), to_fields = to.fields();
  if (std::set(from_fields.begin(), from_fields.end()) ==
      std::set(to_fields.begin(), to_fields.end())) {
    return {};
  }
  return Status::InvalidArgument("row keys " + from.ToString() + " and " + to.ToString() +
                                 " have different fields: rows would be lost, or have no key");
}

// Whether a row of both means the same: former row keys may be gone, indexes may be others.
bool ShowSameCells(const format::TableRecord& a, const format::TableRecord& b) {
  const auto is_same = [](const format::FamilyRecord& x, const format::FamilyRecord& y) {
    return x.id == y.id && x.dropped == y.dropped && x.options.name == y.options.name &&
           x.options.max_versions == y.options.max_versions &&
           x.options.ttl_micros == y.options.ttl_micros;
  };
  return a.id == b.id && a.name == b.name && a.row_key == b.row_key &&
         a.last_limits_change() == b.last_limits_change() &&
         std::equal(a.families.begin(), a.families.end(), b.families.begin(), b.families.end(),
                    is_same);
}

Status DiffersFrom(const std::string& to, const RowContent& copy, const RowContent& table) {
  return Status::Corruption("the copy " + base::Quote(to) + " has " + std::to_string(copy.rows) +
                            " rows and " + std::to_string(copy.cells) + " cells of " +
                            std::to_string(table.rows) + " and " + std::to_string(table.cells) +
                            ", or others: it was dropped");
}

// Delays writes of a table that outrun its copy.
class Pace {
 public:
  Pace(WriteStops* stops, format::TableId table) : stops_(stops), table_(table) {}
  ~Pace() { stops_->Delay(table_, 0); }
  Pace(const Pace&) = delete;
  Pace& operator=(const Pace&) = delete;

  /// A pass took so long. It should take half as long as the one before.
  void Passed(int64_t micros) {
    if (micros > micros_before_ / 2) {
      delay_ = std::clamp<int64_t>(2 * delay_, kDelayMicrosMin, kDelayMicrosMax);
      stops_->Delay(table_, delay_);
    }
    micros_before_ = micros;
  }

 private:
  WriteStops* const stops_;
  const format::TableId table_;
  int64_t micros_before_ = std::numeric_limits<int64_t>::max();
  int64_t delay_ = 0;
};

// Writes of a table wait while it lives.
class Stop {
 public:
  Stop(WriteStops* stops, format::TableId table)
      : stops_(stops), table_(table), holds_(stops->Stop(table)) {}
  ~Stop() {
    if (holds_) stops_->Release(table_, verdict_);
  }
  Stop(const Stop&) = delete;
  Stop& operator=(const Stop&) = delete;

  /// False: something else has stopped the table.
  bool holds() const { return holds_; }
  /// What has waited returns `verdict`, and so does what comes later.
  void Refuse(Status verdict) { verdict_ = std::move(verdict); }

 private:
  WriteStops* const stops_;
  const format::TableId table_;
  const bool holds_;
  Status verdict_;
};

}  // namespace

/// One copy. Threads: one at a time.
class EngineImpl::TableCopier {
 public:
  TableCopier(EngineImpl* engine, std::string_view from, const std::string& to,
              const CopyTableOptions& options)
      : engine_(*engine), from_(from), to_(to), options_(options), cancelled_(options.cancelled) {}

  Status Run();
  CopyTableReport report() const {
    return {.rows = content_.rows,
            .cells = content_.cells,
            .digest = content_.digest,
            .passes = passes_,
            .changed_rows = changed_rows_,
            .wait_micros = wait_micros_};
  }

 private:
  // Rows of the copy may take a value of a unique index from each other, so all that change go
  // before the first one comes.
  enum class Phase : uint8_t { kRemove, kReplace };
  struct WrittenRow {
    std::string key;
    std::vector<RowKeyField> fields;
    RowContent content;  // Of no row: it has to be absent.
  };

  Status Prepare();
  Status Fill();
  Status Load(const Snapshot& snapshot);
  Status AddUniqueIndexes();
  Status CatchUp();
  Result<bool> LastPass();
  Status Pass(const base::Cancellation& cancellation);
  Status PassOver(Phase phase, const Snapshot& snapshot, const base::Cancellation& cancellation);
  Status CopyRows(Phase phase, const Snapshot& snapshot, std::span<const std::string> keys);
  Status CopyRow(Phase phase, const Snapshot& snapshot, const std::string& key);
  Status WriteRows(const Snapshot& snapshot);
  Result<std::optional<Row>> RowOfTable(const Snapshot& snapshot,
                                        std::span<const RowKeyField> fields);
  Result<std::optional<Row>> RowOfCopy(const Snapshot& snapshot, const std::string& key);
  Status CompareAll();
  Result<RowContent> ContentOfTable(const Snapshot& snapshot);
  Result<RowContent> ContentOfCopy(const Snapshot& snapshot);
  Status CheckUnchangedTable() const;
  Result<std::vector<RowKeyField>> FieldsOf(std::string_view key) const;
  int64_t Now() const { return engine_.environment_.clock->MonotonicMicros(); }

  EngineImpl& engine_;
  const std::string from_, to_;
  const CopyTableOptions& options_;
  const std::atomic<bool>* cancelled_;                // Null: the program has switched over.
  std::shared_ptr<const format::TableRecord> table_;  // As it was at first.
  TableOptions definition_;                           // Of the copy, without its unique indexes.
  std::vector<IndexOptions> unique_;                  // Those.
  std::vector<RowKeyEpochs> keys_;                    // Of the table and of the copy.
  bool expires_ = false;                              // Some cells do.
  std::optional<Snapshot> snapshot_;                  // What the copy has is as of it, or later.
  std::vector<Snapshot> unfinished_;                  // Of passes since that ended early.
  RowContent content_;                                // Of the copy, as long as nothing expires.
  RowContent pending_;                                // What the batch changes of it.
  WriteBatch batch_;                                  // For the copy,
  std::vector<WrittenRow> written_;                   // and its rows.
  uint32_t passes_ = 0;
  uint64_t changed_rows_ = 0;
  int64_t pass_micros_ = 0;  // Of the last one that ended.
  int64_t wait_micros_ = 0;
  bool no_wait_ = false;  // For the copy's own writes: those of the table wait for them.
};

Status EngineImpl::TableCopier::Run() {
  RETURN_IF_ERROR(Prepare());
  RETURN_IF_ERROR(engine_.CreateTable(definition_));
  const Status status = Fill();
  if (!status.ok()) engine_.DropTable(to_).Ignore("the error of the copy is the one to tell");
  RETURN_IF_ERROR(status);
  cancelled_ = nullptr;
  if (!expires_) return {};
  // The program has moved over: an error would say that it has not.
  const Result<RowContent> content = ContentOfTable(*snapshot_);
  if (content.has_value()) content_ = *content;
  return {};
}

Status EngineImpl::TableCopier::Prepare() {
  const std::shared_ptr<const Table> table = engine_.database_.regions->Find(from_);
  if (table == nullptr) return TableNotFound(from_);
  if (engine_.database_.regions->Find(to_) != nullptr) return TableExists(to_);
  if (options_.wait_micros_max <= 0) {
    return Status::InvalidArgument("wait_micros_max is " +
                                   std::to_string(options_.wait_micros_max) +
                                   ", but the last pass takes some time");
  }
  table_ = table->record;
  if (engine_.write_stops_.IsStopped(table_->id)) {
    return Status::Busy("writers of table " + base::Quote(from_) +
                        " move over to another copy, or have moved");
  }
  ASSIGN_OR_RETURN(RowKeyEpochs from_keys, KeysAs(*table_, options_.from_row_key));
  keys_.push_back(std::move(from_keys));
  ASSIGN_OR_RETURN(RowKeyEpochs to_keys, RowKeyEpochs::Parse(options_.row_key));
  keys_.push_back(std::move(to_keys));
  RETURN_IF_ERROR(CheckSameFields(keys_[0].newest(), keys_[1].newest()));
  expires_ = std::ranges::any_of(table_->families, [](const format::FamilyRecord& family) {
    return family.options.ttl_micros > 0;
  });
  definition_ = OptionsOf(*table_);
  definition_.name = to_;
  definition_.row_key = keys_[1].newest().ToString();
  definition_.former_row_keys.clear();
  definition_.split_keys.clear();
  definition_.observers.clear();
  std::vector<IndexOptions> others;
  for (IndexOptions& index : definition_.indexes) {
    (index.unique ? unique_ : others).push_back(std::move(index));
  }
  definition_.indexes = std::move(others);
  return {};
}

Status EngineImpl::TableCopier::Fill() {
  ASSIGN_OR_RETURN(snapshot_, engine_.TakeSnapshot());
  RETURN_IF_ERROR(Load(*snapshot_));
  RETURN_IF_ERROR(AddUniqueIndexes());
  RETURN_IF_ERROR(Pass(base::Cancellation(cancelled_)));
  RETURN_IF_ERROR(CompareAll());
  return CatchUp();
}

Status EngineImpl::TableCopier::CompareAll() {
  ASSIGN_OR_RETURN(const RowContent copy, ContentOfCopy(*snapshot_));
  if (!expires_ && copy != content_) return DiffersFrom(to_, copy, content_);
  ASSIGN_OR_RETURN(const RowContent table, ContentOfTable(*snapshot_));
  return copy == table ? Status() : DiffersFrom(to_, copy, table);
}

Result<std::vector<RowKeyField>> EngineImpl::TableCopier::FieldsOf(std::string_view key) const {
  Result<std::vector<RowKeyField>> fields = keys_[0].Decode(key);
  if (fields.has_value()) return fields;
  return Status::InvalidArgument(std::string(fields.error().message()) + "; nothing was copied");
}

Status EngineImpl::TableCopier::Load(const Snapshot& snapshot) {
  ReadOptions read = WholeRows();
  read.snapshot = &snapshot;
  read.cancelled = cancelled_;
  ASSIGN_OR_RETURN(Cursor rows, engine_.ScanStored(read, from_, {}));
  ASSIGN_OR_RETURN(BulkLoad load, engine_.BeginBulkLoad(to_, {.any_order = true}));
  WriteBatch batch;
  while (rows.Next()) {
    ASSIGN_OR_RETURN(const std::vector<RowKeyField> fields, FieldsOf(rows.row().key()));
    ASSIGN_OR_RETURN(const std::string key, keys_[1].newest().Encode(fields));
    content_ += ContentOf(fields, rows.row());
    AddPuts(to_, key, rows.row(), &batch);
    if (batch.size_bytes() < kBatchBytes) continue;
    RETURN_IF_ERROR(load.Add(batch));
    batch.Clear();
  }
  RETURN_IF_ERROR(rows.status());
  RETURN_IF_ERROR(load.Add(batch));
  return load.Commit();
}

// A bulk load asks no unique index, so they come after it and look at all rows.
Status EngineImpl::TableCopier::AddUniqueIndexes() {
  for (const IndexOptions& index : unique_) {
    RETURN_IF_ERROR(engine_.CreateIndex(to_, index));
    RETURN_IF_ERROR(engine_.Compact(to_));
    ASSIGN_OR_RETURN(const UniqueReport report, engine_.EnforceUnique(to_, index.name, cancelled_));
    if (report.duplicates == 0) continue;
    return Status::AlreadyExists("unique index " + base::Quote(index.name) + ": " +
                                 std::to_string(report.duplicates) +
                                 " rows have a value that another has");
  }
  return {};
}

Status EngineImpl::TableCopier::CatchUp() {
  Pace pace(&engine_.write_stops_, table_->id);
  while (passes_ < kPassesMax) {
    pace.Passed(pass_micros_);
    if (pass_micros_ < options_.wait_micros_max / kLastPassPart) {
      ASSIGN_OR_RETURN(const bool is_done, LastPass());
      if (is_done) return {};
      engine_.environment_.clock->SleepMicros(kBackOffMicros);
    }
    RETURN_IF_ERROR(Pass(base::Cancellation(cancelled_)));
  }
  return Status::Busy("table " + base::Quote(from_) + " takes writes faster than its copy: " +
                      std::to_string(passes_) + " passes did not catch up");
}

Status EngineImpl::TableCopier::CheckUnchangedTable() const {
  const std::shared_ptr<const Table> table = engine_.database_.regions->Find(from_);
  if (table != nullptr && ShowSameCells(*table_, *table->record)) return {};
  return Status::Conflict("table " + base::Quote(from_) +
                          " was dropped, renamed, or got other families or row keys while it was "
                          "copied");
}

// False: it took too long. Writes go on then.
Result<bool> EngineImpl::TableCopier::LastPass() {
  Status moved =
      Status::Conflict("table " + base::Quote(from_) + " was copied to " + base::Quote(to_) +
                       ", and its writers moved over: this write was not made");
  const int64_t begun = Now();
  Stop stop(&engine_.write_stops_, table_->id);
  if (!stop.holds()) return false;  // Another copy of the table is made.
  RETURN_IF_ERROR(engine_.queue_->RunAlone([this] {
    engine_.database_.regions->CountChange();
    return Status();
  }));
  const base::Cancellation cancellation(cancelled_, engine_.environment_.clock,
                                        options_.wait_micros_max);
  const auto is_late = [&] { return Now() - begun > options_.wait_micros_max; };
  no_wait_ = true;
  const Status passed = Pass(cancellation);
  no_wait_ = false;
  if (passed.code() == StatusCode::kBusy) return false;  // Its writes would have to wait.
  if (passed.code() == StatusCode::kOverBudget && is_late()) return false;
  RETURN_IF_ERROR(passed);
  RETURN_IF_ERROR(engine_.queue_->SyncThrough(engine_.queue_->last_sequence()));
  if (is_late()) return false;
  RETURN_IF_ERROR(CheckUnchangedTable());
  wait_micros_ = Now() - begun;
  if (options_.switch_over == nullptr) return true;
  RETURN_IF_ERROR(options_.switch_over());
  stop.Refuse(std::move(moved));
  return true;
}

// Raises what the copy is as of to a new snapshot. If it ends early, the copy has rows as of that
// one, which stays registered until a pass has ended: a flush could leave out that they changed
// again.
Status EngineImpl::TableCopier::Pass(const base::Cancellation& cancellation) {
  const int64_t begun = Now();
  ++passes_;
  batch_.Clear();
  written_.clear();
  pending_ = {};
  RETURN_IF_ERROR(CheckUnchangedTable());
  ASSIGN_OR_RETURN(Snapshot snapshot, engine_.TakeSnapshot());
  Status status;
  if (!unique_.empty()) status = PassOver(Phase::kRemove, snapshot, cancellation);
  if (status.ok()) status = PassOver(Phase::kReplace, snapshot, cancellation);
  if (status.ok()) status = CheckUnchangedTable();
  if (!status.ok()) {
    unfinished_.push_back(std::move(snapshot));
    return status;
  }
  snapshot_.emplace(std::move(snapshot));
  unfinished_.clear();
  pass_micros_ = Now() - begun;
  return {};
}

// Region by region, each with the memstores and files that it has by then.
Status EngineImpl::TableCopier::PassOver(Phase phase, const Snapshot& snapshot,
                                         const base::Cancellation& cancellation) {
  ASSIGN_OR_RETURN(const SnapshotPoint before, engine_.PointOf(*snapshot_));
  ReadOptions read;
  read.snapshot = &snapshot;
  std::string start;
  do {
    const std::string_view first = start;
    ASSIGN_OR_RETURN(const TableView view,
                     engine_.ViewOfRows(read, from_, std::span(&first, size_t{1})));
    ChangedRows rows(view.RegionOf(start), before.point().sequence, cancellation);
    std::vector<std::string> keys;
    bool has_row = true;
    while (has_row) {
      ASSIGN_OR_RETURN(has_row, rows.Next());
      if (has_row) keys.emplace_back(rows.key());
      if (has_row && keys.size() < kKeysPerStep) continue;
      RETURN_IF_ERROR(CopyRows(phase, snapshot, keys));
      RETURN_IF_ERROR(cancellation.Check());
      keys.clear();
    }
    start = view.RegionOf(start).region->end_key;
  } while (!start.empty());
  return {};
}

Status EngineImpl::TableCopier::CopyRows(Phase phase, const Snapshot& snapshot,
                                         std::span<const std::string> keys) {
  for (const std::string& key : keys) {
    RETURN_IF_ERROR(CopyRow(phase, snapshot, key));
    if (batch_.size_bytes() >= kBatchBytes) RETURN_IF_ERROR(WriteRows(snapshot));
  }
  return WriteRows(snapshot);
}

Status EngineImpl::TableCopier::CopyRow(Phase phase, const Snapshot& snapshot,
                                        const std::string& key) {
  WrittenRow copy;
  ASSIGN_OR_RETURN(copy.fields, FieldsOf(key));
  ASSIGN_OR_RETURN(copy.key, keys_[1].newest().Encode(copy.fields));
  ASSIGN_OR_RETURN(const std::optional<Row> row, RowOfTable(snapshot, copy.fields));
  ASSIGN_OR_RETURN(const std::optional<Row> old, RowOfCopy(snapshot, copy.key));
  const bool is_equal = row.has_value() == old.has_value() &&
                        (!row.has_value() || AreEqual(row->cells(), old->cells()));
  if (is_equal || (phase == Phase::kRemove && !old.has_value())) return {};
  if (old.has_value()) {
    batch_.DeleteRow(to_, copy.key, NewestTimestamp(old->view()));
    pending_ -= ContentOf(copy.fields, old->view());
  }
  if (row.has_value() && phase == Phase::kReplace) {
    AddPuts(to_, copy.key, row->view(), &batch_);
    copy.content = ContentOf(copy.fields, row->view());
    pending_ += copy.content;
  }
  changed_rows_ += phase == Phase::kReplace ? 1 : 0;
  written_.push_back(std::move(copy));
  return {};
}

// And reads them again.
Status EngineImpl::TableCopier::WriteRows(const Snapshot& snapshot) {
  if (written_.empty()) return {};
  const WriteOptions options{.durability = Durability::kBuffered, .no_wait = no_wait_};
  RETURN_IF_ERROR(engine_.Write(options, batch_));
  content_ += std::exchange(pending_, {});
  for (const WrittenRow& written : written_) {
    ASSIGN_OR_RETURN(const std::optional<Row> row, RowOfCopy(snapshot, written.key));
    const RowContent content =
        row.has_value() ? ContentOf(written.fields, row->view()) : RowContent();
    if (content != written.content) return DiffersFrom(to_, content, written.content);
  }
  batch_.Clear();
  written_.clear();
  return {};
}

// The row of these fields, which has one of its keys. A writer that keeps to a former row key may
// have made it two.
Result<std::optional<Row>> EngineImpl::TableCopier::RowOfTable(
    const Snapshot& snapshot, std::span<const RowKeyField> fields) {
  ASSIGN_OR_RETURN(const std::vector<std::string> keys, keys_[0].Keys(fields));
  ReadOptions read = WholeRows();
  read.snapshot = &snapshot;
  std::optional<Row> found;
  for (const std::string& key : keys) {
    ASSIGN_OR_RETURN(RegionView view, engine_.ViewOfRow(read, from_, key));
    ASSIGN_OR_RETURN(std::optional<Row> row, GetRow(std::move(view), read, key));
    if (!row.has_value()) continue;
    if (found.has_value()) {
      return Status::Conflict("rows " + base::Quote(found->key()) + " and " + base::Quote(key) +
                              " of table " + base::Quote(from_) +
                              " have the same fields: rewrite its keys first");
    }
    found = std::move(row);
  }
  return found;
}

// As it is now, at the time of the snapshot.
Result<std::optional<Row>> EngineImpl::TableCopier::RowOfCopy(const Snapshot& snapshot,
                                                              const std::string& key) {
  ASSIGN_OR_RETURN(const SnapshotPoint point, engine_.PointOf(snapshot));
  ASSIGN_OR_RETURN(RegionView view, engine_.ViewOfRow({}, to_, key));
  view.point.now_micros = point.point().now_micros;
  return GetRow(std::move(view), WholeRows(), key);
}

Result<RowContent> EngineImpl::TableCopier::ContentOfTable(const Snapshot& snapshot) {
  ReadOptions read = WholeRows();
  read.snapshot = &snapshot;
  read.cancelled = cancelled_;
  ASSIGN_OR_RETURN(Cursor rows, engine_.ScanStored(read, from_, {}));
  RowContent content;
  while (rows.Next()) {
    ASSIGN_OR_RETURN(const std::vector<RowKeyField> fields, FieldsOf(rows.row().key()));
    content += ContentOf(fields, rows.row());
  }
  RETURN_IF_ERROR(rows.status());
  return content;
}

// As it is now, at the time of the snapshot.
Result<RowContent> EngineImpl::TableCopier::ContentOfCopy(const Snapshot& snapshot) {
  ASSIGN_OR_RETURN(const SnapshotPoint point, engine_.PointOf(snapshot));
  ReadOptions read = WholeRows();
  read.cancelled = cancelled_;
  ASSIGN_OR_RETURN(TableView view, engine_.ViewOf(read, to_));
  view.point.now_micros = point.point().now_micros;
  ASSIGN_OR_RETURN(std::unique_ptr<RowSource> source,
                   ScanRows(engine_.read_resources(read), std::move(view), read, {}));
  RowReader rows(std::move(source));
  RowContent content;
  while (true) {
    RowView row;
    ASSIGN_OR_RETURN(const bool has_row, rows.Next(&row));
    if (!has_row) return content;
    ASSIGN_OR_RETURN(const std::vector<RowKeyField> fields, keys_[1].Decode(row.key()));
    content += ContentOf(fields, row);
  }
}

Result<CopyTableReport> EngineImpl::CopyTable(std::string_view from, const std::string& to,
                                              const CopyTableOptions& options) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  RETURN_IF_ERROR(health_.CheckWritable());
  TableCopier copier(this, from, to, options);
  RETURN_IF_ERROR(copier.Run());
  return copier.report();
}

}  // namespace tandem::engine
