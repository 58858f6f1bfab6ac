// What must hold for a database that was opened after a crash or an error: its contents are allowed
// by its history, indexes agree with rows, its directory has exactly its files, and it continues to
// work.
#pragma once

#include <string>

#include "test/reliability/history.h"
#include "test/reliability/machine.h"
#include "test/reliability/workload.h"

namespace tandem::reliability {

/// What an examination goes by.
struct Expectation {
  const Workload* workload = nullptr;
  const History* history = nullptr;
  bool killed = false;   ///< Everything that reached the system survived.
  bool works_on = true;  ///< Whether to write, flush, close and reopen at the end.
};

/// Each returns the reason why it does not hold, or nothing.

/// All of it. Requires: `machine` is open. It may be closed afterwards.
std::string Examine(Machine* machine, const Expectation& expectation);
/// Verify(deep) has no finding, and each query by an index equals the scan with its predicate.
std::string CheckIndexes(engine::Engine* engine, const Workload& workload);
/// No file but those that the database names, and all of those.
std::string CheckDirectory(Machine* machine);

}  // namespace tandem::reliability
