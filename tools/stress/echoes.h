// An observer beside threads and kills: it adds to each batch on the table of counters the same
// operations on another table. So both have the same rows, at every snapshot and after every end of
// a process, or a batch was written in part, or without having been observed.
#pragma once

#include <memory>

#include "tandem/observer.h"
#include "tools/stress/stressed.h"

namespace tandem::stress {

/// Counts what it has echoed. Threads: any. Lifetime: `expected` outlives it.
std::shared_ptr<Observer> NewEchoObserver(Expected* expected);
/// Both tables have the same rows. `snapshot`: null is now, which requires that nobody writes.
Status CheckEchoes(const Stressed& stressed, const Snapshot* snapshot);
/// Gives south an observer that changes nothing, or takes it away. A write beside it is refused
/// with kConflict, and has to be tried again.
Status ChangeObservers(const Stressed& stressed, bool adds);

}  // namespace tandem::stress
