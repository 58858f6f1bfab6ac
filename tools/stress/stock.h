// Reads of the table stock, whose rows each thread writes and loads, and any thread truncates.
// shelves.h says what they may find.
#pragma once

#include <cstdint>

#include "tools/stress/shelves.h"
#include "tools/stress/stressed.h"

namespace tandem::stress {

/// Reads all of the table by one scan. Threads: others may write and truncate.
Status CheckStock(const Stressed& stressed);
/// The same at a snapshot, whose bounds these are, and the shelf of one thread by its index too.
Status CheckStockAt(const Stressed& stressed, const Snapshot& snapshot, const StockBounds& bounds,
                    uint32_t thread);
/// All shelves by their index. Requires: nobody writes.
Status CheckAllStock(const Stressed& stressed);

/// After the end of a process: finds which generation each shelf has, and whether the truncation
/// that was cut off has happened; goes on from there with a new generation of each.
Status RecoverStock(const Stressed& stressed);
/// A clean close keeps everything.
void KeepStock(const Stressed& stressed);

}  // namespace tandem::stress
