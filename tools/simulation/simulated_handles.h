// The handles of a simulated disk: files, directories and queues over its shared state. Internal to
// simulated_disk.cc.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file_system.h"
#include "base/mutex.h"
#include "base/random.h"
#include "tools/simulation/disk_observer.h"
#include "tools/simulation/read_fault.h"
#include "tools/simulation/ring_habits.h"
#include "tools/simulation/simulated_control.h"
#include "tools/simulation/simulated_image.h"

namespace tandem::test {

/// Shared by the disk and all its handles. The control has a lock of its own and is never called
/// with `mutex` held, because its hook may come back to the disk; reading the budget is the
/// exception.
struct SimulatedState {
  SimulatedState(uint64_t seed, std::unique_ptr<DiskObserver> watching)
      : random(base::NewSeededRandom(seed)), observer(std::move(watching)) {}

  /// Errors: kUnavailable, as the limit of a process has it.
  Status CheckOpenFiles(std::string_view action, const std::string& name) const REQUIRES(mutex);
  /// Shows an operation to the observer, if there is one.
  void Observe(const Observation& seen) REQUIRES(mutex);

  DiskControl control;
  const std::unique_ptr<base::RandomSource> random;
  base::Mutex mutex;
  DiskImage image GUARDED_BY(mutex);
  std::unique_ptr<DiskObserver> observer GUARDED_BY(mutex);                  // May be null.
  std::map<uint64_t, std::vector<ReadFault>> read_faults GUARDED_BY(mutex);  // By inode.
  uint64_t life GUARDED_BY(mutex) = 1;         // Handles of earlier lives are dead.
  OpenFileCount open_files GUARDED_BY(mutex);  // Of this life.
  std::optional<uint64_t> open_files_max GUARDED_BY(mutex);
  uint64_t last_shared_lock GUARDED_BY(mutex) = 0;    // Its id.
  std::optional<RingHabits> rings GUARDED_BY(mutex);  // Of new queues; plain ones without.
};

std::unique_ptr<base::Directory> NewSimulatedDirectory(std::shared_ptr<SimulatedState> state,
                                                       std::string path, uint64_t life);
std::unique_ptr<base::IoQueue> NewSimulatedQueue(std::shared_ptr<SimulatedState> state,
                                                 uint32_t depth);

}  // namespace tandem::test
