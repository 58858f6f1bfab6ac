// Gathering a store file's statistics and clean bits row by row while it is written.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "format/bitmap.h"
#include "format/cell.h"
#include "format/file_statistics.h"
#include "format/schema.h"
#include "format/types.h"

namespace tandem::format {

/// Threads: one at a time.
class StatisticsCollector {
 public:
  explicit StatisticsCollector(const TableRecord& table);

  /// Counts the next row. Requires: `cells` is sorted and not empty.
  void AddRow(std::string_view key, std::span<const Cell> cells);
  uint32_t row_count() const { return statistics_.rows; }
  std::string_view last_key() const { return statistics_.max_key; }
  /// Makes the bounds of sequences reach at least from `min` to `max`.
  void WidenSequences(SequenceNumber min, SequenceNumber max);

  /// The figures over all rows. Requires: row_count() > 0.
  FileStatistics Statistics() const;
  /// The clean bit of each row.
  Bitmap CleanRows() const;

 private:
  // Bounds over the Puts of a column or family, as far as there were any.
  struct Times {
    ColumnTimes bounds;
    bool any = false;
    void Add(int64_t timestamp);
  };
  void AddColumnTimes(std::span<const Cell> cells);
  static std::vector<ColumnTimes> Seen(const std::vector<Times>& times);

  FileStatistics statistics_;
  std::vector<Times> columns_;   // Rising by (family, qualifier), as the cells of a row do.
  std::vector<Times> families_;  // Rising by family.
  std::vector<bool> clean_;
};

}  // namespace tandem::format
