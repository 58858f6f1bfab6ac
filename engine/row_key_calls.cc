// The calls on row keys of fields. A declaration takes the place of another in these steps:
//   1. ChangeRowKey: one edit of the table's record makes the declaration the newest, and the one
//      before it a former one. Rows stay where they are. From then on they are read under the keys
//      of all declarations, and written under the newest.
//   2. KeyForWrite moves a row from a former key before it is written: a read sees either none of
//      a row's cells elsewhere, or all.
//   3. RewriteKeys passes over the whole table and moves what has a former key. A key tells that by
//      itself, so there is nothing to record, and a pass that ended early is begun again.
//   4. After a pass that has found none, and when no read is open that began before it, the log is
//      synced, for a power cut could take back moves, and one edit takes the former ones away.
//
// A move is one batch: the cells of the row, with their timestamps, as puts under the newest key,
// and a delete of the former one. It commits only if the row is as it was read
// (engine/commit/row_checks.h).
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/cancellation.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/commit/write_plan.h"
#include "engine/engine_impl.h"
#include "engine/read/row_content.h"
#include "engine/row_key_record.h"
#include "format/row_key/field.h"
#include "tandem/limits.h"
#include "tandem/row_key.h"

namespace tandem::engine {

/// A row that has a former key.
struct EngineImpl::RowMove {
  std::string from, to;
};

/// The table whose keys are rewritten, as it was when the pass began.
struct EngineImpl::KeyRewrite {
  std::shared_ptr<const format::TableRecord> table;
  RowKeyEpochs keys;
  format::SequenceNumber begun;  ///< Visible then.
};

/// Some rows of a pass, and where it goes on.
struct EngineImpl::KeyStep {
  std::string next = {};  ///< The first key that was not looked at.
  bool is_last = false;
  uint64_t rows = 0, bytes = 0;
};

namespace {

constexpr uint64_t kStepRows = 1024;
constexpr uint64_t kStepBytes = 1 << 20;
constexpr size_t kMovedBytes = 1 << 20;  // Of one batch; a row that has more has one of its own.
constexpr uint32_t kAttemptsMax = 100;
constexpr int64_t kSleepMicros = 10'000;
constexpr double kPauseMicrosMax = 3.6e9;

bool HasCells(const RegionVersion& version) {
  return !version.files.empty() || std::ranges::any_of(version.memstores, [](const auto& memstore) {
    return memstore->row_count() > 0;
  });
}

bool HasCells(const Table& table) {
  return std::ranges::any_of(table.regions,
                             [](const auto& region) { return HasCells(*region->version()); });
}

Result<std::optional<std::string>> EndOfLeadsOf(const format::TableRecord& table) {
  if (table.former_row_keys.empty()) return std::optional<std::string>();
  ASSIGN_OR_RETURN(const RowKeyEpochs keys, KeysOf(table));
  return format::EndOfLeads(keys.schemas());
}

// Whether a row that has no newer key is none of the declarations', or has the newest. What leads
// the newest may make a key too long.
Status CheckFits(const RowKeyEpochs& keys, std::string_view key) {
  constexpr size_t kLeadBytesMax = 8 * kRowKeyPartsMax;
  if (key.size() + kLeadBytesMax <= kRowKeyBytesMax) return {};
  const Result<std::vector<RowKeyField>> fields = keys.Decode(key);
  return fields.has_value() ? keys.newest().Encode(*fields).status() : Status();
}

// The delete is at the largest timestamp of the cells, which may be in the future.
void AddMove(const std::string& table, const std::string& to, const RowView& row,
             WriteBatch* batch) {
  AddPuts(table, to, row, batch);
  batch->DeleteRow(table, row.key(), NewestTimestamp(row));
}

}  // namespace

// Asked by the commit leader, so nothing is written between the answer and the edit.
Status EngineImpl::SetRowKey(std::string_view table, std::string_view declaration) {
  return ChangeTable(table, [&](format::TableRecord* record) {
    return SetRowKeyIn(declaration, HasCells(*database_.regions->Find(table)), record);
  });
}

Status EngineImpl::ChangeRowKey(std::string_view table, std::string_view declaration) {
  return ChangeTable(table, [&](format::TableRecord* record) -> Status {
    const format::TableRecord before = *record;
    const bool has_cells = HasCells(*database_.regions->Find(table));
    RETURN_IF_ERROR(ChangeRowKeyIn(declaration, has_cells, record));
    return CheckNewLeads(before, *record);
  });
}

// Rows whose keys nothing leads must not lie where keys with a salt are from now on. One look at
// one range, which is empty as a rule.
Status EngineImpl::CheckNewLeads(const format::TableRecord& before,
                                 const format::TableRecord& after) {
  ASSIGN_OR_RETURN(const std::optional<std::string> end, EndOfLeadsOf(after));
  ASSIGN_OR_RETURN(const std::optional<std::string> end_before, EndOfLeadsOf(before));
  const std::string start = end_before.value_or(std::string());
  if (!end.has_value() || *end <= start) return {};
  ASSIGN_OR_RETURN(Cursor rows,
                   ScanStored({}, before.name, {.start = start, .end = *end, .limit = 1}));
  if (!rows.Next()) return rows.status();
  return Status::Unsupported(
      "table " + base::Quote(before.name) + ": row " + base::Quote(rows.row().key()) +
      " could not be told apart from rows of the row key " + base::Quote(after.row_key) +
      ", whose keys begin below " + base::Quote(*end));
}

Result<RowKeyEpochs> EngineImpl::RowKeysOf(const ReadOptions& options, std::string_view name) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  if (options.snapshot != nullptr) {
    ASSIGN_OR_RETURN(const TableView view, ViewOf(options, name));
    return KeysOf(*view.table);
  }
  const std::shared_ptr<const Table> table = database_.regions->Find(name);
  if (table == nullptr) return TableNotFound(name);
  return KeysOf(*table->record);
}

