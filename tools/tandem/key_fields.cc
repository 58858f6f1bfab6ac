// A word is a field if a name of one comes before its first `=`.
#include "tools/tandem/key_fields.h"

#include <algorithm>

#include "base/status_macros.h"
#include "format/value_text.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/suggest.h"

namespace tandem::tools {
namespace {

// What comes before the `=` if it could be the name of a field; else empty.
std::string_view NameIn(std::string_view word) {
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos) return {};
  const std::string_view name = word.substr(0, equals);
  const auto is_of_names = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return std::ranges::all_of(name, is_of_names) ? name : std::string_view();
}

// As people write times; microseconds where a year would not be printed with four digits.
std::string TimeText(const std::string& micros_text) {
  constexpr int64_t kFirst = -30'610'224'000'000'000, kEnd = 253'402'300'800'000'000;
  const int64_t micros = *format::ParseInt64(micros_text);
  if (micros < kFirst || micros >= kEnd) return micros_text;
  int64_t fraction = micros % 1'000'000;
  if (fraction < 0) fraction += 1'000'000;
  std::string text = FormatTime(micros - fraction);
  if (fraction != 0) text.insert(text.size() - 1, Format(".{:06}", fraction));
  return text;
}

// The fields of a key as they are shown; empty: it has none.
std::vector<RowKeyField> ShownFields(const OptionalRowKey& schema, std::string_view key) {
  if (!schema.has_value()) return {};
  Result<std::vector<RowKeyField>> fields = schema->Decode(key);
  if (!fields.has_value()) return {};
  size_t i = 0;
  for (const RowKeyPart& part : schema->newest().parts()) {
    if (part.kind != RowKeyPart::Kind::kField) continue;
    std::string& value = (*fields)[i++].value;
    if (part.type == RowKeyType::kTimestamp) value = TimeText(value);
  }
  return *std::move(fields);
}

}  // namespace

Result<OptionalRowKey> RowKeyOf(const TableOptions& table) {
  if (table.row_key.empty()) return OptionalRowKey();
  ASSIGN_OR_RETURN(RowKeyEpochs keys, RowKeyEpochs::Parse(table.row_key, table.former_row_keys));
  return OptionalRowKey(std::move(keys));
}

Result<std::vector<RowKeyField>> FieldsOf(const RowKeySchema& schema,
                                          std::span<const std::string> words) {
  const std::vector<std::string> names = schema.fields();
  std::vector<RowKeyField> fields;
  for (const std::string& word : words) {
    const std::string_view name = NameIn(word);
    const bool is_field = std::ranges::find(names, name) != names.end();
    if (!is_field && fields.empty() && !name.empty()) {
      return Status::InvalidArgument(
          Format("'{}': the row key has no field '{}' (a '=' in a key of bytes is \\x3d){}",
                 EscapeBytes(word), name, DidYouMean(name, names)));
    }
    if (!is_field || fields.size() == names.size()) break;
    RowKeyField& field = fields.emplace_back();
    field.name = name;
    ASSIGN_OR_RETURN(field.value, ParseBytes(std::string_view(word).substr(name.size() + 1)));
  }
  return fields;
}

Result<RowWords> TakeRowKey(const OptionalRowKey& schema, std::span<const std::string> words) {
  RowWords row;
  if (schema.has_value()) {
    ASSIGN_OR_RETURN(row.fields, FieldsOf(schema->newest(), words));
    row.count = row.fields.size();
    if (row.count > 0) {
      ASSIGN_OR_RETURN(row.key, schema->newest().Encode(row.fields));
      return row;
    }
  }
  row.count = 1;
  ASSIGN_OR_RETURN(row.key, ParseBytes(words.front()));
  return row;
}

Result<RowWords> OnlyRowKey(const OptionalRowKey& schema, std::span<const std::string> words) {
  ASSIGN_OR_RETURN(RowWords row, TakeRowKey(schema, words));
  if (row.count == words.size()) return row;
  return Status::InvalidArgument(
      Format("'{}' follows the row key; expected nothing", EscapeBytes(words[row.count])));
}

Result<std::vector<std::string>> KeysOf(const OptionalRowKey& schema, const RowWords& row) {
  if (row.fields.empty()) return std::vector<std::string>{row.key};
  return schema->Keys(row.fields);
}

std::string KeyOfRecord(const RowKeySchema& schema, std::span<const Field> record,
                        std::string* key) {
  std::vector<RowKeyField> fields;
  for (std::string& name : schema.fields()) {
    const auto field = std::ranges::find(record, name, &Field::name);
    if (field == record.end()) {
      return Format("has no field '{}', which the row key needs", EscapeBytes(name));
    }
    fields.push_back({std::move(name), std::string(field->value)});
  }
  Result<std::string> encoded = schema.Encode(fields);
  if (!encoded.has_value()) return std::string(encoded.error().message());
  *key = *std::move(encoded);
  return {};
}

std::optional<std::string> FieldsText(const OptionalRowKey& schema, std::string_view key) {
  std::string text;
  for (const RowKeyField& field : ShownFields(schema, key)) {
    if (!text.empty()) text += " ";
    text += field.name + "=" + field.value;
  }
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

void WriteFields(const OptionalRowKey& schema, std::string_view key, JsonWriter* json) {
  const std::vector<RowKeyField> fields = ShownFields(schema, key);
  if (fields.empty()) return;
  json->Key("key");
  json->BeginObject();
  for (const RowKeyField& field : fields) json->Bytes(field.name, field.value);
  json->EndObject();
}

}  // namespace tandem::tools
