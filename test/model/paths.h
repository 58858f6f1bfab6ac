// Which of the paths that make indexes hard a database is on: counted from the store files, which
// the test opens by itself, and from the model. Nothing in the engine counts for the test.
#pragma once

#include "test/model/counters.h"
#include "test/model/store.h"
#include "tools/generator/generator.h"
#include "tools/simulation/model.h"

namespace tandem::test {

/// Adds what the live files of a table hold: stale postings, Puts that newer files delete, rows
/// that lie in several files. Throws Failure when a file cannot be read.
void CountPaths(Store* store, const TablePlan& plan, const Model& model, int64_t now_micros,
                Counters* counters);

}  // namespace tandem::test
