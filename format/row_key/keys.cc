// Encoding, decoding and ranges of typed row keys. A key is what leads it, then its fields. With
// all fields the leading bytes follow from them. With a prefix of the fields some do not, and each
// value that they may have makes one range of keys.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/quote.h"
#include "base/status_macros.h"
#include "format/hash.h"
#include "format/ordered_bytes.h"
#include "format/row_key/field.h"
#include "tandem/limits.h"
#include "tandem/row_key.h"

namespace tandem {
namespace {

using Kind = RowKeyPart::Kind;

Status Invalid(std::string what) { return Status::InvalidArgument("row key: " + std::move(what)); }

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

Status NoField(const RowKeySchema& schema, std::string_view name) {
  return Invalid("there is no field " + base::Quote(name) + "; the fields are " +
                 Joined(schema.fields()));
}

uint32_t SaltOf(std::string_view rest, uint32_t count) {
  return static_cast<uint32_t>(format::Hash64(rest) % count);
}

void AppendHash(std::string_view plain, uint32_t bytes, std::string* out) {
  std::string hash;
  format::AppendBigEndian(format::Hash64(plain), &hash);
  out->append(hash, 0, bytes);
}

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
        return NoField(schema, field.name);
      }
      auto& plain = values.plain_[static_cast<size_t>(named - values.fields_.begin())];
      if (plain.has_value()) return Invalid("field " + base::Quote(field.name) + " is repeated");
      ASSIGN_OR_RETURN(plain, format::PlainBytes(**named, field.value));
    }
    return values;
  }

  size_t field_count() const { return fields_.size(); }
  const RowKeyPart& field(size_t i) const { return *fields_[i]; }
  const std::optional<std::string>& plain(size_t i) const { return plain_[i]; }
  void Set(size_t i, std::string plain) { plain_[i] = std::move(plain); }
  // The field that a hash or a modulus is made of.
  size_t IndexOf(std::string_view name) const {
    size_t i = 0;
    while (fields_[i]->field != name) ++i;
    return i;
  }
  bool IsLast(size_t i) const { return i + 1 == fields_.size(); }
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
  // The encodings of the first fields.
  std::string Encoded(size_t count) const {
    std::string out;
    for (size_t i = 0; i < count; ++i) {
      format::AppendEncoded(*fields_[i], *plain_[i], IsLast(i), &out);
    }
    return out;
  }

 private:
  explicit FieldValues(const std::vector<RowKeyPart>& parts) {
    for (const RowKeyPart& part : parts) {
      if (part.kind == Kind::kField) fields_.push_back(&part);
    }
    plain_.resize(fields_.size());
  }

  std::vector<const RowKeyPart*> fields_;
  std::vector<std::optional<std::string>> plain_;
};

// A hash or a modulus of field `i`, which is there.
void AppendMadeOf(const RowKeyPart& part, const FieldValues& values, size_t i, std::string* out) {
  if (part.kind == Kind::kHash) return AppendHash(*values.plain(i), part.count, out);
  format::AppendBucket(part, format::BucketOf(part, values.field(i), *values.plain(i)), out);
}

// Hashes and moduli of a key whose fields are all there.
void AppendLead(const std::vector<RowKeyPart>& parts, const FieldValues& values, std::string* out) {
  for (const RowKeyPart& part : parts) {
    if (part.kind != Kind::kHash && part.kind != Kind::kMod) continue;
    AppendMadeOf(part, values, values.IndexOf(part.field), out);
  }
}

// Requires: all fields are there.
std::string KeyOf(const std::vector<RowKeyPart>& parts, const FieldValues& values) {
  std::string rest;
  AppendLead(parts, values, &rest);
  rest += values.Encoded(values.field_count());
  if (parts.front().kind != Kind::kSalt) return rest;
  std::string key;
  format::AppendBucket(parts.front(), SaltOf(rest, parts.front().count), &key);
  return key + rest;
}

// All that may lead keys of which only some fields are known.
class Leads {
 public:
  explicit Leads(const FieldValues& values) : values_(values) {}

  Status Add(const RowKeyPart& part) {
    if (part.kind == Kind::kField) return {};
    if (part.kind == Kind::kSalt) return Multiply(part);
    const size_t i = values_.IndexOf(part.field);
    if (!values_.plain(i).has_value()) {
      if (part.kind == Kind::kMod) return Multiply(part);
      return Invalid("the keys begin with a hash of field " + base::Quote(part.field) +
                     ", so its value is needed; without it all keys have to be read");
    }
    for (std::string& lead : leads_) AppendMadeOf(part, values_, i, &lead);
    return {};
  }
  const std::vector<std::string>& all() const { return leads_; }

 private:
  Status Multiply(const RowKeyPart& part) {
    const uint32_t count = format::BucketsOf(part);
    if (leads_.size() * count > kRowKeyRangesMax) {
      return Invalid("the keys are in more than " + std::to_string(kRowKeyRangesMax) +
                     " ranges; give more fields");
    }
    std::vector<std::string> multiplied;
    for (const std::string& lead : leads_) {
      for (uint32_t bucket = 0; bucket < count; ++bucket) {
        format::AppendBucket(part, bucket, &multiplied.emplace_back(lead));
      }
    }
    leads_ = std::move(multiplied);
    return {};
  }

  const FieldValues& values_;
  std::vector<std::string> leads_{std::string()};
};

// Of a range of keys that begins with them, the end; empty: none is larger.
std::string EndOf(std::string_view prefix) {
  return format::Successor(prefix).value_or(std::string());
}

