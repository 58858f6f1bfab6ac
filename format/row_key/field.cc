// See field.h.
#include "format/row_key/field.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/quote.h"
#include "base/status_macros.h"
#include "format/functions.h"
#include "format/ordered_bytes.h"
#include "format/value_text.h"
#include "tandem/limits.h"

namespace tandem::format {
namespace {

constexpr size_t kUuidBytes = 16;
constexpr std::string_view kHexDigits = "0123456789abcdef";

Status Wrong(const RowKeyPart& field, std::string_view value, const std::string& why) {
  return Status::InvalidArgument("row key: field " + base::Quote(field.field) + ": " +
                                 base::Quote(value) + " " + why);
}

// Bytes that one of `count` numbers takes.
size_t BucketBytes(uint32_t count) { return count <= 256 ? 1 : 2; }

bool IsText(RowKeyType type) { return type == RowKeyType::kText; }
bool IsBytesOrText(RowKeyType type) { return IsText(type) || type == RowKeyType::kBytes; }

Result<std::string> PlainText(const RowKeyPart& field, std::string_view value) {
  const size_t width = field.width_bytes;
  if (width != 0 && value.size() > width) {
    return Wrong(field, value,
                 "has " + std::to_string(value.size()) + " bytes, text(" + std::to_string(width) +
                     ") holds at most " + std::to_string(width));
  }
  if (const size_t zero = value.find('\0'); zero != std::string_view::npos) {
    return Wrong(field, value,
                 "has a zero byte at position " + std::to_string(zero + 1) +
                     ", which ends a text; bytes may have it");
  }
  if (!IsUtf8(value)) return Wrong(field, value, "is no UTF-8; bytes may be any");
  return std::string(value);
}

Result<std::string> PlainOfBytes(const RowKeyPart& field, std::string_view value) {
  const size_t width = field.width_bytes;
  if (width == 0 || value.size() == width) return std::string(value);
  return Wrong(
      field, value,
      "has " + std::to_string(value.size()) + " bytes, expected exactly " + std::to_string(width));
}

// Microseconds, RFC 3339 or a date alone, which begins at midnight UTC.
std::optional<int64_t> ParseTimeOrDate(std::string_view text) {
  constexpr size_t kDateBytes = 10;
  const std::optional<int64_t> time = ParseTimestamp(text);
  if (time.has_value() || text.size() != kDateBytes) return time;
  std::string midnight;
  midnight.append(text).append("T00:00:00Z");
  return ParseTimestamp(midnight);
}

// The digits, with hyphens after the 8th, 12th, 16th and 20th, or without any.
std::optional<std::string> ParseUuid(std::string_view text) {
  constexpr std::array<size_t, 4> kHyphens = {8, 13, 18, 23};
  const bool has_hyphens = text.size() == 2 * kUuidBytes + kHyphens.size();
  if (!has_hyphens && text.size() != 2 * kUuidBytes) return std::nullopt;
  std::string bytes;
  int digits = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (has_hyphens && std::ranges::find(kHyphens, i) != kHyphens.end()) {
      if (text[i] != '-') return std::nullopt;
      continue;
    }
    const char lower =
        text[i] >= 'A' && text[i] <= 'F' ? static_cast<char>(text[i] | 0x20) : text[i];
    const size_t digit = kHexDigits.find(lower);
    if (digit == std::string_view::npos) return std::nullopt;
    if (digits++ % 2 == 0) {
      bytes.push_back(static_cast<char>(digit << 4));
    } else {
      bytes.back() = static_cast<char>(bytes.back() | static_cast<char>(digit));
    }
  }
  return bytes;
}

std::string UuidText(std::string_view bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text.push_back('-');
    text.push_back(kHexDigits[static_cast<uint8_t>(bytes[i]) >> 4]);
    text.push_back(kHexDigits[static_cast<uint8_t>(bytes[i]) & 15]);
  }
  return text;
}

std::string BigEndian(uint64_t number) {
  std::string bytes;
  AppendBigEndian(number, &bytes);
  return bytes;
}

// Undoes itself.
void ReverseText(std::string_view text, std::string* reversed) {
  const Function reverse[] = {Function::Reverse()};
  // Reversing fails on what is no UTF-8 alone, which no plain text is.
  if (!ApplyFunctions(reverse, text, 0, reversed)) reversed->assign(text);
}

