// A process that uses a database of a given budget in every way, and what memory that took.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace tandem::test {

struct MemoryShape {
  uint64_t budget_bytes = 0;
  uint64_t rows = 0;
  uint32_t query_threads = 4;
  /// Whether the process fixes the size from which the C library maps a block alone, as the program
  /// `tandem` does. Else the library raises it with each large block that is freed.
  bool fixes_threshold = true;
};

/// What a phase of the child took, beyond what it had before it opened the database. Plain bytes,
/// for memory that two processes share.
struct MemoryPhase {
  char name[16];
  uint64_t peak_bytes, peak_accounted;  ///< At the sample with the most resident.
  uint64_t end_bytes, end_accounted;    ///< When it was over.
  double cpu_seconds;
  char parts[512];  ///< The account at the peak, as text.
};

struct MemoryReport {
  uint64_t empty_bytes;  ///< Of a database of one row that was merged and read by all threads.
  std::array<MemoryPhase, 12> phases;
};

/// Runs the child at `path`, which must not exist. False: it failed, and has said why.
bool RunMemoryChild(const std::string& path, const MemoryShape& shape, MemoryReport* report);

}  // namespace tandem::test
