// See simulated_disk.h.
#include "test/support/simulated_disk.h"

#include "base/mutex.h"
#include "test/support/simulated_handles.h"

namespace tandem::test {
namespace {

std::string WithoutTrailingSlashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

Status NoSuchFile(const std::string& path, const std::string& file) {
  return Status::NotFound("the simulated disk has no '" + path + "/" + file + "'");
}

}  // namespace

SimulatedDisk::SimulatedDisk(uint64_t seed) : state_(std::make_shared<SimulatedState>(seed)) {}
SimulatedDisk::~SimulatedDisk() = default;

DiskControl& SimulatedDisk::control() { return state_->control; }

Result<std::unique_ptr<base::Directory>> SimulatedDisk::OpenDirectory(const std::string& path,
                                                                      bool create) {
  const std::string plain = WithoutTrailingSlashes(path);
  base::MutexLock lock(state_->mutex);
  if (state_->image.Find(plain) == nullptr) {
    if (!create) return Status::NotFound("directory '" + plain + "' does not exist");
    state_->image.Make(plain);
  }
  return NewSimulatedDirectory(state_, plain, state_->life);
}

std::unique_ptr<base::IoQueue> SimulatedDisk::NewQueue(uint32_t depth) {
  return NewSimulatedQueue(state_, depth);
}

void SimulatedDisk::Crash(const CrashPolicy& policy) {
  {
    base::MutexLock lock(state_->mutex);
    ++state_->life;
    state_->image.Crash(policy);
  }
  state_->control.PowerOn();
}

void SimulatedDisk::KillProcess() {
  base::MutexLock lock(state_->mutex);
  ++state_->life;
  state_->image.DropHandles();
}

std::unique_ptr<SimulatedDisk> SimulatedDisk::CrashedCopy(const CrashPolicy& policy) const {
  auto copy = std::make_unique<SimulatedDisk>(policy.seed);
  base::MutexLock lock(state_->mutex);
  base::MutexLock copy_lock(copy->state_->mutex);
  copy->state_->image.CopyFrom(state_->image);
  copy->state_->image.Crash(policy);
  return copy;
}

Result<std::string> SimulatedDisk::Content(const std::string& path, const std::string& file) const {
  base::MutexLock lock(state_->mutex);
  const DirectoryImage* directory = state_->image.Find(WithoutTrailingSlashes(path));
  if (directory == nullptr) return NoSuchFile(path, file);
  const auto found = directory->visible.find(file);
  if (found == directory->visible.end()) return NoSuchFile(path, file);
  return found->second->visible.bytes;
}

void SimulatedDisk::SetContent(const std::string& path, const std::string& file,
                               std::string_view content) {
  base::MutexLock lock(state_->mutex);
  DirectoryImage* directory = state_->image.Make(WithoutTrailingSlashes(path));
  std::shared_ptr<Inode>& inode = directory->visible[file];
  if (inode == nullptr) inode = state_->image.NewInode();
  inode->is_linked = true;
  inode->pending.clear();
  inode->durable = {.bytes = std::string(content), .size_bytes = content.size()};
  inode->visible = inode->durable;
  directory->durable[file] = inode;
  std::erase_if(directory->pending, [&](const NameEffect& effect) { return effect.name == file; });
}

Status SimulatedDisk::RemoveDurably(const std::string& path, const std::string& file) {
  base::MutexLock lock(state_->mutex);
  DirectoryImage* directory = state_->image.Find(WithoutTrailingSlashes(path));
  if (directory == nullptr) return NoSuchFile(path, file);
  const auto found = directory->visible.find(file);
  if (found == directory->visible.end()) return NoSuchFile(path, file);
  found->second->DropName();
  directory->visible.erase(found);
  directory->durable.erase(file);
  std::erase_if(directory->pending, [&](const NameEffect& effect) { return effect.name == file; });
  return Status();
}

uint64_t SimulatedDisk::used_bytes() const {
  base::MutexLock lock(state_->mutex);
  return state_->image.used_bytes();
}

}  // namespace tandem::test