std::string Reversed(const RowKeyPart& field, std::string_view plain) {
  std::string reversed(plain);
  if (IsText(field.type)) {
    ReverseText(plain, &reversed);
  } else {
    std::ranges::reverse(reversed);
  }
  return reversed;
}

// Only the last field of a key may be ended by the end of the key, and only if it ascends: the
// inverted bytes of "a" come before those of "ab", which descending order puts first.
bool HasEnd(const RowKeyPart& field, bool is_last) { return !is_last || field.descending; }

size_t WidthOf(const RowKeyPart& field) {
  if (IsBytesOrText(field.type)) return field.width_bytes;
  return field.type == RowKeyType::kUuid ? kUuidBytes : kNumberBytes;
}

// Reads `count` bytes; nullopt: there are fewer.
std::optional<std::string> TakeBytes(PartReader* reader, size_t count) {
  std::string bytes;
  while (bytes.size() < count) {
    const std::optional<char> next = reader->Next();
    if (!next.has_value()) return std::nullopt;
    bytes.push_back(*next);
  }
  return bytes;
}

// Reads up to a zero byte, or where it has no end, to the key's.
std::optional<std::string> TakeText(PartReader* reader, bool has_end) {
  std::string bytes;
  while (const std::optional<char> next = reader->Next()) {
    if (*next == '\0') return has_end ? std::optional(bytes) : std::nullopt;
    bytes.push_back(*next);
  }
  return has_end ? std::nullopt : std::optional(bytes);
}

std::optional<std::string> TakeToEnd(PartReader* reader) {
  std::string bytes;
  while (const std::optional<char> next = reader->Next()) bytes.push_back(*next);
  return bytes;
}

std::optional<std::string> TakeAscending(const RowKeyPart& field, bool has_end,
                                         PartReader* reader) {
  std::optional<std::string> bytes;
  if (const size_t width = WidthOf(field); width != 0) {
    bytes = TakeBytes(reader, width);
  } else if (IsText(field.type)) {
    bytes = TakeText(reader, has_end);
  } else {
    bytes = has_end ? DecodeEscaped(reader) : TakeToEnd(reader);
  }
  if (!bytes.has_value() || !IsText(field.type)) return bytes;
  if (field.width_bytes != 0) bytes->resize(bytes->find_last_not_of('\0') + 1);
  const bool is_text = bytes->find('\0') == std::string::npos && IsUtf8(*bytes);
  return is_text ? bytes : std::nullopt;
}

// One of `count` numbers, from 0 on.
void AppendNumber(uint32_t number, uint32_t count, std::string* out) {
  if (BucketBytes(count) == 2) out->push_back(static_cast<char>(number >> 8));
  out->push_back(static_cast<char>(number));
}

// From 0 on. Requires: the field is a number.
uint32_t Modulo(const RowKeyPart& field, std::string_view plain, uint32_t count) {
  const uint64_t bits = LoadBigEndian(plain);
  if (field.type == RowKeyType::kUint64) return static_cast<uint32_t>(bits % count);
  const int64_t rest = static_cast<int64_t>(bits ^ kSignBit) % int64_t{count};
  return static_cast<uint32_t>(rest < 0 ? rest + count : rest);
}

}  // namespace

void AppendBucket(const RowKeyPart& part, uint32_t bucket, std::string* out) {
  AppendNumber(bucket / part.sub_partitions, part.count, out);
  if (part.sub_partitions > 1) {
    AppendNumber(bucket % part.sub_partitions, part.sub_partitions, out);
  }
}

// The number modulo N * M has both: modulo N it is the partition, divided by N the part.
uint32_t BucketOf(const RowKeyPart& mod, const RowKeyPart& field, std::string_view plain) {
  const uint32_t rest = Modulo(field, plain, BucketsOf(mod));
  return rest % mod.count * mod.sub_partitions + rest / mod.count;
}

size_t LeadBytes(const std::vector<RowKeyPart>& parts) {
  size_t bytes = 0;
  for (const RowKeyPart& part : parts) {
    if (part.kind == RowKeyPart::Kind::kField) continue;
    bytes += part.kind == RowKeyPart::Kind::kHash ? part.count : BucketBytes(part.count);
    if (part.sub_partitions > 1) bytes += BucketBytes(part.sub_partitions);
  }
  return bytes;
}

bool HasEndOfLeads(const RowKeySchema& schema) {
  const RowKeyPart& first = schema.parts().front();
  const bool is_bucket =
      first.kind == RowKeyPart::Kind::kSalt || first.kind == RowKeyPart::Kind::kMod;
  return is_bucket && first.count != 256;
}

