// How one write is completed:
//   1. Its condition, if it has one, is decided first.
//   2. Operations are taken in order; each that is written takes the next sequence number.
//   3. An operation that depends on a column sees the stored cells, those of earlier requests of
//      the group, and those of earlier operations of its own batch.
//   4. What it becomes is one operation, which later ones see.
//   5. Last, the entries that rows of the batch have in unique indexes, after it and before it; and
//      those in global indexes, as operations on the tables that have these
//      (docs/decisions/0046-entries-of-global-indexes-are-rows-of-a-table.md).
#include "engine/commit/complete_write.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/commit/delete_cell.h"
#include "engine/commit/new_value.h"
#include "engine/query/reader.h"
#include "format/cell/overflow_value.h"
#include "format/cell/visibility.h"
#include "index/entries.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

using Outcome = Completion::Outcome;
using Pins = std::vector<std::shared_ptr<const void>>;

// Replaces an overflow value by the value itself.
Status ReadInline(format::Cell* cell, Pins* pins) {
  if (!cell->is_overflow()) return {};
  auto value = std::make_shared<std::string>();
  RETURN_IF_ERROR(format::ReadOverflowValue(*cell, value.get()));
  cell->value = *value;
  cell->overflow_file = nullptr;
  pins->push_back(std::move(value));
  return {};
}

void KeepColumn(const format::Cell& column, std::vector<format::Cell>* cells) {
  std::erase_if(*cells,
                [&column](const format::Cell& cell) { return !format::SameColumn(cell, column); });
}

RegionView LatestOf(std::shared_ptr<const format::TableRecord> table,
                    std::shared_ptr<const RegionVersion> version) {
  return {.table = std::move(table),
          .region = std::move(version),
          .point = {.sequence = format::kSequenceMax}};
}

// The two newest values of the column in files are those that are usually asked for.
Status ReadNewestInline(const format::TableRecord& table, ReadSet* set, StoredColumn* column) {
  constexpr size_t kNewest = 2;
  std::vector<format::Cell> visible;
  format::SortCells(column->cells);
  format::VisibleCells(column->cells, table.families,
                       {.now_micros = std::numeric_limits<int64_t>::min()}, &visible);
  KeepColumn(column->column, &visible);
  for (size_t i = 0; i < std::min(visible.size(), kNewest); ++i) {
    if (!visible[i].is_overflow()) continue;
    const auto found = std::find_if(column->cells.begin(), column->cells.end(), [&](const auto& c) {
      return c.value.data() == visible[i].value.data();
    });
    RETURN_IF_ERROR(ReadInline(&*found, &set->pins));
  }
  return {};
}

Status ReadColumn(const RegionSet& regions, WritePlan* plan, StoredColumn* column) {
  std::shared_ptr<const Table> table;
  do {
    table = regions.Find(column->table);
    plan->is_stale |= table == nullptr;
    if (plan->is_stale) return {};
    column->version = table->RegionOf(column->row).version();
  } while (column->version->is_retired);  // It was split meanwhile.
  RETURN_IF_ERROR(AppendFileCells(LatestOf(table->record, column->version), column->row,
                                  column->column, &column->cells, &plan->read_set.pins));
  return ReadNewestInline(*table->record, &plan->read_set, column);
}

// The plan's, whose record is that of its tables. Planning found both.
const format::TableRecord& RecordOf(const WritePlan& plan, const UniqueRow& row) {
  const auto table = std::find_if(plan.tables.begin(), plan.tables.end(),
                                  [&row](const auto& t) { return t->record->id == row.table; });
  return *(*table)->record;
}
const format::IndexRecord& IndexOf(const WritePlan& plan, const UniqueRow& row) {
  return *RecordOf(plan, row).FindIndex(row.index);
}
const format::IndexRecord& GlobalOf(const WritePlan& plan, const UniqueRow& row) {
  return RecordOf(plan, row).FindGlobal(row.index)->index;
}

// Adds the columns that the row's entry depends on.
void ListColumnsOf(const format::IndexRecord& index, UniqueRow* row,
                   std::vector<StoredColumn>* columns) {
  row->first_column = columns->size();
  for (const format::IndexColumnRecord& indexed : index.columns) {
    StoredColumn& column = columns->emplace_back();
    column.table = row->table;
    column.row = row->row;
    column.column.family = indexed.family;
    column.column.qualifier = indexed.qualifier;
  }
}

