// A ring that behaves as badly as the kernel's may: the production queue (base/ring.h) runs over it
// on files of a simulated disk.
//
// - Operations complete in any order. Each takes effect at one moment between Enter and its
//   completion; until then the buffer of a read holds garbage, and the buffer of a write must not
//   change, which a hash taken at Enter proves.
// - A sync covers the writes that had completed when it was taken.
// - By the chances of RingHabits, transfers are short, operations come back with EAGAIN, EINTR,
//   ECANCELED or an error, completions come twice, and Enter takes few or no operations.
// - Where the completion queue is full, completions wait behind it and Enter says EBUSY.
// - By RingFaults, chosen completions and Enters of all rings of a disk fail, once or for good.
#pragma once

#include <cstdint>
#include <memory>

#include "base/ring.h"
#include "tools/simulation/ring_habits.h"

namespace tandem::test {

struct SimulatedState;

/// Lifetime: `state` may be shared with other rings.
std::unique_ptr<base::Ring> NewEmulatedRing(std::shared_ptr<SimulatedState> state, uint32_t depth,
                                            const RingHabits& habits);

}  // namespace tandem::test
