// Lays rows out as records; JSON Lines are written here, because their cells nest.
#include "tools/tandem/row_output.h"

#include <algorithm>
#include <utility>

namespace tandem::tools {
namespace {

bool Names(const ColumnName& column, const Cell& cell) {
  return (column.family.empty() || column.family == cell.family) &&
         column.qualifier == cell.qualifier;
}

}  // namespace

std::string ColumnText(const ColumnName& column) {
  return column.family.empty() ? column.qualifier : column.family + ":" + column.qualifier;
}

RowWriter::RowWriter(RowLayout layout, std::FILE* out)
    : layout_(std::move(layout)),
      out_(out),
      row_a_line_(!layout_.columns.empty() && layout_.versions == 1) {
  if (layout_.mode == OutputMode::kJsonLines || layout_.mode == OutputMode::kRaw) return;
  records_ = NewRecordWriter(layout_.mode, out);
  std::vector<std::string> names = {"row"};
  if (row_a_line_) {
    for (const ColumnName& column : layout_.columns) names.push_back(ColumnText(column));
  } else {
    names.insert(names.end(), {"family", "column", "timestamp", "value"});
  }
  records_->Begin("row", std::move(names));
}

void RowWriter::Add(const RowView& row) {
  if (layout_.mode == OutputMode::kJsonLines) {
    AddJson(row);
  } else if (layout_.mode == OutputMode::kRaw) {
    AddRaw(row);
  } else if (row_a_line_) {
    AddChosen(row);
  } else {
    AddCells(row);
  }
}

void RowWriter::End() {
  if (records_ != nullptr) records_->End();
}

void RowWriter::AddJson(const RowView& row) {
  json_.Clear();
  json_.BeginObject();
  json_.Bytes("row", row.key());
  json_.Key("cells");
  json_.BeginArray();
  for (const Cell& cell : row.cells()) {
    json_.BeginObject();
    json_.Bytes("family", cell.family);
    json_.Bytes("column", cell.qualifier);
    json_.Key("timestamp");
    json_.Int(cell.timestamp);
    json_.Bytes("value", cell.value);
    json_.EndObject();
  }
  json_.EndArray();
  json_.EndObject();
  WriteBytes(out_, json_.text());
  WriteBytes(out_, "\n");
}

void RowWriter::AddRaw(const RowView& row) {
  if (layout_.columns.empty()) {
    WriteBytes(out_, row.key());
    WriteBytes(out_, "\n");
    return;
  }
  for (const ColumnName& column : layout_.columns) {
    for (const Cell& cell : row.cells()) {
      if (!Names(column, cell)) continue;
      WriteBytes(out_, cell.value);
      WriteBytes(out_, "\n");
    }
  }
}

void RowWriter::AddChosen(const RowView& row) {
  values_.assign(1, Value(row.key()));
  for (const ColumnName& column : layout_.columns) {
    const auto cells = row.cells();
    const auto found =
        std::ranges::find_if(cells, [&](const Cell& cell) { return Names(column, cell); });
    values_.push_back(found == cells.end() ? Value() : Value(found->value));
  }
  records_->Add(values_);
}

void RowWriter::AddCells(const RowView& row) {
  for (const Cell& cell : row.cells()) {
    records_->Add({row.key(), cell.family, cell.qualifier, cell.timestamp, cell.value});
  }
}

}  // namespace tandem::tools
