// Counts the versions of exported columns that their family is not going to keep.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tandem/row.h"
#include "tandem/schema.h"

namespace tandem::tools {

/// Sees cells in the order of an export: the versions of a column are neighbours. Threads: one at a
/// time.
class VersionCounter {
 public:
  /// `families` outlives the counter.
  explicit VersionCounter(std::span<const FamilyOptions> families) : families_(families) {}

  void See(std::string_view row, const Cell& cell) {
    if (row_ != row || family_ != cell.family || qualifier_ != cell.qualifier) {
      row_ = row;
      family_ = cell.family;
      qualifier_ = cell.qualifier;
      versions_ = 0;
      const auto found = std::ranges::find(families_, family_, &FamilyOptions::name);
      versions_max_ = found == families_.end() ? UINT32_MAX : found->max_versions;
    }
    if (++versions_ > versions_max_) ++lost_;
  }
  /// Cells beyond the versions of their families.
  uint64_t lost() const { return lost_; }

 private:
  std::span<const FamilyOptions> families_;
  std::string row_, family_, qualifier_;
  uint64_t versions_ = 0, versions_max_ = 0;
  uint64_t lost_ = 0;
};

}  // namespace tandem::tools
