// Gathering a store file's statistics and clean bits row by row while it is written.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/bitmap.h"
#include "format/cell/cell.h"
#include "format/schema.h"
#include "format/types.h"
#include "store_file/file_statistics.h"

namespace tandem::format {

/// Threads: one at a time.
class StatisticsCollector {
 public:
  explicit StatisticsCollector(const TableRecord& table);

  /// Counts the next row. Requires: `cells` is sorted and not empty.
  void AddRow(std::string_view key, std::span<const Cell> cells);

  /// The same in pieces: BeginRow, AddCells any number of times, EndRow. Requires: the Puts and
  /// column markers of a row rise by CellLess over all calls; DeleteFamily markers may come in
  /// calls of their own at any time.
  void BeginRow(std::string_view key);
  void AddCells(std::span<const Cell> cells);
  void EndRow();

  uint32_t row_count() const { return statistics_.rows; }
  std::string_view last_key() const { return statistics_.max_key; }
  /// Widens the bounds of sequences to include [min, max].
  void WidenSequences(SequenceNumber min, SequenceNumber max);

  /// The figures over all rows. Requires: row_count() > 0.
  FileStatistics Statistics() const;
  /// The clean bit of each row.
  Bitmap CleanRows() const;

 private:
  // The bounds over the Puts of a column or family, if there were any.
  struct Times {
    ColumnTimes bounds;
    bool any = false;
    void Add(int64_t timestamp);
  };
  void CountCells(std::span<const Cell> cells);
  void AddColumnTimes(std::span<const Cell> cells);
  static std::vector<ColumnTimes> Seen(const std::vector<Times>& times);

  FileStatistics statistics_;
  std::vector<Times> columns_;   // Rising by (family, qualifier), as the cells of a row do.
  std::vector<Times> families_;  // Rising by family.
  std::vector<bool> clean_;

  // The row being counted.
  bool row_is_clean_ = false;   // Judged by its cells so far.
  uint64_t cells_before_ = 0;   // Of the rows before it.
  FamilyId last_family_;        // Of its last Put that came in a piece,
  std::string last_qualifier_;  // and that Put's column;
  bool has_last_ = false;       // there was one.
  size_t column_ = 0;           // Positions that it has reached in columns_ and families_.
  size_t family_ = 0;
};

}  // namespace tandem::format
