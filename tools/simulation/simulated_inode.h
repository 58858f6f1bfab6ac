// What a simulated disk holds of one file: a visible state, as the running system sees it, and a
// durable one, as a power cut leaves it, with the effects that lie between them.
//
// Life of an effect: a write, a change of size or a reservation
// 1. is applied to the visible state at once and becomes pending: Change;
// 2. is applied to the durable state by a sync that starts after it: Sync, or
// 3. is lost by a failed sync, and no later sync makes it durable: FailSync, or
// 4. meets a crash while pending, where the policy decides whether it survives: Crash.
// Effects survive independently of one another: a file's size may survive without the bytes that
// made it grow, which then read as unwritten.h says, and the bytes without the size.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tandem/status.h"
#include "tools/simulation/byte_ranges.h"
#include "tools/simulation/crash_policy.h"
#include "tools/simulation/unwritten.h"

namespace tandem::test {

inline constexpr uint64_t kSectorBytes = 512;

/// How a file system behaves whose sync of a file fails.
enum class SyncFailure : uint8_t {
  /// As ext4 and XFS: the error comes once, the pages count as clean and stay visible until they
  /// are evicted (SimulatedDisk::Evict) or the power goes. They are never written.
  kCleanButLost,
  /// As btrfs: at once, what is visible is again what is durable.
  kReverted,
  /// The sync says OK and the next sync of the file has the error; nobody learns of it when the
  /// file is closed before. What was acknowledged in between is lost: an engine can only stop.
  kLate,
  /// As kCleanButLost, and every other handle that was open has the error at its next sync too.
  kOncePerHandle,
  /// The sync says OK and has done nothing, nor does anyone learn of it. No engine keeps its
  /// promises on such a disk; to prove that what is lost is noticed.
  kLiar,
};

/// Whether the failing sync itself says OK.
inline bool IsSilent(SyncFailure failure) {
  return failure == SyncFailure::kLate || failure == SyncFailure::kLiar;
}

/// The state of a file's content.
struct Image {
  std::string bytes{};  // May differ in length from size_bytes between Apply and CutToSize.
  uint64_t size_bytes = 0;
  uint64_t reserved_bytes = 0;
  ByteRanges written{};       // The rest was skipped over: it reads as zeros.
  uint64_t zeroed_bytes = 0;  // Up to here the program asked for zeros where it has not written.

  static Image Of(std::string_view content);
  void Apply(const Effect& effect);
  /// Cuts or fills with zeros to the size.
  void CutToSize();
};

struct Inode {
  uint64_t id = 0;
  std::string home;  // Path of the directory that it was created in.
  Image visible;
  Image durable;
  std::vector<Effect> pending;
  ByteRanges lost;                     // Visible bytes that a failed sync lost.
  std::optional<Status> late_error;    // Of a sync that said OK; for the next one.
  std::optional<Status> handle_error;  // For each handle that has seen fewer than error_count.
  uint64_t error_count = 0;
  std::map<uint64_t, std::string> old_sectors;  // By number: as before their last change.
  bool is_linked = false;                       // Has a visible name.
  uint64_t more_names = 0;                      // Visible names beyond the first: hard links.
  uint64_t open_count = 0;                      // Handles of this life of the machine.

  /// Applies `effect` to the visible image and keeps it as pending.
  void Change(Effect effect);
  /// The size that the file has once everything pending is durable: less than is visible where a
  /// failed sync lost a growth.
  uint64_t KeptSize() const;
  /// Makes the pending effects up to `last_id` durable.
  void Sync(uint64_t last_id);
  /// A failed sync: the pending effects are lost for good, save those of which `survival`, where
  /// given, says that they had reached the disk.
  void FailSync(SyncFailure failure, const Status& status, Survival* survival);
  /// Clean pages that were lost go from memory, each with a chance of one half: reads then show
  /// what is on the disk.
  void Evict(base::RandomSource* random);
  void Crash(Survival& survival, Filler& filler);
  /// A handle of this life is gone.
  void Close();
  /// One more visible name, or one less.
  void AddName();
  void DropName();
  /// Disk space it takes while it is linked or open.
  uint64_t used_bytes() const;

 private:
  void KeepOldSectors(const Effect& effect);
  void FillUnwritten(const ByteRanges& gone, const ByteRanges& before, Filler& filler);
};

}  // namespace tandem::test
