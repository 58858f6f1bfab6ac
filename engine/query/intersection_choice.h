// Which conditions of an AND are taken by index. The one with the fewest entries finds the
// candidates; each further one that is taken has its postings read, so that fewer rows are
// (engine/source/intersection.h).
//
// The planner knows how many entries each condition has in each file, and assumes that conditions
// are independent: one with e entries in a file of n rows leaves e/n of the rows that the others
// leave. Conditions are tried in the order of their entries. One is taken if the rows that it saves
// cost more to read than its postings. With a limit of n rows, a condition that leaves a part p of
// the rows saves reading n / p of them at most.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/cancellation.h"
#include "engine/query/access_paths.h"
#include "engine/source/sources.h"

namespace tandem::engine {

/// This many postings are read and intersected in the time that reading one row takes: 4.5 ns and
/// 100 ns where both are cached (docs/performance.md). Rows that are not cached cost more.
inline constexpr uint64_t kPostingsPerRow = 20;
/// A look-up of a range in the index of a file costs as much as reading this many rows: it reads a
/// leaf and postings, perhaps from disk.
inline constexpr uint64_t kRowsPerLookup = 4;

/// The access that was chosen, and why.
struct IntersectionChoice {
  AccessPath access;
  std::optional<EntryCount> entries = {};  ///< Of its paths and keys; nullopt: nothing was counted.
  std::vector<uint64_t> intersected = {};  ///< In files, by AccessPath::intersected.
  uint64_t rows = 0;                       ///< That the intersection leads to, about.
  /// What was not taken, by its paths, and why.
  struct Unused {
    AccessPath::Condition paths;
    uint64_t entries = 0;
    std::string why;
    bool is_whole = true;  ///< The paths lead to all its rows: it looks up no row keys besides.
  };
  std::vector<Unused> unused = {};
};

struct AndToServe {
  std::vector<AndWay> ways;            ///< Not empty.
  size_t conditions = 0;               ///< That an access has to cover to be exact.
  bool takes_all = false;              ///< Whatever it costs.
  bool is_counted = false;             ///< Rows that are decided by an exact access are not read.
  std::optional<uint64_t> limit = {};  ///< The read ends after this many rows.
};

/// Errors: kCorruption, kIoError, kCancelled.
Result<IntersectionChoice> ChooseIntersection(const std::vector<Cluster>& clusters,
                                              AndToServe served,
                                              const base::Cancellation& cancellation);

}  // namespace tandem::engine
