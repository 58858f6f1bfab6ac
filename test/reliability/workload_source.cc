// See workload_source.h.
#include "test/reliability/workload_source.h"

#include <charconv>
#include <string_view>

namespace tandem::reliability {
namespace {

constexpr uint64_t kRandomPerSeed = 1'000'000;
constexpr uint64_t kFirstBetween = kRandomPerSeed / 2;
constexpr std::string_view kRandomPrefix = "random-";

}  // namespace

WorkloadSource::WorkloadSource(const Plan& plan)
    : seed_(plan.seed), is_one_(!plan.only.empty()), fixed_(FixedWorkloads(plan.seed)) {
  if (!is_one_) return;
  std::erase_if(fixed_, [&](const Workload& workload) { return workload.name != plan.only; });
  if (!plan.only.starts_with(kRandomPrefix)) return;
  uint64_t seed = 0;
  const std::string_view digits = std::string_view(plan.only).substr(kRandomPrefix.size());
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), seed);
  if (parsed.ec == std::errc()) fixed_.push_back(RandomWorkload(seed));
}

std::optional<Workload> WorkloadSource::At(uint64_t number) const {
  if (number < fixed_.size()) return fixed_[number];
  if (is_one_) return std::nullopt;
  return RandomWorkload(seed_ * kRandomPerSeed + number);
}

std::optional<Workload> WorkloadSource::Between(uint64_t number) const {
  if (is_one_) return std::nullopt;
  return RandomWorkload(seed_ * kRandomPerSeed + kFirstBetween + number);
}

}  // namespace tandem::reliability
