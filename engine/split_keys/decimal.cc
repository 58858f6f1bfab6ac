// See decimal.h.
#include "engine/split_keys/decimal.h"

#include <charconv>

namespace tandem::engine {

size_t DigitsOf(uint64_t count) {
  size_t digits = 1;
  for (uint64_t largest = count - 1; largest >= 10; largest /= 10) ++digits;
  return digits;
}

void AppendDecimal(uint64_t number, size_t width, std::string* out) {
  char text[20];
  const auto length =
      static_cast<size_t>(std::to_chars(text, text + sizeof text, number).ptr - text);
  if (length < width) out->append(width - length, '0');
  out->append(text, length);
}

}  // namespace tandem::engine
