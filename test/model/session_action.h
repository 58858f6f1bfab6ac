// What a session does, as data: a run is a list of these, so that one that fails can be cut down
// to what it needs to fail and be printed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tandem/options.h"
#include "tools/simulation/model.h"

namespace tandem::test {

struct SessionAction {
  enum class Kind : uint8_t {
    kWrite,
    kWriteBad,  ///< A batch that has to be refused.
    kFlush,
    kCompact,
    kSplit,         ///< A region of the table.
    kMergeRegions,  ///< Two of them.
    kTruncate,
    kDropAndCreate,  ///< The table is dropped, and one of the same name created.
    kRenameTwice,    ///< To another name, and back.
    kChangeIndexes,  ///< One is created, dropped, or dropped and created again.
    kRenewFamily,    ///< The last of several is dropped, and one of the same name added.
    kAlterFamily,    ///< Its limits go down or up.
    kRunOne,
    kDrain,
    kTakeSnapshot,
    kReleaseSnapshot,
    kOpenCursor,
    kAdvanceCursor,
    kCheckRows,
    kCheckTable,
    kCheckSnapshot,
    kVerify,
    kSetClock,
    kReopen,
    kCrash,  ///< Of the power.
    kKill,   ///< Of the process.
  };
  Kind kind = Kind::kWrite;
  std::string table{};                  ///< What it concerns; kFlush: empty is all of them.
  std::vector<ModelOperation> batch{};  ///< kWrite, kWriteBad.
  Durability durability = Durability::kWritten;  ///< Of the batch.
  int64_t advance_micros = 0;                    ///< The clock goes on before it.
  /// Decides everything else in it, so that it stays the same when other actions are cut away.
  uint64_t seed = 0;
  /// kCrash: the power fails at this disk operation from the first of `until` on; 0: now.
  uint64_t power_off_at = 0;
  /// kCrash: what is done until something fails.
  std::vector<SessionAction> until{};

  /// One line for itself and one for each of `until`.
  std::string Describe() const;
};

/// One action a line, none longer than 160 bytes and at most `lines_max` of them.
std::string Describe(const std::vector<SessionAction>& actions, size_t lines_max);
/// Operations in the batches.
uint64_t OperationCount(const std::vector<SessionAction>& actions);

}  // namespace tandem::test
