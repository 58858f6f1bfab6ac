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
#pragma once

#include <cstdint>
#include <memory>

#include "base/ring.h"

namespace tandem::test {

struct SimulatedState;

/// How a ring behaves; chances are per 1000. The defaults never change the outcome of a request.
struct RingHabits {
  uint32_t short_transfers = 150;
  uint32_t again = 50;
  uint32_t interrupted = 30;
  uint32_t cancelled = 30;
  uint32_t repeated_completions = 30;  ///< Come a second time, later.
  uint32_t refused_enters = 80;        ///< EAGAIN, EBUSY or EINTR.
  uint32_t partial_enters = 150;       ///< Take some of what was pushed.
  uint32_t io_errors = 0;
  uint32_t no_space = 0;  ///< Of writes.
  /// Every Enter from this one on fails with EIO; 0 means never.
  uint32_t breaks_at_enter = 0;
  uint32_t completion_slots = 3;  ///< At least 1; the kernel's has as many as the queue's depth.
};

/// Lifetime: `state` may be shared with other rings.
std::unique_ptr<base::Ring> NewEmulatedRing(std::shared_ptr<SimulatedState> state, uint32_t depth,
                                            const RingHabits& habits);

}  // namespace tandem::test
