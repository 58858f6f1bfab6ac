// What was taken outlives the process (Expected): the end of the ids that were returned, which all
// later calls have to pass, and the last ids of each remainder, so that one that two calls get at
// a time is seen.
#include "tools/stress/ids.h"

#include "base/status_macros.h"
#include "tools/generator/dice.h"
#include "tools/stress/finding.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

using tools::Format;

constexpr const char* kIds = "ids";
constexpr uint64_t kCountMax = 16;
// Now and then more than a process has reserved.
constexpr uint64_t kManyMax = 5000;

void Raise(std::atomic<uint64_t>* end, uint64_t to) {
  uint64_t before = *end;
  while (before < to && !end->compare_exchange_weak(before, to)) {
  }
}

}  // namespace

SequenceOptions NewIds() { return {.name = kIds}; }

Status TakeIds(const Stressed& stressed, uint64_t seed) {
  test::Dice dice(seed);
  const uint64_t count = 1 + dice.Below(dice.Chance(98) ? kCountMax : kManyMax);
  Header& header = stressed.expected->header();
  const uint64_t returned = header.ids_end;
  stressed.Begin("taking of ids");
  const Result<uint64_t> first = stressed.database->NextIds(kIds, count);
  if (!first.has_value()) return In("ids", first.error());
  Raise(&header.ids_end, *first + count);
  stressed.expected->Add(Count::kIds, count);
  if (*first < returned) {
    return Mismatch("ids: a sequence went back", Format("{} or more", returned),
                    Format("{}", *first));
  }
  for (uint64_t id = *first; id < *first + count; ++id) {
    if (header.ids[id % kIdPlaces].exchange(id) != id) continue;
    return Mismatch("ids: one was given out twice", "another", Format("{}", id));
  }
  return {};
}

}  // namespace tandem::stress
