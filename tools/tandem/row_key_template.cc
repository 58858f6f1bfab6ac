// Parsing and filling of row key templates.
#include "tools/tandem/row_key_template.h"

#include <algorithm>

#include "base/status_macros.h"
#include "tandem/limits.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"

namespace tandem::tools {

Result<RowKeyTemplate> RowKeyTemplate::Parse(std::string_view text) {
  RowKeyTemplate key;
  if (text.find_first_of("{}") == std::string_view::npos) {
    if (text.empty()) return key;
    ASSIGN_OR_RETURN(std::string name, ParseEscaped(text));
    key.pieces_.push_back({std::move(name), true});
    return key;
  }
  for (std::string_view rest = text; !rest.empty();) {
    const bool is_field = rest[0] == '{';
    if (is_field) rest.remove_prefix(1);
    const size_t end = rest.find_first_of("{}");
    const bool closes = end != std::string_view::npos && rest[end] == '}';
    if (closes != is_field || (is_field && end == 0)) {
      return Status::InvalidArgument(
          Format("--row '{}' at position {}: expected {{FIELD}} or text; a brace itself is \\x7b",
                 EscapeBytes(text), text.size() - rest.size() + 1));
    }
    ASSIGN_OR_RETURN(std::string piece, ParseEscaped(rest.substr(0, end)));
    key.pieces_.push_back({std::move(piece), is_field});
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + (is_field ? 1 : 0));
  }
  return key;
}

std::string RowKeyTemplate::Build(std::span<const Field> fields, std::string* key) const {
  key->clear();
  if (fields.empty()) return "has no field";
  if (pieces_.empty()) key->assign(fields[0].value);
  for (const Piece& piece : pieces_) {
    if (!piece.is_field) {
      *key += piece.text;
      continue;
    }
    const auto field = std::ranges::find(fields, piece.text, &Field::name);
    if (field == fields.end()) {
      return Format("has no field '{}', which the row key needs", EscapeBytes(piece.text));
    }
    *key += field->value;
  }
  return RowKeyProblem(*key);
}

std::string RowKeyProblem(std::string_view key) {
  if (key.empty()) return "its row key is empty";
  if (key.size() <= kRowKeyBytesMax) return {};
  return Format("its row key has {} bytes; at most {}", key.size(), kRowKeyBytesMax);
}

}  // namespace tandem::tools
