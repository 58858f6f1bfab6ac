// Validation of the rows of a transaction, outside and inside the commit queue.
#include "engine/commit/row_checks.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/query/reader.h"
#include "format/hash.h"

namespace tandem::engine {
namespace {

bool AreEqual(const std::optional<Row>& a, const std::optional<Row>& b) {
  if (!a.has_value() || !b.has_value()) return a.has_value() == b.has_value();
  return engine::AreEqual(a->cells(), b->cells());
}

// Notes what a conflict is about.
Status Because(ConflictCause cause, Status status, RowChecks* checks) {
  if (status.code() == StatusCode::kConflict) checks->cause = cause;
  return status;
}

Result<std::optional<Row>> AllVersions(RegionView view, std::string_view row) {
  ReadOptions options;
  options.versions = std::numeric_limits<uint32_t>::max();
  return GetRow(std::move(view), options, row);
}

// Both reads use the transaction's time, so a cell that has expired since is no change.
Status CheckGoneRow(const RegionView& before, format::SequenceNumber now, RowCheck* check) {
  RegionView after = before;
  after.point.sequence = now;
  const Result<std::optional<Row>> old_row = AllVersions(before, check->row);
  const Result<std::optional<Row>> new_row = AllVersions(std::move(after), check->row);
  for (const auto* row : {&old_row, &new_row}) {
    if (row->has_value()) continue;
    // A row that cannot be read whole is not compared.
    if (row->error().code() == StatusCode::kOverBudget) break;
    return row->error();
  }
  const bool is_equal = old_row.has_value() && new_row.has_value() && AreEqual(*old_row, *new_row);
  if (!is_equal) return ChangedByOthers(*before.table, check->row);
  check->unchanged_through = now;
  return {};
}

// The memstores of a region that CheckRows has met last: most say of all their rows at once that
// they are older.
class RegionCheck {
 public:
  explicit RegionCheck(const Table& table, std::string_view row)
      : table_(table.record), region_(&table.RegionOf(row)), version_(region_->version()) {}

  bool IsFor(format::TableId table, std::string_view row) const {
    return table_->id == table && version_->MayHold(row);
  }
  const format::TableRecord& table() const { return *table_; }
  const RegionVersion& version() const { return *version_; }
  bool IsNewer(const RowCheck& check) const {
    return engine::IsNewer(*version_, *table_, check.row, check.unchanged_through);
  }
  /// The region, if the row depends on operations that are in no log and in no file.
  Region* Unlogged(const RowCheck& check) const {
    const format::SequenceNumber flushed = region_->flushed_through();
    if (!check.was_read || !region_->unlogged().MayHoldUpTo(check.unchanged_through, flushed)) {
      return nullptr;
    }
    const uint64_t hash = format::RowHash(check.row, table_->hash_secret);
    for (const std::shared_ptr<const Memstore>& memstore : version_->memstores) {
      const MemRow* row = memstore->Find(check.row, hash);
      if (row == nullptr) continue;
      if (region_->unlogged().MayHoldUpTo(Memstore::NewestSequence(row), flushed)) return region_;
    }
    return nullptr;
  }

 private:
  std::shared_ptr<const format::TableRecord> table_;
  Region* region_;
  std::shared_ptr<const RegionVersion> version_;
};

}  // namespace

Status ChangedByOthers(const format::TableRecord& table, std::string_view row) {
  return Status::Conflict("row " + base::Quote(row) + " of table " + base::Quote(table.name) +
                          " was changed by another write");
}

bool IsNewer(const RegionVersion& version, const format::TableRecord& table, std::string_view row,
             format::SequenceNumber sequence) {
  std::optional<uint64_t> hash;
  for (const std::shared_ptr<const Memstore>& memstore : version.memstores) {
    if (memstore->empty() || memstore->max_sequence() <= sequence) continue;
    if (!hash.has_value()) hash = format::RowHash(row, table.hash_secret);
    const MemRow* found = memstore->Find(row, *hash);
    if (found != nullptr && Memstore::NewestSequence(found) > sequence) return true;
  }
  return false;
}

// The new point is registered before the version is pinned (rule 25), so the version shows all of
// it.
Status CheckGoneRows(const RegionSet& regions, SnapshotRegistry* snapshots, bool by_leader,
                     WritePlan* plan) {
  RowChecks* const checks = plan->checks;
  const auto registration = snapshots->RegisterRead();
  const format::SequenceNumber now = registration->point().sequence;
  for (RowCheck& check : checks->rows) {
    RegionView view;
    view.point = checks->point;
    do {
      const std::shared_ptr<const Table> table = regions.Find(check.table);
      plan->is_stale |= table == nullptr;
      if (plan->is_stale) return {};
      view.table = table->record;
      view.region = table->RegionOf(check.row).version();
    } while (view.region->is_retired);
    if (view.region->changed_through <= check.unchanged_through) continue;
    RETURN_IF_ERROR(Because(ConflictCause::kFiles, CheckGoneRow(view, now, &check), checks));
  }
  const Result<bool> are_there = CheckGoneRanges(
      regions, {.before = checks->point, .now = now, .may_read = !by_leader}, &checks->ranges);
  if (!are_there.has_value()) return Because(ConflictCause::kRange, are_there.error(), checks);
  plan->is_stale |= !*are_there;
  return {};
}

Result<Completion> CheckRows(const CompletionPoint& point, const WritePlan& plan) {
  RowChecks* const checks = plan.checks;
  if (point.timestamp >= checks->timestamp_below) {
    return Because(ConflictCause::kTime,
                   Status::Conflict("a version that was newer than the transaction's own writes is "
                                    "no longer in the future"),
                   checks);
  }
  const GroupWrites& earlier = *point.earlier;
  Completion completion;
  std::optional<RegionCheck> region;
  for (const RowCheck& check : checks->rows) {
    if (!region.has_value() || !region->IsFor(check.table, check.row)) {
      region.emplace(plan.TableOf(check.table), check.row);
    }
    const bool is_in_group = earlier.Has(check.table, check.row);
    if (is_in_group || region->IsNewer(check)) {
      return Because(is_in_group ? ConflictCause::kGroup : ConflictCause::kMemstore,
                     ChangedByOthers(region->table(), check.row), checks);
    }
    if (region->version().changed_through > check.unchanged_through) {
      completion.outcome = Completion::Outcome::kMoved;
    }
    Region* unlogged = region->Unlogged(check);
    std::vector<Region*>& all = completion.unlogged;
    if (unlogged != nullptr && std::find(all.begin(), all.end(), unlogged) == all.end()) {
      all.push_back(unlogged);
    }
  }
  RETURN_IF_ERROR(Because(ConflictCause::kRange,
                          CheckRanges(point, plan, &checks->ranges, &completion), checks));
  if (completion.outcome == Completion::Outcome::kComplete && !completion.unlogged.empty()) {
    completion.outcome = Completion::Outcome::kUnlogged;
  }
  return completion;
}

}  // namespace tandem::engine
