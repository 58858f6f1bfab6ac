// The columns of a family whose values a condition needs, each at a place of its own, resolved once
// against the names of one file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/cell/dictionary.h"

namespace tandem::format {

/// Valid for all rows of one file. Threads: const methods from any. Lifetime: `names` and `columns`
/// outlive it.
class ColumnPlaces {
 public:
  static constexpr size_t kNone = SIZE_MAX;

  /// A column's place is that of its qualifier in `columns`. Requires: these are sorted, each once.
  ColumnPlaces(const Dictionary& names, std::span<const std::string> columns);

  const Dictionary& names() const { return names_; }
  size_t size() const { return columns_.size(); }
  /// Requires: id in 1..names().size().
  size_t Of(uint32_t id) const { return places_[id - 1]; }
  /// Of a name that is stored inline.
  size_t Find(std::string_view name) const;

 private:
  const Dictionary& names_;
  std::span<const std::string> columns_;
  std::vector<size_t> places_;  // By id - 1.
};

}  // namespace tandem::format