// The bounds of one field as plain bytes, from the smallest value on.
struct PlainBounds {
  std::optional<std::string> from, to;
};

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
  if (found == names.end()) return NoField(schema, bounded);
  const auto i = static_cast<size_t>(found - names.begin());
  if (i == given) return {};
  const std::string name = "field " + base::Quote(bounded);
  if (i < given) return Invalid(name + " has a value and bounds");
  return Invalid(name + " has bounds without field " + base::Quote(values.field(given).field) +
                 ", which comes before it");
}

Result<PlainBounds> CheckedBounds(const RowKeyPart& field, const RowKeyBounds& bounds) {
  const std::string name = "field " + base::Quote(field.field);
  if (field.reversed) {
    return Invalid(name + " is reversed: its keys are not in the order of its values");
  }
  PlainBounds plain;
  if (bounds.from.has_value()) {
    ASSIGN_OR_RETURN(plain.from, format::PlainBytes(field, *bounds.from));
  }
  if (bounds.to.has_value()) {
    ASSIGN_OR_RETURN(plain.to, format::PlainBytes(field, *bounds.to));
    if (IsSmallest(field, *plain.to)) {
      return Invalid(name + ": nothing lies below " + base::Quote(*bounds.to));
    }
  }
  if (!plain.from.has_value() || !plain.to.has_value() || *plain.from < *plain.to) return plain;
  const std::string range = "from " + base::Quote(*bounds.from) + " to " + base::Quote(*bounds.to);
  if (*plain.from == *plain.to) {
    return Invalid(name + ": nothing lies " + range + ", which excludes its end");
  }
  return Invalid(name + ": the range " + range +
                 " is inverted; give the smaller value first, whatever the order of the keys");
}

// The keys that begin with `prefix` and have the field within the bounds next.
RowRange RangeWithin(const std::string& prefix, const RowKeyPart& field, bool is_last,
                     const PlainBounds& bounds) {
  const auto bound = [&](const std::optional<std::string>& plain) {
    std::string key = prefix;
    format::AppendEncoded(field, *plain, is_last, &key);
    return key;
  };
  RowRange range{.start = prefix, .end = EndOf(prefix)};
  if (!field.descending) {
    if (bounds.from.has_value()) range.start = bound(bounds.from);
    if (bounds.to.has_value()) range.end = bound(bounds.to);
    return range;
  }
  // The largest value comes first, and all keys that have it begin with its encoding.
  if (bounds.to.has_value()) range.start = EndOf(bound(bounds.to));
  if (bounds.from.has_value()) range.end = EndOf(bound(bounds.from));
  return range;
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
    if (values.plain(i).has_value()) continue;
    return Invalid("field " + base::Quote(values.field(i).field) + " is missing");
  }
  std::string key = KeyOf(parts_, values);
  if (key.empty()) return Invalid("all its fields are empty, and so is the key");
  if (key.size() > kRowKeyBytesMax) {
    return Invalid("its fields make " + std::to_string(key.size()) + " bytes, the limit is " +
                   std::to_string(kRowKeyBytesMax));
  }
  return key;
}

Result<std::vector<RowKeyField>> RowKeySchema::Decode(std::string_view key) const {
  const auto wrong = [&](size_t offset, const std::string& problem) {
    return Invalid(base::Quote(key) + " is none of " + ToString() + ": at offset " +
                   std::to_string(offset) + ": " + problem);
  };
  const size_t lead_bytes = format::LeadBytes(parts_);
  if (key.empty() || key.size() < lead_bytes) return wrong(key.size(), "it ends there");
  ASSIGN_OR_RETURN(FieldValues values, FieldValues::Make(*this, {}));
  std::string_view rest = key.substr(lead_bytes);
  std::vector<RowKeyField> fields;
  for (size_t i = 0; i < values.field_count(); ++i) {
    const RowKeyPart& field = values.field(i);
    Result<std::string> plain = format::TakeEncoded(field, values.IsLast(i), &rest);
    if (!plain) return wrong(key.size() - rest.size(), std::string(plain.error().message()));
    fields.push_back({field.field, format::ValueText(field, *plain)});
    values.Set(i, *std::move(plain));
  }
  if (!rest.empty()) return wrong(key.size() - rest.size(), "expected its end");
  if (lead_bytes > 0 && KeyOf(parts_, values) != key) {
    return wrong(0, "what leads it does not follow from its fields");
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
  Leads leads(values);
  for (const RowKeyPart& part : parts_) RETURN_IF_ERROR(leads.Add(part));
  const std::string encoded = values.Encoded(count);
  for (const std::string& lead : leads.all()) {
    std::string start = lead + encoded;
    std::string end = EndOf(start);
    ranges.push_back({.start = std::move(start), .end = std::move(end)});
  }
  return ranges;
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
  ASSIGN_OR_RETURN(const PlainBounds plain, CheckedBounds(field, bounds));
  Leads leads(values);
  for (const RowKeyPart& part : parts_) RETURN_IF_ERROR(leads.Add(part));
  const std::string encoded = values.Encoded(count);
  std::vector<RowRange> ranges;
  for (const std::string& lead : leads.all()) {
    ranges.push_back(RangeWithin(lead + encoded, field, values.IsLast(count), plain));
  }
  return ranges;
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
    Leads leads(values);
    for (const RowKeyPart& part : parts_) RETURN_IF_ERROR(leads.Add(part));
    scan.ranges.clear();
    for (const std::string& lead : leads.all()) {
      scan.ranges.push_back({.start = lead, .end = EndOf(lead)});
    }
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
