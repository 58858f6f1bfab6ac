// See key_fields.h. What leads a key takes as many bytes in all declarations that may have made it
// (epochs.cc), so that its fields are found without knowing which one did.
#include "format/row_key/key_fields.h"

#include <algorithm>
#include <utility>

#include "base/quote.h"
#include "format/row_key/field.h"

namespace tandem::format {

Result<RowKeyEpochs> KeysOf(const TableRecord& table) {
  if (!table.row_key.empty()) return RowKeyEpochs::Parse(table.row_key, table.former_row_keys);
  return Status::InvalidArgument("the row keys of table " + base::Quote(table.name) +
                                 " are bytes, without fields");
}

std::optional<KeyFlaw> DecodeKey(const std::vector<RowKeyPart>& parts, std::string_view key,
                                 std::vector<std::string>* plain) {
  const size_t lead_bytes = LeadBytes(parts);
  plain->clear();
  if (key.empty() || key.size() < lead_bytes) return KeyFlaw{key.size(), "it ends there"};
  const std::vector<const RowKeyPart*> fields = FieldsOf(parts);
  std::string_view rest = key.substr(lead_bytes);
  for (const RowKeyPart* field : fields) {
    Result<std::string> bytes = TakeEncoded(*field, field == fields.back(), &rest);
    if (!bytes.has_value()) {
      return KeyFlaw{key.size() - rest.size(), std::string(bytes.error().message())};
    }
    plain->push_back(*std::move(bytes));
  }
  if (!rest.empty()) return KeyFlaw{key.size() - rest.size(), "expected its end"};
  if (lead_bytes == 0 || KeyOf(parts, {plain->begin(), plain->end()}) == key) return std::nullopt;
  return KeyFlaw{0, "what leads it does not follow from its fields"};
}

KeyFields::KeyFields(RowKeyEpochs keys)
    : keys_(std::move(keys)),
      end_of_leads_(EndOfLeads(keys_.schemas())),
      fields_(FieldsOf(keys_.newest().parts())) {}

Result<size_t> KeyFields::PlaceOf(std::string_view name) const {
  const auto found = std::ranges::find(fields_, name, &RowKeyPart::field);
  if (found == fields_.end()) return NoField(fields_, name);
  return static_cast<size_t>(found - fields_.begin());
}

bool KeyFields::Decode(std::string_view key, std::vector<std::string>* plain) const {
  return std::ranges::any_of(keys_.schemas(), [&](const RowKeySchema& schema) {
    return MayHave(schema, end_of_leads_, key) &&
           !DecodeKey(schema.parts(), key, plain).has_value();
  });
}

std::optional<KeyPrefix> KeyFields::PrefixOf(std::string_view key, size_t count) const {
  const auto schema = std::ranges::find_if(keys_.schemas(), [&](const RowKeySchema& each) {
    return MayHave(each, end_of_leads_, key);
  });
  if (schema == keys_.schemas().end()) return std::nullopt;
  const size_t lead_bytes = LeadBytes(schema->parts());
  if (key.size() < lead_bytes) return std::nullopt;
  std::string_view rest = key.substr(lead_bytes);
  for (size_t i = 0; i < count; ++i) {
    const bool is_last = i + 1 == fields_.size();
    if (!TakeEncoded(*fields_[i], is_last, &rest).has_value()) return std::nullopt;
  }
  return KeyPrefix{.bytes = std::string(key.substr(0, key.size() - rest.size())), .fields = count};
}

void KeyFields::ClipTo(const RowKeySchema& schema, std::vector<RowRange>* ranges) const {
  Clip(schema, end_of_leads_, ranges);
}

}  // namespace tandem::format
