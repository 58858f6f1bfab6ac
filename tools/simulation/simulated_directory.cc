// Directory handles of a simulated disk: names, and the lock.
#include <unistd.h>

#include <algorithm>

#include "base/status_macros.h"
#include "tools/simulation/simulated_file.h"
#include "tools/simulation/simulated_handles.h"

namespace tandem::test {
namespace {

constexpr uint64_t kUnlimitedSpace = uint64_t{1} << 40;

class SimulatedSharedLock final : public base::SharedLock {
 public:
  SimulatedSharedLock(std::shared_ptr<SimulatedState> state, std::string path, uint64_t id)
      : state_(std::move(state)), path_(std::move(path)), id_(id) {}
  ~SimulatedSharedLock() override {
    base::MutexLock lock(state_->mutex);
    state_->image.Find(path_)->shared_locks.erase(id_);
  }
  // One that went with its process stays gone.
  Status Lower(uint64_t bound) override {
    base::MutexLock lock(state_->mutex);
    auto& locks = state_->image.Find(path_)->shared_locks;
    const auto found = locks.find(id_);
    if (found != locks.end()) found->second = std::min(found->second, bound);
    return {};
  }

 private:
  const std::shared_ptr<SimulatedState> state_;
  const std::string path_;
  const uint64_t id_;
};

class SimulatedDirectory final : public base::Directory {
 public:
  SimulatedDirectory(std::shared_ptr<SimulatedState> state, std::string path, uint64_t life)
      : state_(std::move(state)), path_(std::move(path)), life_(life) {}
  ~SimulatedDirectory() override;

  Result<std::unique_ptr<base::File>> Create(const std::string& name) override;
  Result<std::unique_ptr<base::File>> Open(const std::string& name, base::OpenMode mode) override;
  Status Remove(const std::string& name) override;
  Status Link(base::Directory& from, const std::string& name, const std::string& new_name) override;
  Result<std::vector<std::string>> List() override;
  Status Sync() override;
  Status Lock() override;
  bool HoldsLock() const override;
  Result<std::unique_ptr<base::SharedLock>> LockShared(const std::string& name) override;
  Result<bool> IsLockedShared(const std::string& name, uint64_t number) override;
  std::vector<int64_t> SharedLockHolders(const std::string& name) override;
  Result<uint64_t> FreeSpace() override;

 private:
  // Counts the operation. Errors: injected ones; kIoError after a crash.
  Status Admit(DiskOperation operation, const std::string& name);
  void Observe(DiskOperation operation, const std::string& name, const Inode* inode)
      REQUIRES(state_->mutex) {
    state_->Observe({.operation = operation, .directory = path_, .name = name, .inode = inode});
  }
  Status CheckAlive() const REQUIRES(state_->mutex);
  DirectoryImage& image() const REQUIRES(state_->mutex) { return *state_->image.Find(path_); }

