// Each operation is applied to the region that holds its key, at its own sequence number. The last
// table found is kept for the operations that follow.
#include "engine/commit/applier.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

Status Malformed(const wal::Operation& operation, std::string_view what) {
  std::string message("log: operation ");
  message.append(std::to_string(operation.sequence.value)).append(": ").append(what);
  return Status::Corruption(std::move(message));
}

// Repeats the checks that PlanWrite made before the operation was logged. An index may be younger
// than the operation, so its values need not fit.
Status CheckOperation(const format::TableRecord& table, const wal::Operation& operation) {
  if (operation.row.empty() || operation.row.size() > kRowKeyBytesMax) {
    return Malformed(operation, "a row key out of its limits");
  }
  for (const format::Cell& cell : operation.cells) {
    if (cell.kind > format::CellKind::kDeleteFamily || table.FindFamily(cell.family) == nullptr) {
      return Malformed(operation, "a cell of an unknown kind or family");
    }
    if (cell.qualifier.size() > kQualifierBytesMax || cell.value.size() > kValueBytesMax) {
      return Malformed(operation, "a cell out of its limits");
    }
  }
  return {};
}

// Neighbouring operations on one memstore, which are applied together.
class OperationRun {
 public:
  /// Where the next operation is read into.
  wal::Operation* next() { return &operations_[count_]; }
  /// Takes what was read. Others may be applied.
  void Take(Memstore* memstore) {
    if (memstore != memstore_ && count_ > 0) {
      const size_t taken = count_;
      Apply();
      std::swap(operations_[0], operations_[taken]);
    }
    memstore_ = memstore;
    if (++count_ == operations_.size()) Apply();
  }
  /// Applies what was taken and is not applied yet.
  void Apply() {
    std::array<RowOperation, Memstore::kOperationsTogether> rows;
    for (size_t i = 0; i < count_; ++i) rows[i] = {operations_[i].row, operations_[i].cells};
    if (count_ > 0) memstore_->Apply({rows.data(), count_});
    count_ = 0;
  }

 private:
  std::array<wal::Operation, Memstore::kOperationsTogether> operations_;
  size_t count_ = 0;
  Memstore* memstore_ = nullptr;
};

}  // namespace

// False: it was dropped.
Result<bool> GroupApplier::FindTable(format::TableId id) {
  if (table_ != nullptr && table_->record->id == id) return true;
  table_ = regions_->Find(id);
  if (table_ != nullptr) return true;
  if (id < next_table_) return false;
  return Status::Corruption("log: an operation on table " + std::to_string(id.value) +
                            ", which does not exist");
}

Status GroupApplier::ApplyOperations(wal::GroupReader* reader, bool replay) {
  OperationRun run;
  while (reader->Next(run.next())) {
    const wal::Operation& operation = *run.next();
    ASSIGN_OR_RETURN(const bool exists, FindTable(operation.table));
    if (!exists) continue;
    if (replay) RETURN_IF_ERROR(CheckOperation(*table_->record, operation));
    Region& region = table_->RegionOf(operation.row);
    if (replay && operation.sequence <= region.flushed_through()) continue;
    run.Take(region.active());
    if (!replay) region.CountWrites(1);
    // A region may be listed several times; TakeApplied removes duplicates.
    if (applied_.regions.empty() || applied_.regions.back() != &region) {
      applied_.regions.push_back(&region);
    }
  }
  run.Apply();
  return reader->status();
}

bool GroupApplier::IsNeeded(const format::Frame& frame) {
  wal::GroupReader reader(frame.payload, format::SequenceNumber(frame.first_sequence),
                          frame.timestamp);
  wal::Operation operation;
  while (reader.Next(&operation)) {
    // Keep what cannot be understood; the next open decides.
    const Result<bool> exists = FindTable(operation.table);
    if (!exists.has_value()) return true;
    if (*exists && operation.sequence > table_->RegionOf(operation.row).flushed_through())
      return true;
  }
  return !reader.status().ok();
}

GroupApplier::Applied GroupApplier::TakeApplied() {
  std::vector<Region*>& regions = applied_.regions;
  std::sort(regions.begin(), regions.end(),
            [](const Region* a, const Region* b) { return a->id() < b->id(); });
  regions.erase(std::unique(regions.begin(), regions.end()), regions.end());
  return std::exchange(applied_, {});
}

Status GroupApplier::Apply(std::string_view payload, format::SequenceNumber first,
                           int64_t timestamp) {
  wal::GroupReader reader(payload, first, timestamp);
  applied_.bytes += payload.size();
  return ApplyOperations(&reader, false);
}

Status GroupApplier::Replay(const format::Frame& frame) {
  wal::GroupReader reader(frame.payload, format::SequenceNumber(frame.first_sequence),
                          frame.timestamp);
  RETURN_IF_ERROR(ApplyOperations(&reader, true));
  applied_.last_timestamp = frame.timestamp + std::max<int64_t>(reader.batches(), 1) - 1;
  if (reader.sequences() == frame.count) return {};
  return Status::Corruption("log: operations of the group at sequence " +
                            std::to_string(frame.first_sequence) + ": expected " +
                            std::to_string(frame.count) + ", found " +
                            std::to_string(reader.sequences()));
}

}  // namespace tandem::engine