// The columns that the plan depends on, in the order in which CompleteWrite asks for them.
void ListColumns(WritePlan* plan) {
  std::vector<StoredColumn>& columns = plan->read_set.columns;
  if (plan->condition.has_value()) {
    for (const ColumnSet::Family& family : plan->condition->columns.families()) {
      for (const std::string& qualifier : family.qualifiers) {
        StoredColumn& column = columns.emplace_back();
        column.table = plan->condition->table;
        column.row = plan->condition->row;
        column.column.family = family.id;
        column.column.qualifier = qualifier;
      }
    }
  }
  for (const PlannedOperation& operation : plan->unresolved) {
    if (!operation.reads()) continue;
    for (const format::Cell& cell : operation.cells) {
      StoredColumn& column = columns.emplace_back();
      column.table = operation.table;
      column.row = operation.row;
      column.column = cell;
    }
  }
  for (UniqueRow& row : plan->unique_rows) ListColumnsOf(IndexOf(*plan, row), &row, &columns);
  for (GlobalRow& global : plan->global_rows) {
    ListColumnsOf(GlobalOf(*plan, global.row), &global.row, &columns);
  }
}

// An entry of a global index, as a row of the table that has them.
struct GlobalEntry {
  std::string key;        ///< Empty: the row has none.
  int64_t timestamp = 0;  ///< Of the cell of the first column.
};

class Completer {
 public:
  Completer(const CompletionPoint& point, WritePlan* plan)
      : point_(point), plan_(plan), next_(point.first) {}

  Result<Completion> Complete();

 private:
  using Cells = std::vector<format::Cell>;

  const Table& TableOf(format::TableId id) const;
  bool is_complete() const { return completion_.outcome == Outcome::kComplete; }
  Status CompleteOperations();
  /// With or without those that the batch's own operations have written so far.
  enum class Own : uint8_t { kSeen, kIgnored };
  Result<Cells> VisibleVersions(const StoredColumn& column, std::optional<int64_t> timestamp,
                                Own own = Own::kSeen);
  Cells Others(const StoredColumn& column, Own own);
  void NoteUnlogged(Region* region, const ColumnCells& read);
  Status NeedValue(format::Cell* cell);
  Status DecideCondition();
  Status CompleteDelete(const PlannedOperation& operation);
  Status EmitDelete(const PlannedOperation& operation, const Cells& versions, size_t hit);
  Status CompleteUpdate(const PlannedOperation& operation);
  void Emit(const PlannedOperation& operation);
  void EmitCells(const PlannedOperation& operation, Cells cells);
  Status ListEntries();
  Result<std::optional<std::string>> EntryOf(const UniqueRow& row, Own own);
  Status WriteGlobalEntries();
  Result<GlobalEntry> GlobalEntryOf(const UniqueRow& row, Own own);
  void EmitEntry(const GlobalRow& global, const GlobalEntry& entry, format::CellKind kind);

  const CompletionPoint& point_;
  WritePlan* plan_;
  format::SequenceNumber next_;
  size_t next_column_ = 0;  ///< Of the read set.
  GroupWrites written_;     ///< By the batch's own operations so far.
  Pins pins_;               ///< Keep the cells that were read alive.
  Completion completion_;
};

Result<Completion> Completer::Complete() {
  plan_->batch.Clear();
  plan_->values.clear();
  plan_->entries.clear();
  RETURN_IF_ERROR(DecideCondition());
  if (plan_->holds && is_complete()) RETURN_IF_ERROR(CompleteOperations());
  if (plan_->holds && is_complete()) RETURN_IF_ERROR(ListEntries());
  if (plan_->holds && is_complete()) RETURN_IF_ERROR(WriteGlobalEntries());
  // A condition that does not hold has nothing logged that could depend on it.
  if (is_complete() && plan_->holds && !completion_.unlogged.empty()) {
    completion_.outcome = Outcome::kUnlogged;
  }
  if (!is_complete()) {
    plan_->batch.Clear();
    return std::move(completion_);
  }
  RETURN_IF_ERROR(CheckEncodedSize(plan_->batch));
  return std::move(completion_);
}

Status Completer::CompleteOperations() {
  for (const PlannedOperation& operation : plan_->unresolved) {
    switch (operation.kind) {
      case PlannedOperation::Kind::kBlind:
        Emit(operation);
        break;
      case PlannedOperation::Kind::kDeleteCell:
        RETURN_IF_ERROR(CompleteDelete(operation));
        break;
      case PlannedOperation::Kind::kIncrement:
      case PlannedOperation::Kind::kAppend:
        RETURN_IF_ERROR(CompleteUpdate(operation));
        break;
    }
    if (!is_complete() || plan_->batch.bytes().size() > kBatchBytesMax) break;
  }
  return {};
}

