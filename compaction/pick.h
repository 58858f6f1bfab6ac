// Which runs of a region to merge: a pure function over a description of them.
//
// Lazy levelling. The oldest run is the *base*, usually by far the largest. The runs above it come
// from flushes and are merged among themselves, similar sizes together. The rules, in order:
//   1. Together the upper runs reach three eighths of the base's bytes, or replace three eighths of
//      its rows, or hold deletes for a quarter of them: all runs become one.
//   2. Enough adjacent upper runs of similar size become one, the newest first.
//   3. More runs than an idle region may have: the adjacent ones with the fewest bytes per run
//      removed become one.
// So a byte is rewritten once per tier and a few times with the base, whatever the number of
// flushes, and a small run alone never causes a large one to be rewritten. docs/decisions/0013 has
// the figures.
//
// Only adjacent runs are merged: the result takes their place in sequence order.
//
// While older runs are being merged, rules 2 and 3 go on above them, so that the region has few
// runs also after a minute. docs/decisions/0081 has the figures.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tandem::compaction {

/// The most runs in one merge: each has a window in memory.
constexpr size_t kMergeRunsMax = 16;

/// A run of a region: files of disjoint keys that one flush or merge wrote.
struct RunDescription {
  uint64_t bytes = 0;    ///< Of its files.
  uint64_t rows = 0;     ///< Live or not.
  uint64_t deletes = 0;  ///< Markers of all kinds.
  uint64_t dead = 0;  ///< Rows that newer runs replace, as far as is known. Looked at of the base.
};

struct MergePolicy {
  uint32_t runs_max = 8;            ///< Of an idle region; less than 2 counts as 2.
  uint64_t bytes_max = UINT64_MAX;  ///< Merges of more input bytes are not considered.

  /// The fewest runs of similar size that are merged: four, unless `runs_max` is far from eight. A
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

/// The first and the last operation in a run.
struct RunAge {
  uint64_t oldest = 0, newest = 0;
};
/// The same runs and those next to them that have operations from between theirs, so that what a
/// merge of them writes has one place in the order of operations. `ages` are those of all runs of
/// the region.
RunRange WidenToWhole(std::span<const RunAge> ages, RunRange range);

/// The adjacent runs to merge next, two to kMergeRunsMax; nullopt: none. `runs` are the region's,
/// oldest first. The first `busy` of them are being merged, or are older than one that is: only
/// those above are picked. Repeated merges end with at most `runs_max` runs, if `bytes_max` allows,
/// or three above the busy ones.
std::optional<RunRange> PickMerge(std::span<const RunDescription> runs, const MergePolicy& policy,
                                  size_t busy = 0);

}  // namespace tandem::compaction
