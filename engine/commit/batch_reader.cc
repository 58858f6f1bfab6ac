// Reads what write_batch.cc appends; see the header for the layout.
#include "engine/commit/batch_reader.h"

#include <cstring>

#include "base/check.h"

namespace tandem::engine {
namespace {

ColumnLengths LengthsAt(std::string_view lengths, size_t i) {
  ColumnLengths column;
  std::memcpy(&column, lengths.data() + i * sizeof(column), sizeof(column));
  return column;
}

}  // namespace

std::string_view BatchReader::TakeBytes(size_t size) {
  CHECK(size <= bytes_.size());
  const std::string_view taken = bytes_.substr(0, size);
  bytes_.remove_prefix(size);
  return taken;
}

std::string_view BatchReader::TakeHead(BatchOperation* operation) {
  OperationLengths lengths;
  std::memcpy(&lengths, TakeBytes(sizeof(lengths)).data(), sizeof(lengths));
  const std::string_view columns = TakeBytes(lengths.columns * sizeof(ColumnLengths));
  operation->kind = lengths.kind;
  operation->timestamp.reset();
  if (lengths.has_timestamp) operation->timestamp = lengths.timestamp;
  operation->table = TakeBytes(lengths.table);
  operation->row = TakeBytes(lengths.row);
  operation->family = TakeBytes(lengths.family);
  return columns;
}

bool BatchReader::Next(BatchOperation* operation) {
  if (bytes_.empty()) return false;
  const std::string_view lengths = TakeHead(operation);
  operation->columns.resize(lengths.size() / sizeof(ColumnLengths));
  for (size_t i = 0; i < operation->columns.size(); ++i) {
    const ColumnLengths column = LengthsAt(lengths, i);
    operation->columns[i].qualifier = TakeBytes(column.qualifier);
    operation->columns[i].value = TakeBytes(column.value);
  }
  return true;
}

bool BatchReader::NextWithoutColumns(BatchOperation* operation, uint64_t* column_bytes) {
  if (bytes_.empty()) return false;
  const std::string_view lengths = TakeHead(operation);
  operation->columns.clear();
  *column_bytes = 0;
  for (size_t i = 0; i < lengths.size() / sizeof(ColumnLengths); ++i) {
    const ColumnLengths column = LengthsAt(lengths, i);
    *column_bytes += uint64_t{column.qualifier} + column.value;
  }
  TakeBytes(*column_bytes);
  return true;
}

void BatchReader::Copy(const BatchOperation& operation, WriteBatch* to) {
  to->Add(static_cast<uint8_t>(operation.kind), {operation.table, operation.row, operation.family},
          operation.timestamp, operation.columns);
}

}  // namespace tandem::engine
