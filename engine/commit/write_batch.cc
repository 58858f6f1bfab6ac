// WriteBatch: operations are appended in the encoding of engine/commit/batch_codec.h. Memory for a
// whole operation is reserved before its first byte, so a failed allocation leaves no half
// operation.
#include "tandem/write_batch.h"

#include "engine/commit/batch_codec.h"
#include "format/coding.h"

namespace tandem {

using engine::BatchKind;

namespace {

constexpr size_t kVarintBytesMax = 10;
constexpr size_t kFixedBytesMax = 2 + sizeof(int64_t) + kVarintBytesMax;

size_t PrefixedBytesMax(std::string_view bytes) { return kVarintBytesMax + bytes.size(); }

size_t ColumnsBytesMax(std::span<const ColumnValue> columns) {
  size_t bytes = 0;
  for (const ColumnValue& column : columns) {
    bytes += PrefixedBytesMax(column.qualifier) + PrefixedBytesMax(column.value);
  }
  return bytes;
}

}  // namespace

void WriteBatch::Begin(const Head& head, size_t columns_bytes_max) {
  const auto& [kind, table, row, family, timestamp] = head;
  bytes_.reserve(bytes_.size() + kFixedBytesMax + PrefixedBytesMax(table) + PrefixedBytesMax(row) +
                 PrefixedBytesMax(family) + columns_bytes_max);
  format::AppendU8(&bytes_, kind);
  format::AppendU8(&bytes_, timestamp.has_value() ? engine::kBatchFlagTimestamp : 0);
  format::AppendLengthPrefixed(&bytes_, table);
  format::AppendLengthPrefixed(&bytes_, row);
  format::AppendLengthPrefixed(&bytes_, family);
  if (timestamp.has_value()) format::AppendFixed(&bytes_, *timestamp);
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
  Begin({static_cast<uint8_t>(BatchKind::kPut), table, row, family, timestamp},
        ColumnsBytesMax(columns));
  format::AppendVarint(&bytes_, columns.size());
  for (const ColumnValue& column : columns) {
    format::AppendLengthPrefixed(&bytes_, column.qualifier);
    format::AppendLengthPrefixed(&bytes_, column.value);
  }
}

void WriteBatch::DeleteCell(std::string_view table, std::string_view row, std::string_view family,
                            std::string_view qualifier, std::optional<int64_t> timestamp) {
  Begin({static_cast<uint8_t>(BatchKind::kDeleteCell), table, row, family, timestamp},
        PrefixedBytesMax(qualifier));
  format::AppendVarint(&bytes_, 1);
  format::AppendLengthPrefixed(&bytes_, qualifier);
}

void WriteBatch::DeleteColumn(std::string_view table, std::string_view row, std::string_view family,
                              std::string_view qualifier, std::optional<int64_t> timestamp) {
  Begin({static_cast<uint8_t>(BatchKind::kDeleteColumn), table, row, family, timestamp},
        PrefixedBytesMax(qualifier));
  format::AppendVarint(&bytes_, 1);
  format::AppendLengthPrefixed(&bytes_, qualifier);
}

void WriteBatch::DeleteFamily(std::string_view table, std::string_view row, std::string_view family,
                              std::optional<int64_t> timestamp) {
  Begin({static_cast<uint8_t>(BatchKind::kDeleteFamily), table, row, family, timestamp}, 0);
  format::AppendVarint(&bytes_, 0);
}

void WriteBatch::DeleteRow(std::string_view table, std::string_view row,
                           std::optional<int64_t> timestamp) {
  Begin({static_cast<uint8_t>(BatchKind::kDeleteRow), table, row, {}, timestamp}, 0);
  format::AppendVarint(&bytes_, 0);
}

void WriteBatch::Clear() {
  bytes_.clear();
  operations_ = 0;
}

}  // namespace tandem
