// Which files of a region can go without being read, because no read will see a difference: a pure
// function over a description of them.
//
// A file goes when all its Puts have expired and none of its markers is needed. A marker hides Puts
// up to its timestamp, in its own file and in older ones, so it is not needed when
//   1. Puts up to its timestamp have expired themselves, or
//   2. no older file that stays shares keys with its file.
// Where timestamps are those of the writes, rule 1 lets files go in any order, an old one that a
// late write keeps among them. Rule 2 is for markers at timestamps of the user's own, and lets the
// oldest go first.
//
// What has expired stays so: no read has an earlier time than the one asked about, and a longer
// time to live brings nothing back (docs/decisions/0038).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tandem::compaction {

/// A file of a region, by its statistics.
struct AgingFile {
  /// One that has cells in the file.
  struct Family {
    std::optional<int64_t> newest_put = {};       ///< A timestamp; nullopt: it has only markers.
    std::optional<int64_t> expired_through = {};  ///< Puts up to it have expired; nullopt: none.
  };
  std::vector<Family> families = {};
  bool has_markers = false;
  int64_t newest = 0;  ///< The largest timestamp, of markers too.
  std::string_view min_key = {}, max_key = {};
};

/// The places of the files that can go, all together, ascending. `files` are the region's, the
/// oldest first.
std::vector<size_t> PickExpired(std::span<const AgingFile> files);

}  // namespace tandem::compaction
