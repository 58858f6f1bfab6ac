// The operations of a WriteBatch, as the batch encodes them and the engine reads them back. The
// bytes never leave the process, so they need no version and no checksum.
//
// One operation: kind u8, flags u8 (bit 0: a timestamp is given), table, row and family (each a
// varint length and bytes), the timestamp i64 when given, a varint count of columns, and per column
// qualifier and value (each a varint length and bytes; deletes have no value).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "format/byte_reader.h"
#include "tandem/write_batch.h"

namespace tandem::engine {

enum class BatchKind : uint8_t {
  kPut = 0,
  kDeleteCell = 1,
  kDeleteColumn = 2,
  kDeleteFamily = 3,
  kDeleteRow = 4,
};

inline constexpr uint8_t kBatchFlagTimestamp = 1;

/// Lifetime: views point into the batch.
struct BatchOperation {
  BatchKind kind = BatchKind::kPut;
  std::string_view table, row, family;  ///< An empty family is the table's first.
  std::optional<int64_t> timestamp;
  std::vector<ColumnValue>
      columns;  ///< One or more for puts, one for deletes of a column, else none.
};

/// Walks the operations of a batch in the order in which they were made.
class BatchReader {
 public:
  explicit BatchReader(const WriteBatch& batch) : reader_(batch.bytes()) {}
  /// False at the end. Overwrites `*operation`, reusing its memory.
  bool Next(BatchOperation* operation);

 private:
  format::ByteReader reader_;
};

}  // namespace tandem::engine
