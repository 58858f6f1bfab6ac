// Names by position; cells of exported rows.
#include "tools/tandem/separated_header.h"

#include <algorithm>

#include "format/value_text.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"

namespace tandem::tools {

Status SeparatedHeader::Set(std::span<const SeparatedField> fields, const std::string& where) {
  known_ = true;
  std::vector<Field> names;
  for (const SeparatedField& field : fields) names.push_back({field.text, {}});
  if (names[0].name.starts_with("\xef\xbb\xbf")) names[0].name.remove_prefix(3);
  if (const Field* repeated = FindRepeated(names)) {
    return Status::InvalidArgument(
        Format("{}: header: name '{}' occurs twice", where, EscapeBytes(repeated->name)));
  }
  for (const Field& field : names) names_.emplace_back(field.name);
  cells_ = exported_rows_ && std::ranges::equal(names_, kCellColumns);
  return {};
}

void SeparatedHeader::Read(std::span<const SeparatedField> fields, Record* record) {
  if (fields.size() != names_.size()) {
    record->problem = Format("{} fields; the header has {}", fields.size(), names_.size());
    return;
  }
  if (cells_) {
    ReadCell(fields, record);
    return;
  }
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].present) record->fields.push_back({names_[i], fields[i].text});
  }
}

void SeparatedHeader::ReadCell(std::span<const SeparatedField> fields, Record* record) {
  std::array<std::string_view, std::size(kCellColumns)> texts;
  for (size_t i = 0; i < texts.size(); ++i) {
    texts[i] = fields[i].text;
    if (!escaped_ || texts[i].find('\\') == std::string_view::npos) continue;
    Result<std::string> plain = ParseEscaped(texts[i]);
    if (!plain.has_value()) {
      record->problem = Format("{}: {}", kCellColumns[i], plain.error().message());
      return;
    }
    texts[i] = unescaped_[i] = *std::move(plain);
  }
  const auto& [row, family, column, time, value] = texts;
  const std::optional<int64_t> timestamp = format::ParseInt64(time);
  if (!timestamp.has_value()) {
    record->problem =
        Format("timestamp '{}': expected microseconds since 1970", EscapeBytes(time.substr(0, 40)));
    return;
  }
  record->row_key = row;
  record->cells.push_back({family, column, *timestamp, value});
}

}  // namespace tandem::tools
