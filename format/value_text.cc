// Parses with std::from_chars, which ignores the locale, and by hand what it does not support.
#include "format/value_text.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>

namespace tandem::format {
namespace {

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

// Reads decimal digits and separators from the front of a text and remembers whether all of them
// matched.
class FieldReader {
 public:
  explicit FieldReader(std::string_view text) : left_(text) {}

  // Exactly `digits` digits, with a value of at most `max`.
  int Number(size_t digits, int max) {
    if (left_.size() < digits) return Fail();
    int number = 0;
    for (const char digit : left_.substr(0, digits)) {
      if (digit < '0' || digit > '9') return Fail();
      number = number * 10 + (digit - '0');
    }
    left_.remove_prefix(digits);
    return number <= max ? number : Fail();
  }
  // One character, any of `allowed`; returns it, or 0.
  char Separator(std::string_view allowed) {
    if (left_.empty() || allowed.find(left_[0]) == std::string_view::npos) {
      return static_cast<char>(Fail());
    }
    const char separator = left_[0];
    left_.remove_prefix(1);
    return separator;
  }
  bool StartsWith(char c) const { return !left_.empty() && left_[0] == c; }
  size_t CountDigits() const {
    const size_t count = left_.find_first_not_of("0123456789");
    return count == std::string_view::npos ? left_.size() : count;
  }
  int Fail() {
    ok_ = false;
    return 0;
  }
  bool ok() const { return ok_; }
  bool done() const { return ok_ && left_.empty(); }

 private:
  std::string_view left_;
  bool ok_ = true;
};

// The digits after a decimal point, as microseconds.
int FractionMicros(FieldReader* reader) {
  const size_t digits = reader->CountDigits();
  if (digits < 1 || digits > 6) return reader->Fail();
  int micros = reader->Number(digits, 999'999);
  for (size_t i = digits; i < 6; ++i) micros *= 10;
  return micros;
}

// "Z" or the distance to UTC, in minutes east of it.
int OffsetMinutes(FieldReader* reader) {
  const char sign = reader->Separator("Zz+-");
  if (sign != '+' && sign != '-') return 0;
  const int hours = reader->Number(2, 23);
  reader->Separator(":");
  const int minutes = hours * 60 + reader->Number(2, 59);
  return sign == '-' ? -minutes : minutes;
}

std::optional<int64_t> ParseRfc3339(std::string_view text) {
  FieldReader reader(text);
  const int year = reader.Number(4, 9999);
  reader.Separator("-");
  const int month = reader.Number(2, 12);
  reader.Separator("-");
  const int day = reader.Number(2, 31);
  reader.Separator("Tt ");
  const int hour = reader.Number(2, 23);
  reader.Separator(":");
  const int minute = reader.Number(2, 59);
  reader.Separator(":");
  const int second = reader.Number(2, 59);
  int micros = 0;
  if (reader.ok() && reader.StartsWith('.')) {
    reader.Separator(".");
    micros = FractionMicros(&reader);
  }
  const int offset = OffsetMinutes(&reader);
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!reader.done() || !date.ok()) return std::nullopt;
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const int64_t minutes = (days * 24 + hour) * 60 + minute - offset;
  return (minutes * 60 + second) * 1'000'000 + micros;
}

// The length of the UTF-8 sequence at the start of `text`; 0 if it is invalid. Requires: not empty.
size_t SequenceLength(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // The second byte rules out overlong forms, surrogates and code points above U+10FFFF.
  const uint8_t second = byte(1);
  const bool refused = (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
                       (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f);
  return refused ? 0 : length;
}

}  // namespace

std::optional<int64_t> ParseInt64(std::string_view text) { return ParseNumber<int64_t>(text); }

std::optional<uint64_t> ParseUint64(std::string_view text) { return ParseNumber<uint64_t>(text); }

std::optional<double> ParseDouble(std::string_view text) {
  const std::optional<double> number = ParseNumber<double>(text);
  return number.has_value() && std::isfinite(*number) ? number : std::nullopt;
}

std::optional<bool> ParseBool(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

std::optional<int64_t> ParseTimestamp(std::string_view text) {
  const std::optional<int64_t> micros = ParseInt64(text);
  return micros.has_value() ? micros : ParseRfc3339(text);
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    uint64_t eight = ~uint64_t{0};
    if (text.size() >= 8) std::memcpy(&eight, text.data(), 8);
    const bool ascii = (eight & 0x8080808080808080u) == 0;
    const size_t length = ascii ? 8 : SequenceLength(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string DoubleText(double value) {
  std::array<char, 32> text;
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return std::string(text.data(), end);
}

}  // namespace tandem::format
