// SplitKeySampler (tandem/split_keys.h): a quantile sketch, and what may be added to it. A table is
// read through the public API as a program would: a row, then past n - 1 others, and so on. A key
// that was taken counts for the rows up to the next one.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "engine/split_keys/plan.h"
#include "engine/split_keys/quantile_sketch.h"
#include "tandem/database.h"
#include "tandem/limits.h"
#include "tandem/split_keys.h"

namespace tandem {
namespace {

constexpr uint64_t kWeightMax = uint64_t{1} << 62;
// To read this many small rows costs about as much as a scan that begins after them.
constexpr uint64_t kRowsByCounts = 64;

Status Invalid(std::string what) {
  return Status::InvalidArgument("split keys: " + std::move(what));
}

Status CheckRegions(uint64_t regions, uint64_t most) {
  if (regions >= 1 && regions <= most) return {};
  return Invalid("expected 1 to " + std::to_string(most) + " regions, found " +
                 std::to_string(regions));
}

// At least as many rows as there are: a row counts in each file and memstore that has it.
Result<uint64_t> RowsAtMost(Database* database, std::string_view table) {
  ASSIGN_OR_RETURN(const DatabaseInfo info, database->Info());
  const auto found = std::ranges::find(info.tables, table, [](const TableInfo& candidate) {
    return std::string_view(candidate.options.name);
  });
  if (found == info.tables.end()) {
    return Status::NotFound("table '" + std::string(table) + "' does not exist");
  }
  uint64_t rows = 0;
  for (const RegionInfo& region : found->regions) rows += region.rows + region.memstore_rows;
  return rows;
}

// One row of each `step`, in key order from the first on.
class SpacedRows {
 public:
  SpacedRows(Database* database, std::string_view table, const ReadOptions& read, uint64_t step)
      : database_(*database),
        table_(table),
        read_(read),
        step_(step),
        by_counts_(step >= kRowsByCounts) {}

  // nullopt: there are no more.
  Result<std::optional<std::string_view>> Next() {
    const bool opens = by_counts_ || !cursor_.has_value();
    if (opens) RETURN_IF_ERROR(Open());
    for (uint64_t rows = opens ? 1 : step_; rows > 0; --rows) {
      ASSIGN_OR_RETURN(const bool more, NextRow());
      if (!more) return std::optional<std::string_view>();
    }
    return std::optional(cursor_->row().key());
  }

 private:
  // The first time from the first row on. Then the row before is passed over, too.
  Status Open() {
    ScanOptions scan;
    if (cursor_.has_value()) {
      scan.start = cursor_->row().key();
      scan.offset = step_;
    }
    if (by_counts_) scan.limit = 1;
    Result<Cursor> opened = database_.Scan(read_, table_, scan);
    if (!opened.has_value()) return opened.error();
    cursor_ = *std::move(opened);
    return {};
  }
  // Of a large row, which comes in pieces, to the last.
  Result<bool> NextRow() {
    while (cursor_->Next()) {
      if (!cursor_->row().continues()) return true;
    }
    RETURN_IF_ERROR(cursor_->status());
    return false;
  }

  Database& database_;
  const std::string_view table_;
  const ReadOptions& read_;
  const uint64_t step_;
  const bool by_counts_;
  std::optional<Cursor> cursor_;
};

}  // namespace

Result<SplitKeySampler> SplitKeySampler::Create(uint64_t regions_max) {
  RETURN_IF_ERROR(CheckRegions(regions_max, kSplitPlanRegionsMax));
  const double error = engine::SketchErrorFor(regions_max);
  return SplitKeySampler(std::make_unique<engine::QuantileSketch>(error), regions_max);
}

SplitKeySampler::SplitKeySampler(std::unique_ptr<engine::QuantileSketch> sketch,
                                 uint64_t regions_max)
    : sketch_(std::move(sketch)), regions_max_(regions_max) {}
SplitKeySampler::SplitKeySampler(SplitKeySampler&&) noexcept = default;
SplitKeySampler& SplitKeySampler::operator=(SplitKeySampler&&) noexcept = default;
SplitKeySampler::~SplitKeySampler() = default;

Status SplitKeySampler::Add(std::string_view key, uint64_t weight) {
  if (key.empty()) return Invalid("a key is empty");
  if (key.size() > kRowKeyBytesMax) {
    return Invalid("a key has " + std::to_string(key.size()) + " bytes, the limit is " +
                   std::to_string(kRowKeyBytesMax));
  }
  if (weight == 0) return Invalid("a key has weight 0");
  if (weight > kWeightMax - sketch_->weight()) {
    return Status::InvalidArgument("the weights add up to more than " + std::to_string(kWeightMax));
  }
  sketch_->Add(key, weight);
  return {};
}

Status SplitKeySampler::AddTable(Database* database, std::string_view table,
                                 const TableSampleOptions& options) {
  if (options.rows_max == 0) return Invalid("rows_max is 0");
  // Taken first: merges keep what it sees, so there are not fewer rows than it sees.
  ASSIGN_OR_RETURN(const Snapshot snapshot, database->TakeSnapshot());
  ASSIGN_OR_RETURN(const uint64_t rows, RowsAtMost(database, table));
  const uint64_t step = std::max<uint64_t>(1, (rows + options.rows_max - 1) / options.rows_max);
  ReadOptions read;
  read.snapshot = &snapshot;
  read.pieces = true;
  read.cancelled = options.cancelled;
  SpacedRows taken(database, table, read, step);
  passed_over_ += step - 1;
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<std::string_view> key, taken.Next());
    if (!key.has_value()) return {};
    RETURN_IF_ERROR(Add(*key, step));
  }
}

Result<SplitPlan> SplitKeySampler::Plan(uint64_t regions) {
  RETURN_IF_ERROR(CheckRegions(regions, regions_max_));
  if (keys() < regions) {
    return Status::InvalidArgument("the sample has " + std::to_string(keys()) + " key" +
                                   (keys() == 1 ? "" : "s") +
                                   ", fewer than regions; a thousand a region make them even");
  }
  SplitPlan plan = engine::PlanFromSketch(sketch_.get(), regions);
  plan.error_share += static_cast<double>(passed_over_) / static_cast<double>(weight());
  return plan;
}

uint64_t SplitKeySampler::keys() const { return sketch_->keys(); }
uint64_t SplitKeySampler::weight() const { return sketch_->weight(); }
size_t SplitKeySampler::memory_bytes() const { return sketch_->memory_bytes(); }

}  // namespace tandem
