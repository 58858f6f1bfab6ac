// The columns that a reader wants from a family, resolved once against the names of one file, so
// that unwanted cells are skipped without comparing names.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/cell/dictionary.h"

namespace tandem::format {

class BlockFile;

/// Valid for all rows of one file. Threads: const methods from any. Lifetime: `names` and `columns`
/// outlive it.
class Projection {
 public:
  /// Every column. `file` holds the overflow values and outlives the decoded cells; without it an
  /// overflow value is corruption.
  Projection(const Dictionary& names, const BlockFile* file) : names_(names), file_(file) {}
  /// The columns of these qualifiers. Requires: `columns` is sorted.
  Projection(const Dictionary& names, std::span<const std::string> columns, const BlockFile* file);
  /// The columns of these qualifiers, null for all.
  Projection(const Dictionary& names, const std::vector<std::string>* columns,
             const BlockFile* file)
      : Projection(columns == nullptr ? Projection(names, file)
                                      : Projection(names, std::span(*columns), file)) {}

  const Dictionary& names() const { return names_; }
  const BlockFile* file() const { return file_; }
  bool all() const { return all_; }
  /// Requires: !all(), id in 1..names().size().
  bool WantsId(uint32_t id) const { return wanted_[id - 1] != 0; }
  /// For names that are stored inline. Requires: !all().
  bool WantsName(std::string_view name) const;

 private:
  const Dictionary& names_;
  const BlockFile* file_;
  bool all_ = true;
  std::span<const std::string> columns_;
  std::vector<uint8_t> wanted_;  // By id - 1.
};

}  // namespace tandem::format
