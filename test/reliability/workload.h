// A short life of a database as data: tables, sizes, and steps that a runner takes one by one. What
// is data can be cut down, printed and made from a seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/runtime/environment.h"
#include "tandem/options.h"
#include "tandem/schema.h"
#include "tools/simulation/model.h"

namespace tandem::reliability {

struct Step {
  enum class Kind : uint8_t {
    kWrite,
    kCreateTable,
    kFlush,
    kCompact,
    kSplit,         ///< A region of the table, at `key`, or in its middle.
    kMergeRegions,  ///< The one that holds `key` and the next one, or the smallest two.
    kTruncate,
    kDropAndCreate,   ///< The table is dropped, and one of the same name created.
    kToggleIndex,     ///< An index is created, or dropped if it is there.
    kToggleSnapshot,  ///< The named snapshot `key` is created, or dropped if it is there.
    kRenewFamily,     ///< The last of several families is dropped, and one of its name added.
    kAlterFamily,     ///< The last family keeps 3 versions from now on, or 1 if it keeps more.
    kCopyTable,       ///< The table is exported, attached to itself, and restored beside itself.
    kRunJob,          ///< One job of the background, if there is any.
    kReopen,          ///< A clean close, and an open.
  };
  Kind kind = Kind::kWrite;
  std::vector<test::ModelOperation> batch{};     ///< kWrite.
  Durability durability = Durability::kWritten;  ///< kWrite.
  bool in_transaction = false;  ///< kWrite: one that reads each row first. None of the batch reads.
  bool in_check = false;        ///< kWrite: if the row of the first lacks a column, which it does.
  bool in_bulk = false;         ///< kWrite: a bulk load. MayBeLoaded(batch).
  std::string table{};          ///< kCreateTable, kCompact, kFlush; empty for all.
  std::string key{};            ///< kSplit, kMergeRegions, kToggleSnapshot.

  std::string Describe() const;
};

struct Workload {
  std::string name;
  uint64_t seed = 1;  ///< Of the disk, and of the ids that the engine draws.
  engine::Tuning tuning{};
  std::vector<TableOptions> tables{};  ///< Each exists once a step has created it.
  /// Tables that are written at Durability::kMemory too; all others never are.
  std::vector<std::string> unlogged{};
  std::vector<Step> steps{};

  bool IsUnlogged(const std::string& table) const;
  /// Whether a step changes limits of a family of the table.
  bool Alters(const std::string& table) const;
  /// A line a step.
  std::string Describe() const;
};

/// Sizes that make everything happen early.
engine::Tuning TinyTuning();

/// Workloads of few operations that together take every path that writes: each kind of write,
/// delete and durability, flushes, compactions, rolls of log and manifest, creation of tables,
/// reopening, values and rows of any size, several families. `seed` decides ids and timing alone.
std::vector<Workload> FixedWorkloads(uint64_t seed);

/// As many kinds of steps in a random order.
Workload RandomWorkload(uint64_t seed);

}  // namespace tandem::reliability
