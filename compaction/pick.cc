// See pick.h.
#include "compaction/pick.h"

#include <algorithm>

namespace tandem::compaction {
namespace {

// The largest of similar runs has at most 5/2 of the bytes of the smallest.
constexpr uint64_t kSimilarNumerator = 5, kSimilarDenominator = 2;
// The part of the base that the runs above it may reach in bytes, or replace of its rows; and that
// of the rows that they may delete.
constexpr uint64_t kUpperNumerator = 3, kUpperDenominator = 8;
constexpr uint64_t kDeletesDenominator = 4;
// A delete may hide only one cell of a large row: it causes no more rewriting than this.
constexpr uint64_t kBytesPerDelete = 1024;
// An idle region has at least as many runs above those that are being merged.
constexpr uint32_t kRunsAboveMin = 3;

using Runs = std::span<const RunDescription>;

uint64_t BytesOf(Runs runs) {
  uint64_t bytes = 0;
  for (const RunDescription& run : runs) bytes += run.bytes;
  return bytes;
}

bool AreSimilar(Runs runs) {
  const auto less = [](const RunDescription& a, const RunDescription& b) {
    return a.bytes < b.bytes;
  };
  const auto [smallest, largest] = std::minmax_element(runs.begin(), runs.end(), less);
  return largest->bytes * kSimilarDenominator <= smallest->bytes * kSimilarNumerator;
}

// Rule 1.
bool OutweighTheBase(Runs runs) {
  const Runs upper = runs.subspan(1);
  uint64_t deletes = 0;
  for (const RunDescription& run : upper) deletes += run.deletes;
  const RunDescription& base = runs[0];
  const bool are_large = BytesOf(upper) * kUpperDenominator >= base.bytes * kUpperNumerator;
  const bool delete_much =
      deletes * kDeletesDenominator >= base.rows && deletes * kBytesPerDelete >= base.bytes;
  const bool replace_much =
      base.dead > 0 && base.dead * kUpperDenominator >= base.rows * kUpperNumerator;
  return are_large || delete_much || replace_much;
}

// Rule 2, for runs from `lowest` on: as many as are similar, so that a backlog is merged at once.
std::optional<RunRange> PickSimilar(Runs runs, size_t lowest, const MergePolicy& policy) {
  const size_t fan_in = policy.fan_in();
  for (size_t end = runs.size(); end >= lowest + fan_in; --end) {
    size_t first = end - fan_in;
    const auto fits = [&](size_t from) {
      const Runs taken = runs.subspan(from, end - from);
      return AreSimilar(taken) && BytesOf(taken) <= policy.bytes_max;
    };
    if (!fits(first)) continue;
    while (first > lowest && end - first < kMergeRunsMax && fits(first - 1)) --first;
    return RunRange{first, end};
  }
  return std::nullopt;
}

// Rule 3, likewise. On a tie the newest runs win: the older ones will be merged with the result.
std::optional<RunRange> PickCheapest(Runs runs, size_t lowest, const MergePolicy& policy) {
  std::optional<RunRange> cheapest;
  double least = 0;
  for (size_t end = runs.size(); end >= lowest + 2; --end) {
    uint64_t bytes = runs[end - 1].bytes;
    for (size_t first = end - 1; first > lowest && end - first < kMergeRunsMax;) {
      bytes += runs[--first].bytes;
      if (bytes > policy.bytes_max) break;
      const double cost = static_cast<double>(bytes) / static_cast<double>(end - first - 1);
      if (cheapest.has_value() && cost >= least) continue;
      cheapest = RunRange{first, end};
      least = cost;
    }
  }
  return cheapest;
}

}  // namespace

RunRange WidenToWhole(std::span<const RunAge> ages, RunRange range) {
  while (true) {
    uint64_t oldest = UINT64_MAX, newest = 0;
    for (const RunAge& age : ages.subspan(range.first, range.end - range.first)) {
      oldest = std::min(oldest, age.oldest);
      newest = std::max(newest, age.newest);
    }
    RunRange wider = {0, ages.size()};
    while (wider.first < range.first && ages[wider.first].newest < oldest) ++wider.first;
    while (wider.end > range.end && ages[wider.end - 1].oldest > newest) --wider.end;
    if (wider == range) return range;
    range = wider;
  }
}

std::optional<RunRange> PickMerge(Runs runs, const MergePolicy& policy, size_t busy) {
  MergePolicy above = policy;
  if (busy > 0) {
    const size_t left = policy.runs_max - std::min<size_t>(policy.runs_max, busy);
    above.runs_max = std::max(static_cast<uint32_t>(left), kRunsAboveMin);
  }
  const size_t count = runs.size() - busy;
  if (count < above.fan_in()) return std::nullopt;
  if (busy == 0 && count <= kMergeRunsMax && OutweighTheBase(runs) &&
      BytesOf(runs) <= policy.bytes_max) {
    return RunRange{0, count};
  }
  if (const auto similar = PickSimilar(runs, std::max<size_t>(busy, 1), above)) return similar;
  if (count > std::max<uint32_t>(above.runs_max, 2)) return PickCheapest(runs, busy, above);
  return std::nullopt;
}

}  // namespace tandem::compaction
