// Encoding, decoding and ranges of typed row keys. A key is what leads it, then its fields. With
// all fields the leading bytes follow from them. With a prefix of the fields some do not, and each
// value that they may have makes one range of keys.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/quote.h"
#include "base/status_macros.h"
#include "format/ordered_bytes.h"
#include "format/row_key/field.h"
#include "format/row_key/key_fields.h"
#include "format/row_key/ranges.h"
#include "tandem/limits.h"
#include "tandem/row_key.h"

namespace tandem {
namespace {

using Kind = RowKeyPart::Kind;

Status Invalid(std::string what) { return Status::InvalidArgument("row key: " + std::move(what)); }

// The values of some fields, as plain bytes.
class FieldValues {
 public:
  // Errors: kInvalidArgument (an unknown field, a repeated one, a value that does not fit).
  static Result<FieldValues> Make(const RowKeySchema& schema, std::span<const RowKeyField> fields) {
    FieldValues values(schema.parts());
    for (const RowKeyField& field : fields) {
      const auto named = std::ranges::find(values.fields_, field.name, [](const RowKeyPart* part) {
        return std::string_view(part->field);
      });
      if (named == values.fields_.end()) {
        return format::NoField(values.fields_, field.name);
      }
      auto& plain = values.plain_[static_cast<size_t>(named - values.fields_.begin())];
      if (plain.has_value()) return Invalid("field " + base::Quote(field.name) + " is repeated");
      ASSIGN_OR_RETURN(plain, format::PlainBytes(**named, field.value));
    }
    return values;
  }

  size_t field_count() const { return fields_.size(); }
  const std::vector<const RowKeyPart*>& fields() const { return fields_; }
  const RowKeyPart& field(size_t i) const { return *fields_[i]; }
  const format::KnownFields& known() const { return plain_; }
  // How many of the first fields are there. Errors: kInvalidArgument (one is, and one before it is
  // not).
  Result<size_t> CountPrefix() const {
    size_t count = 0;
    while (count < plain_.size() && plain_[count].has_value()) ++count;
    for (size_t i = count; i < plain_.size(); ++i) {
      if (!plain_[i].has_value()) continue;
      return Invalid("field " + base::Quote(fields_[i]->field) + " is given without field " +
                     base::Quote(fields_[count]->field) + ", which comes before it");
    }
    return count;
  }

 private:
  explicit FieldValues(const std::vector<RowKeyPart>& parts)
      : fields_(format::FieldsOf(parts)), plain_(fields_.size()) {}

