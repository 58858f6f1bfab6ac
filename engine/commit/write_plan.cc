// Planning walks the batch once. If it finds an operation that depends on stored data, it starts
// again and keeps the operations instead of encoding them.
#include "engine/commit/write_plan.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/commit/batch_reader.h"
#include "engine/commit/new_value.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

std::string LimitText(std::string_view what, size_t found, size_t limit) {
  std::string text(what);
  text.append(" has ").append(std::to_string(found));
  text.append(" bytes, the limit is ").append(std::to_string(limit));
  return text;
}

// Sequence number and timestamp are assigned at commit.
format::Cell NewCell(format::CellKind kind, format::FamilyId family, const ColumnValue& column) {
  format::Cell cell;
  cell.kind = kind;
  cell.family = family;
  cell.qualifier = column.qualifier;
  cell.value = column.value;
  return cell;
}

// Requires: an operation on columns.
format::CellKind CellKindOf(BatchKind kind) {
  if (kind == BatchKind::kDeleteCell) return format::CellKind::kDeleteCell;
  if (kind == BatchKind::kDeleteColumn) return format::CellKind::kDeleteColumn;
  return format::CellKind::kPut;
}

// A name that occurs twice, or nullptr. May sort them.
const std::string_view* FindTwice(std::vector<std::string_view>* names) {
  // Of few, each is compared with those before it: most differ in length already.
  constexpr size_t kComparedMax = 8;
  const auto begin = names->begin(), end = names->end();
  if (names->size() > kComparedMax) {
    std::sort(begin, end);
    const auto twice = std::adjacent_find(begin, end);
    return twice == end ? nullptr : &*twice;
  }
  for (auto name = begin; name != end; ++name) {
    if (std::find(begin, name, *name) != name) return &*name;
  }
  return nullptr;
}

using Kind = PlannedOperation::Kind;

Kind KindOf(BatchKind kind) {
  if (kind == BatchKind::kDeleteCell) return Kind::kDeleteCell;
  if (kind == BatchKind::kIncrement) return Kind::kIncrement;
  return kind == BatchKind::kAppend ? Kind::kAppend : Kind::kBlind;
}

// What becomes of the operations.
enum class Use : uint8_t {
  kEncode,  // They are logged as they are, unless one depends on stored data.
  kKeep,    // They are completed by what is stored, then logged.
  kLoad,    // They go into files: nothing depends on stored data.
};

class Planner {
 public:
  Planner(const WriteBatch& batch, const RegionSet& regions, Use use, wal::BatchEncoder buffer = {})
      : batch_(batch),
        regions_(regions),
        keep_operations_(use == Use::kKeep),
        writes_entries_(use != Use::kLoad) {
    buffer.Clear();
    plan_.batch = std::move(buffer);
  }

  /// The table and row of a condition on the batch.
  Status Begin(std::string_view table, std::string_view row);
  const Table& table() const { return *table_; }
  Status Plan();
  bool met_reader() const { return met_reader_; }
  WritePlan TakePlan(uint64_t changes) {
    if (!makes_entries_) plan_.unique_rows.clear();
    std::sort(plan_.unique_rows.begin(), plan_.unique_rows.end());
    plan_.unique_rows.erase(std::unique(plan_.unique_rows.begin(), plan_.unique_rows.end()),
                            plan_.unique_rows.end());
    const auto is_before = [](const GlobalRow& a, const GlobalRow& b) { return a.row < b.row; };
    const auto is_same = [](const GlobalRow& a, const GlobalRow& b) { return a.row == b.row; };
    std::vector<GlobalRow>& global = plan_.global_rows;
    std::sort(global.begin(), global.end(), is_before);
    global.erase(std::unique(global.begin(), global.end(), is_same), global.end());
    plan_.changes = changes;
    plan_.size_bytes = batch_.size_bytes();
    plan_.operation_count = batch_.operation_count();
    return std::move(plan_);
  }

 private:
  Status FindTable(std::string_view name);
  void NoteRegion();
  Result<format::FamilyId> FindFamily(std::string_view name) const;
  Status CheckRow(std::string_view row) const;
  Status CheckOperation();
  template <typename Add>
  void ForEachCell(Add&& add) const;
  bool Touches(const format::IndexRecord& index) const;
  void NoteUniqueRows();
  void NoteGlobalRows();
  void AddTable(std::shared_ptr<const Table> table);
  void Encode();
  void Keep();
  Status CheckColumns();
  Status CheckIndexes() const;
  std::string Where(std::string_view qualifier) const;

