// See row_column.h.
#include "engine/read/row_column.h"

#include "index/key.h"
#include "index/put_key.h"

namespace tandem::engine {

RowColumn::RowColumn(const format::IndexColumnRecord& record, const format::TableRecord& table)
    : record_(&record) {
  if (!record.is_of_row_key()) family_ = table.FindFamily(record.family)->options.name;
  for (const format::IndexColumnRecord& joined : record.joined) joined_.emplace_back(joined, table);
}

format::Cell RowColumn::PutOf(const Cell& cell) {
  format::Cell put;
  put.qualifier = cell.qualifier;
  put.value = cell.value;
  put.timestamp = cell.timestamp;
  return put;
}

std::optional<format::Cell> RowColumn::PutIn(const RowView& row) const {
  if (record_->is_of_row_key()) return format::RowKeyPut(row.key());
  for (const Cell& cell : row.cells()) {
    if (cell.qualifier == record_->qualifier && cell.family == family_) return PutOf(cell);
  }
  return std::nullopt;
}

bool RowColumn::JoinedPutsIn(const RowView& row, std::vector<format::Cell>* puts) const {
  puts->clear();
  for (const RowColumn& joined : joined_) {
    const std::optional<format::Cell> put = joined.PutIn(row);
    if (!put.has_value()) return false;
    puts->push_back(*put);
  }
  return true;
}

bool RowColumn::AppendKeyIn(const RowView& row, std::string* key) const {
  const std::optional<format::Cell> put = PutIn(row);
  if (!put.has_value()) return false;
  if (record_->type == ColumnType::kBytes && record_->functions.empty()) {
    *key += format::BoundKey(*record_, put->value);
    return true;
  }
  if (joined_.empty()) return format::AppendPutKey(*record_, *put, key);
  std::vector<format::Cell> puts;
  if (!JoinedPutsIn(row, &puts)) return false;
  std::vector<const format::Cell*> pointers;
  for (const format::Cell& joined : puts) pointers.push_back(&joined);
  return format::AppendPutKey(*record_, *put, key, pointers);
}

}  // namespace tandem::engine
