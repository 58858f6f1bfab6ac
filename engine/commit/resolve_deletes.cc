// How one batch is resolved:
//   1. Operations are taken in order; each that is written takes the next sequence number.
//   2. A DeleteCell sees the stored cells of its row and those of the operations of its own batch.
//   3. Its cells form one more operation of the batch, which later operations see.
#include "engine/commit/resolve_deletes.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "engine/query/reader.h"
#include "format/cell/overflow_value.h"
#include "format/cell/visibility.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

class Resolver {
 public:
  Resolver(const ResolvePoint& point, WritePlan* plan)
      : point_(point), plan_(plan), next_(point.first) {}

  Result<std::vector<Region*>> Resolve();

 private:
  const Table& TableOf(format::TableId id) const;
  Status ResolveDelete(const PlannedOperation& operation);
  Result<std::vector<format::Cell>> VisibleVersions(const PlannedOperation& operation);
  void Emit(const PlannedOperation& operation);
  Status EmitDelete(const PlannedOperation& operation, const std::vector<format::Cell>& versions,
                    size_t hit);
  void NoteUnlogged(Region* region, const ColumnCells& read);
  Status ReadInline(format::Cell* cell);

  const ResolvePoint& point_;
  WritePlan* plan_;
  format::SequenceNumber next_;
  /// The cells of the batch's own operations so far, complete with sequence and timestamp.
  std::map<std::pair<format::TableId, std::string_view>, std::vector<format::Cell>> written_;
  std::vector<std::shared_ptr<const void>> pins_;  ///< Keep the cells that were read alive.
  std::vector<Region*> unlogged_;                  ///< Where it read operations that are in no log.
};

Result<std::vector<Region*>> Resolver::Resolve() {
  for (const PlannedOperation& operation : plan_->unresolved) {
    if (operation.is_delete_cell) {
      RETURN_IF_ERROR(ResolveDelete(operation));
    } else {
      Emit(operation);
    }
    if (plan_->batch.bytes().size() > kBatchBytesMax) break;
  }
  if (!unlogged_.empty()) {
    plan_->batch = wal::BatchEncoder();
    return std::move(unlogged_);
  }
  RETURN_IF_ERROR(CheckEncodedSize(plan_->batch));
  return std::vector<Region*>();
}

const Table& Resolver::TableOf(format::TableId id) const {
  for (const auto& table : plan_->tables) {
    if (table->record->id == id) return *table;
  }
  return *plan_->tables.front();  // Planning put every table there.
}

void Resolver::Emit(const PlannedOperation& operation) {
  EncodeOperation(operation, &plan_->batch);
  std::vector<format::Cell>& written = written_[{operation.table, operation.row}];
  for (format::Cell cell : operation.cells) {
    cell.sequence = next_;
    cell.timestamp = operation.timestamp.value_or(point_.timestamp);
    written.push_back(cell);
  }
  ++next_.value;
}

// The visible versions of the column, newest first. Of a hot row, all only if they may be as many
// as the family keeps (CellsOfColumn).
Result<std::vector<format::Cell>> Resolver::VisibleVersions(const PlannedOperation& operation) {
  const Table& table = TableOf(operation.table);
  const ColumnWanted wanted{.column = operation.cells.front(),
                            .timestamp = operation.timestamp,
                            .newer = written_[{operation.table, operation.row}]};
  ASSIGN_OR_RETURN(const ColumnCells read,
                   CellsOfColumn(point_.view(table), operation.row, wanted, &pins_));
  NoteUnlogged(&table.RegionOf(operation.row), read);
  std::vector<format::Cell> visible;
  format::VisibleCells(read.cells, table.record->families,
                       {.sequence = format::kSequenceMax, .now_micros = point_.now_micros},
                       &visible);
  std::erase_if(visible, [&operation](const format::Cell& cell) {
    return !format::SameColumn(cell, operation.cells.front());
  });
  return visible;
}

Status Resolver::ResolveDelete(const PlannedOperation& operation) {
  ASSIGN_OR_RETURN(const std::vector<format::Cell> versions, VisibleVersions(operation));
  if (versions.empty()) return {};
  size_t hit = 0;
  if (operation.timestamp.has_value()) {
    while (hit < versions.size() && versions[hit].timestamp != *operation.timestamp) ++hit;
  }
  return hit < versions.size() ? EmitDelete(operation, versions, hit) : Status();
}

// Cells that hide others count too, since the result depends on both.
void Resolver::NoteUnlogged(Region* region, const ColumnCells& read) {
  const format::SequenceNumber flushed = region->flushed_through();
  const bool any = region->unlogged().MayHoldUpTo(read.tree_through, flushed) ||
                   std::any_of(read.cells.begin(), read.cells.end(), [&](const format::Cell& cell) {
                     return region->unlogged().MayHold(cell.sequence, flushed);
                   });
  if (!any || std::find(unlogged_.begin(), unlogged_.end(), region) != unlogged_.end()) return;
  unlogged_.push_back(region);
}

// Replaces an overflow value by the value itself.
Status Resolver::ReadInline(format::Cell* cell) {
  if (!cell->is_overflow()) return {};
  auto value = std::make_shared<std::string>();
  RETURN_IF_ERROR(format::ReadOverflowValue(*cell, value.get()));
  cell->value = *value;
  cell->overflow_file = nullptr;
  pins_.push_back(std::move(value));
  return {};
}

// Each cell has a timestamp of its own, so the operation is encoded here.
Status Resolver::EmitDelete(const PlannedOperation& operation,
                            const std::vector<format::Cell>& versions, size_t hit) {
  std::vector<format::Cell> cells;
  format::Cell marker = operation.cells.front();
  marker.sequence = next_;
  marker.timestamp = versions[hit].timestamp;
  cells.push_back(marker);

  const int64_t oldest = versions.back().timestamp;
  const format::FamilyRecord* family = TableOf(operation.table).record->FindFamily(marker.family);
  const size_t versions_max = family == nullptr ? 0 : family->options.max_versions;
  if (versions.size() >= versions_max && oldest > std::numeric_limits<int64_t>::min()) {
    marker.kind = format::CellKind::kDeleteColumn;
    marker.timestamp = oldest - 1;
    cells.push_back(marker);
  }
  if (hit == 0 && versions.size() > 1) {
    format::Cell revealed = versions[1];
    revealed.sequence = next_;
    RETURN_IF_ERROR(ReadInline(&revealed));
    cells.push_back(revealed);
  }

  plan_->batch.BeginOperation(operation.table, operation.row);
  for (const format::Cell& cell : cells) plan_->batch.AddCell(cell, cell.timestamp);
  std::vector<format::Cell>& written = written_[{operation.table, operation.row}];
  written.insert(written.end(), cells.begin(), cells.end());
  ++next_.value;
  return {};
}

}  // namespace

Result<std::vector<Region*>> ResolveDeletes(const ResolvePoint& point, WritePlan* plan) {
  return Resolver(point, plan).Resolve();
}

}  // namespace tandem::engine