const Table& Completer::TableOf(format::TableId id) const {
  for (const auto& table : plan_->tables) {
    if (table->record->id == id) return *table;
  }
  return *plan_->tables.front();  // Planning put every table there.
}

// The cells of the column that are in no memstore.
Completer::Cells Completer::Others(const StoredColumn& column, Own own) {
  Cells others = column.cells;
  const bool is_in_group = point_.earlier->Append(column.table, column.row, column.column, &others);
  completion_.caught_up |= is_in_group;
  completion_.caught_up_in_group |= is_in_group;
  if (own == Own::kSeen) {
    (void)written_.Append(column.table, column.row, column.column, &others);
  }
  return others;
}

// The visible versions of the column, newest first. Of a hot row, all only if they may be as many
// as the family keeps (CellsOfColumn).
Result<Completer::Cells> Completer::VisibleVersions(const StoredColumn& column,
                                                    std::optional<int64_t> timestamp, Own own) {
  const Table& table = TableOf(column.table);
  Region& region = table.RegionOf(column.row);
  // Files and memstores of one version, so that no cell is between the two.
  const bool has_newest = point_.reads_alone || point_.is_trial();
  const auto version = has_newest ? column.version : region.version();
  pins_.push_back(version);
  if (version->changed_through != column.version->changed_through) {
    completion_.outcome = Outcome::kMoved;
    return Cells();
  }
  const Cells others = Others(column, own);
  RegionView view = LatestOf(table.record, version);
  view.point = {.sequence = point_.sequence, .now_micros = point_.now_micros};
  const ColumnCells read = CellsOfColumn(
      view, column.row, {.column = column.column, .timestamp = timestamp, .others = others});
  if (!point_.is_trial()) NoteUnlogged(&region, read);
  Cells visible;
  format::VisibleCells(read.cells, table.record->families, view.point, &visible);
  KeepColumn(column.column, &visible);
  return visible;
}

// Cells that hide others count too, since the result depends on both.
void Completer::NoteUnlogged(Region* region, const ColumnCells& read) {
  const format::SequenceNumber flushed = region->flushed_through();
  bool any = region->unlogged().MayHoldUpTo(read.tree_through, flushed);
  for (const format::Cell& cell : read.cells) {
    completion_.caught_up |=
        cell.sequence > plan_->read_set.visible && cell.sequence < point_.first;
    any |= region->unlogged().MayHold(cell.sequence, flushed);
  }
  std::vector<Region*>& unlogged = completion_.unlogged;
  if (!any || std::find(unlogged.begin(), unlogged.end(), region) != unlogged.end()) return;
  unlogged.push_back(region);
}

// A value in value blocks that was not read yet is read by a leader that is alone only.
Status Completer::NeedValue(format::Cell* cell) {
  if (!cell->is_overflow()) return {};
  if (point_.reads_alone || point_.is_trial()) return ReadInline(cell, &pins_);
  completion_.outcome = Outcome::kTooLong;
  return {};
}

Status Completer::DecideCondition() {
  plan_->holds = true;
  if (!plan_->condition.has_value()) return {};
  Condition& condition = *plan_->condition;
  Cells row;
  while (next_column_ < condition.column_count()) {
    const StoredColumn& column = plan_->read_set.columns[next_column_++];
    ASSIGN_OR_RETURN(Cells versions, VisibleVersions(column, std::nullopt));
    if (!is_complete()) return {};
    if (versions.empty()) continue;
    RETURN_IF_ERROR(NeedValue(&versions.front()));
    if (!is_complete()) return {};
    row.push_back(versions.front());
  }
  ASSIGN_OR_RETURN(plan_->holds, condition.predicate.Matches(condition.row, row));
  return {};
}

void Completer::Emit(const PlannedOperation& operation) {
  EncodeOperation(operation, &plan_->batch);
  Cells cells = operation.cells;
  for (format::Cell& cell : cells) {
    cell.sequence = next_;
    cell.timestamp = operation.timestamp.value_or(point_.timestamp);
  }
  written_.Add(*TableOf(operation.table).record, operation.row, cells);
  ++next_.value;
}

