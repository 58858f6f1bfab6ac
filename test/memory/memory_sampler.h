// Samples what is resident and what an open database accounts for, phase by phase.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "tandem/database.h"
#include "test/memory/memory_child.h"

namespace tandem::test {

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
