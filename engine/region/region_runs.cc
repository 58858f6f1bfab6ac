// The files of a run are adjacent in a version.
#include "engine/region/region_runs.h"

#include <algorithm>

namespace tandem::engine {
namespace {

bool BeginsRun(const RegionVersion& version, size_t file) {
  return file == 0 || version.files[file].run != version.files[file - 1].run;
}

double CellsOfARow(const format::StoreFile& store) {
  return static_cast<double>(store.statistics().cells) / static_cast<double>(store.row_count());
}

// Whether a newer cell of a column takes the place of the one before it.
bool KeepsOneVersion(const format::StoreFile& store) {
  return std::ranges::all_of(store.families(), [&store](format::FamilyId id) {
    const format::FamilyRecord* family = store.table().FindFamily(id);
    return family != nullptr && family->options.max_versions == 1;
  });
}

// Of the rows of a file that a newer one holds too, the part of their cells that it may have, as
// rows. A row that several newer ones hold counts for each.
double ReplacedRows(const format::StoreFile& older, std::span<const FileSlice> newer,
                    const Overlaps& overlaps) {
  if (!KeepsOneVersion(older)) return 0;
  double rows = 0;
  for (const FileSlice& slice : newer) {
    const format::StoreFile& store = slice.file->store();
    const PairOverlap* pair = overlaps.Find({.older = older.number(), .newer = store.number()});
    if (pair == nullptr || pair->older_shared == nullptr) continue;
    rows += pair->older_shared->count() * std::min(1.0, CellsOfARow(store) / CellsOfARow(older));
  }
  return std::min(rows, static_cast<double>(older.row_count()));
}

// What newer runs replace of the oldest one.
void CountDead(const RegionVersion& version, RegionRuns* runs) {
  if (version.overlaps == nullptr || runs->described.size() < 2) return;
  const auto files = std::span(version.files);
  const auto newer = files.subspan(runs->firsts[1]);
  double dead = 0;
  for (const FileSlice& slice : files.first(runs->firsts[1])) {
    const format::StoreFile& store = slice.file->store();
    dead += static_cast<double>(slice.high - slice.low) / static_cast<double>(store.row_count()) *
            ReplacedRows(store, newer, *version.overlaps);
  }
  runs->described[0].dead = static_cast<uint64_t>(dead);
}

}  // namespace

uint64_t ShareOf(const FileSlice& slice, uint64_t of_file) {
  const uint64_t rows = slice.high - slice.low, all = slice.file->store().row_count();
  if (rows >= all) return of_file;
  return static_cast<uint64_t>(static_cast<double>(of_file) * static_cast<double>(rows) /
                               static_cast<double>(all));
}

uint64_t BytesOf(std::span<const FileSlice> files) {
  uint64_t bytes = 0;
  for (const FileSlice& slice : files) bytes += ShareOf(slice, slice.file->store().size_bytes());
  return bytes;
}

RegionRuns RunsOf(const RegionVersion& version) {
  RegionRuns runs;
  for (size_t i = 0; i < version.files.size(); ++i) {
    if (BeginsRun(version, i)) {
      runs.firsts.push_back(i);
      runs.described.emplace_back();
    }
    const FileSlice& slice = version.files[i];
    compaction::RunDescription& run = runs.described.back();
    run.bytes += ShareOf(slice, slice.file->store().size_bytes());
    run.rows += slice.high - slice.low;
    run.deletes += ShareOf(slice, slice.file->store().statistics().deletes);
  }
  runs.firsts.push_back(version.files.size());
  CountDead(version, &runs);
  return runs;
}

size_t RunCount(const RegionVersion& version) {
  size_t count = 0;
  for (size_t i = 0; i < version.files.size(); ++i) count += BeginsRun(version, i);
  return count;
}

uint32_t NewRun(const RegionVersion& version) {
  uint32_t run = 0;
  for (const FileSlice& slice : version.files) run = std::max(run, slice.run);
  return run + 1;
}

bool IsAfterRun(const RegionVersion& version, size_t end, std::string_view key) {
  for (size_t i = end; i > 0; --i) {
    const FileSlice& slice = version.files[i - 1];
    if (slice.run != version.files[end - 1].run) break;
    if (slice.file->store().statistics().max_key >= key) return false;
  }
  return end > 0;
}

compaction::RunRange WidenedToWhole(const RegionVersion& version, const RegionRuns& runs,
                                    compaction::RunRange range) {
  std::vector<compaction::RunAge> ages;
  for (size_t run = 0; run < runs.described.size(); ++run) {
    compaction::RunAge& age = ages.emplace_back(compaction::RunAge{.oldest = UINT64_MAX});
    for (size_t i = runs.firsts[run]; i < runs.firsts[run + 1]; ++i) {
      const format::FileStatistics& statistics = version.files[i].file->store().statistics();
      age.oldest = std::min(age.oldest, statistics.min_sequence.value);
      age.newest = std::max(age.newest, statistics.max_sequence.value);
    }
  }
  return compaction::WidenToWhole(ages, range);
}

}  // namespace tandem::engine
