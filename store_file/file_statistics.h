// The statistics of a store file's rows, and their encoding.
//
// Statistics block (kind kStatistics; count = rows; not compressed), alone in its section:
//   OFFSET SIZE FIELD
//        0    4 rows
//        4    4 clean rows
//        8    8 cells
//       16    8 markers
//       24    8 raw bytes: keys once a row, qualifiers, values; overflow values in full
//       32    8 smallest sequence
//       40    8 largest sequence
//       48    8 smallest timestamp, i64
//       56    8 largest timestamp, i64
//       64      smallest key, then largest key: each a varint length and its bytes
//        +      columns: a varint count, then for each family u8, qualifier as varint length and
//               bytes, smallest and largest timestamp of its Puts i64
//        +      families: the same with an empty qualifier
// The columns are those that an index covers, the families are all; one without a Put in the file
// is left out. Both lists ascend by (family, qualifier).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/block/block.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::format {

/// Smallest and largest timestamp of the Puts of one column, or of a family (empty qualifier).
struct ColumnTimes {
  FamilyId family;
  std::string qualifier;
  int64_t min_timestamp = 0;
  int64_t max_timestamp = 0;
  bool operator==(const ColumnTimes&) const = default;
};

/// The manifest repeats some of these in the file's record.
struct FileStatistics {
  uint32_t rows = 0;
  uint32_t clean_rows = 0;
  uint64_t cells = 0;
  uint64_t deletes = 0;    ///< Markers of all kinds.
  uint64_t raw_bytes = 0;  ///< Keys, qualifiers and values as the user wrote them.
  SequenceNumber min_sequence, max_sequence;
  int64_t min_timestamp = 0, max_timestamp = 0;
  std::string min_key, max_key;
  std::vector<ColumnTimes> column_times;  ///< Per column that an index covers.
  std::vector<ColumnTimes> family_times;  ///< Per family, with an empty qualifier.
  bool operator==(const FileStatistics&) const = default;
};

/// Appends the raw bytes of the block.
void AppendStatistics(const FileStatistics& statistics, std::string* out);
/// Errors: kCorruption, also for figures that contradict one another.
Result<FileStatistics> DecodeStatistics(const Block& block);

}  // namespace tandem::format
