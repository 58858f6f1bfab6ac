// See sample.h.
#include "tools/emulator/sample.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "format/hash.h"

namespace tandem::emulator {
namespace {

// Another one than that of a generator, whose keys may have its hashes in them.
constexpr uint64_t kSeed = 0x5a3d;

}  // namespace

bool Sampling::Keeps(std::string_view key) const {
  return limit_ == UINT64_MAX || format::Hash64(key, kSeed) <= limit_;
}

std::vector<std::string> Union(std::span<const std::vector<std::string>* const> samples) {
  std::vector<std::string> all;
  for (const auto* sample : samples) {
    std::vector<std::string> both;
    both.reserve(all.size() + sample->size());
    std::ranges::set_union(all, *sample, std::back_inserter(both));
    all = std::move(both);
  }
  return all;
}

}  // namespace tandem::emulator
