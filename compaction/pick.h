// Which runs of a region to merge: a pure function over a description of them.
//
// Lazy levelling. The oldest run is the *base*, and mostly the largest by far; the runs above it
// are written by flushes and merge among themselves, those of similar size at a time. In this
// order:
//   1. Together the upper runs reach three eighths of the base's bytes, or hold deletes for a
//      quarter of its rows: all runs become one.
//   2. Adjacent upper runs of similar size, enough of them, become one: the newest such first.
//   3. More runs than an idle region may have: the adjacent ones that cost the fewest bytes for
//      each run less become one.
// So a byte is rewritten once a tier and a few times with the base, whatever the number of flushes,
// and a small run never makes a large one be rewritten alone. docs/decisions/0013 has the figures.
//
// Everything is a matter of adjacent runs: what a merge leaves takes their place in the order of
// sequences.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tandem::compaction {

/// The runs that one merge takes at most, since each has a window in memory.
constexpr size_t kMergeRunsMax = 16;

/// A run of a region: files of disjoint keys that one flush or merge wrote.
struct RunDescription {
  uint64_t bytes = 0;    ///< Of its files.
  uint64_t rows = 0;     ///< Live or not.
  uint64_t deletes = 0;  ///< Markers of all kinds.
};

struct MergePolicy {
  uint32_t runs_max = 8;             ///< Of an idle region; less than 2 counts as 2.
  uint64_t bytes_max = UINT64_MAX;  ///< Merges of more input bytes are not considered.

  /// Runs of similar size that are merged at least: four, unless `runs_max` is far from eight. A
  /// region of fewer runs is left alone.
  size_t fan_in() const {
    return std::max<size_t>(std::clamp<size_t>(runs_max, 2, 4), runs_max / 2);
  }
};

/// Runs [first, end).
struct RunRange {
  size_t first = 0, end = 0;
  bool operator==(const RunRange&) const = default;
};

/// The adjacent runs that should be merged now, two to kMergeRunsMax of them; nullopt: none. `runs`
/// are the region's, oldest first. Repeated, it comes to an end with at most `runs_max` runs, as
/// far as `bytes_max` allows.
std::optional<RunRange> PickMerge(std::span<const RunDescription> runs, const MergePolicy& policy);

}  // namespace tandem::compaction
