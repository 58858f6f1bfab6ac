// WriteBatch: operations are appended in the layout of engine/commit/batch_reader.h. Memory for a
// whole operation is reserved before its first byte, so a failed allocation leaves no half
// operation.
#include "tandem/write_batch.h"

#include <vector>

#include "engine/commit/batch_reader.h"
#include "format/coding.h"
#include "tandem/encoding.h"

namespace tandem {

using engine::BatchKind;

namespace {

uint32_t Length(std::string_view bytes) { return static_cast<uint32_t>(bytes.size()); }

size_t SizeOf(std::span<const ColumnValue> columns) {
  size_t bytes = 0;
  for (const ColumnValue& column : columns) {
    bytes += sizeof(engine::ColumnLengths) + column.qualifier.size() + column.value.size();
  }
  return bytes;
}

}  // namespace

void WriteBatch::Add(uint8_t kind, const Place& place, std::optional<int64_t> timestamp,
                     std::span<const ColumnValue> columns) {
  const auto& [table, row, family] = place;
  bytes_.reserve(bytes_.size() + sizeof(engine::OperationLengths) + table.size() + row.size() +
                 family.size() + SizeOf(columns));
  {
    format::TailWriter out(&bytes_, sizeof(engine::OperationLengths) + table.size() + row.size() +
                                        family.size() +
                                        columns.size() * sizeof(engine::ColumnLengths));
    out.Fixed(engine::OperationLengths{.kind = static_cast<BatchKind>(kind),
                                       .has_timestamp = timestamp.has_value(),
                                       .table = Length(table),
                                       .row = Length(row),
                                       .family = Length(family),
                                       .columns = static_cast<uint32_t>(columns.size()),
                                       .timestamp = timestamp.value_or(0)});
    for (const auto& [qualifier, value] : columns) {
      out.Fixed(engine::ColumnLengths{Length(qualifier), Length(value)});
    }
    out.Bytes(table);
    out.Bytes(row);
    out.Bytes(family);
  }
  for (const auto& [qualifier, value] : columns) bytes_.append(qualifier).append(value);
  ++operations_;
}

void WriteBatch::Put(std::string_view table, std::string_view row, std::string_view family,
                     std::string_view qualifier, std::string_view value,
                     std::optional<int64_t> timestamp) {
  const ColumnValue column{.qualifier = qualifier, .value = value};
  PutColumns(table, row, family, {&column, 1}, timestamp);
}

void WriteBatch::PutColumns(std::string_view table, std::string_view row, std::string_view family,
                            std::span<const ColumnValue> columns,
                            std::optional<int64_t> timestamp) {
  Add(static_cast<uint8_t>(BatchKind::kPut), {table, row, family}, timestamp, columns);
}

void WriteBatch::Increment(std::string_view table, std::string_view row, std::string_view family,
                           std::string_view qualifier, int64_t delta) {
  const ColumnDelta column{.qualifier = qualifier, .delta = delta};
  IncrementColumns(table, row, family, {&column, 1});
}

void WriteBatch::IncrementColumns(std::string_view table, std::string_view row,
                                  std::string_view family, std::span<const ColumnDelta> columns) {
  std::vector<std::string> deltas;
  std::vector<ColumnValue> values;
  deltas.reserve(columns.size());
  for (const ColumnDelta& column : columns) {
    deltas.push_back(EncodeInt64Be(column.delta));
    values.push_back({.qualifier = column.qualifier, .value = deltas.back()});
  }
  Add(static_cast<uint8_t>(BatchKind::kIncrement), {table, row, family}, std::nullopt, values);
}

void WriteBatch::Append(std::string_view table, std::string_view row, std::string_view family,
                        std::string_view qualifier, std::string_view value) {
  const ColumnValue column{.qualifier = qualifier, .value = value};
  AppendColumns(table, row, family, {&column, 1});
}

void WriteBatch::AppendColumns(std::string_view table, std::string_view row,
                               std::string_view family, std::span<const ColumnValue> columns) {
  Add(static_cast<uint8_t>(BatchKind::kAppend), {table, row, family}, std::nullopt, columns);
}

void WriteBatch::DeleteCell(std::string_view table, std::string_view row, std::string_view family,
                            std::string_view qualifier, std::optional<int64_t> timestamp) {
  const ColumnValue column{.qualifier = qualifier, .value = {}};
  Add(static_cast<uint8_t>(BatchKind::kDeleteCell), {table, row, family}, timestamp, {&column, 1});
}

void WriteBatch::DeleteColumn(std::string_view table, std::string_view row, std::string_view family,
                              std::string_view qualifier, std::optional<int64_t> timestamp) {
  const ColumnValue column{.qualifier = qualifier, .value = {}};
  Add(static_cast<uint8_t>(BatchKind::kDeleteColumn), {table, row, family}, timestamp,
      {&column, 1});
}

void WriteBatch::DeleteFamily(std::string_view table, std::string_view row, std::string_view family,
                              std::optional<int64_t> timestamp) {
  Add(static_cast<uint8_t>(BatchKind::kDeleteFamily), {table, row, family}, timestamp, {});
}

void WriteBatch::DeleteRow(std::string_view table, std::string_view row,
                           std::optional<int64_t> timestamp) {
  Add(static_cast<uint8_t>(BatchKind::kDeleteRow), {table, row, {}}, timestamp, {});
}

void WriteBatch::Add(const WriteBatch& other) {
  bytes_.append(other.bytes_);
  operations_ += other.operations_;
}

void WriteBatch::Clear() {
  bytes_.clear();
  operations_ = 0;
}

}  // namespace tandem