  const WriteBatch& batch_;
  const RegionSet& regions_;
  const bool keep_operations_;
  const bool writes_entries_;   ///< Of global indexes, and those of unique ones are compared.
  bool met_reader_ = false;     ///< An operation that depends on stored data.
  bool makes_entries_ = false;  ///< One that may make an entry of a unique index.
  WritePlan plan_;
  BatchOperation operation_;         ///< The current one,
  const Table* table_ = nullptr;     ///< its table, which `plan_` holds,
  bool refuses_duplicates_ = false;  ///< which has such a unique index,
  format::FamilyId family_;          ///< and its family, unless it deletes the row.
  std::vector<std::string_view> qualifiers_;
};

Status Planner::Plan() {
  if (batch_.size_bytes() > kBatchBytesMax) {
    return Status::InvalidArgument(LimitText("the batch", batch_.size_bytes(), kBatchBytesMax));
  }
  if (!keep_operations_) plan_.batch.Reserve(batch_.size_bytes());
  BatchReader reader(batch_);
  while (reader.Next(&operation_)) {
    met_reader_ |= KindOf(operation_.kind) != Kind::kBlind;
    if (met_reader_ && !keep_operations_) return {};
    RETURN_IF_ERROR(CheckOperation());
    if (refuses_duplicates_) {
      NoteUniqueRows();
      if (met_reader_ && !keep_operations_) return {};
    }
    if (writes_entries_ && !table_->record->global_indexes.empty()) {
      NoteGlobalRows();
      if (met_reader_ && !keep_operations_) return {};
    }
    if (keep_operations_) {
      Keep();
      continue;
    }
    Encode();
    // A DeleteRow is encoded family by family, so the encoding can outgrow the batch at any time.
    if (plan_.batch.bytes().size() > kBatchBytesMax) break;
  }
  return CheckEncodedSize(plan_.batch);
}

Status Planner::FindTable(std::string_view name) {
  if (table_ != nullptr && table_->record->name == name) return {};
  std::shared_ptr<const Table> table = regions_.Find(name);
  if (table == nullptr) return TableNotFound(name);
  table_ = table.get();
  RETURN_IF_ERROR(format::CheckCalls(*table_->record));
  refuses_duplicates_ =
      writes_entries_ &&
      std::any_of(table_->record->indexes.begin(), table_->record->indexes.end(),
                  [](const format::IndexRecord& index) { return index.RefusesDuplicates(); });
  AddTable(table);
  if (!writes_entries_) return {};
  for (const format::GlobalIndexRecord& global : table->record->global_indexes) {
    AddTable(regions_.Find(global.entries));
  }
  return {};
}

// null: it is gone, and with it the record that names it, which the commit will find.
void Planner::AddTable(std::shared_ptr<const Table> table) {
  if (table == nullptr) return;
  if (std::find(plan_.tables.begin(), plan_.tables.end(), table) != plan_.tables.end()) return;
  plan_.tables.push_back(std::move(table));
}

Status Planner::Begin(std::string_view table, std::string_view row) {
  RETURN_IF_ERROR(FindTable(table));
  RETURN_IF_ERROR(CheckRow(row));
  plan_.region = &table_->RegionOf(row);
  return {};
}

void Planner::NoteRegion() {
  if (plan_.spans_regions) return;
  Region* region = &table_->RegionOf(operation_.row);
  if (plan_.region == nullptr) plan_.region = region;
  plan_.spans_regions = region != plan_.region;
}

Result<format::FamilyId> Planner::FindFamily(std::string_view name) const {
  if (name.empty()) return table_->record->first_family().id;
  const format::FamilyRecord* family = table_->record->FindFamily(name);
  if (family == nullptr) {
    return Status::NotFound("table " + base::Quote(table_->record->name) + " has no family " +
                            base::Quote(name));
  }
  return family->id;
}

Status Planner::CheckRow(std::string_view row) const {
  if (row.empty()) return Status::InvalidArgument("a row key is empty");
  if (row.size() <= kRowKeyBytesMax) return {};
  return Status::InvalidArgument(
      LimitText("row key " + base::Quote(row), row.size(), kRowKeyBytesMax));
}

// Finds the operation's table and family, and refuses what is out of limits.
Status Planner::CheckOperation() {
  RETURN_IF_ERROR(FindTable(operation_.table));
  RETURN_IF_ERROR(CheckRow(operation_.row));
  NoteRegion();
  if (operation_.kind == BatchKind::kDeleteRow) return {};
  ASSIGN_OR_RETURN(family_, FindFamily(operation_.family));
  if (operation_.kind == BatchKind::kDeleteFamily) return {};
  RETURN_IF_ERROR(CheckColumns());
  return operation_.kind == BatchKind::kPut ? CheckIndexes() : Status();
}