Result<std::string> EngineImpl::KeyForWrite(const WriteOptions& options, std::string_view name,
                                            std::span<const RowKeyField> fields) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  const std::shared_ptr<const Table> table = database_.regions->Find(name);
  if (table == nullptr) return TableNotFound(name);
  ASSIGN_OR_RETURN(const RowKeyEpochs keys, KeysOf(*table->record));
  ASSIGN_OR_RETURN(const std::vector<std::string> all, keys.Keys(fields));
  std::vector<RowMove> moves;
  for (size_t i = 1; i < all.size(); ++i) moves.push_back({.from = all[i], .to = all.front()});
  if (!moves.empty()) RETURN_IF_ERROR(MoveRows(options, *table->record, moves, nullptr));
  return all.front();
}

Status EngineImpl::MoveRows(const WriteOptions& options, const format::TableRecord& table,
                            std::span<const RowMove> moves, RewriteKeysReport* report) {
  uint32_t conflicts = 0;
  while (!moves.empty()) {
    const Result<size_t> done = MoveSome(options, table, moves, report);
    if (done.has_value()) {
      moves = moves.subspan(*done);
      conflicts = 0;
      continue;
    }
    const bool may_repeat = done.error().code() == StatusCode::kConflict;
    if (!may_repeat || ++conflicts == kAttemptsMax) return done.error();
    BackOff(conflicts);
  }
  return {};
}

// Moves the first of the rows by one batch, and returns how many. Those that are gone need nothing.
Result<size_t> EngineImpl::MoveSome(const WriteOptions& options, const format::TableRecord& table,
                                    std::span<const RowMove> moves, RewriteKeysReport* report) {
  const std::shared_ptr<const Table> now = database_.regions->Find(table.name);
  if (now == nullptr || now->record->id != table.id) return TableNotFound(table.name);
  RowsRead read;
  read.point = TakePoint();
  read.checks.point = read.point->point();
  WriteBatch batch;
  RewriteKeysReport moved;
  size_t done = 0;
  for (; done < moves.size() && batch.size_bytes() < kMovedBytes; ++done) {
    const RowMove& move = moves[done];
    ASSIGN_OR_RETURN(const std::optional<Row> row,
                     GetAt(*read.point, WholeRows(), table.name, move.from));
    if (!row.has_value()) continue;
    if (moved.moved > 0 && BytesOf(row->view()) > kMovedBytes) break;
    AddMove(table.name, move.to, row->view(), &batch);
    read.rows.insert({{table.name, move.from}, false});
    ++moved.moved;
    moved.moved_cells += row->cells().size();
  }
  if (batch.size_bytes() > kBatchBytesMax) {
    return Status::OverBudget(
        "row " + base::Quote(moves[done - 1].from) + " of table " + base::Quote(table.name) +
        " needs a batch of " + std::to_string(batch.size_bytes()) +
        " bytes to get another key, the limit is " + std::to_string(kBatchBytesMax));
  }
  if (moved.moved > 0) {
    const auto make_plan = [this](const WriteBatch& observed) {
      return PlanWrite(observed, *database_.regions);
    };
    const WriteCall call{.options = options, .batch = batch, .rows_read = &read};
    RETURN_IF_ERROR(WritePlanned(call, make_plan).status());
  }
  if (report != nullptr) {
    report->moved += moved.moved;
    report->moved_cells += moved.moved_cells;
  }
  return done;
}

