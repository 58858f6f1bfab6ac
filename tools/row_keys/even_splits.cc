// Region i of n begins at floor(i * size / n) of a space of that size.
#include "tools/row_keys/even_splits.h"

#include <charconv>
#include <string>

#include "tools/tandem/format_text.h"

namespace tandem::row_keys {
namespace {

using tools::Format;
using Wide = unsigned __int128;

constexpr Wide kSpaceMax = Wide{1} << 64;
constexpr uint64_t kBytes = 256;

std::string Digits(Wide number, const HashSpace& space) {
  const uint64_t base = space.digits.empty() ? kBytes : space.digits.size();
  std::string key(space.width, '\0');
  for (size_t i = space.width; i > 0; --i, number /= base) {
    const auto digit = static_cast<size_t>(number % base);
    key[i - 1] = space.digits.empty() ? static_cast<char>(digit) : space.digits[digit];
  }
  return key;
}

/// One of 0 to `count` - 1.
void AppendDigits(uint64_t number, uint64_t count, std::string* out) {
  AppendDecimal(number, DigitsOf(count), out);
}

void AppendBigEndian(uint64_t number, uint64_t count, std::string* out) {
  if (count > kBytes) out->push_back(static_cast<char>(number >> 8));
  out->push_back(static_cast<char>(number));
}

}  // namespace

Result<SplitPlan> SplitEvenly(const HashSpace& space, uint64_t regions) {
  const uint64_t base = space.digits.empty() ? kBytes : space.digits.size();
  Wide size = 1;
  for (uint64_t i = 0; i < space.width && size <= kSpaceMax; ++i) size *= base;
  if (size > kSpaceMax) {
    return Status::InvalidArgument(Format(
        "{} digits of base {} make more than 2^64 keys; fewer digits do", space.width, base));
  }
  if (size < regions) {
    return Status::InvalidArgument(
        Format("{} digits of base {} make {} keys, fewer than {} regions", space.width, base,
               static_cast<uint64_t>(size), regions));
  }
  SplitPlan plan;
  plan.regions_asked = regions;
  Wide begin = 0;
  for (uint64_t i = 1; i <= regions; ++i) {
    const Wide end = size * i / regions;
    plan.shares.push_back(static_cast<double>(end - begin) / static_cast<double>(size));
    if (i < regions) plan.keys.push_back(Digits(end, space));
    begin = end;
  }
  return plan;
}

SplitPlan SplitByPartition(uint64_t partitions, uint64_t parts, bool in_bytes) {
  const auto append = in_bytes ? AppendBigEndian : AppendDigits;
  SplitPlan plan;
  const uint64_t regions = partitions * parts;
  plan.regions_asked = regions;
  plan.shares.assign(regions, 1.0 / static_cast<double>(regions));
  for (uint64_t i = 1; i < regions; ++i) {
    std::string key;
    append(i / parts, partitions, &key);
    if (parts > 1) append(i % parts, parts, &key);
    plan.keys.push_back(std::move(key));
  }
  return plan;
}

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

}  // namespace tandem::row_keys