template <typename Add>
void Planner::ForEachCell(Add&& add) const {
  switch (operation_.kind) {
    case BatchKind::kDeleteRow:
      for (const format::FamilyRecord& family : table_->record->families) {
        if (!family.dropped) add(NewCell(format::CellKind::kDeleteFamily, family.id, {}));
      }
      return;
    case BatchKind::kDeleteFamily:
      add(NewCell(format::CellKind::kDeleteFamily, family_, {}));
      return;
    case BatchKind::kPut:
    case BatchKind::kIncrement:
    case BatchKind::kAppend:
    case BatchKind::kDeleteCell:
    case BatchKind::kDeleteColumn:
      for (const ColumnValue& column : operation_.columns) {
        add(NewCell(CellKindOf(operation_.kind), family_, column));
      }
  }
}

// Whether a row's entry may depend on the operation.
bool Planner::Touches(const format::IndexRecord& index) const {
  const auto touches_column = [this](const format::IndexColumnRecord& column) {
    if (operation_.kind == BatchKind::kDeleteRow) return true;
    if (column.family != family_) return false;
    if (operation_.kind == BatchKind::kDeleteFamily) return true;
    return std::any_of(
        operation_.columns.begin(), operation_.columns.end(),
        [&column](const ColumnValue& named) { return named.qualifier == column.qualifier; });
  };
  return std::any_of(index.columns.begin(), index.columns.end(), touches_column);
}

// A delete of a row, family or column hides all that is older than what it leaves, so it leaves a
// row the entry that it had, or none. All others may make one: DeleteCell reveals a value.
void Planner::NoteUniqueRows() {
  const bool makes_entries = operation_.kind != BatchKind::kDeleteRow &&
                             operation_.kind != BatchKind::kDeleteFamily &&
                             operation_.kind != BatchKind::kDeleteColumn;
  for (const format::IndexRecord& index : table_->record->indexes) {
    if (!index.RefusesDuplicates() || !Touches(index)) continue;
    plan_.must_be_logged = true;
    makes_entries_ |= makes_entries;
    met_reader_ |= makes_entries;
    if (!keep_operations_) continue;
    plan_.unique_rows.push_back(
        {.table = table_->record->id, .index = index.id, .row = operation_.row});
  }
}

// Any operation may take the entry that the row had, or make another one.
void Planner::NoteGlobalRows() {
  for (const format::GlobalIndexRecord& global : table_->record->global_indexes) {
    if (!Touches(global.index)) continue;
    met_reader_ = true;
    if (!keep_operations_) return;
    const UniqueRow row{
        .table = table_->record->id, .index = global.index.id, .row = operation_.row};
    plan_.global_rows.push_back({.row = row, .entries = global.entries});
  }
}

void Planner::Encode() {
  plan_.batch.BeginOperation(table_->record->id, operation_.row);
  ForEachCell(
      [this](const format::Cell& cell) { plan_.batch.AddCell(cell, operation_.timestamp); });
}

void Planner::Keep() {
  PlannedOperation& kept = plan_.unresolved.emplace_back();
  kept.table = table_->record->id;
  kept.row = operation_.row;
  kept.timestamp = operation_.timestamp;
  kept.kind = KindOf(operation_.kind);
  ForEachCell([&kept](const format::Cell& cell) { kept.cells.push_back(cell); });
}

Status Planner::CheckColumns() {
  if (operation_.columns.empty()) {
    return Status::InvalidArgument("row " + base::Quote(operation_.row) +
                                   ": a put without columns");
  }
  qualifiers_.clear();
  for (const ColumnValue& column : operation_.columns) {
    if (column.qualifier.size() > kQualifierBytesMax) {
      return Status::InvalidArgument(LimitText(Where(column.qualifier) + ": the qualifier",
                                               column.qualifier.size(), kQualifierBytesMax));
    }
    if (column.value.size() > kValueBytesMax) {
      return Status::InvalidArgument(
          LimitText(Where(column.qualifier) + ": the value", column.value.size(), kValueBytesMax));
    }
    qualifiers_.push_back(column.qualifier);
  }
  const std::string_view* const twice = FindTwice(&qualifiers_);
  if (twice == nullptr) return {};
  return Status::InvalidArgument(Where(*twice) + ": the column stands twice in one operation");
}