  const std::shared_ptr<SimulatedState> state_;
  const std::string path_;
  const uint64_t life_;
};

SimulatedDirectory::~SimulatedDirectory() {
  base::MutexLock lock(state_->mutex);
  if (image().lock_holder == this) image().lock_holder = nullptr;
}

Status SimulatedDirectory::CheckAlive() const {
  if (life_ == state_->life) return {};
  return Status::IoError("directory '" + path_ + "' was opened before the machine stopped");
}

Status SimulatedDirectory::Admit(DiskOperation operation, const std::string& name) {
  {
    base::MutexLock lock(state_->mutex);
    RETURN_IF_ERROR(CheckAlive());
  }
  return state_->control.Admit({.operation = operation, .name = name}).status;
}

Result<std::unique_ptr<base::File>> SimulatedDirectory::Create(const std::string& name) {
  RETURN_IF_ERROR(base::CheckFileName(name));
  RETURN_IF_ERROR(Admit(DiskOperation::kCreate, name));
  base::MutexLock lock(state_->mutex);
  RETURN_IF_ERROR(CheckAlive());
  RETURN_IF_ERROR(state_->CheckOpenFiles("create", name));
  if (image().visible.count(name) != 0) {
    return Status::AlreadyExists("cannot create '" + name + "': it exists");
  }
  std::shared_ptr<Inode> inode = state_->image.NewInode(path_);
  inode->is_linked = true;
  image().Change({.id = state_->image.NextEffectId(), .name = name, .inode = inode});
  Observe(DiskOperation::kCreate, name, inode.get());
  return std::unique_ptr<base::File>(
      std::make_unique<SimulatedFile>(state_, std::move(inode), name, base::OpenMode::kReadWrite));
}

Result<std::unique_ptr<base::File>> SimulatedDirectory::Open(const std::string& name,
                                                             base::OpenMode mode) {
  RETURN_IF_ERROR(base::CheckFileName(name));
  RETURN_IF_ERROR(Admit(DiskOperation::kOpen, name));
  base::MutexLock lock(state_->mutex);
  RETURN_IF_ERROR(CheckAlive());
  RETURN_IF_ERROR(state_->CheckOpenFiles("open", name));
  const auto found = image().visible.find(name);
  if (found == image().visible.end()) {
    return Status::NotFound("cannot open '" + name + "': it does not exist");
  }
  Observe(DiskOperation::kOpen, name, found->second.get());
  return std::unique_ptr<base::File>(
      std::make_unique<SimulatedFile>(state_, found->second, name, mode));
}

Status SimulatedDirectory::Remove(const std::string& name) {
  RETURN_IF_ERROR(base::CheckFileName(name));
  RETURN_IF_ERROR(Admit(DiskOperation::kRemove, name));
  base::MutexLock lock(state_->mutex);
  RETURN_IF_ERROR(CheckAlive());
  const auto found = image().visible.find(name);
  if (found == image().visible.end()) {
    return Status::NotFound("cannot remove '" + name + "': it does not exist");
  }
  const std::shared_ptr<Inode> inode = found->second;
  inode->DropName();
  image().Change({.id = state_->image.NextEffectId(), .name = name, .inode = nullptr});
  Observe(DiskOperation::kRemove, name, inode.get());
  return {};
}

Status SimulatedDirectory::Link(base::Directory& from, const std::string& name,
                                const std::string& new_name) {
  RETURN_IF_ERROR(base::CheckFileName(name));
  RETURN_IF_ERROR(base::CheckFileName(new_name));
  auto* const source = dynamic_cast<SimulatedDirectory*>(&from);
  if (source == nullptr || source->state_ != state_) return Directory::Link(from, name, new_name);
  RETURN_IF_ERROR(Admit(DiskOperation::kLink, new_name));
  base::MutexLock lock(state_->mutex);
  RETURN_IF_ERROR(CheckAlive());
  const DirectoryImage& source_image = *state_->image.Find(source->path_);
  const auto found = source_image.visible.find(name);
  if (found == source_image.visible.end()) {
    return Status::NotFound("cannot link '" + name + "': it does not exist");
  }
  if (image().visible.count(new_name) != 0) {
    return Status::AlreadyExists("cannot link '" + new_name + "': it exists");
  }
  const std::shared_ptr<Inode> inode = found->second;
  inode->AddName();
  image().Change({.id = state_->image.NextEffectId(), .name = new_name, .inode = inode});
  Observe(DiskOperation::kLink, new_name, inode.get());
  return {};
}

Result<std::vector<std::string>> SimulatedDirectory::List() {
  RETURN_IF_ERROR(Admit(DiskOperation::kList, path_));
  base::MutexLock lock(state_->mutex);
  RETURN_IF_ERROR(CheckAlive());
  std::vector<std::string> names;
  for (const auto& [name, inode] : image().visible) names.push_back(name);
  return names;
}

// A failed sync leaves the names as they were: a later one may make them durable.
Status SimulatedDirectory::Sync() {
  uint64_t last_effect = 0;
  {
    base::MutexLock lock(state_->mutex);
    last_effect = state_->image.last_effect_id();
  }
  {
    base::MutexLock lock(state_->mutex);
    RETURN_IF_ERROR(CheckAlive());
  }
  const DiskControl::Verdict verdict =
      state_->control.Admit({.operation = DiskOperation::kDirectorySync, .name = path_});
  if (!verdict.status.ok()) {
    if (verdict.is_power_off || !IsSilent(verdict.sync_failure)) return verdict.status;
    base::MutexLock lock(state_->mutex);
    if (state_->observer != nullptr) state_->observer->Distrust();
    return {};
  }
  base::MutexLock lock(state_->mutex);
  RETURN_IF_ERROR(CheckAlive());
  state_->image.SyncNames(&image(), last_effect);
  return {};
}

Status SimulatedDirectory::Lock() {
  base::MutexLock lock(state_->mutex);
  RETURN_IF_ERROR(CheckAlive());
  const void*& holder = image().lock_holder;
  if (holder != nullptr && holder != this) {
    return Status::Busy("directory '" + path_ + "' is locked by this process, " +
                        std::to_string(getpid()));
  }
  holder = this;
  return {};
}

bool SimulatedDirectory::HoldsLock() const {
  base::MutexLock lock(state_->mutex);
  return image().lock_holder == this;
}

// `name` is the same for all locks of a directory, so only the directory counts.
Result<std::unique_ptr<base::SharedLock>> SimulatedDirectory::LockShared(const std::string& name) {
  base::MutexLock lock(state_->mutex);
  RETURN_IF_ERROR(CheckAlive());
  if (image().visible.count(name) == 0) {
    return Status::NotFound("cannot lock '" + name + "': it does not exist");
  }
  const uint64_t id = ++state_->last_shared_lock;
  image().shared_locks[id] = ~uint64_t{0};
  return std::unique_ptr<base::SharedLock>(
      std::make_unique<SimulatedSharedLock>(state_, path_, id));
}

Result<bool> SimulatedDirectory::IsLockedShared(const std::string&, uint64_t number) {
  base::MutexLock lock(state_->mutex);
  RETURN_IF_ERROR(CheckAlive());
  for (const auto& [id, bound] : image().shared_locks) {
    if (number < bound) return true;
  }
  return false;
}

// One process simulates all.
std::vector<int64_t> SimulatedDirectory::SharedLockHolders(const std::string&) {
  base::MutexLock lock(state_->mutex);
  if (!CheckAlive().ok() || image().shared_locks.empty()) return {};
  return {getpid()};
}

Result<uint64_t> SimulatedDirectory::FreeSpace() {
  base::MutexLock lock(state_->mutex);
  RETURN_IF_ERROR(CheckAlive());
  const auto budget = state_->control.space_budget();
  if (!budget.has_value()) return kUnlimitedSpace;
  const uint64_t used = state_->image.used_bytes();
  return *budget > used ? *budget - used : 0;
}

}  // namespace

std::unique_ptr<base::Directory> NewSimulatedDirectory(std::shared_ptr<SimulatedState> state,
                                                       std::string path, uint64_t life) {
  return std::make_unique<SimulatedDirectory>(std::move(state), std::move(path), life);
}

}  // namespace tandem::test
