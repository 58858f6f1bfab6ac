// Validation of the ranges of a transaction, outside and inside the commit queue.
#include "engine/commit/range_checks.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/predicate/key_ranges.h"
#include "engine/query/reader.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

Status ChangedInRange(const format::TableRecord& table, std::string_view row) {
  return Status::Conflict("row " + base::Quote(row) + " of table " + base::Quote(table.name) +
                          ", in a range that was read, was changed by another write");
}

Status TooMuchToCheck(const format::TableRecord& table) {
  return Status::Conflict("table " + base::Quote(table.name) +
                          " was changed since a range of it was read, and the check takes more "
                          "than " +
                          std::to_string(kTransactionRangeRowsMax) +
                          " rows: read smaller ranges, or without validate_ranges");
}

format::KeyRange RowsOf(const RegionVersion& region) {
  format::KeyRange rows{region.start_key, std::nullopt};
  if (!region.end_key.empty()) rows.high = region.end_key;
  return rows;
}

// Whether keys of `rows` come after the region.
bool GoesOn(const format::KeyRange& rows, const RegionVersion& region) {
  return !region.end_key.empty() && (!rows.high.has_value() || *rows.high > region.end_key);
}

// What CheckGoneRanges does for all ranges.
class GoneRanges {
 public:
  GoneRanges(const RegionSet& regions, const ComparedPoints& points, RangeChecks* checks)
      : regions_(regions),
        points_(points),
        checks_(checks),
        rows_max_(checks->rows_reread + kTransactionRangeRowsMax) {}

  Result<bool> Check(const RangeCheck& check);
  std::vector<RangeCheck> TakeParts() { return std::move(parts_); }

 private:
  Result<RowReader> Open(TableView view, const format::KeyRange& rows,
                         format::SequenceNumber sequence) const;
  Status Compare(const TableView& view, const format::KeyRange& rows);
  Status CountRow(const format::TableRecord& table);
  void AddPart(RangeCheck part);

  const RegionSet& regions_;
  const ComparedPoints& points_;
  RangeChecks* const checks_;
  const uint64_t rows_max_;  // To be read again in all.
  std::vector<RangeCheck> parts_;
};

// Every version counts. Both reads use the transaction's time, so a cell that has expired since is
// no change.
Result<RowReader> GoneRanges::Open(TableView view, const format::KeyRange& rows,
                                   format::SequenceNumber sequence) const {
  view.point.sequence = sequence;
  ReadOptions options;
  options.versions = std::numeric_limits<uint32_t>::max();
  const ScanOptions scan{.start = rows.low, .end = rows.high.value_or("")};
  ASSIGN_OR_RETURN(std::unique_ptr<RowSource> source,
                   ScanRows(checks_->resources, std::move(view), options, scan));
  return RowReader(std::move(source));
}

Status GoneRanges::CountRow(const format::TableRecord& table) {
  return ++checks_->rows_reread <= rows_max_ ? Status() : TooMuchToCheck(table);
}

Status GoneRanges::Compare(const TableView& view, const format::KeyRange& rows) {
  const format::TableRecord& table = *view.table;
  ASSIGN_OR_RETURN(RowReader before, Open(view, rows, points_.before.sequence));
  ASSIGN_OR_RETURN(RowReader after, Open(view, rows, points_.now));
  while (true) {
    RowView old_row, new_row;
    ASSIGN_OR_RETURN(const bool had_row, before.Next(&old_row));
    ASSIGN_OR_RETURN(const bool has_row, after.Next(&new_row));
    if (!had_row && !has_row) return {};
    RETURN_IF_ERROR(CountRow(table));
    if (!had_row) return ChangedInRange(table, new_row.key());
    if (!has_row) return ChangedInRange(table, old_row.key());
    if (old_row.key() != new_row.key() || !AreEqual(old_row.cells(), new_row.cells())) {
      return ChangedInRange(table, std::min(old_row.key(), new_row.key()));
    }
  }
}

// Neighbours that are unchanged up to the same point are one.
void GoneRanges::AddPart(RangeCheck part) {
  RangeCheck* const last = parts_.empty() ? nullptr : &parts_.back();
  if (last != nullptr && last->table == part.table && last->rows.high == part.rows.low &&
      last->unchanged_through == part.unchanged_through) {
    last->rows.high = std::move(part.rows.high);
    return;
  }
  parts_.push_back(std::move(part));
}

