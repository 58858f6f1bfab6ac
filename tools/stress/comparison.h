// Reads of every kind from an engine, compared with what the model says.
#pragma once

#include <cstdint>
#include <string>

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

/// A table that has another name in the database than in the model.
struct NamedPlan {
  const test::TablePlan& plan;  ///< With the definition that the table has at the moment.
  std::string name;             ///< In the database.
};

/// All versions of the whole table, forward or reverse.
Status CompareTable(const Moment& moment, const NamedPlan& table, bool reverse);
/// Single rows, ranges, queries through each index and without, counts and explanations; `seed`
/// chooses them. Errors: a Mismatch, or that of the database.
Status CompareReads(const Moment& moment, const NamedPlan& table, uint64_t seed);

}  // namespace tandem::stress
