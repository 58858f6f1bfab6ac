// A process that uses a database of a given budget in every way, and what memory that took.
#pragma once

#include <cstdint>
#include <string>

#include "test/memory/memory_sampler.h"

namespace tandem::test {

struct MemoryShape {
  uint64_t budget_bytes = 0;
  uint64_t rows = 0;
  uint32_t query_threads = 4;
  /// Whether the process fixes the size from which the C library maps a block alone, as the program
  /// `tandem` does. Else the library raises it with each large block that is freed.
  bool fixes_threshold = true;
  /// The process may map the budget and so many bytes (RLIMIT_AS); 0: as many as it likes. An
  /// allocation that fails then ends it.
  uint64_t mapped_above_budget_max = 0;
};

/// Runs the child at `path`, which must not exist. False: it failed, and has said why.
bool RunMemoryChild(const std::string& path, const MemoryShape& shape, MemoryReport* report);

}  // namespace tandem::test