  std::vector<const RowKeyPart*> fields_;
  format::KnownFields plain_;
};

// The keys that have the first `count` fields and the next one within the bounds, one range for
// each value of what leads them.
Result<std::vector<RowRange>> RangesUnder(const RowKeySchema& schema, const FieldValues& values,
                                          size_t count, const format::ValueInterval& bounds) {
  ASSIGN_OR_RETURN(std::vector<std::string> leads, format::LeadsOf(schema.parts(), values.known()));
  std::vector<RowRange> ranges;
  ranges.reserve(leads.size());
  for (std::string& lead : leads) {
    format::KeyPrefix prefix{.bytes = std::move(lead)};
    for (size_t i = 0; i < count; ++i) {
      format::AddField(values.fields(), *values.known()[i], &prefix);
    }
    std::optional<RowRange> range = format::RangeUnder(values.fields(), prefix, bounds);
    if (range.has_value()) ranges.push_back(*std::move(range));
  }
  return ranges;
}

// Whether no value of the field is smaller.
bool IsSmallest(const RowKeyPart& field, std::string_view plain) {
  const bool is_open = field.type == RowKeyType::kBytes && field.width_bytes == 0;
  return is_open ? plain.empty() : plain.find_first_not_of('\0') == std::string_view::npos;
}

// Whether the bounds are of the first field that is not given. Requires: one is not.
Status CheckField(const RowKeySchema& schema, const FieldValues& values, size_t given,
                  const std::string& bounded) {
  const std::vector<std::string> names = schema.fields();
  const auto found = std::ranges::find(names, bounded);
  if (found == names.end()) return format::NoField(values.fields(), bounded);
  const auto i = static_cast<size_t>(found - names.begin());
  if (i == given) return {};
  const std::string name = "field " + base::Quote(bounded);
  if (i < given) return Invalid(name + " has a value and bounds");
  return Invalid(name + " has bounds without field " + base::Quote(values.field(given).field) +
                 ", which comes before it");
}

Result<format::ValueInterval> CheckedBounds(const RowKeyPart& field, const RowKeyBounds& bounds) {
  const std::string name = "field " + base::Quote(field.field);
  if (field.reversed) {
    return Invalid(name + " is reversed: its keys are not in the order of its values");
  }
  format::ValueInterval plain;
  if (bounds.from.has_value()) {
    ASSIGN_OR_RETURN(std::string from, format::PlainBytes(field, *bounds.from));
    plain.low = {.key = std::move(from)};
  }
  if (bounds.to.has_value()) {
    ASSIGN_OR_RETURN(std::string to, format::PlainBytes(field, *bounds.to));
    if (IsSmallest(field, to)) {
      return Invalid(name + ": nothing lies below " + base::Quote(*bounds.to));
    }
    plain.high = {.key = std::move(to), .inclusive = false};
  }
  if (!plain.low.has_value() || !plain.high.has_value() || plain.low->key < plain.high->key) {
    return plain;
  }
  const std::string range = "from " + base::Quote(*bounds.from) + " to " + base::Quote(*bounds.to);
  if (plain.low->key == plain.high->key) {
    return Invalid(name + ": nothing lies " + range + ", which excludes its end");
  }
  return Invalid(name + ": the range " + range +
                 " is inverted; give the smaller value first, whatever the order of the keys");
}

}  // namespace

std::vector<std::string> RowKeySchema::fields() const {
  std::vector<std::string> names;
  for (const RowKeyPart& part : parts_) {
    if (part.kind == Kind::kField) names.push_back(part.field);
  }
  return names;
}

Result<std::string> RowKeySchema::Encode(std::span<const RowKeyField> fields) const {
  ASSIGN_OR_RETURN(const FieldValues values, FieldValues::Make(*this, fields));
  for (size_t i = 0; i < values.field_count(); ++i) {
    if (values.known()[i].has_value()) continue;
    return Invalid("field " + base::Quote(values.field(i).field) + " is missing");
  }
  std::string key = format::KeyOf(parts_, values.known());
  if (key.empty()) return Invalid("all its fields are empty, and so is the key");
  if (key.size() > kRowKeyBytesMax) {
    return Invalid("its fields make " + std::to_string(key.size()) + " bytes, the limit is " +
                   std::to_string(kRowKeyBytesMax));
  }
  return key;
}

Result<std::vector<RowKeyField>> RowKeySchema::Decode(std::string_view key) const {
  std::vector<std::string> plain;
  const std::optional<format::KeyFlaw> flaw = format::DecodeKey(parts_, key, &plain);
  if (flaw.has_value()) {
    return Invalid(base::Quote(key) + " is none of " + ToString() + ": at offset " +
                   std::to_string(flaw->offset) + ": " + flaw->problem);
  }
  const std::vector<const RowKeyPart*> parts = format::FieldsOf(parts_);
  std::vector<RowKeyField> fields;
  for (size_t i = 0; i < parts.size(); ++i) {
    fields.push_back({parts[i]->field, format::ValueText(*parts[i], plain[i])});
  }
  return fields;
}

Result<std::vector<RowRange>> RowKeySchema::Ranges(std::span<const RowKeyField> prefix) const {
  ASSIGN_OR_RETURN(const FieldValues values, FieldValues::Make(*this, prefix));
  ASSIGN_OR_RETURN(const size_t count, values.CountPrefix());
  if (count == 0) return std::vector<RowRange>{RowRange()};
  std::vector<RowRange> ranges;
  if (count == values.field_count()) {
    ASSIGN_OR_RETURN(std::string key, Encode(prefix));
    std::string after = key;
    after.push_back('\0');
    ranges.push_back({.start = std::move(key), .end = std::move(after)});
    return ranges;
  }
  return RangesUnder(*this, values, count, {});
}

Result<std::vector<RowRange>> RowKeySchema::Between(std::span<const RowKeyField> prefix,
                                                    const RowKeyBounds& bounds) const {
  if (bounds.field.empty()) {
    if (!bounds.from.has_value() && !bounds.to.has_value()) return Ranges(prefix);
    return Invalid("there are bounds, and no name of their field");
  }
  ASSIGN_OR_RETURN(const FieldValues values, FieldValues::Make(*this, prefix));
  ASSIGN_OR_RETURN(const size_t count, values.CountPrefix());
  if (count == values.field_count()) {
    return Invalid("all fields have values; there is none after them to be within bounds");
  }
  RETURN_IF_ERROR(CheckField(*this, values, count, bounds.field));
  const RowKeyPart& field = values.field(count);
  ASSIGN_OR_RETURN(const format::ValueInterval plain, CheckedBounds(field, bounds));
  return RangesUnder(*this, values, count, plain);
}

Result<ScanOptions> RowKeySchema::InFieldOrder(std::span<const RowKeyField> prefix,
                                               const RowKeyBounds& bounds) const {
  ScanOptions scan;
  ASSIGN_OR_RETURN(scan.ranges, Between(prefix, bounds));
  const size_t lead_bytes = format::LeadBytes(parts_);
  if (lead_bytes == 0) return scan;
  if (prefix.empty() && bounds.field.empty()) {
    // Without fields Between gives one range of all keys.
    ASSIGN_OR_RETURN(const FieldValues values, FieldValues::Make(*this, {}));
    ASSIGN_OR_RETURN(scan.ranges, RangesUnder(*this, values, 0, {}));
  }
  if (scan.ranges.size() == 1) return scan;
  if (scan.ranges.size() > kScanLeadsMax) {
    return Status::Unsupported("row key: the keys begin with " +
                               std::to_string(scan.ranges.size()) + " values, of which at most " +
                               std::to_string(kScanLeadsMax) + " are merged; give more fields");
  }
  for (RowRange& range : scan.ranges) range.leading_bytes = static_cast<uint32_t>(lead_bytes);
  return scan;
}

Result<ScanOptions> RowKeySchema::Newest(std::span<const RowKeyField> prefix, uint64_t count,
                                         const RowKeyBounds& bounds) const {
  if (count == 0) return Invalid("the newest 0 rows: expected a number from 1");
  ASSIGN_OR_RETURN(const FieldValues values, FieldValues::Make(*this, prefix));
  ASSIGN_OR_RETURN(const size_t given, values.CountPrefix());
  if (given == values.field_count()) {
    return Invalid("all fields have values; there is none after them that tells what is new");
  }
  const RowKeyPart& field = values.field(given);
  if (field.type != RowKeyType::kTimestamp || field.reversed) {
    return Invalid("the field after those that are given is " + base::Quote(field.field) +
                   ", which is no timestamp in order, and does not tell what is new");
  }
  ASSIGN_OR_RETURN(ScanOptions scan, InFieldOrder(prefix, bounds));
  scan.reverse = !field.descending;
  scan.limit = count;
  return scan;
}

}  // namespace tandem