// Region by region. One that was split or merged meanwhile is looked for again.
Result<bool> GoneRanges::Check(const RangeCheck& check) {
  std::string low = check.rows.low;
  while (true) {
    const std::shared_ptr<const Table> table = regions_.Find(check.table);
    if (table == nullptr) return false;
    const std::shared_ptr<const RegionVersion> version = table->RegionOf(low).version();
    if (version->is_retired) continue;
    RangeCheck part = check;
    part.rows = Intersect({low, check.rows.high}, RowsOf(*version));
    if (version->changed_through > check.unchanged_through) {
      if (!points_.may_read) return TooMuchToCheck(*table->record);
      const TableView view{.table = table->record,
                           .regions = {version},
                           .point = points_.before,
                           .registration = {}};
      const Status compared = Compare(view, part.rows);
      // A row that cannot be read whole is not compared.
      if (compared.code() == StatusCode::kOverBudget) return TooMuchToCheck(*table->record);
      RETURN_IF_ERROR(compared);
      part.unchanged_through = points_.now;
    }
    AddPart(std::move(part));
    if (!GoesOn(check.rows, *version)) return true;
    low = version->end_key;
  }
}

// The part of a range in one region.
class RegionRange {
 public:
  RegionRange(const format::TableRecord& table, const RegionVersion& region,
              const RangeCheck& check)
      : table_(table),
        region_(region),
        rows_(Intersect(check.rows, RowsOf(region))),
        unchanged_through_(check.unchanged_through) {}

  /// Looks for a changed row in memstores. `*examined` counts the rows that it looks at.
  Status Check(uint64_t* examined) const {
    for (const std::shared_ptr<const Memstore>& memstore : region_.memstores) {
      if (memstore->empty() || memstore->max_sequence() <= unchanged_through_) continue;
      RETURN_IF_ERROR(CheckIn(*memstore, examined));
    }
    return {};
  }

 private:
  Status CheckIn(const Memstore& memstore, uint64_t* examined) const {
    Memstore::Iterator row(&memstore);
    for (row.Seek(rows_.low); row.valid(); row.Next()) {
      if (++*examined > kTransactionRangeRowsMax) return TooMuchToCheck(table_);
      if (!rows_.Contains(row.key())) return {};
      if (Memstore::NewestSequence(row.row()) > unchanged_through_) {
        return ChangedInRange(table_, row.key());
      }
    }
    return {};
  }

  const format::TableRecord& table_;
  const RegionVersion& region_;
  const format::KeyRange rows_;
  const format::SequenceNumber unchanged_through_;
};

// Whatever is unlogged in the region counts: the range is not looked through for it.
void NoteUnlogged(const RangeCheck& check, Region* region, std::vector<Region*>* unlogged) {
  if (!region->unlogged().MayHoldUpTo(check.unchanged_through, region->flushed_through())) return;
  if (std::find(unlogged->begin(), unlogged->end(), region) == unlogged->end()) {
    unlogged->push_back(region);
  }
}

Status CheckRange(const Table& table, const RangeCheck& check, uint64_t* examined,
                  Completion* completion) {
  std::string low = check.rows.low;
  while (true) {
    Region& region = table.RegionOf(low);
    // Files and memstores of one version, so that no row is between the two.
    const std::shared_ptr<const RegionVersion> version = region.version();
    RETURN_IF_ERROR(RegionRange(*table.record, *version, check).Check(examined));
    if (version->changed_through > check.unchanged_through) {
      completion->outcome = Completion::Outcome::kMoved;
    }
    NoteUnlogged(check, &region, &completion->unlogged);
    if (!GoesOn(check.rows, *version)) return {};
    low = version->end_key;
  }
}

}  // namespace

bool AreEqual(std::span<const Cell> a, std::span<const Cell> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Cell& x, const Cell& y) {
    return x.family == y.family && x.qualifier == y.qualifier && x.timestamp == y.timestamp &&
           x.value == y.value;
  });
}

Result<bool> CheckGoneRanges(const RegionSet& regions, const ComparedPoints& points,
                             RangeChecks* checks) {
  GoneRanges gone(regions, points, checks);
  for (const RangeCheck& check : checks->ranges) {
    ASSIGN_OR_RETURN(const bool is_there, gone.Check(check));
    if (!is_there) return false;
  }
  checks->ranges = gone.TakeParts();
  return true;
}

Status CheckRanges(const CompletionPoint& point, const WritePlan& plan, RangeChecks* checks,
                   Completion* completion) {
  uint64_t examined = 0;
  Status status;
  for (const RangeCheck& check : checks->ranges) {
    const Table& table = plan.TableOf(check.table);
    const std::optional<std::string_view> row = point.earlier->FirstIn(check.table, check.rows);
    if (row.has_value()) status = ChangedInRange(*table.record, *row);
    if (status.ok()) status = CheckRange(table, check, &examined, completion);
    if (!status.ok()) break;
  }
  checks->rows_examined += examined;
  return status;
}

}  // namespace tandem::engine