// Each cell has a timestamp of its own.
void Completer::EmitCells(const PlannedOperation& operation, Cells cells) {
  plan_->batch.BeginOperation(operation.table, operation.row);
  for (format::Cell& cell : cells) {
    cell.sequence = next_;
    plan_->batch.AddCell(cell, cell.timestamp);
  }
  written_.Add(*TableOf(operation.table).record, operation.row, cells);
  ++next_.value;
}

Status Completer::CompleteDelete(const PlannedOperation& operation) {
  const StoredColumn& column = plan_->read_set.columns[next_column_++];
  ASSIGN_OR_RETURN(const Cells versions, VisibleVersions(column, operation.timestamp));
  if (!is_complete() || versions.empty()) return {};
  const std::optional<size_t> hit = FindVersion(versions, operation.timestamp);
  return hit.has_value() ? EmitDelete(operation, versions, *hit) : Status();
}

Status Completer::EmitDelete(const PlannedOperation& operation, const Cells& versions, size_t hit) {
  const format::TableRecord& table = *TableOf(operation.table).record;
  Cells cells = CellsOfDelete(table, operation.cells.front(), versions, hit);
  if (cells.back().kind == format::CellKind::kPut) RETURN_IF_ERROR(NeedValue(&cells.back()));
  if (is_complete()) EmitCells(operation, std::move(cells));
  return {};
}

// An increment or append. The new version must be the newest, so it is not below the one it is made
// of, whose writer may have given a timestamp of the future.
Status Completer::CompleteUpdate(const PlannedOperation& operation) {
  Cells cells;
  for (const format::Cell& change : operation.cells) {
    const StoredColumn& column = plan_->read_set.columns[next_column_++];
    ASSIGN_OR_RETURN(Cells versions, VisibleVersions(column, std::nullopt));
    if (!is_complete()) return {};
    format::Cell* stored = versions.empty() ? nullptr : &versions.front();
    const bool adds = operation.kind == PlannedOperation::Kind::kIncrement;
    if (stored != nullptr && !adds) RETURN_IF_ERROR(NeedValue(stored));
    if (!is_complete()) return {};
    const ColumnUpdate update{.row = operation.row, .change = change, .adds = adds};
    ASSIGN_OR_RETURN(NewValue made, MakeNewValue(*TableOf(operation.table).record, update, stored));
    plan_->values.push_back(std::move(made.returned));
    auto pinned = std::make_shared<const std::string>(std::move(made.stored));
    format::Cell& cell = cells.emplace_back(change);
    cell.value = *pinned;
    cell.timestamp = point_.timestamp;
    if (stored != nullptr) cell.timestamp = std::max(cell.timestamp, stored->timestamp);
    pins_.push_back(std::move(pinned));
  }
  EmitCells(operation, std::move(cells));
  return {};
}

// The entry of the row; nullopt: a column is absent, or has no key.
Result<std::optional<std::string>> Completer::EntryOf(const UniqueRow& row, Own own) {
  std::string key;
  size_t place = row.first_column;
  for (const format::IndexColumnRecord& indexed : IndexOf(*plan_, row).columns) {
    const StoredColumn& column = plan_->read_set.columns[place++];
    ASSIGN_OR_RETURN(Cells versions, VisibleVersions(column, std::nullopt, own));
    if (!is_complete() || versions.empty()) return std::optional<std::string>();
    RETURN_IF_ERROR(NeedValue(&versions.front()));
    const bool has_key = is_complete() && format::AppendPutKey(indexed, versions.front(), &key);
    if (!has_key) return std::optional<std::string>();
  }
  return std::optional(std::move(key));
}

Status Completer::ListEntries() {
  for (const UniqueRow& row : plan_->unique_rows) {
    ASSIGN_OR_RETURN(std::optional<std::string> after, EntryOf(row, Own::kSeen));
    if (!is_complete()) return {};
    if (!after.has_value()) continue;
    ASSIGN_OR_RETURN(const std::optional<std::string> before, EntryOf(row, Own::kIgnored));
    if (!is_complete()) return {};
    const bool is_new = after != before;
    plan_->entries.push_back({row.table, row.index, *std::move(after), row.row, is_new});
  }
  std::sort(plan_->entries.begin(), plan_->entries.end());
  return {};
}

