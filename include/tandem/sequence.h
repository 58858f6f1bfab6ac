// Sequences: ids that are given out once. A sequence belongs to a database, not to a table.
//
//   database->CreateSequence({.name = "orders"});
//   Result<uint64_t> id = database->NextIds("orders");         // 1
//   Result<uint64_t> block = database->NextIds("orders", 100); // 2 to 101
//
// Ids rise in the order in which calls take them, and no id is given out twice: not by two threads,
// and not after a crash. Some are never given out (gaps): before an id is returned, the catalog
// says durably that it may have been, for up to a million ids at a time, and those that a process
// has not used by its end are lost. A sequence that is used little has few gaps: the first call of
// a process takes what it needs, and each further reservation is twice the one before.
//
// A checkpoint, a backup, and what is restored from one give out no id that was given out before
// they were taken. After that the two are different databases: each counts on by itself, and both
// may give out the same ids. A transaction that is rolled back returns none.
#pragma once

#include <cstdint>
#include <string>

#pragma GCC visibility push(default)

namespace tandem {

/// The largest id of any sequence.
inline constexpr uint64_t kSequenceIdMax = UINT64_MAX - 1;

struct SequenceOptions {
  std::string name = {};
  uint64_t first = 1;         ///< The first id.
  uint64_t last = INT64_MAX;  ///< Not below `first`, at most kSequenceIdMax.
};

struct SequenceInfo {
  SequenceOptions options;
  uint64_t next = 0;      ///< The next id; above `last`: there is none.
  uint64_t reserved = 0;  ///< Ids from `next` on that this process need not reserve any more.
};

}  // namespace tandem

#pragma GCC visibility pop
