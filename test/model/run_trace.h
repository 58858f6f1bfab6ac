// A hash of all that happens in a run on the simulated disk: every disk operation with the bytes
// that it wrote, and whatever the run adds. Two runs of one seed must have the same.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tools/simulation/simulated_disk.h"

namespace tandem::test {

class RunTrace {
 public:
  /// Adds the operations of a disk from now on, files at `path`. Lifetime: until StopWatching or
  /// for ever, the disk and this live.
  void Watch(SimulatedDisk* disk, const std::string& path);
  /// Adds the content of the last write, and sees nothing more.
  void StopWatching();
  void Add(std::string_view text);
  void Add(uint64_t word);
  uint64_t hash() const { return hash_; }
  uint64_t event_count() const { return event_count_; }

 private:
  void AddWritten();

  SimulatedDisk* disk_ = nullptr;
  std::string path_;
  std::optional<DiskEvent> written_;  // Its bytes are on the disk when the next operation comes.
  uint64_t hash_ = 0;
  uint64_t event_count_ = 0;
};

}  // namespace tandem::test
