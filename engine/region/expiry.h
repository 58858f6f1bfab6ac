// Which files of a region hold nothing any more that a read may see, by their statistics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/region/view.h"
#include "format/schema.h"

namespace tandem::engine {

struct Expiry {
  std::vector<size_t> files;  ///< Places in the version of those that can go, ascending.
  /// When the next one has expired, if no cell is written; nullopt: the others stay.
  std::optional<int64_t> next_micros;
};

/// `now_micros`: no later read has an earlier time. The cost is in proportion to the files where
/// some family of the table may expire, else nothing is looked at.
Expiry ExpiryOf(const RegionVersion& version, const format::TableRecord& table, int64_t now_micros);

/// The files of the version at these places, and the version without them.
std::vector<FileSlice> FilesAt(const RegionVersion& version, std::span<const size_t> places);
RegionVersion WithoutFiles(const RegionVersion& version, std::span<const size_t> places);

}  // namespace tandem::engine
