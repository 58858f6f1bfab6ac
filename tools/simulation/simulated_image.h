// What a simulated disk holds: directories with a visible and a durable state each, and their
// files; see simulated_inode.h. A name that is created or removed is visible at once and pending
// until a sync of the directory makes it durable, or a crash decides about it. A sync of the file
// does not make its name durable.
//
// No locking and no handles here; the owner does both.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tools/simulation/crash_policy.h"
#include "tools/simulation/simulated_inode.h"
#include "tools/simulation/unwritten.h"

namespace tandem::test {

struct NameEffect {
  uint64_t id = 0;
  std::string name;
  std::shared_ptr<Inode> inode;  // Null for a removal.
};

struct DirectoryImage {
  std::map<std::string, std::shared_ptr<Inode>> visible;
  std::map<std::string, std::shared_ptr<Inode>> durable;
  std::vector<NameEffect> pending;
  const void* lock_holder = nullptr;          // The handle that holds the lock.
  std::map<uint64_t, uint64_t> shared_locks;  // The bounds of those that are held, by their ids.

  void Change(NameEffect effect);
  /// Makes the pending effects up to `last_id` durable and returns the files that have thereby lost
  /// a name for good.
  std::vector<std::shared_ptr<Inode>> Sync(uint64_t last_id);
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
  /// A file that is created in the directory `home`.
  std::shared_ptr<Inode> NewInode(const std::string& home);
  uint64_t NextEffectId() { return ++last_effect_id_; }
  uint64_t last_effect_id() const { return last_effect_id_; }
  uint64_t used_bytes() const;
  /// The pending effects by place. Files that no crash can leave a name to are left out.
  std::vector<PendingEffect> PendingEffects() const;
  size_t pending_count() const { return PendingIds().size(); }
  /// Of the paths, names, sizes and contents that are visible: equal states have equal hashes.
  uint64_t VisibleHash() const;
  /// Makes the names of `directory` durable up to the effect `last_id`.
  void SyncNames(DirectoryImage* directory, uint64_t last_id);
  /// Memory runs short: see Inode::Evict.
  void Evict(uint64_t seed);
  /// A power cut: pending effects survive by `policy`, locks and handles do not.
  void Crash(const CrashPolicy& policy);
  /// The end of all processes: locks and handles go, effects stay pending.
  void DropHandles();
  /// Makes this empty image a copy of `other` without handles and locks.
  void CopyFrom(const DiskImage& other);

 private:
  struct Place {
    std::string directory;
    std::string name;
  };

  std::vector<std::shared_ptr<Inode>> LiveInodes() const;
  // The files that have a visible, durable or pending name, by id, with one of these names.
  std::map<uint64_t, std::pair<const Inode*, Place>> NamedInodes() const;
  std::vector<uint64_t> PendingIds() const;

  std::map<std::string, DirectoryImage> directories_;
  std::map<uint64_t, std::weak_ptr<Inode>> inodes_;  // By id, so that a seed repeats a crash.
  FreedBlocks freed_;
  uint64_t last_inode_id_ = 0;
  uint64_t last_effect_id_ = 0;
};

}  // namespace tandem::test
