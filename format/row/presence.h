// Which rows of a file have cells of a family, with ranks that map ordinals to the family's
// positions and back. On disk it is a bitmap section (format/block/bitmap_section.h).
#pragma once

#include <cstdint>
#include <vector>

#include "format/bitmap.h"

namespace tandem::format {

/// Threads: any.
class Presence {
 public:
  explicit Presence(Bitmap rows);

  /// Requires: ordinal < rows of the file.
  bool Has(uint32_t ordinal) const { return rows_.Test(ordinal); }
  /// The number of rows before `ordinal` that have cells. Requires: ordinal <= rows of the file.
  uint32_t RankOf(uint32_t ordinal) const;
  /// The row of that position. Requires: position < count().
  uint32_t OrdinalOf(uint32_t position) const;
  /// Rows that have cells.
  uint32_t count() const { return ranks_.back(); }
  uint64_t memory_bytes() const {
    return rows_.memory_bytes() + ranks_.capacity() * sizeof(uint32_t);
  }

 private:
  Bitmap rows_;
  std::vector<uint32_t> ranks_;  // Ones before each 512 bits, then the total.
};

}  // namespace tandem::format
