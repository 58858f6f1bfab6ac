// The columns that a reader wants of a family, resolved once against the names of one file so that
// unwanted cells are stepped over without looking at a name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/dictionary.h"

namespace tandem::format {

/// Good for all rows of one file. Threads: const methods from any. Lifetime: `names` and `columns`
/// outlive it.
class Projection {
 public:
  /// Every column.
  explicit Projection(const Dictionary& names) : names_(names) {}
  /// The columns of these qualifiers. Requires: `columns` is sorted.
  Projection(const Dictionary& names, std::span<const std::string> columns);

  const Dictionary& names() const { return names_; }
  bool all() const { return all_; }
  /// Requires: !all(), id in 1..names().size().
  bool WantsId(uint32_t id) const { return wanted_[id - 1] != 0; }
  /// For names that stand inline. Requires: !all().
  bool WantsName(std::string_view name) const;

 private:
  const Dictionary& names_;
  bool all_ = true;
  std::span<const std::string> columns_;
  std::vector<uint8_t> wanted_;  // By id - 1.
};

}  // namespace tandem::format
