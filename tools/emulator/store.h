// A table that exists as descriptions only: puts go to memstores, which are flushed, merged, split
// and joined by the functions that the engine decides with (engine/region/size_rules.h,
// compaction/pick.h). Nothing is stored but a sample of the keys (sample.h), so a table of billions
// of rows takes the memory of half a million keys at most.
//
// Flushes and merges end before the next put: what the engine's writers wait for when the disk is
// slow takes no time here.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/runtime/environment.h"
#include "tools/emulator/log.h"
#include "tools/emulator/region.h"
#include "tools/emulator/sample.h"
#include "tools/row_keys/router.h"
#include "tools/row_keys/skew.h"

namespace tandem::emulator {

/// Keys of a sample, all descriptions together.
inline constexpr uint64_t kSampledKeysMax = 1 << 19;

/// Since the beginning.
struct Counters {
  double puts = 0;
  uint64_t flushes = 0, merges = 0, splits = 0, joins = 0;  ///< Joins: two regions became one.
  double flushed_bytes = 0, merged_bytes = 0;               ///< Written.
  double peak_disk_bytes = 0;  ///< Of store files, with the output of a merge beside its inputs.
  uint64_t runs_max = 0;       ///< Of a region.
};

/// Of a number of sizes; all 0 where there is none.
struct Spread {
  double least = 0, median = 0, most = 0;
};
Spread SpreadOf(std::vector<double> sizes);

/// How a table is at a moment.
struct State {
  Counters counters;
  uint64_t regions = 0, runs = 0;
  uint64_t files = 0;      ///< One that several regions share counts once.
  uint64_t runs_max = 0;  ///< Of a region, now.
  double rows = 0;        ///< In files; one of several files counts in each.
  double disk_bytes = 0, index_bytes = 0;
  Spread file_bytes = {};
  Spread region_bytes = {};  ///< In files.
  double region_gini = 0;    ///< Of these.

  /// Bytes that flushes and merges wrote for each byte flushed; 0 before the first flush.
  double written_per_flushed() const;
};

class Store {
 public:
  /// Requires: `split_keys` rise.
  Store(const engine::Tuning& sizes, const RowCosts& costs,
        std::span<const std::string> split_keys);
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  /// `rows` rows are put whose keys are near this one.
  void Put(std::string_view key, double rows = 1);
  /// Flushes all memstores, and does the merges and splits that follow.
  void Flush();

  State Describe() const;
  /// Files in which a query finds the rows of `hits` hits, anywhere in the table: expected. It
  /// looks into the index of every file.
  double FilesWithHits(double hits) const;
  const std::vector<std::unique_ptr<Region>>& regions() const { return regions_; }

 private:
  /// Rows that a flush or a merge writes.
  struct Contents {
    std::vector<std::string> keys = {};  ///< The sample, rising.
    double rows = 0;
    compaction::RunAge age = {};
    std::string min_key = {}, max_key = {};
  };
  static Contents ContentsOf(std::span<const FilePart> files);
  void Remember(std::string_view key, double rows, ActiveMemstore* memstore);
  void FlushRegion(size_t place);
  void FlushMemstore(Region* region);
  void RelieveMemory();
  void RelieveLog();
  void SwitchBefore(double log_position);
  void Settle(size_t place);
  bool SplitIfTooLarge(size_t place);
  bool MergeRuns(size_t place, uint64_t bytes_max);
  bool JoinIfSmall(size_t place);
  void BoundByNext(size_t place, std::span<const FilePart> files, Contents* contents) const;
  std::vector<FilePart> Write(const Contents& contents, const FileCosts& costs);
  void CountWritten(std::span<const FilePart> files, double* counter);
  void RebuildRouter();
  void ThinSamples();

  const engine::Tuning sizes_;
  const RowCosts costs_;
  Disk disk_;  // Of files that exist; outlives the regions.
  std::vector<std::unique_ptr<Region>> regions_;
  row_keys::Router router_;
  Sampling sampling_;
  uint64_t sampled_keys_ = 0;
  double active_bytes_ = 0;
  Log log_;
  Counters counters_;
};

}  // namespace tandem::emulator
