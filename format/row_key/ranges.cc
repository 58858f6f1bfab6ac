// See ranges.h. Where a field has an end of its own or a width, no encoding of it is the beginning
// of another, so the keys with one value are those that begin with its encoding. The last field may
// have neither: then its encoding is the rest of the key.
#include "format/row_key/ranges.h"

#include <algorithm>
#include <utility>

#include "base/quote.h"
#include "format/hash.h"
#include "format/md5.h"
#include "format/ordered_bytes.h"
#include "format/row_key/field.h"
#include "tandem/limits.h"

namespace tandem::format {
namespace {

using Kind = RowKeyPart::Kind;

uint32_t SaltOf(std::string_view rest, uint32_t count) {
  return static_cast<uint32_t>(Hash64(rest) % count);
}

size_t PlaceOf(const std::vector<const RowKeyPart*>& fields, std::string_view name) {
  return static_cast<size_t>(std::ranges::find(fields, name, &RowKeyPart::field) - fields.begin());
}

// Appends a hash or a modulus of a field.
void AppendMade(const RowKeyPart& made, const RowKeyPart& field, std::string_view plain,
                std::string* out) {
  if (made.kind == Kind::kMod) {
    AppendBucket(made, BucketOf(made, field, plain), out);
    return;
  }
  std::string hash;
  if (made.hash == RowKeyHash::kMd5) {
    hash = Md5(plain);
  } else {
    AppendBigEndian(Hash64(plain), &hash);
  }
  out->append(hash, 0, made.count);
}

// All that may lead keys when only some of their fields are known.
class Leads {
 public:
  Status Multiply(const RowKeyPart& part) {
    const uint32_t count = BucketsOf(part);
    if (leads_.size() * count > kRowKeyRangesMax) {
      return Status::InvalidArgument("row key: the keys are in more than " +
                                     std::to_string(kRowKeyRangesMax) +
                                     " ranges; give more fields");
    }
    std::vector<std::string> multiplied;
    multiplied.reserve(leads_.size() * count);
    for (const std::string& lead : leads_) {
      for (uint32_t bucket = 0; bucket < count; ++bucket) {
        AppendBucket(part, bucket, &multiplied.emplace_back(lead));
      }
    }
    leads_ = std::move(multiplied);
    return {};
  }
  void Append(const RowKeyPart& made, const RowKeyPart& field, std::string_view plain) {
    for (std::string& lead : leads_) AppendMade(made, field, plain, &lead);
  }
  std::vector<std::string> Take() { return std::move(leads_); }

 private:
  std::vector<std::string> leads_{std::string()};
};

// The first key after all that begin with the bytes; nullopt: there is none.
std::optional<std::string> After(std::string_view bytes, bool is_whole_key) {
  if (is_whole_key) return std::string(bytes) + '\0';
  return Successor(bytes);
}

}  // namespace

std::vector<const RowKeyPart*> FieldsOf(const std::vector<RowKeyPart>& parts) {
  std::vector<const RowKeyPart*> fields;
  for (const RowKeyPart& part : parts) {
    if (part.kind == Kind::kField) fields.push_back(&part);
  }
  return fields;
}

Status NoField(const std::vector<const RowKeyPart*>& fields, std::string_view name) {
  std::string names;
  for (const RowKeyPart* field : fields) names += (names.empty() ? "" : ", ") + field->field;
  return Status::InvalidArgument("row key: there is no field " + base::Quote(name) +
                                 "; the fields are " + names);
}

std::string KeyOf(const std::vector<RowKeyPart>& parts, const KnownFields& known) {
  const std::vector<const RowKeyPart*> fields = FieldsOf(parts);
  KeyPrefix rest;
  for (const RowKeyPart& part : parts) {
    if (part.kind != Kind::kHash && part.kind != Kind::kMod) continue;
    const size_t place = PlaceOf(fields, part.field);
    AppendMade(part, *fields[place], *known[place], &rest.bytes);
  }
  for (const std::optional<std::string>& plain : known) AddField(fields, *plain, &rest);
  if (parts.front().kind != Kind::kSalt) return std::move(rest.bytes);
  std::string key;
  AppendBucket(parts.front(), SaltOf(rest.bytes, parts.front().count), &key);
  return key + rest.bytes;
}

Result<std::vector<std::string>> LeadsOf(const std::vector<RowKeyPart>& parts,
                                         const KnownFields& known) {
  const std::vector<const RowKeyPart*> fields = FieldsOf(parts);
  Leads leads;
  for (const RowKeyPart& part : parts) {
    Status status;
    if (part.kind == Kind::kSalt) {
      status = leads.Multiply(part);
    } else if (part.kind != Kind::kField) {
      const size_t place = PlaceOf(fields, part.field);
      if (known[place].has_value()) {
        leads.Append(part, *fields[place], *known[place]);
      } else if (part.kind == Kind::kMod) {
        status = leads.Multiply(part);
      } else {
        status = Status::InvalidArgument(
            "row key: the keys begin with a hash of field " + base::Quote(part.field) +
            ", so its value is needed; without it all keys have to be read");
      }
    }
    if (!status.ok()) return status;
  }
  return leads.Take();
}

void AddField(const std::vector<const RowKeyPart*>& fields, std::string_view plain,
              KeyPrefix* prefix) {
  const size_t place = prefix->fields++;
  AppendEncoded(*fields[place], plain, place + 1 == fields.size(), &prefix->bytes);
}

std::optional<RowRange> RangeUnder(const std::vector<const RowKeyPart*>& fields,
                                   const KeyPrefix& prefix, const ValueInterval& bounds) {
  if (prefix.fields == fields.size()) {
    return RowRange{.start = prefix.bytes, .end = prefix.bytes + '\0'};
  }
  const RowKeyPart& field = *fields[prefix.fields];
  const bool is_last = prefix.fields + 1 == fields.size();
  const bool is_open = is_last && !field.descending && !HasWidth(field);
  // The largest value of a descending field comes first.
  const std::optional<ValueBound>& first = field.descending ? bounds.high : bounds.low;
  const std::optional<ValueBound>& last = field.descending ? bounds.low : bounds.high;
  const auto encoded = [&](const ValueBound& bound) {
    std::string bytes = prefix.bytes;
    AppendEncoded(field, bound.key, is_last, &bytes);
    return bytes;
  };
  RowRange range{.start = prefix.bytes, .end = Successor(prefix.bytes).value_or(std::string())};
  if (first.has_value()) {
    std::optional<std::string> start = encoded(*first);
    if (!first->inclusive) start = After(*start, is_open);
    if (!start.has_value()) return std::nullopt;
    range.start = *std::move(start);
  }
  if (last.has_value()) {
    std::optional<std::string> end = encoded(*last);
    if (last->inclusive) end = After(*end, is_open);
    if (end.has_value() && range.start >= *end) return std::nullopt;
    range.end = std::move(end).value_or(std::string());
  }
  return range;
}

}  // namespace tandem::format
