// Reads what write_batch.cc appends; see the header for the layout.
#include "engine/commit/batch_reader.h"

#include <cstring>

#include "base/check.h"

namespace tandem::engine {

std::string_view BatchReader::TakeBytes(size_t size) {
  CHECK(size <= bytes_.size());
  const std::string_view taken = bytes_.substr(0, size);
  bytes_.remove_prefix(size);
  return taken;
}

template <typename T>
T BatchReader::Take() {
  T value;
  std::memcpy(&value, TakeBytes(sizeof(T)).data(), sizeof(T));
  return value;
}

bool BatchReader::Next(BatchOperation* operation) {
  if (bytes_.empty()) return false;
  const auto lengths = Take<OperationLengths>();
  std::string_view columns = TakeBytes(lengths.columns * sizeof(ColumnLengths));
  operation->kind = lengths.kind;
  operation->timestamp.reset();
  if (lengths.has_timestamp) operation->timestamp = lengths.timestamp;
  operation->table = TakeBytes(lengths.table);
  operation->row = TakeBytes(lengths.row);
  operation->family = TakeBytes(lengths.family);
  operation->columns.clear();
  for (; !columns.empty(); columns.remove_prefix(sizeof(ColumnLengths))) {
    ColumnLengths column;
    std::memcpy(&column, columns.data(), sizeof(column));
    const std::string_view qualifier = TakeBytes(column.qualifier);
    operation->columns.push_back({.qualifier = qualifier, .value = TakeBytes(column.value)});
  }
  return true;
}

void BatchReader::Copy(const BatchOperation& operation, WriteBatch* to) {
  to->Add(static_cast<uint8_t>(operation.kind), {operation.table, operation.row, operation.family},
          operation.timestamp, operation.columns);
}

}  // namespace tandem::engine
