// Reading tagged fields. ByteReader checks lengths against the remaining bytes, so nothing is
// allocated for bytes that do not exist.
#include "format/fields.h"

#include "format/coding.h"

namespace tandem::format {

void AppendField(std::string* out, uint64_t tag, std::string_view value) {
  AppendVarint(out, tag);
  AppendLengthPrefixed(out, value);
}

void AppendNumberField(std::string* out, uint64_t tag, uint64_t value) {
  std::string bytes;
  AppendVarint(&bytes, value);
  AppendField(out, tag, bytes);
}

bool FieldReader::Next() {
  if (!status_.ok() || bytes_.done()) return false;
  const uint64_t tag = bytes_.Varint();
  value_ = bytes_.LengthPrefixed();
  if (!bytes_.ok()) {
    FailCorrupt("a field's tag or length does not fit the bytes");
    return false;
  }
  repeats_ = tag == tag_;
  if (tag < tag_ || tag == 0) {
    FailCorrupt("its tag does not ascend");
    return false;
  }
  tag_ = tag;
  if (tag < 64) seen_ |= uint64_t{1} << tag;
  return true;
}

std::string_view FieldReader::Bytes() {
  if (repeats_) FailCorrupt("occurs twice");
  return value_;
}

uint64_t FieldReader::Number(uint64_t max) {
  ByteReader reader(Bytes());
  const uint64_t value = reader.VarintUpTo(max);
  if (!reader.done()) FailCorrupt("expected one number of at most " + std::to_string(max));
  return value;
}

bool FieldReader::Flag() {
  const bool is_set = Number(1) == 1;
  if (!is_set) FailCorrupt("expected 1 or no field, found 0");
  return is_set;
}

std::string_view FieldReader::FixedBytes(size_t size) {
  const std::string_view value = Bytes();
  if (value.size() != size) {
    FailCorrupt("expected " + std::to_string(size) + " bytes, found " +
                std::to_string(value.size()));
    return {};
  }
  return value;
}

void FieldReader::Unknown() {
  if (tag_ % 2 == 0) return;
  Fail(
      Status::Unsupported(std::string(what_) + ": unknown critical field " + std::to_string(tag_)));
}

void FieldReader::Fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
}

void FieldReader::FailCorrupt(std::string_view why) {
  std::string message(what_);
  message.append(": field ").append(std::to_string(tag_)).append(": ").append(why);
  Fail(Status::Corruption(std::move(message)));
}

Status FieldReader::Finish(std::initializer_list<uint64_t> required) {
  for (uint64_t tag : required) {
    if (!status_.ok()) break;
    if ((seen_ >> tag & 1) == 0) {
      Fail(Status::Corruption(std::string(what_) + ": field " + std::to_string(tag) +
                              " is missing"));
    }
  }
  return status_;
}

}  // namespace tandem::format
