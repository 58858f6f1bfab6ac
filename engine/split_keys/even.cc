// Split keys that need no sample (tandem/split_keys.h): of keys that begin with a hash, or with the
// number of a partition. Region i of n begins at floor(i * size / n) of a space of that size.
#include <string>
#include <string_view>
#include <utility>

#include "base/status_macros.h"
#include "engine/split_keys/decimal.h"
#include "tandem/limits.h"
#include "tandem/split_keys.h"

namespace tandem {
namespace {

using Wide = unsigned __int128;

constexpr Wide kSpaceMax = Wide{1} << 64;
constexpr uint64_t kBytes = 256;

// Empty: every byte is a digit.
std::string_view AlphabetOf(const HashSpace& space) {
  switch (space.digits) {
    case HashSpace::Digits::kHex:
      return "0123456789abcdef";
    case HashSpace::Digits::kUpperHex:
      return "0123456789ABCDEF";
    case HashSpace::Digits::kDecimal:
      return "0123456789";
    case HashSpace::Digits::kBytes:
      return "";
  }
  return "";
}

uint64_t BaseOf(const HashSpace& space) {
  const std::string_view digits = AlphabetOf(space);
  return digits.empty() ? kBytes : digits.size();
}

std::string KeyOf(Wide number, const HashSpace& space) {
  const std::string_view digits = AlphabetOf(space);
  const uint64_t base = BaseOf(space);
  std::string key(space.width, '\0');
  for (size_t i = space.width; i > 0; --i, number /= base) {
    const auto digit = static_cast<size_t>(number % base);
    key[i - 1] = digits.empty() ? static_cast<char>(digit) : digits[digit];
  }
  return key;
}

// One of 0 to `count` - 1.
void AppendDigits(uint64_t number, uint64_t count, std::string* out) {
  engine::AppendDecimal(number, engine::DigitsOf(count), out);
}

void AppendBigEndian(uint64_t number, uint64_t count, std::string* out) {
  if (count > kBytes) out->push_back(static_cast<char>(number >> 8));
  out->push_back(static_cast<char>(number));
}

Status CheckCount(std::string_view what, uint64_t count) {
  if (count >= 1 && count <= kSplitPlanRegionsMax) return {};
  return Status::InvalidArgument("split keys: " + std::string(what) + ": expected 1 to " +
                                 std::to_string(kSplitPlanRegionsMax) + ", found " +
                                 std::to_string(count));
}

// How many keys there are.
Result<Wide> SizeOf(const HashSpace& space) {
  if (space.width == 0) return Status::InvalidArgument("0 digits make no keys");
  const uint64_t base = BaseOf(space);
  Wide size = 1;
  for (uint64_t i = 0; i < space.width && size <= kSpaceMax; ++i) size *= base;
  if (size <= kSpaceMax) return size;
  return Status::InvalidArgument(std::to_string(space.width) + " digits of base " +
                                 std::to_string(base) +
                                 " make more than 2^64 keys; fewer digits do");
}

}  // namespace

Result<SplitPlan> EvenSplitKeys(const HashSpace& space, uint64_t regions) {
  RETURN_IF_ERROR(CheckCount("regions", regions));
  ASSIGN_OR_RETURN(const Wide size, SizeOf(space));
  if (size < regions) {
    return Status::InvalidArgument(std::to_string(space.width) + " digits of base " +
                                   std::to_string(BaseOf(space)) + " make " +
                                   std::to_string(static_cast<uint64_t>(size)) +
                                   " keys, fewer than " + std::to_string(regions) + " regions");
  }
  SplitPlan plan;
  plan.regions_asked = regions;
  Wide begin = 0;
  for (uint64_t i = 1; i <= regions; ++i) {
    const Wide end = size * i / regions;
    plan.shares.push_back(static_cast<double>(end - begin) / static_cast<double>(size));
    if (i < regions) plan.keys.push_back(KeyOf(end, space));
    begin = end;
  }
  return plan;
}

Result<SplitPlan> PartitionSplitKeys(const PartitionSpace& space) {
  RETURN_IF_ERROR(CheckCount("partitions", space.partitions));
  RETURN_IF_ERROR(CheckCount("parts of each", space.sub_partitions));
  const uint64_t regions = space.partitions * space.sub_partitions;
  RETURN_IF_ERROR(CheckCount("parts of all partitions", regions));
  const auto append = space.in_bytes ? AppendBigEndian : AppendDigits;
  SplitPlan plan;
  plan.regions_asked = regions;
  plan.shares.assign(regions, 1.0 / static_cast<double>(regions));
  for (uint64_t i = 1; i < regions; ++i) {
    std::string& key = plan.keys.emplace_back();
    append(i / space.sub_partitions, space.partitions, &key);
    if (space.sub_partitions > 1) append(i % space.sub_partitions, space.sub_partitions, &key);
  }
  return plan;
}

}  // namespace tandem
