// The operations of a WriteBatch as it keeps them in memory: lengths of fixed width, then the bytes
// that the caller gave. Names become ids only in Write, which encodes the batch once, as the log
// carries it (write_plan.h).
//
// One operation: its OperationLengths; per column its ColumnLengths; table, row, family; per column
// qualifier and value. Nothing is aligned: the structs are copied in and out.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tandem/write_batch.h"

namespace tandem::engine {

enum class BatchKind : uint8_t {
  kPut = 0,
  kDeleteCell = 1,
  kDeleteColumn = 2,
  kDeleteFamily = 3,
  kDeleteRow = 4,
  kIncrement = 5,  ///< Values are what is added (EncodeInt64Be).
  kAppend = 6,
};

// A batch with anything longer is refused for its size before it is read.
struct OperationLengths {
  BatchKind kind;
  bool has_timestamp;
  uint32_t table, row, family;
  uint32_t columns;  ///< How many follow.
  int64_t timestamp;
};

struct ColumnLengths {
  uint32_t qualifier, value;
};
// WriteBatch::size_bytes documents both.
static_assert(sizeof(OperationLengths) == 32 && sizeof(ColumnLengths) == 8);

/// Lifetime: views point into the batch.
struct BatchOperation {
  BatchKind kind = BatchKind::kPut;
  std::string_view table, row, family;  ///< An empty family is the table's first.
  std::optional<int64_t> timestamp;
  std::vector<ColumnValue>
      columns;  ///< One for deletes of a column, none for other deletes, else one or more.
};

/// Walks the operations of a batch in the order in which they were made. Requires: the batch has at
/// most kBatchBytesMax.
class BatchReader {
 public:
  explicit BatchReader(const WriteBatch& batch) : bytes_(batch.bytes_) {}
  /// False at the end. Overwrites `*operation`, reusing its memory.
  bool Next(BatchOperation* operation);
  /// The same without the columns: `*column_bytes` is what their names and values take together.
  bool NextWithoutColumns(BatchOperation* operation, uint64_t* column_bytes);
  /// Adds the operation to another batch.
  static void Copy(const BatchOperation& operation, WriteBatch* to);

 private:
  /// Takes all of an operation but the bytes of its columns, whose lengths it returns.
  std::string_view TakeHead(BatchOperation* operation);
  std::string_view TakeBytes(size_t size);

  std::string_view bytes_;  ///< Those not read yet.
};

}  // namespace tandem::engine
