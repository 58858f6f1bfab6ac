// Lays rows out as records; JSON Lines are written here, because their cells nest.
//
// Where a row is cut into objects depends on its cells alone and not on the pieces in which it is
// read, so that equal tables print equal bytes.
#include "tools/tandem/row_output.h"

#include <algorithm>
#include <utility>

#include "tools/tandem/bytes_text.h"
#include "tools/tandem/separated_header.h"

namespace tandem::tools {
namespace {

/// Text of one JSON object after which the next cell opens another one.
constexpr size_t kJsonPieceBytes = 1024 * 1024;

/// A field of a line of csv with escapes; `storage` holds it when there are any.
Value Escaped(std::string_view bytes, std::string* storage) {
  if (IsPlainText(bytes) && bytes.find('\\') == std::string_view::npos) return bytes;
  return *storage = EscapeBytes(bytes);
}

}  // namespace

std::string ColumnText(const ColumnName& column) {
  return column.family.empty() ? column.qualifier : column.family + ":" + column.qualifier;
}

std::string ColumnText(const IndexColumn& column) {
  if (column.is_row_key) return "_row";
  if (AreOfFamily(column.functions)) return column.family;
  return ColumnText(ColumnName{column.family, column.qualifier});
}

bool AreOfFamily(const Functions& functions) {
  if (functions.empty()) return false;
  const FunctionKind first = functions.front().kind;
  return first == FunctionKind::kMapKeys || first == FunctionKind::kMapValues;
}

RowWriter::RowWriter(RowLayout layout, std::FILE* out)
    : layout_(std::move(layout)),
      out_(out),
      row_a_line_(!layout_.fields.empty() && layout_.families.empty() && layout_.versions == 1),
      chosen_(layout_.fields.size()) {
  if (layout_.mode == OutputMode::kJsonLines || layout_.mode == OutputMode::kRaw) return;
  records_ = NewRecordWriter(layout_.mode, out);
  std::vector<std::string> names(std::begin(kCellColumns), std::end(kCellColumns));
  if (row_a_line_) {
    names.resize(1);
    for (const SelectedField& field : layout_.fields) {
      names.push_back(field.expression.empty() ? ColumnText(field.column) : field.expression);
    }
  }
  records_->Begin("row", std::move(names));
}

void RowWriter::Add(const RowView& row) {
  if (layout_.mode == OutputMode::kJsonLines) {
    AddJson(row);
  } else if (row_a_line_) {
    AddChosen(row);
    if (!row.continues()) WriteChosen(row);
  } else if (layout_.mode == OutputMode::kRaw) {
    AddRaw(row);
  } else {
    AddCells(row);
  }
}

void RowWriter::End() {
  if (json_open_) EndJson(true);
  if (records_ != nullptr) records_->End();
}

void RowWriter::AddJson(const RowView& row) {
  if (!json_open_) BeginJson(row);
  for (const Cell& cell : row.cells()) {
    if (json_.text().size() >= kJsonPieceBytes) {
      EndJson(true);
      BeginJson(row);
    }
    json_.BeginObject();
    if (cell.family.empty()) {
      json_.Bytes("expression", cell.qualifier);
    } else {
      json_.Bytes("family", cell.family);
      json_.Bytes("column", cell.qualifier);
      json_.Key("timestamp");
      json_.Int(cell.timestamp);
    }
    json_.Bytes("value", cell.value);
    json_.EndObject();
  }
  if (!row.continues()) EndJson(false);
}

void RowWriter::BeginJson(const RowView& row) {
  json_.Clear();
  json_.BeginObject();
  json_.Bytes("row", row.key());
  WriteFields(layout_.row_key, row.key(), &json_);
  json_.Key("cells");
  json_.BeginArray();
  json_open_ = true;
}

void RowWriter::EndJson(bool continues) {
  json_.EndArray();
  if (continues) {
    json_.Key("continues");
    json_.Bool(true);
  }
  json_.EndObject();
  WriteBytes(out_, json_.text());
  WriteBytes(out_, "\n");
  json_open_ = false;
}

void RowWriter::AddRaw(const RowView& row) {
  if (layout_.fields.empty() && layout_.families.empty()) {
    if (row.continues()) return;
    WriteBytes(out_, row.key());
    WriteBytes(out_, "\n");
    return;
  }
  for (const Cell& cell : row.cells()) {
    if (!IsChosen(cell)) continue;
    WriteBytes(out_, cell.value);
    WriteBytes(out_, "\n");
  }
}

// An expression may have several values.
void RowWriter::AddChosen(const RowView& row) {
  const std::string_view between = layout_.mode == OutputMode::kRaw ? "\n" : ", ";
  for (size_t i = 0; i < chosen_.size(); ++i) {
    std::optional<std::string>& chosen = chosen_[i];
    if (chosen.has_value()) continue;
    for (const Cell& cell : row.cells()) {
      if (!Names(layout_.fields[i], cell)) continue;
      if (chosen.has_value()) *chosen += between;
      if (!chosen.has_value()) chosen.emplace();
      *chosen += cell.value;
      if (layout_.fields[i].expression.empty()) break;  // Older versions follow.
    }
  }
}

void RowWriter::WriteChosen(const RowView& row) {
  std::vector<Value> values;
  const std::string key = ShownKey(row);
  if (layout_.mode != OutputMode::kRaw) values.emplace_back(key);
  for (const auto& value : chosen_) values.push_back(value.has_value() ? Value(*value) : Value());
  if (records_ != nullptr) {
    records_->Add(values);
  } else {
    for (const Value& value : values) {
      if (!value.absent()) WriteBytes(out_, value.Bytes() + "\n");
    }
  }
  std::ranges::fill(chosen_, std::nullopt);
}

void RowWriter::AddCells(const RowView& row) {
  if (layout_.mode != OutputMode::kCsv) {
    const std::string key = ShownKey(row);
    for (const Cell& cell : row.cells()) {
      records_->Add({key, cell.family, cell.qualifier, cell.timestamp, cell.value});
    }
    return;
  }
  std::string key, family, qualifier, value;
  for (const Cell& cell : row.cells()) {
    records_->Add({Escaped(row.key(), &key), Escaped(cell.family, &family),
                   Escaped(cell.qualifier, &qualifier), cell.timestamp,
                   Escaped(cell.value, &value)});
  }
}

std::string RowWriter::ShownKey(const RowView& row) const {
  std::optional<std::string> fields;
  if (layout_.mode == OutputMode::kTable) fields = FieldsText(layout_.row_key, row.key());
  return fields.has_value() ? *std::move(fields) : std::string(row.key());
}

bool RowWriter::Names(const SelectedField& field, const Cell& cell) const {
  if (cell.family.empty()) return field.expression == cell.qualifier;
  if (!field.expression.empty()) return false;
  const ColumnName& column = field.column;
  const std::string& family = column.family.empty() ? layout_.first_family : column.family;
  return family == cell.family && column.qualifier == cell.qualifier;
}

bool RowWriter::IsChosen(const Cell& cell) const {
  return std::ranges::find(layout_.families, cell.family) != layout_.families.end() ||
         std::ranges::any_of(layout_.fields,
                             [&](const SelectedField& field) { return Names(field, cell); });
}

}  // namespace tandem::tools