Result<RewriteKeysReport> EngineImpl::RewriteKeys(std::string_view name,
                                                  const RewriteKeysOptions& options) {
  RewriteKeysReport report;
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<KeyRewrite> rewrite, BeginRewrite(name));
    report.closed = !rewrite.has_value();
    if (report.closed) return report;
    const uint64_t moved_before = report.moved;
    RETURN_IF_ERROR(PassOverKeys(*rewrite, options, &report));
    if (report.moved != moved_before) continue;
    ASSIGN_OR_RETURN(const std::optional<uint64_t> held_by, CloseRowKeys(*rewrite));
    report.held_by_sequence = held_by.value_or(0);
    if (held_by.has_value()) return report;
  }
}

// nullopt: the table has no former row keys.
Result<std::optional<EngineImpl::KeyRewrite>> EngineImpl::BeginRewrite(std::string_view name) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  RETURN_IF_ERROR(health_.CheckWritable());
  const std::shared_ptr<const Table> table = database_.regions->Find(name);
  if (table == nullptr) return TableNotFound(name);
  if (table->record->former_row_keys.empty()) return std::optional<KeyRewrite>();
  ASSIGN_OR_RETURN(RowKeyEpochs keys, KeysOf(*table->record));
  return std::optional(
      KeyRewrite{.table = table->record, .keys = std::move(keys), .begun = snapshots_->visible()});
}

// No cursor and no call is open from one step to the next, so the pass pins no file and no older
// version, and Close does not wait for it.
Status EngineImpl::PassOverKeys(const KeyRewrite& rewrite, const RewriteKeysOptions& options,
                                RewriteKeysReport* report) {
  const base::Cancellation cancellation(options.cancelled);
  KeyStep step;
  while (!step.is_last) {
    RETURN_IF_ERROR(cancellation.Check());
    const int64_t begun = environment_.clock->MonotonicMicros();
    ASSIGN_OR_RETURN(step, TakeKeyStep(rewrite, step.next, options, report));
    if (options.bytes_per_second == 0) continue;
    const double micros =
        1e6 * static_cast<double>(step.bytes) / static_cast<double>(options.bytes_per_second);
    const int64_t until = begun + static_cast<int64_t>(std::min(micros, kPauseMicrosMax));
    while (true) {
      const int64_t left = until - environment_.clock->MonotonicMicros();
      if (left <= 0) break;
      RETURN_IF_ERROR(cancellation.Check());
      environment_.clock->SleepMicros(std::min(left, kSleepMicros));
    }
  }
  return {};
}

Result<EngineImpl::KeyStep> EngineImpl::TakeKeyStep(const KeyRewrite& rewrite,
                                                    const std::string& start,
                                                    const RewriteKeysOptions& options,
                                                    RewriteKeysReport* report) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  KeyStep step;
  std::vector<RowMove> moves;
  {
    ReadOptions read;
    read.pieces = true;
    read.cancelled = options.cancelled;
    ASSIGN_OR_RETURN(Cursor rows, ScanStored(read, rewrite.table->name, {.start = start}));
    step.is_last = true;
    while (rows.Next()) {
      const RowView& row = rows.row();
      step.bytes += BytesOf(row);
      if (row.continues()) continue;
      ++report->rows;
      ++step.rows;
      std::optional<std::string> newest = rewrite.keys.NewestKeyOf(row.key());
      if (newest.has_value()) {
        moves.push_back({.from = std::string(row.key()), .to = *std::move(newest)});
      } else {
        RETURN_IF_ERROR(CheckFits(rewrite.keys, row.key()));
      }
      if (step.rows < kStepRows && step.bytes < kStepBytes) continue;
      step.next.assign(row.key()).push_back('\0');
      step.is_last = false;
      break;
    }
    RETURN_IF_ERROR(rows.status());
  }
  RETURN_IF_ERROR(MoveRows(options.write, *rewrite.table, moves, report));
  return step;
}

// Returns the sequence of a read that is open and may see rows under former keys, perhaps 0, that
// of an empty database; nullopt: there is none, and the former keys are gone, or others came
// meanwhile.
Result<std::optional<uint64_t>> EngineImpl::CloseRowKeys(const KeyRewrite& rewrite) {
  const format::TableRecord& then = *rewrite.table;
  const auto registered = snapshots_->TakeRetentionPoint().snapshots;
  if (!registered.empty() && registered.front() < rewrite.begun) {
    return std::optional(registered.front().value);
  }
  RETURN_IF_ERROR(queue_->SyncThrough(queue_->last_sequence()));
  RETURN_IF_ERROR(ChangeTable(then.name, [&then](format::TableRecord* record) {
    const bool is_same = record->id == then.id && record->row_key == then.row_key &&
                         record->former_row_keys == then.former_row_keys;
    if (is_same) record->former_row_keys.clear();
    return Status();
  }));
  return std::optional<uint64_t>();
}

}  // namespace tandem::engine