// Salts and moduli are numbers from 0 on.
std::optional<std::string> EndOfLeads(std::span<const RowKeySchema> schemas) {
  const auto has_none = [](const RowKeySchema& schema) { return LeadBytes(schema.parts()) == 0; };
  if (!std::ranges::any_of(schemas, has_none) || std::ranges::all_of(schemas, has_none)) {
    return std::nullopt;
  }
  std::string end;
  for (const RowKeySchema& schema : schemas) {
    if (has_none(schema)) continue;
    const uint32_t count = schema.parts().front().count;
    std::string own;
    AppendNumber(count, count, &own);
    end = std::max(end, own);
  }
  return end;
}

bool MayHave(const RowKeySchema& schema, const std::optional<std::string>& end_of_leads,
             std::string_view key) {
  return !end_of_leads.has_value() || (LeadBytes(schema.parts()) != 0) == (key < *end_of_leads);
}

void Clip(const RowKeySchema& schema, const std::optional<std::string>& end_of_leads,
          std::vector<RowRange>* ranges) {
  if (!end_of_leads.has_value() || LeadBytes(schema.parts()) != 0) return;
  std::erase_if(*ranges, [&](const RowRange& range) {
    return !range.end.empty() && range.end <= *end_of_leads;
  });
  for (RowRange& range : *ranges) range.start = std::max(range.start, *end_of_leads);
}

bool HasWidth(const RowKeyPart& field) { return WidthOf(field) != 0; }

bool IsNumber(RowKeyType type) {
  return type == RowKeyType::kInt64 || type == RowKeyType::kUint64 ||
         type == RowKeyType::kTimestamp;
}

Result<std::string> PlainBytes(const RowKeyPart& field, std::string_view value) {
  switch (field.type) {
    case RowKeyType::kText:
      return PlainText(field, value);
    case RowKeyType::kBytes:
      return PlainOfBytes(field, value);
    case RowKeyType::kInt64:
      if (const auto number = ParseInt64(value)) return BigEndian(OrderedInt64(*number));
      return Wrong(field, value, "is no int64");
    case RowKeyType::kUint64:
      if (const auto number = ParseUint64(value)) return BigEndian(*number);
      return Wrong(field, value, "is no uint64");
    case RowKeyType::kTimestamp:
      if (const auto time = ParseTimeOrDate(value)) return BigEndian(OrderedInt64(*time));
      return Wrong(field, value,
                   "is no time: expected microseconds since 1970, 2026-11-20T10:11:12Z or "
                   "2026-11-20");
    case RowKeyType::kUuid:
      if (auto bytes = ParseUuid(value)) return *std::move(bytes);
      return Wrong(field, value, "is no UUID: expected 32 hex digits, with hyphens or without");
  }
  return Wrong(field, value, "is of no type");
}

std::string ValueText(const RowKeyPart& field, std::string_view plain) {
  if (field.type == RowKeyType::kUuid) return UuidText(plain);
  if (field.type == RowKeyType::kUint64) return std::to_string(LoadBigEndian(plain));
  if (!IsNumber(field.type)) return std::string(plain);
  return std::to_string(static_cast<int64_t>(LoadBigEndian(plain) ^ kSignBit));
}

void AppendEncoded(const RowKeyPart& field, std::string_view plain, bool is_last,
                   std::string* out) {
  const size_t begin = out->size();
  std::string reversed;
  if (field.reversed) plain = reversed = Reversed(field, plain);
  const bool is_open = WidthOf(field) == 0 && HasEnd(field, is_last);
  if (is_open && field.type == RowKeyType::kBytes) {
    AppendEscaped(plain, out);
    AppendEscapedEnd(out);
  } else {
    out->append(plain);
    if (is_open) out->push_back('\0');
  }
  if (IsText(field.type) && field.width_bytes != 0) out->resize(begin + field.width_bytes, '\0');
  if (field.descending) Invert(out, begin);
}

Result<std::string> TakeEncoded(const RowKeyPart& field, bool is_last, std::string_view* key) {
  PartReader reader(*key, field.descending);
  std::optional<std::string> plain = TakeAscending(field, HasEnd(field, is_last), &reader);
  if (!plain.has_value()) {
    return Status::InvalidArgument("expected field " + base::Quote(field.field));
  }
  key->remove_prefix(reader.offset());
  return field.reversed ? Reversed(field, *plain) : *std::move(plain);
}

}  // namespace tandem::format
