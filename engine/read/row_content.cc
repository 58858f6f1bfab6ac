// Rows as they are copied and compared.
#include "engine/read/row_content.h"

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

#include "format/hash.h"

namespace tandem::engine {
namespace {

void AppendSized(std::string_view bytes, std::string* out) {
  out->append(std::to_string(bytes.size())).append(":").append(bytes);
}

}  // namespace

ReadOptions WholeRows() {
  ReadOptions read;
  read.versions = std::numeric_limits<uint32_t>::max();
  return read;
}

uint64_t BytesOf(const RowView& row) {
  uint64_t bytes = row.key().size();
  for (const Cell& cell : row.cells()) bytes += cell.qualifier.size() + cell.value.size();
  return bytes;
}

int64_t NewestTimestamp(const RowView& row) {
  int64_t newest = row.cells().front().timestamp;
  for (const Cell& cell : row.cells()) newest = std::max(newest, cell.timestamp);
  return newest;
}

void AddPuts(std::string_view table, std::string_view to, const RowView& row, WriteBatch* batch) {
  std::vector<ColumnValue> columns;
  const Cell* last = nullptr;
  const auto put = [&] {
    if (last != nullptr) batch->PutColumns(table, to, last->family, columns, last->timestamp);
    columns.clear();
  };
  for (const Cell& cell : row.cells()) {
    const bool together = last != nullptr && last->family == cell.family &&
                          last->timestamp == cell.timestamp && last->qualifier < cell.qualifier;
    if (!together) put();
    columns.push_back({cell.qualifier, cell.value});
    last = &cell;
  }
  put();
}

RowContent& RowContent::operator+=(const RowContent& other) {
  rows += other.rows;
  cells += other.cells;
  digest += other.digest;
  return *this;
}

RowContent& RowContent::operator-=(const RowContent& other) {
  rows -= other.rows;
  cells -= other.cells;
  digest -= other.digest;
  return *this;
}

// Fields come in the order of their names, which no key changes.
RowContent ContentOf(std::span<const RowKeyField> fields, const RowView& row) {
  std::map<std::string_view, std::string_view> by_name;
  for (const RowKeyField& field : fields) by_name.emplace(field.name, field.value);
  std::string bytes;
  for (const auto& [name, value] : by_name) {
    AppendSized(name, &bytes);
    AppendSized(value, &bytes);
  }
  for (const Cell& cell : row.cells()) {
    AppendSized(cell.family, &bytes);
    AppendSized(cell.qualifier, &bytes);
    AppendSized(std::to_string(cell.timestamp), &bytes);
    AppendSized(cell.value, &bytes);
  }
  return {.rows = 1, .cells = row.cells().size(), .digest = format::Hash64(bytes)};
}

}  // namespace tandem::engine