// A value that conditions see and no entry can have would make queries by the index miss the row.
Result<GlobalEntry> Completer::GlobalEntryOf(const UniqueRow& row, Own own) {
  GlobalEntry entry;
  size_t place = row.first_column;
  const format::IndexRecord& index = GlobalOf(*plan_, row);
  for (const format::IndexColumnRecord& indexed : index.columns) {
    const StoredColumn& column = plan_->read_set.columns[place++];
    const bool is_first = &indexed == &index.columns.front();
    ASSIGN_OR_RETURN(Cells versions, VisibleVersions(column, std::nullopt, own));
    if (!is_complete()) return GlobalEntry();
    bool has_key = false;
    if (!versions.empty()) {
      format::Cell& newest = versions.front();
      RETURN_IF_ERROR(NeedValue(&newest));
      if (!is_complete()) return GlobalEntry();
      if (own == Own::kSeen && format::IsHiddenFrom(indexed, newest)) {
        return Status::InvalidArgument(Where(RecordOf(*plan_, row), row.row, newest) + ", index " +
                                       base::Quote(index.name) +
                                       ": the row would have a value that is too long for an entry "
                                       "of a global index");
      }
      has_key = format::AppendPutKey(indexed, newest, &entry.key);
      if (is_first) entry.timestamp = newest.timestamp;
    }
    if (has_key) continue;
    if (is_first) return GlobalEntry();
    format::AppendAbsentKey(indexed, &entry.key);
  }
  entry.key += row.row;
  if (entry.key.size() <= kRowKeyBytesMax) return entry;
  if (own == Own::kIgnored) return GlobalEntry();
  return Status::InvalidArgument("row " + base::Quote(row.row) + ", index " +
                                 base::Quote(index.name) + ": its key and its entry would have " +
                                 std::to_string(entry.key.size()) + " bytes, the limit is " +
                                 std::to_string(kRowKeyBytesMax));
}

// An entry expires with the cell of its first column, so it has its timestamp where that may be;
// and one that was put with a later one is deleted all the same.
void Completer::EmitEntry(const GlobalRow& global, const GlobalEntry& entry,
                          format::CellKind kind) {
  const bool may_expire = TableOf(global.entries).record->families.front().options.ttl_micros != 0;
  auto key = std::make_shared<const std::string>(entry.key);
  PlannedOperation operation;
  operation.table = global.entries;
  operation.row = *key;
  format::Cell cell;
  cell.kind = kind;
  cell.family = TableOf(global.entries).record->families.front().id;
  cell.timestamp = point_.timestamp;
  if (may_expire) {
    cell.timestamp =
        kind == format::CellKind::kPut ? entry.timestamp : std::numeric_limits<int64_t>::max();
  }
  pins_.push_back(std::move(key));
  EmitCells(operation, {cell});
}

// Of a row that keeps its entry nothing is written, unless the entry would expire before the cell.
Status Completer::WriteGlobalEntries() {
  for (const GlobalRow& global : plan_->global_rows) {
    const bool may_expire =
        TableOf(global.entries).record->families.front().options.ttl_micros != 0;
    ASSIGN_OR_RETURN(const GlobalEntry after, GlobalEntryOf(global.row, Own::kSeen));
    if (!is_complete()) return {};
    ASSIGN_OR_RETURN(const GlobalEntry before, GlobalEntryOf(global.row, Own::kIgnored));
    if (!is_complete()) return {};
    const bool is_same = before.key == after.key;
    if (!before.key.empty() && !is_same) {
      EmitEntry(global, before, format::CellKind::kDeleteFamily);
    }
    const bool is_renewed = may_expire && after.timestamp > before.timestamp;
    if (after.key.empty() || (is_same && !is_renewed && !plan_->builds_entries)) continue;
    EmitEntry(global, after, format::CellKind::kPut);
  }
  return {};
}

}  // namespace

Status ReadFiles(const RegionSet& regions, format::SequenceNumber visible, WritePlan* plan) {
  plan->read_set = ReadSet();
  plan->read_set.visible = visible;
  ListColumns(plan);
  for (StoredColumn& column : plan->read_set.columns) {
    RETURN_IF_ERROR(ReadColumn(regions, plan, &column));
    if (plan->is_stale) return {};
  }
  return {};
}

Result<Completion> CompleteWrite(const CompletionPoint& point, WritePlan* plan) {
  return Completer(point, plan).Complete();
}

// Sequences of its own writes are those that a reader at any sequence sees.
Status TryWrite(int64_t timestamp, int64_t now_micros, WritePlan* plan) {
  const GroupWrites none;
  const CompletionPoint point{.first = format::kFirstOwnSequence,
                              .timestamp = timestamp,
                              .now_micros = now_micros,
                              .earlier = &none,
                              .sequence = plan->read_set.visible};
  return Completer(point, plan).Complete().status();
}

}  // namespace tandem::engine
