// A file system in memory for tests: it crashes, fails and fills up when a test says so. It
// provides exactly the durability that base/file_system.h promises and nothing more: see
// simulated_image.h.
//
//   SimulatedDisk disk;
//   ... run the engine on it ...
//   disk.control().PowerOffAt(17);              // The 17th operation from now never happens.
//   ... the engine sees errors and stops ...
//   disk.Crash({.kept = CrashPolicy::Kept::kRandom, .seed = seed});
//   ... reopen the engine on it and compare ...
//
// A TraceLinter watches every operation and stops the test at a mistake.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/file_system.h"
#include "tools/simulation/disk_observer.h"
#include "tools/simulation/read_fault.h"
#include "tools/simulation/ring_habits.h"
#include "tools/simulation/simulated_control.h"
#include "tools/simulation/simulated_image.h"

namespace tandem::test {

struct SimulatedState;

/// Threads: any. Lifetime: handles and queues may outlive it.
class SimulatedDisk final : public base::FileSystem {
 public:
  /// `seed` decides the order in which queues complete requests and which half a partly failed sync
  /// leaves.
  explicit SimulatedDisk(uint64_t seed = 1);
  /// `observer` watches instead of a TraceLinter; may be null.
  SimulatedDisk(uint64_t seed, std::unique_ptr<DiskObserver> observer);
  ~SimulatedDisk() override;

  Result<std::unique_ptr<base::Directory>> OpenDirectory(const std::string& path,
                                                         bool create) override;
  std::unique_ptr<base::IoQueue> NewQueue(uint32_t depth) override;
  std::string_view name() const override { return "simulated"; }

  /// From now on new queues are the production ones over emulated rings.
  void UseRings(const RingHabits& habits = {});

  /// Faults, power, space budget, trace and hook.
  DiskControl& control();

  /// A power cut and the restart after it: `policy` decides which pending effects survive, all
  /// handles are dead (every operation on them is kIoError), locks are gone, the power is on again.
  /// Injected faults, budget, trace and hook stay as they are.
  void Crash(const CrashPolicy& policy);
  /// The end of the process alone: handles are dead, locks are gone, pending effects stay pending.
  void KillProcess();
  /// Memory runs short: of the pages that failed syncs lost, a random half goes, and reads of them
  /// show what the disk has.
  void Evict(uint64_t seed);
  /// A disk as Crash would leave this one, which goes on as it is. The copy has no faults, budget,
  /// trace or hook. May be called from the hook.
  std::unique_ptr<SimulatedDisk> CrashedCopy(const CrashPolicy& policy) const;
  /// As CrashedCopy, after the end of the process alone: what is pending stays pending.
  std::unique_ptr<SimulatedDisk> KilledCopy() const;

  /// What is not durable yet, by place: what CrashPolicy::at counts.
  std::vector<PendingEffect> PendingEffects() const;
  size_t pending_count() const;
  /// A hash of all visible names and contents. Of a crashed copy: equal states of the disk have
  /// equal hashes, so that a state need not be examined twice.
  uint64_t ImageHash() const;

  /// Reads of a file show `fault` from now on, over crashes too. Errors: kNotFound.
  Status InjectReadFault(const std::string& path, const std::string& file, const ReadFault& fault);
  /// All reads show again what is there.
  void HealReads();

  /// The visible content of a file, without counting as an operation. Errors: kNotFound.
  Result<std::string> Content(const std::string& path, const std::string& file) const;
  /// Makes `content` the visible and the durable content of a file and its name durable, without
  /// counting as an operation; creates what is missing. For damage and for planted files.
  void SetContent(const std::string& path, const std::string& file, std::string_view content);
  /// Removes a file durably, without counting as an operation. Errors: kNotFound.
  Status RemoveDurably(const std::string& path, const std::string& file);
  uint64_t used_bytes() const;

  /// How many handles on files there are, and were at most since the last call.
  OpenFileCount TakeOpenFiles();
  /// As `ulimit -n`: to open or create one more file fails with kUnavailable. nullopt: no limit.
  void LimitOpenFiles(std::optional<uint64_t> open_files_max);

 private:
  std::unique_ptr<SimulatedDisk> Copy(uint64_t seed) const;

  std::shared_ptr<SimulatedState> state_;
};

}  // namespace tandem::test
