// Copying what can be proved good out of a damaged database into a new one, and naming the rest.
//
// 1. The catalog: ROOT and the manifest that it names, else the best manifest that survives, up to
//    its first broken edit; else what the store files say of their tables.
// 2. Every store file of every region, the oldest first: its good rows are copied with all their
//    cells, versions and markers, one output file per input file, so that the order in which cells
//    hide each other is preserved. Cells that the table cannot have (of no family of it, of a value
//    that does not fit an index) are lost: a copy with them would be refused.
// 3. The log: frames along the chain up to the first hole.
// 4. The copy is opened, checked deeply and closed.
//
// The source is opened for reading only and never written to. Versions: if rows of a newer file are
// lost, a marker may be among them, and older files show what it hid. If a part of a row is lost,
// the rest of that row may show what it hid. Such ranges are uncertain.
#pragma once

#include <atomic>
#include <string>

#include "engine/runtime/environment.h"
#include "engine/salvage/report.h"
#include "tandem/status.h"

namespace tandem::engine {

struct SalvageOptions {
  std::string source, destination;
  bool include_orphans = false;  ///< Also good store files that the catalog does not name.
  bool past_holes = false;       ///< Also frames of the log after a hole.
};

/// Errors: kNotFound (no file of a database there), kAlreadyExists (the destination holds files),
/// kCorruption (nothing can be proved), kUnsupported, kIoError, kNoSpace; kCancelled when
/// `*cancelled` is set.
Result<SalvageReport> Salvage(const SalvageOptions& options, const Tuning& tuning,
                              const Environment& environment, const std::atomic<bool>* cancelled);

}  // namespace tandem::engine
