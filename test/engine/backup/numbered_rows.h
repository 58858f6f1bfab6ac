// Writers whose batches are numbered, so that any copy of their database shows what it holds: batch
// n of writer w puts n into two rows, which lie in two regions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tandem/tandem.h"

namespace tandem::test {

inline constexpr int kWritersMax = 8;

/// Opens the database `path` on real files with little memory; creates it and its table "t" where
/// they are missing, unless it is for reading.
Result<std::unique_ptr<Database>> OpenNumbered(const std::string& path, bool read_only = false);

/// Batch `number` of `writer`.
Status WriteNumbered(Database* database, int writer, uint64_t number,
                     Durability durability = Durability::kWritten);

/// How many batches of `writer` the database holds. Requires: batches 0 to n - 1, all of each;
/// anything else fails the test.
uint64_t CountNumbered(Database* database, int writer);

/// What Verify finds, deeply; empty when all is well.
std::string FindingsOf(Database* database);

}  // namespace tandem::test
