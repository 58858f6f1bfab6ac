// Names of which each row of a few has one or none, and no two rows the same: a unique index says
// so, and all threads try to take names from a small set. The rows of a thread are written by that
// thread alone, and what they have is entered as one number, so after the end of a process its last
// batch is there or not, but not in part.
#pragma once

#include <cstdint>

#include "tools/stress/stressed.h"

namespace tandem::stress {

/// A row of the thread takes a name, gives it up or has it exchanged with another's. Errors: a
/// Mismatch where a name was refused that no other row had, or given to two.
Status ChangeClaims(const Stressed& stressed, uint32_t thread, uint64_t seed);
/// A name has one row at most at a snapshot, the same by index and by a scan.
Status CheckOneName(const Stressed& stressed, uint64_t seed);
/// Every row has what was acknowledged. Requires: nobody writes.
Status CheckClaims(const Stressed& stressed);
/// After the end of a process: the rows of each thread have what was acknowledged last or what was
/// begun after that; goes on from what they have.
Status RecoverClaims(const Stressed& stressed);

}  // namespace tandem::stress
