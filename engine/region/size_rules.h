// What sizes decide: when a memstore is switched, when files join a run, when a region is split at
// which row, and when neighbours become one. Pure functions: the engine asks them about what it
// has, and `tandem emulate` (tools/emulator) about what a design would have. Which runs to merge is
// in compaction/pick.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tandem/status.h"

namespace tandem::engine {

/// A memstore of so many bytes is switched when it passes `limit`.
constexpr bool IsMemstoreFull(uint64_t bytes, uint64_t limit) { return bytes > limit; }
/// What the memstores that take writes may have together before the largest are switched.
constexpr uint64_t ActiveBytesMax(uint64_t memstores_total_bytes) {
  return memstores_total_bytes - memstores_total_bytes / 8;
}
/// What the log may have before the memstores that hold its oldest segment are switched.
constexpr uint64_t LogBytesMax(uint64_t memstore_bytes) { return 4 * memstore_bytes; }

/// Memstores of at most so many bytes are flushed together with others: writing them takes less
/// time than a sync. A full one never is.
constexpr uint64_t GroupedMemstoreBytesMax(uint64_t memstore_bytes) {
  return std::min<uint64_t>(memstore_bytes / 4, 256 << 10);
}
/// What is flushed together at most: 64 memstores, of 4 MiB with their indexes.
inline constexpr uint32_t kGroupedFlushesMax = 64;
inline constexpr uint64_t kGroupedFlushBytesMax = 4 << 20;
/// Each holds a descriptor until it is synced, so fewer where there are few.
constexpr uint32_t GroupedFlushesMax(uint32_t open_files_max) {
  return std::clamp<uint32_t>(open_files_max / 8, 1, kGroupedFlushesMax);
}

/// What merges leave of a disk's free space for the writes beside them: all memstores become files,
/// and the log takes two more segments before those that it then needs no longer go.
constexpr uint64_t SpaceReserve(uint64_t memstores_total_bytes, uint64_t log_segment_bytes) {
  return memstores_total_bytes + 2 * log_segment_bytes;
}

/// The places of sizes from the largest to the smallest; of equal ones the first comes first. Takes
/// time for those that are asked for.
class LargestFirst {
 public:
  explicit LargestFirst(std::span<const uint64_t> bytes);
  bool empty() const { return heap_.empty(); }
  /// Requires: !empty().
  size_t Next();

