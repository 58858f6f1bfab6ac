// See numbers.h.
#include "tools/row_keys/numbers.h"

#include <charconv>

#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"

namespace tandem::row_keys {

using tools::EscapeBytes;
using tools::Format;

Words SplitWords(std::string_view text) {
  Words words{.text = text, .name = text, .parameters = {}};
  const size_t colon = text.find(':');
  if (colon == text.npos) return words;
  words.name = text.substr(0, colon);
  for (size_t begin = colon + 1;;) {
    const size_t end = text.find(':', begin);
    words.parameters.push_back(text.substr(begin, end == text.npos ? end : end - begin));
    if (end == text.npos) return words;
    begin = end + 1;
  }
}

Result<uint64_t> NumberAt(const Words& words, size_t place, std::string_view what, Range range) {
  const std::string_view text =
      place < words.parameters.size() ? words.parameters[place] : std::string_view();
  uint64_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error == std::errc() && end == last && number >= range.least && number <= range.most) {
    return number;
  }
  return Status::InvalidArgument(Format("'{}': {}: expected {} to {}, found '{}'",
                                        EscapeBytes(words.text), what, range.least, range.most,
                                        EscapeBytes(text)));
}

Result<double> FractionAt(const Words& words, size_t place, std::string_view what, double most) {
  const std::string_view text =
      place < words.parameters.size() ? words.parameters[place] : std::string_view();
  double number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error == std::errc() && end == last && number > 0 && number <= most) return number;
  return Status::InvalidArgument(
      Format("'{}': {}: expected a number above 0 and up to {}, found '{}'",
             EscapeBytes(words.text), what, most, EscapeBytes(text)));
}

Status CheckParameters(const Words& words, size_t most) {
  if (words.parameters.size() <= most) return {};
  return Status::InvalidArgument(Format("'{}': more than {} numbers after '{}'",
                                        EscapeBytes(words.text), most, EscapeBytes(words.name)));
}

}  // namespace tandem::row_keys
