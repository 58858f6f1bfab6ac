// The runs of a region's version, as merges and back pressure see them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "compaction/pick.h"
#include "engine/region/view.h"

namespace tandem::engine {

struct RegionRuns {
  std::vector<compaction::RunDescription> described;  ///< Oldest first.
  /// Run i is the version's files [firsts[i], firsts[i + 1]); one entry more than runs.
  std::vector<size_t> firsts;
};

/// The part of a quantity of the whole file that falls to the slice, by its rows.
uint64_t ShareOf(const FileSlice& slice, uint64_t of_file);
/// The bytes of files, each by its share.
uint64_t BytesOf(std::span<const FileSlice> files);

/// The fewest runs around `range` that hold operations from before all later runs and after all
/// earlier ones. Runs of a region that was two may not: one file of them would overlap others in
/// sequence.
compaction::RunRange WidenedToWhole(const RegionVersion& version, const RegionRuns& runs,
                                    compaction::RunRange range);

RegionRuns RunsOf(const RegionVersion& version);
/// A number that no run of the version has.
uint32_t NewRun(const RegionVersion& version);
/// Whether `key` is after all keys of the files of the run that ends at place `end` of the version;
/// false: no run ends there.
bool IsAfterRun(const RegionVersion& version, size_t end, std::string_view key);
size_t RunCount(const RegionVersion& version);

}  // namespace tandem::engine
