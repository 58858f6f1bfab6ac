// Counters that all threads increment, two of one row together. Each increment by 1 returns how
// many there were, so what it returns lies between those acknowledged before it began and those
// begun before it ended, and no two return the same.
#pragma once

#include <cstdint>

#include "tools/stress/stressed.h"
#include "tools/stress/survival.h"

namespace tandem::stress {

/// How a counter is incremented.
struct SumIncrement {
  enum class Way : uint8_t {
    kIncrement,
    kTransaction,  ///< Reads it and puts the sum.
    kCheck,        ///< Reads it and puts the sum if it still has what was read (CheckAndMutate).
  };
  uint32_t counter = 0;
  Durability durability = Durability::kWritten;
  Way way = Way::kIncrement;
};
/// Increments both counters of a row. `*last` is what the thread's last increment of it returned.
Status IncrementSum(const Stressed& stressed, const SumIncrement& increment, uint64_t* last);
/// Reads every counter, by key and by index, and its echo. Requires: nobody writes.
Status CheckSums(const Stressed& stressed);
/// After the end of a process: what was kept is there, and not more than was begun; goes on from
/// what is there.
Status RecoverSums(const Stressed& stressed, Survival* survival);
/// A clean close keeps everything.
void KeepSums(const Stressed& stressed);

}  // namespace tandem::stress
