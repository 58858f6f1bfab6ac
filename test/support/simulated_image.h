// What a simulated disk holds: for every file and directory a visible state, as the running system
// sees it, and a durable one, as a power cut leaves it, with the effects that lie between them.
//
// Life of an effect: a write, a change of size, a reservation or a name's creation or removal
// 1. is applied to the visible state at once and becomes pending;
// 2. is applied to the durable state by a sync that starts after it, or
// 3. is lost by a failed sync: it stays visible, and no later sync makes it durable, or
// 4. meets a crash while pending, where the policy decides whether it survives.
// Effects survive independently of one another, so a file's size may survive without the bytes that
// made it grow (they read as zeros), and the bytes without the size.
//
// No locking and no handles here; the owner does both.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace tandem::test {

/// What becomes of the pending effects in a power cut.
struct CrashPolicy {
  enum class Kept : uint8_t { kNone, kAll, kRandom };
  Kept kept = Kept::kNone;
  uint64_t seed = 0;  ///< kRandom: decides everything.
  bool torn = true;   ///< kRandom: some writes survive in part, at borders of 512-byte sectors.
};

/// One change of a file's state.
struct Effect {
  enum class Kind : uint8_t { kBytes, kGrow, kResize, kReserve };
  Kind kind = Kind::kBytes;
  uint64_t id = 0;  // In the order in which effects happened, over the whole disk.
  uint64_t offset = 0;
  std::string bytes{};
  uint64_t size = 0;  // kGrow: at least this size. kResize: exactly. kReserve: reserved bytes.
};

/// Decides in a crash what survives.
class Survival {
 public:
  explicit Survival(const CrashPolicy& policy);
  bool Keeps();
  /// The parts of `effect` that survive, in no order.
  std::vector<Effect> Survivors(const Effect& effect);

 private:
  std::vector<Effect> Torn(const Effect& effect);

  CrashPolicy policy_;
  std::unique_ptr<base::RandomSource> random_;
  uint64_t kept_of_eight_;
};

/// The state of a file's content.
struct Image {
  std::string bytes;  // May differ in length from size_bytes between Apply and Settle.
  uint64_t size_bytes = 0;
  uint64_t reserved_bytes = 0;

  void Apply(const Effect& effect);
  /// Cuts or fills with zeros to the size.
  void Settle();
};

struct Inode {
  uint64_t id = 0;
  Image visible;
  Image durable;
  std::vector<Effect> pending;
  bool is_linked = false;   // Has a visible name.
  uint64_t more_names = 0;  // Visible names beyond the first: hard links.
  uint64_t open_count = 0;  // Handles of this life of the machine.

  /// Applies `effect` to the visible image and keeps it as pending.
  void Change(Effect effect);
  /// Makes the pending effects up to `last_id` durable.
  void Sync(uint64_t last_id);
  /// A failed sync: the pending effects are lost for good, save those of which `survival`, where
  /// given, says that they had reached the disk.
  void FailSync(Survival* survival);
  void Crash(Survival& survival);
  /// One more visible name, or one less.
  void AddName();
  void DropName();
  /// Disk space it takes while it is linked or open.
  uint64_t used_bytes() const;
};

struct NameEffect {
  uint64_t id = 0;
  std::string name;
  std::shared_ptr<Inode> inode;  // Null for a removal.
};

struct DirectoryImage {
  std::map<std::string, std::shared_ptr<Inode>> visible;
  std::map<std::string, std::shared_ptr<Inode>> durable;
  std::vector<NameEffect> pending;
  const void* lock_holder = nullptr;  // The handle that holds the lock.

  void Change(NameEffect effect);
  /// Makes the pending effects up to `last_id` durable.
  void Sync(uint64_t last_id);
  void Crash(Survival& survival);
};

/// All directories, by path, and their files.
class DiskImage {
 public:
  DiskImage() = default;
  DiskImage(const DiskImage&) = delete;
  DiskImage& operator=(const DiskImage&) = delete;

  /// Null when there is none.
  DirectoryImage* Find(const std::string& path);
  /// A directory is durable from its creation on.
  DirectoryImage* Make(const std::string& path) { return &directories_[path]; }
  std::shared_ptr<Inode> NewInode();
  uint64_t NextEffectId() { return ++last_effect_id_; }
  uint64_t last_effect_id() const { return last_effect_id_; }
  uint64_t used_bytes() const;
  /// A power cut: pending effects survive by `policy`, locks and handles do not.
  void Crash(const CrashPolicy& policy);
  /// The end of all processes: locks and handles go, effects stay pending.
  void DropHandles();
  /// Makes this empty image a copy of `other` without handles and locks.
  void CopyFrom(const DiskImage& other);

 private:
  std::vector<std::shared_ptr<Inode>> LiveInodes() const;

  std::map<std::string, DirectoryImage> directories_;
  std::map<uint64_t, std::weak_ptr<Inode>> inodes_;  // By id, so that a seed repeats a crash.
  uint64_t last_inode_id_ = 0;
  uint64_t last_effect_id_ = 0;
};

}  // namespace tandem::test