Status Planner::CheckIndexes() const {
  if (table_->record->indexes.empty() && table_->record->global_indexes.empty()) return {};
  for (const ColumnValue& put : operation_.columns) {
    RETURN_IF_ERROR(engine::CheckIndexes(*table_->record, operation_.row,
                                         NewCell(format::CellKind::kPut, family_, put), put.value));
  }
  return {};
}

std::string Planner::Where(std::string_view qualifier) const {
  const ColumnValue column{.qualifier = qualifier, .value = {}};
  return engine::Where(*table_->record, operation_.row,
                       NewCell(format::CellKind::kPut, family_, column));
}

}  // namespace

Result<WritePlan> PlanWrite(const WriteBatch& batch, const RegionSet& regions,
                            wal::BatchEncoder buffer) {
  const uint64_t changes = regions.changes();
  Planner planner(batch, regions, Use::kEncode, std::move(buffer));
  RETURN_IF_ERROR(planner.Plan());
  if (!planner.met_reader()) return planner.TakePlan(changes);
  return PlanUnlogged(batch, regions);
}

Result<WritePlan> PlanUnlogged(const WriteBatch& batch, const RegionSet& regions) {
  const uint64_t changes = regions.changes();
  Planner keeping(batch, regions, Use::kKeep);
  RETURN_IF_ERROR(keeping.Plan());
  return keeping.TakePlan(changes);
}

Result<WritePlan> PlanLoad(const WriteBatch& batch, const RegionSet& regions,
                           wal::BatchEncoder buffer) {
  const uint64_t changes = regions.changes();
  Planner planner(batch, regions, Use::kLoad, std::move(buffer));
  RETURN_IF_ERROR(planner.Plan());
  return planner.TakePlan(changes);
}

Result<WritePlan> PlanConditional(const ConditionalBatch& conditional, const RegionSet& regions) {
  const uint64_t changes = regions.changes();
  Planner planner(*conditional.batch, regions, Use::kKeep);
  RETURN_IF_ERROR(planner.Begin(conditional.table, conditional.row));
  const format::TableRecord& table = *planner.table().record;
  ASSIGN_OR_RETURN(
      BoundPredicate predicate,
      BoundPredicate::Bind(*conditional.predicate, table, {.functions = &regions.functions()}));
  Condition condition{
      .table = table.id, .row = conditional.row, .predicate = std::move(predicate), .columns = {}};
  if (!condition.predicate.WholeFamilies().empty()) {
    return Status::InvalidArgument(
        "the condition of a write names its columns: it cannot be on map_keys or map_values, which "
        "are of all columns of a family");
  }
  condition.columns = condition.predicate.Columns();
  RETURN_IF_ERROR(planner.Plan());
  WritePlan plan = planner.TakePlan(changes);
  plan.condition = std::move(condition);
  return plan;
}

std::optional<WritePlan> PlanEntries(format::TableId id, format::IndexId index,
                                     std::span<const std::string> rows, const RegionSet& regions) {
  WritePlan plan;
  plan.changes = regions.changes();
  plan.builds_entries = true;
  std::shared_ptr<const Table> table = regions.Find(id);
  if (table == nullptr) return std::nullopt;
  const format::GlobalIndexRecord* const global = table->record->FindGlobal(index);
  std::shared_ptr<const Table> entries =
      global == nullptr ? nullptr : regions.Find(global->entries);
  if (entries == nullptr) return std::nullopt;
  plan.region = table->regions.front().get();
  for (const std::string& row : rows) {
    plan.global_rows.push_back(
        {.row = {.table = id, .index = index, .row = row}, .entries = global->entries});
  }
  plan.tables = {std::move(table), std::move(entries)};
  return plan;
}

const Table& WritePlan::TableOf(format::TableId id) const {
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [id](const auto& table) { return table->record->id == id; });
  return **found;
}

size_t Condition::column_count() const {
  size_t count = 0;
  for (const ColumnSet::Family& family : columns.families()) count += family.qualifiers.size();
  return count;
}

void EncodeOperation(const PlannedOperation& operation, wal::BatchEncoder* batch) {
  batch->BeginOperation(operation.table, operation.row);
  for (const format::Cell& cell : operation.cells) batch->AddCell(cell, operation.timestamp);
}

Status CheckEncodedSize(const wal::BatchEncoder& batch) {
  if (batch.bytes().size() <= kBatchBytesMax) return {};
  return Status::InvalidArgument(
      LimitText("the batch as the log encodes it", batch.bytes().size(), kBatchBytesMax));
}

}  // namespace tandem::engine
