// One sweep down the sorted cells of a row decides which are visible. Within a column timestamps
// descend, and sequences descend within a timestamp, so every marker that may hide a Put comes
// before it:
//   1. DeleteColumn: keep the greatest sequence seen so far in the column.
//   2. DeleteCell: keep the greatest sequence seen so far at this timestamp.
//   3. DeleteFamily: markers come first in the family. They form a staircase (timestamps descend,
//      the greatest sequence so far ascends), which is searched by binary search.
// Of the Puts at one timestamp only the first that exists at the read point counts: the others have
// smaller sequences, so they are superseded by it or hidden with it. A Put outside the read point's
// bounds still counts as a version: as_of and since select among the versions that are left.
// Where a limit was changed, a Put from before also has to have been among the versions that were
// kept then. A Put that was is counted even if a later one has its timestamp now, or a DeleteCell
// took it later, so the others at a timestamp are looked at too (FormerVersions).
// Retention runs the same sweep once per distinct read point, the latest one last, then a sweep
// upwards that finds for each marker the smallest sequence among the kept Puts in its scope. The
// sweep at the latest point leaves with each Put that it hides the reason, so that what is dropped
// is counted without another look at it.
#include "format/cell/visibility.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>

namespace tandem::format {
namespace {

constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();

/// A family that the table does not have, which only a damaged file can contain: keep everything.
const FamilyRecord kUnknownFamily{.id = {}, .options = {.name = {}, .max_versions = 0xffff'ffff}};

const FamilyRecord& FindFamily(std::span<const FamilyRecord> families, FamilyId id) {
  for (const FamilyRecord& family : families) {
    if (family.id == id) return family;
  }
  return kUnknownFamily;
}

/// Whether the Put had expired when a longer time to live came.
bool HadExpired(const Cell& put, const FamilyRecord& family) {
  return std::ranges::any_of(family.former_limits, [&put](const FormerLimits& limits) {
    return put.sequence < limits.changed_at && limits.expired_through.has_value() &&
           put.timestamp <= *limits.expired_through;
  });
}

/// The DeleteFamily markers of one family that exist at a read point.
class FamilyMarkers {
 public:
  void Clear() { steps_.clear(); }
  /// Requires: timestamps do not rise from call to call.
  void Add(int64_t timestamp, uint64_t sequence) {
    if (steps_.empty() || sequence > steps_.back().sequence)
      steps_.push_back({timestamp, sequence});
  }
  /// The greatest sequence of a marker at or above `timestamp`; 0 when there is none.
  uint64_t GreatestSequence(int64_t timestamp) const {
    if (steps_.empty()) return 0;
    const auto end = std::partition_point(steps_.begin(), steps_.end(), [&](const Step& step) {
      return step.timestamp >= timestamp;
    });
    return end == steps_.begin() ? 0 : std::prev(end)->sequence;
  }

 private:
  struct Step {
    int64_t timestamp;
    uint64_t sequence;
  };
  std::vector<Step> steps_;
};

/// The versions of a column that its family kept at each change of a limit (FormerLimits). Puts
/// come newest first. One that a DeleteColumn or DeleteFamily hides is left out: if that came after
/// a change, it also hides everything that the Put had cut then.
///
/// An older source that is not known may have what cut a Put at its first change, so that it was
/// not there at the next one. A Put that is older than the change before is then not counted: some
/// are kept that could go, and none goes that is needed.
class FormerVersions {
 public:
  explicit FormerVersions(bool knows_older_sources) : knows_older_sources_(knows_older_sources) {}
  void BeginFamily(const FamilyRecord& family) {
    family_ = &family;
    counts_.assign(family.former_limits.size(), 0);
  }
  void BeginColumn() {
    std::ranges::fill(counts_, 0);
    BeginTimestamp();
  }
  void BeginTimestamp() { ends_at_ = kNever; }
  /// A DeleteCell at this timestamp.
  void Delete(SequenceNumber sequence) { ends_at_ = std::min(ends_at_, sequence); }

  struct Verdict {
    SequenceNumber counts_at;  ///< The last change at which it was kept, beside others; 0: none.
    bool is_kept = false;      ///< At every change, and nothing at its timestamp ended it.
    bool is_sure = true;       ///< It counts among the versions of now.
  };
  Verdict Add(SequenceNumber sequence) {
    const SequenceNumber ends_at = std::exchange(ends_at_, sequence);
    Verdict verdict;
    for (size_t i = 0; i < counts_.size(); ++i) {
      const FormerLimits& limits = family_->former_limits[i];
      if (limits.changed_at <= sequence) continue;
      if (ends_at < limits.changed_at) return verdict;
      if (!limits.max_versions.has_value()) continue;
      if (counts_[i] == *limits.max_versions) return verdict;
      counts_[i] += verdict.is_sure ? 1 : 0;
      verdict.is_sure = knows_older_sources_;
      verdict.counts_at = limits.changed_at;
    }
    verdict.is_kept = ends_at == kNever;
    return verdict;
  }

 private:
  static constexpr SequenceNumber kNever{kNone};

  const bool knows_older_sources_;
  const FamilyRecord* family_ = nullptr;
  std::vector<uint32_t> counts_;     // By the family's former limits.
  SequenceNumber ends_at_ = kNever;  // The next Put, as a later Put or DeleteCell replaced it.
};

/// What becomes of a cell in a merge, in the order of DroppedCells: of several reasons to drop a
/// Put the first counts.
enum class Fate : uint8_t {
  kKept,
  kReplaced,
  kSuperseded,
  kExpired,
  kOfDroppedFamily,
  kDeleted,
  kMarker,
};
constexpr size_t kFates = 7;

/// Where the sweep is in a column.
struct ColumnSweep {
  uint32_t versions = 0;                        // Shown.
  bool decided = false;                         // This timestamp has a Put at the read point.
  uint64_t column_marker = 0, cell_marker = 0;  // Greatest sequences that hide from here on.
};

/// Whether a marker hides the Put that the sweep has come to. A DeleteCell is left to
/// FormerVersions where limits were changed.
bool IsDeleted(const Cell& put, const ColumnSweep& column, const FamilyMarkers& family_markers,
               bool by_cell) {
  const uint64_t sequence = put.sequence.value;
  return column.column_marker > sequence || (by_cell && column.cell_marker > sequence) ||
         family_markers.GreatestSequence(put.timestamp) > sequence;
}

/// Calls `visitor->Show(i)` for each visible Put cells[i], in order; `visitor->Hide(i, reason)` for
/// each Put at the read point that is hidden or not among the versions that are left; and before
/// these `visitor->Count(i, changed_at)` for each that was among the versions kept at a change of
/// limits, the last of them.
template <typename Visitor>
void ForEachVisible(std::span<const Cell> cells, std::span<const FamilyRecord> families,
                    const ReadPoint& point, bool knows_older_sources, Visitor* visitor) {
  FamilyMarkers family_markers;
  FormerVersions former(knows_older_sources);
  const FamilyRecord* family = nullptr;
  bool has_former = false;
  std::optional<int64_t> expired_at;
  const Cell* previous = nullptr;  // Of the same column.
  ColumnSweep column;
  for (size_t i = 0; i < cells.size(); ++i) {
    const Cell& cell = cells[i];
    if (i == 0 || cell.family != cells[i - 1].family) {
      family = &FindFamily(families, cell.family);
      expired_at = family->ExpiredThrough(point.now_micros);
      has_former = !family->former_limits.empty();
      if (has_former) former.BeginFamily(*family);
      family_markers.Clear();
      previous = nullptr;
    }
    if (!IsSeenAt(cell.sequence, point.sequence)) continue;
    if (cell.kind == CellKind::kDeleteFamily) {
      family_markers.Add(cell.timestamp, cell.sequence.value);
      continue;
    }
    if (previous == nullptr || previous->qualifier != cell.qualifier) {
      column = {};
      if (has_former) former.BeginColumn();
    } else if (previous->timestamp != cell.timestamp) {
      column.cell_marker = 0;
      column.decided = false;
      if (has_former) former.BeginTimestamp();
    }
    previous = &cell;
    if (cell.kind == CellKind::kDeleteColumn) {
      column.column_marker = std::max(column.column_marker, cell.sequence.value);
    } else if (cell.kind == CellKind::kDeleteCell) {
      column.cell_marker = std::max(column.cell_marker, cell.sequence.value);
      if (has_former) former.Delete(cell.sequence);
    } else {
      const bool is_replaced = std::exchange(column.decided, true);
      const bool is_full = column.versions == family->options.max_versions;
      const auto hide = [&](Fate reason) {
        visitor->Hide(i, is_replaced ? Fate::kReplaced : is_full ? Fate::kSuperseded : reason);
      };
      if (!has_former && (is_replaced || is_full)) {
        hide(Fate::kSuperseded);
      } else if ((expired_at.has_value() && cell.timestamp <= *expired_at) ||
                 (has_former && HadExpired(cell, *family))) {
        hide(family->dropped ? Fate::kOfDroppedFamily : Fate::kExpired);
      } else if (IsDeleted(cell, column, family_markers, !has_former)) {
        hide(Fate::kDeleted);
      } else {
        FormerVersions::Verdict verdict;
        verdict.is_kept = true;
        if (has_former) verdict = former.Add(cell.sequence);
        if (verdict.counts_at.value != 0) visitor->Count(i, verdict.counts_at);
        if (!verdict.is_kept || is_full) {
          hide(column.cell_marker > cell.sequence.value ? Fate::kDeleted : Fate::kSuperseded);
          continue;
        }
        column.versions += verdict.is_sure ? 1 : 0;
        if (point.since <= cell.timestamp && cell.timestamp <= point.as_of) visitor->Show(i);
      }
    }
  }
}

/// Whether the row has only one Put per column, none expired: then every read shows all of it.
bool ShowsEverything(std::span<const Cell> cells, const Retention& retention) {
  const FamilyRecord* family = nullptr;
  std::optional<int64_t> expired_at;
  for (size_t i = 0; i < cells.size(); ++i) {
    const Cell& cell = cells[i];
    if (cell.kind != CellKind::kPut) return false;
    if (i == 0 || cell.family != cells[i - 1].family) {
      family = &FindFamily(retention.families, cell.family);
      expired_at = family->ExpiredThrough(retention.now_micros);
    } else if (cell.qualifier == cells[i - 1].qualifier) {
      return false;
    }
    if (expired_at.has_value() && cell.timestamp <= *expired_at) return false;
    if (HadExpired(cell, *family)) return false;
  }
  return true;
}

/// The read points that can differ on this row: the latest, and one for each group of snapshots
/// that fall between the same two adjacent sequences of the row.
std::vector<SequenceNumber> DistinctPoints(std::span<const Cell> cells,
                                           std::span<const SequenceNumber> snapshots) {
  std::vector<SequenceNumber> points = {kSequenceMax};
  if (snapshots.empty()) return points;
  std::vector<SequenceNumber> sequences;
  sequences.reserve(cells.size());
  for (const Cell& cell : cells) sequences.push_back(cell.sequence);
  std::sort(sequences.begin(), sequences.end());
  for (const SequenceNumber snapshot : snapshots) {
    const auto after = std::upper_bound(sequences.begin(), sequences.end(), snapshot);
    // A snapshot at or above the last sequence sees what the latest read sees; one below the first
    // sees nothing.
    if (after != sequences.begin() && after != sequences.end()) points.push_back(*std::prev(after));
  }
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

/// Decides of each marker whether it hides a kept Put: `*fates` has those of the Puts. Sweeps the
/// cells of one family, [begin, end), upwards: timestamps and sequences ascend.
void KeepHidingMarkers(std::span<const Cell> cells, size_t begin, size_t end,
                       std::vector<Fate>* fates) {
  const auto fate_of = [](bool hides) { return hides ? Fate::kKept : Fate::kMarker; };
  size_t columns = begin;  // After the DeleteFamily markers.
  while (columns < end && cells[columns].kind == CellKind::kDeleteFamily) ++columns;
  // Smallest sequence of the kept Puts that marker i covers and marker i + 1 does not.
  std::vector<uint64_t> covered(columns - begin, kNone);
  uint64_t column_least = kNone, cell_least = kNone;
  for (size_t i = end; i-- > columns;) {
    const Cell& cell = cells[i];
    if (i + 1 == end || cells[i + 1].qualifier != cell.qualifier) {
      column_least = cell_least = kNone;
    } else if (cells[i + 1].timestamp != cell.timestamp) {
      cell_least = kNone;
    }
    const uint64_t sequence = cell.sequence.value;
    if (cell.kind == CellKind::kDeleteColumn) {
      (*fates)[i] = fate_of(column_least < sequence);
    } else if (cell.kind == CellKind::kDeleteCell) {
      (*fates)[i] = fate_of(cell_least < sequence);
    } else if ((*fates)[i] == Fate::kKept) {
      column_least = std::min(column_least, sequence);
      cell_least = std::min(cell_least, sequence);
      const auto markers = cells.subspan(begin, columns - begin);
      const auto covering = std::partition_point(
          markers.begin(), markers.end(),
          [&](const Cell& marker) { return marker.timestamp >= cell.timestamp; });
      if (covering != markers.begin()) {
        uint64_t& least = covered[static_cast<size_t>(covering - markers.begin()) - 1];
        least = std::min(least, sequence);
      }
    }
  }
  uint64_t family_least = kNone;
  for (size_t i = columns; i-- > begin;) {
    family_least = std::min(family_least, covered[i - begin]);
    (*fates)[i] = fate_of(family_least < cells[i].sequence.value);
  }
}

/// Appends the Puts that are visible.
struct Shown {
  std::span<const Cell> cells;
  std::vector<Cell>* out;
  void Show(size_t i) { out->push_back(cells[i]); }
  void Hide(size_t, Fate) {}
  void Count(size_t, SequenceNumber) {}
};

/// Keeps the Puts that are visible at some point, and the reasons of the last one that hides them.
struct Retained {
  std::vector<Fate>* fates;
  bool counts_matter;
  SequenceNumber complete_through;
  void Show(size_t i) { (*fates)[i] = Fate::kKept; }
  void Hide(size_t i, Fate reason) {
    if ((*fates)[i] != Fate::kKept) (*fates)[i] = reason;
  }
  void Count(size_t i, SequenceNumber changed_at) {
    if (counts_matter || changed_at > complete_through) (*fates)[i] = Fate::kKept;
  }
};

void CountDropped(const std::array<uint64_t, kFates>& counts, DroppedCells* dropped) {
  const auto of = [&counts](Fate fate) { return counts[static_cast<size_t>(fate)]; };
  dropped->replaced += of(Fate::kReplaced);
  dropped->superseded += of(Fate::kSuperseded);
  dropped->expired += of(Fate::kExpired);
  dropped->of_dropped_families += of(Fate::kOfDroppedFamily);
  dropped->deleted += of(Fate::kDeleted);
  dropped->delete_markers += of(Fate::kMarker);
}

}  // namespace

void VisibleCells(std::span<const Cell> cells, std::span<const FamilyRecord> families,
                  const ReadPoint& point, std::vector<Cell>* out) {
  Shown shown{.cells = cells, .out = out};
  ForEachVisible(cells, families, point, true, &shown);
}

void RetainCells(std::span<const Cell> cells, const Retention& retention, std::vector<Cell>* out,
                 DroppedCells* dropped) {
  if (ShowsEverything(cells, retention)) {
    out->insert(out->end(), cells.begin(), cells.end());
    return;
  }
  std::vector<Fate> fates(cells.size(), Fate::kMarker);  // The sweeps decide of each Put.
  const bool counts_matter = retention.older_sources_may_hold_row || !retention.snapshots.empty();
  Retained retained{.fates = &fates,
                    .counts_matter = counts_matter,
                    .complete_through = retention.complete_through};
  for (const SequenceNumber sequence : DistinctPoints(cells, retention.snapshots)) {
    ForEachVisible(cells, retention.families, {sequence, retention.now_micros},
                   !retention.older_sources_may_hold_row, &retained);
  }
  if (retention.older_sources_may_hold_row) {
    for (size_t i = 0; i < cells.size(); ++i) {
      if (cells[i].kind != CellKind::kPut) fates[i] = Fate::kKept;
    }
  } else {
    for (size_t begin = 0; begin < cells.size();) {
      size_t end = begin + 1;
      while (end < cells.size() && cells[end].family == cells[begin].family) ++end;
      KeepHidingMarkers(cells, begin, end, &fates);
      begin = end;
    }
  }
  std::array<uint64_t, kFates> counts{};
  for (size_t i = 0; i < cells.size(); ++i) {
    ++counts[static_cast<size_t>(fates[i])];
    if (fates[i] == Fate::kKept) out->push_back(cells[i]);
  }
  if (dropped != nullptr) CountDropped(counts, dropped);
}

bool Hides(const Cell& marker, const Cell& put) {
  if (marker.family != put.family || marker.sequence <= put.sequence) return false;
  switch (marker.kind) {
    case CellKind::kPut:
      return false;
    case CellKind::kDeleteCell:
      return marker.qualifier == put.qualifier && marker.timestamp == put.timestamp;
    case CellKind::kDeleteColumn:
      return marker.qualifier == put.qualifier && marker.timestamp >= put.timestamp;
    case CellKind::kDeleteFamily:
      return marker.timestamp >= put.timestamp;
  }
  return false;
}

}  // namespace tandem::format
