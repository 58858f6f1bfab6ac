// See split_spec.h.
#include "tools/row_keys/split_spec.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "tandem/limits.h"
#include "tools/row_keys/line_source.h"
#include "tools/row_keys/numbers.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/suggest.h"

namespace tandem::row_keys {
namespace {

using tools::EscapeBytes;
using tools::Format;

constexpr std::array<std::pair<std::string_view, HashSpace::Digits>, 4> kSpaces = {
    {{"hex", HashSpace::Digits::kHex},
     {"upper-hex", HashSpace::Digits::kUpperHex},
     {"decimal", HashSpace::Digits::kDecimal},
     {"binary", HashSpace::Digits::kBytes}}};
constexpr std::string_view kPartitions = "partitions", kPartitionBytes = "partition-bytes";
constexpr uint64_t kWidth = 8, kWidthMax = 20;
constexpr Range kRegions = {1, kSplitPlanRegionsMax};

Result<SplitPlan> ReadSplits(const std::string& path) {
  ASSIGN_OR_RETURN(const auto source, OpenLines(path, nullptr, /*weighted=*/false));
  SplitPlan plan;
  WeightedKey key;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, source->Next(&key));
    if (!more) break;
    if (plan.keys.size() == kSplitPlanRegionsMax - 1) {
      return Status::InvalidArgument(
          Format("{}: more than {} split keys", path, kSplitPlanRegionsMax - 1));
    }
    plan.keys.emplace_back(key.key);
  }
  if (plan.keys.empty()) return Status::InvalidArgument(path + ": no split key in it");
  std::ranges::sort(plan.keys);
  const auto repeated = std::ranges::adjacent_find(plan.keys);
  if (repeated != plan.keys.end()) {
    return Status::InvalidArgument(
        Format("{}: split key '{}' is repeated", path, EscapeBytes(*repeated)));
  }
  plan.regions_asked = plan.regions();
  return plan;
}

Result<SplitPlan> SplitPartitions(const Words& words, bool in_bytes) {
  RETURN_IF_ERROR(CheckParameters(words, 2));
  ASSIGN_OR_RETURN(const uint64_t partitions, NumberAt(words, 0, "partitions", kRegions));
  uint64_t parts = 1;
  if (words.parameters.size() > 1) {
    ASSIGN_OR_RETURN(parts, NumberAt(words, 1, "parts of each", kRegions));
  }
  if (partitions * parts > kSplitPlanRegionsMax) {
    return Status::InvalidArgument(Format("'{}': expected at most {} regions, found {}",
                                          EscapeBytes(words.text), kSplitPlanRegionsMax,
                                          partitions * parts));
  }
  return PartitionSplitKeys(
      {.partitions = partitions, .sub_partitions = parts, .in_bytes = in_bytes});
}

Result<SplitPlan> SplitSpace(const Words& words, HashSpace::Digits digits) {
  RETURN_IF_ERROR(CheckParameters(words, 2));
  ASSIGN_OR_RETURN(const uint64_t regions, NumberAt(words, 0, "regions", kRegions));
  HashSpace space{.digits = digits, .width = kWidth};
  if (words.parameters.size() > 1) {
    ASSIGN_OR_RETURN(space.width, NumberAt(words, 1, "digits", {1, kWidthMax}));
  }
  auto plan = EvenSplitKeys(space, regions);
  if (plan.has_value()) return plan;
  return Status::InvalidArgument(
      Format("'{}': {}", EscapeBytes(words.text), plan.error().message()));
}

}  // namespace

Result<SplitSpec> ParseSplitSpec(std::string_view text) {
  SplitSpec spec;
  spec.text = text;
  if (text.starts_with('@')) {
    ASSIGN_OR_RETURN(spec.plan, ReadSplits(std::string(text.substr(1))));
    return spec;
  }
  const Words words = SplitWords(text);
  if (words.name == "auto") {
    RETURN_IF_ERROR(CheckParameters(words, 1));
    ASSIGN_OR_RETURN(spec.sampled, NumberAt(words, 0, "regions", kRegions));
    return spec;
  }
  if (words.name == kPartitions || words.name == kPartitionBytes) {
    ASSIGN_OR_RETURN(spec.plan, SplitPartitions(words, words.name == kPartitionBytes));
    return spec;
  }
  std::vector<std::string> known = {"auto", std::string(kPartitions), std::string(kPartitionBytes)};
  for (const auto& [name, digits] : kSpaces) {
    if (words.name == name) {
      ASSIGN_OR_RETURN(spec.plan, SplitSpace(words, digits));
      return spec;
    }
    known.emplace_back(name);
  }
  return Status::InvalidArgument(
      Format("'{}': expected auto:N, hex:N, upper-hex:N, decimal:N, binary:N, partitions:N[:M], "
             "partition-bytes:N[:M] or "
             "@FILE{}",
             EscapeBytes(text), tools::DidYouMean(words.name, known)));
}

}  // namespace tandem::row_keys
