// Samples what is resident and what an open database accounts for, phase by phase.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "tandem/database.h"

namespace tandem::test {

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

/// Anonymous pages of this process.
uint64_t ResidentBytes();

/// Threads: one calls it; its own thread samples.
class MemorySampler {
 public:
  explicit MemorySampler(MemoryReport* report);
  ~MemorySampler();

  /// The database that is asked for its account; nullptr: none is open, or one is being closed.
  void Watch(Database* database);
  /// What is resident now is what an open database takes that holds next to nothing.
  void SetEmpty();
  /// From here on samples belong to `name`; what came before is complete.
  void Begin(const char* name);
  void End();

 private:
  void Sample();

  MemoryReport* const report_;
  const uint64_t before_bytes_;
  std::mutex mutex_;  // Guards what follows.
  Database* database_ = nullptr;
  MemoryPhase* phase_ = nullptr;
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

}  // namespace tandem::test
