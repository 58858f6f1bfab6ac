// The tables of a stressed database and the keys of their rows.
//
//   north  three families, three versions in one of them, six indexes, several regions
//   south  its mirror: the same families, written by the same batches, stored otherwise
//   loose  written at Durability::kMemory and by no other batch: nothing of it is ever logged
//   sums   a few rows with two counters each, which all threads increment
//   echo   its copy, which an observer writes (echoes.h)
//   bank   a few accounts, between which all threads move money in transactions
//   lists  a few rows that all threads append tokens to (lists.h)
//   claims a few rows of each thread with names of which no two are the same (claims.h)
//   stock  a few rows of each thread, loaded in bulk, written and truncated (stock.h)
//   passing-N, passed-N  of thread N, for a moment (passing.h)
//   copy-N what north held when thread N exported it (copies.h)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/generator/generator.h"

namespace tandem::stress {

inline constexpr const char* kNorth = "north";
inline constexpr const char* kSouth = "south";
inline constexpr const char* kLoose = "loose";
inline constexpr const char* kSums = "sums";
inline constexpr const char* kEcho = "echo";
/// Of sums, among Options::observers.
inline constexpr const char* kEchoObserver = "echo";
inline constexpr const char* kBank = "bank";
inline constexpr const char* kListsTable = "lists";
inline constexpr const char* kClaims = "claims";
inline constexpr const char* kStock = "stock";
/// Of each account, before the first transfer.
inline constexpr int64_t kFirstBalance = 1000;

/// In the order of the head of this file. `keys`, at least four, decide where north is cut into
/// regions.
std::vector<test::TablePlan> NewTables(uint64_t seed, const std::vector<std::string>& keys);
std::vector<test::TablePlan> NewTables(uint64_t seed, uint64_t rows);
/// The table of counters, which only threads write, that of its observer, and the key of one.
TableOptions NewSums();
TableOptions NewEcho();
std::string SumKey(uint32_t counter);
/// The table of accounts, the key of one, and what it holds at first.
TableOptions NewBank();
std::string AccountKey(uint32_t account);
WriteBatch FirstBalances();
/// The table of lists, and the key of one in its generation.
TableOptions NewLists();
std::string ListKey(uint32_t list, uint64_t generation);
/// The table of names, and the key of a row that has one.
TableOptions NewClaims();
std::string ClaimKey(uint32_t thread, uint32_t row);
/// The table of shelves, in enough regions that no scan pins them all at once, and a key of one.
TableOptions NewStock();
std::string StockKey(uint32_t thread, uint32_t row);

}  // namespace tandem::stress