 private:
  struct Entry {
    uint64_t bytes;
    size_t place;
  };
  static bool IsAfter(const Entry& a, const Entry& b);
  std::vector<Entry> heap_;
};

/// Whether files of these sizes join the run before them, whose keys are all before theirs if
/// `is_after_run`: small ones stay runs, so that merges make them fewer.
bool JoinsRun(bool is_after_run, std::span<const uint64_t> file_bytes, uint64_t join_bytes);

/// A region with so many bytes in files is split.
constexpr bool IsRegionTooLarge(uint64_t bytes, uint64_t region_bytes_max) {
  return bytes > region_bytes_max;
}
/// Two neighbours with so many bytes together, memstores included, become one, if their border was
/// made because a region was too large. UINT64_MAX: regions are never split, nor merged.
constexpr bool AreRegionsTooSmall(uint64_t bytes, uint64_t region_bytes_max) {
  return region_bytes_max != UINT64_MAX && bytes < region_bytes_max / 4;
}

/// The key at which a region is split: at least half of its rows come before it, and few more.
/// Empty: there is none that has rows before it. `Sources` are files and memstores:
///   size_t count() const;                                             of them
///   uint64_t RowsOf(size_t source) const;
///   Result<std::string> KeyOf(size_t source, uint64_t place) const;   of its rows in key order
///   Result<uint64_t> PlaceOf(size_t source, std::string_view key) const;  rows of it before a key
/// A row of several sources counts in each. Errors: those of KeyOf and PlaceOf.
///
/// 1. Where sources begin, the rows before are counted: the middle lies after such a border and not
///    after the next one. So of a load in key order, whose files are one after the other, the right
///    file is found without looking into the others.
/// 2. Of the source with the most rows in between, the first row that has half of all before it is
///    the middle.
template <typename Sources>
Result<std::string> MiddleKey(const Sources& sources);

namespace middle {

template <typename Sources>
Result<uint64_t> CountBefore(const Sources& sources, std::string_view key) {
  uint64_t count = 0;
  for (size_t i = 0; i < sources.count(); ++i) {
    const Result<uint64_t> place = sources.PlaceOf(i, key);
    if (!place.has_value()) return place.error();
    count += *place;
  }
  return count;
}

/// The first of [low, high) whose key, `key_of(place)`, has so many rows before it; `high` if there
/// is none.
template <typename Sources, typename KeyOf>
Result<uint64_t> FirstWith(const Sources& sources, uint64_t rows, uint64_t low, uint64_t high,
                           KeyOf key_of) {
  while (low < high) {
    const uint64_t place = low + (high - low) / 2;
    const Result<std::string> key = key_of(place);
    if (!key.has_value()) return key.error();
    const Result<uint64_t> before = CountBefore(sources, *key);
    if (!before.has_value()) return before.error();
    if (*before >= rows) {
      high = place;
    } else {
      low = place + 1;
    }
  }
  return low;
}

/// The rows of a source between two borders.
struct Span {
  size_t source = 0;
  uint64_t low = 0, high = 0;
};

/// Of the source with the most of them. `end`: null after the last border.
template <typename Sources>
Result<Span> LargestBetween(const Sources& sources, std::string_view begin,
                            const std::string* end) {
  Span largest;
  for (size_t i = 0; i < sources.count(); ++i) {
    const Result<uint64_t> low = sources.PlaceOf(i, begin);
    if (!low.has_value()) return low.error();
    const Result<uint64_t> high = end == nullptr ? sources.RowsOf(i) : sources.PlaceOf(i, *end);
    if (!high.has_value()) return high.error();
    if (*high - *low > largest.high - largest.low) largest = {i, *low, *high};
  }
  return largest;
}

/// The last key of a source that has rows before it: any border will do.
template <typename Sources>
Result<std::string> AnyBorder(const Sources& sources) {
  for (size_t i = 0; i < sources.count(); ++i) {
    if (sources.RowsOf(i) == 0) continue;
    Result<std::string> key = sources.KeyOf(i, sources.RowsOf(i) - 1);
    if (!key.has_value()) return key;
    const Result<uint64_t> before = CountBefore(sources, *key);
    if (!before.has_value()) return before.error();
    if (*before > 0) return key;
  }
  return std::string();
}

}  // namespace middle

template <typename Sources>
Result<std::string> MiddleKey(const Sources& sources) {
  uint64_t rows = 0;
  std::vector<std::string> borders;
  for (size_t i = 0; i < sources.count(); ++i) {
    rows += sources.RowsOf(i);
    if (sources.RowsOf(i) == 0) continue;
    Result<std::string> first = sources.KeyOf(i, 0);
    if (!first.has_value()) return first;
    borders.push_back(*std::move(first));
  }
  if (borders.empty()) return std::string();
  std::ranges::sort(borders);
  const uint64_t half = std::max<uint64_t>(1, rows / 2);
  const Result<uint64_t> next =
      middle::FirstWith(sources, half, 1, borders.size(),
                        [&](uint64_t i) { return Result<std::string>(borders[i]); });
  if (!next.has_value()) return next.error();
  const std::string* const end = *next < borders.size() ? &borders[*next] : nullptr;
  const auto between = middle::LargestBetween(sources, borders[*next - 1], end);
  if (!between.has_value()) return between.error();
  const Result<uint64_t> place =
      middle::FirstWith(sources, half, between->low, between->high,
                        [&](uint64_t i) { return sources.KeyOf(between->source, i); });
  if (!place.has_value()) return place.error();
  if (*place < between->high) return sources.KeyOf(between->source, *place);
  if (end != nullptr) return *end;
  return middle::AnyBorder(sources);
}

}  // namespace tandem::engine
