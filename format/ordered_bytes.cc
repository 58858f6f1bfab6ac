// See ordered_bytes.h.
#include "format/ordered_bytes.h"

namespace tandem::format {
namespace {

constexpr char kEscapedZero = static_cast<char>(0xff);
constexpr char kEnd = 1;

}  // namespace

void AppendEscaped(std::string_view bytes, std::string* out) {
  for (size_t zero; (zero = bytes.find('\0')) != std::string_view::npos;) {
    out->append(bytes.substr(0, zero + 1)).push_back(kEscapedZero);
    bytes.remove_prefix(zero + 1);
  }
  out->append(bytes);
}

void AppendEscapedEnd(std::string* out) { out->append({'\0', kEnd}); }

void Invert(std::string* out, size_t from) {
  for (size_t i = from; i < out->size(); ++i) (*out)[i] = static_cast<char>(~(*out)[i]);
}

std::optional<std::string> Successor(std::string_view key) {
  const size_t last = key.find_last_not_of('\xff');
  if (last == std::string_view::npos) return std::nullopt;
  std::string successor(key.substr(0, last + 1));
  ++successor.back();
  return successor;
}

std::optional<std::string> DecodeEscaped(PartReader* reader) {
  std::string bytes;
  while (const std::optional<char> c = reader->Next()) {
    if (*c != '\0') {
      bytes.push_back(*c);
      continue;
    }
    const std::optional<char> after = reader->Next();
    if (after == kEnd) return bytes;
    if (after != kEscapedZero) return std::nullopt;
    bytes.push_back('\0');
  }
  return std::nullopt;
}

}  // namespace tandem::format
