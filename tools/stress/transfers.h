// Accounts between which all threads move money in transactions over two rows: the sum of all
// balances never changes, at any point in time and after the end of a process. Each account counts
// the transfers that it takes part in, as a counter counts its increments (sums.h).
#pragma once

#include <array>
#include <cstdint>

#include "tools/stress/stressed.h"
#include "tools/stress/survival.h"

namespace tandem::stress {

struct Transfer {
  uint32_t from = 0, to = 0;
  int64_t amount = 0;
  Durability durability = Durability::kWritten;
  bool by_increments = false;  ///< Else both rows are read, and their new values put.
};
/// How many transfers an account has taken part in, as a thread has seen it last.
using LastMoves = std::array<uint64_t, kAccounts>;

/// Requires: two different accounts.
Status MoveMoney(const Stressed& stressed, const Transfer& transfer, LastMoves* last);
/// The sum of all balances at one point in time: at a snapshot, or now. Threads: others may write.
Status CheckBalances(const Stressed& stressed, const Snapshot* snapshot = nullptr);
/// Reads every account, by key and by index. Requires: nobody writes.
Status CheckAccounts(const Stressed& stressed);
/// After the end of a process: each transfer that was kept is there, no more than were begun, and
/// none by half; goes on from what is there.
Status RecoverAccounts(const Stressed& stressed, Survival* survival);
/// A clean close keeps everything.
void KeepAccounts(const Stressed& stressed);

}  // namespace tandem::stress
