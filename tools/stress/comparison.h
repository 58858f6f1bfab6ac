// Reads of every kind from an engine, compared with what the model says.
#pragma once

#include <cstdint>

#include "engine/engine.h"
#include "tools/generator/generator.h"
#include "tools/simulation/model.h"

namespace tandem::stress {

/// What is compared: an engine, perhaps at a snapshot, with the model as it was then.
struct Moment {
  engine::Engine* engine = nullptr;
  const test::Model* model = nullptr;
  const Snapshot* snapshot = nullptr;
};

/// All versions of the whole table, forward or reverse.
Status CompareTable(const Moment& moment, const TableOptions& table, bool reverse);
/// Single rows, ranges, queries through each index and without, counts and explanations; `seed`
/// chooses them. Errors: a Mismatch, or that of the database.
Status CompareReads(const Moment& moment, const test::TablePlan& plan, uint64_t seed);

}  // namespace tandem::stress
