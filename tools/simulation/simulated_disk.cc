// See simulated_disk.h.
#include "tools/simulation/simulated_disk.h"

#include <algorithm>
#include <optional>

#include "base/mutex.h"
#include "tools/simulation/emulated_ring.h"
#include "tools/simulation/simulated_handles.h"
#include "tools/simulation/trace_linter.h"

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

void SimulatedState::Observe(const Observation& seen) {
  if (observer == nullptr) return;
  const std::string violation = observer->Observe(seen, &image);
  if (!violation.empty()) control.Report(violation);
}

Status SimulatedState::CheckOpenFiles(std::string_view action, const std::string& name) const {
  if (!open_files_max.has_value() || open_files.now < *open_files_max) return {};
  return Status::Unavailable("cannot " + std::string(action) + " '" + name +
                             "': too many open files (simulated)");
}

SimulatedDisk::SimulatedDisk(uint64_t seed)
    : SimulatedDisk(seed, std::make_unique<TraceLinter>()) {}
SimulatedDisk::SimulatedDisk(uint64_t seed, std::unique_ptr<DiskObserver> observer)
    : state_(std::make_shared<SimulatedState>(seed, std::move(observer))) {}
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
  std::optional<RingHabits> rings;
  {
    base::MutexLock lock(state_->mutex);
    rings = state_->rings;
  }
  if (!rings.has_value()) return NewSimulatedQueue(state_, depth);
  const uint32_t slot_count = std::clamp<uint32_t>(depth, 1, base::kRingDepthMax);
  return base::NewRingQueue(NewEmulatedRing(state_, slot_count, *rings), slot_count);
}

void SimulatedDisk::UseRings(const RingHabits& habits) {
  base::MutexLock lock(state_->mutex);
  state_->rings = habits;
}

void SimulatedDisk::Crash(const CrashPolicy& policy) {
  {
    base::MutexLock lock(state_->mutex);
    ++state_->life;
    state_->open_files = {};
    state_->image.Crash(policy);
  }
  state_->control.PowerOn();
}

void SimulatedDisk::KillProcess() {
  base::MutexLock lock(state_->mutex);
  ++state_->life;
  state_->open_files = {};
  state_->image.DropHandles();
}

void SimulatedDisk::Evict(uint64_t seed) {
  base::MutexLock lock(state_->mutex);
  state_->image.Evict(seed);
}

std::unique_ptr<SimulatedDisk> SimulatedDisk::Copy(uint64_t seed) const {
  auto copy = std::make_unique<SimulatedDisk>(seed);
  base::MutexLock lock(state_->mutex);
  base::MutexLock copy_lock(copy->state_->mutex);
  copy->state_->image.CopyFrom(state_->image);
  copy->state_->rings = state_->rings;
  if (copy->state_->rings.has_value()) copy->state_->rings->faults = nullptr;
  return copy;
}

std::unique_ptr<SimulatedDisk> SimulatedDisk::CrashedCopy(const CrashPolicy& policy) const {
  auto copy = Copy(policy.seed);
  base::MutexLock lock(copy->state_->mutex);
  copy->state_->image.Crash(policy);
  return copy;
}

std::unique_ptr<SimulatedDisk> SimulatedDisk::KilledCopy() const {
  auto copy = Copy(1);
  copy->KillProcess();
  return copy;
}

std::vector<PendingEffect> SimulatedDisk::PendingEffects() const {
  base::MutexLock lock(state_->mutex);
  return state_->image.PendingEffects();
}

size_t SimulatedDisk::pending_count() const {
  base::MutexLock lock(state_->mutex);
  return state_->image.pending_count();
}

uint64_t SimulatedDisk::ImageHash() const {
  base::MutexLock lock(state_->mutex);
  return state_->image.VisibleHash();
}

Result<std::string> SimulatedDisk::Content(const std::string& path, const std::string& file) const {
  base::MutexLock lock(state_->mutex);
  const DirectoryImage* directory = state_->image.Find(WithoutTrailingSlashes(path));
  if (directory == nullptr) return NoSuchFile(path, file);
  const auto found = directory->visible.find(file);
  if (found == directory->visible.end()) return NoSuchFile(path, file);
  return found->second->visible.bytes;
}

Status SimulatedDisk::InjectReadFault(const std::string& path, const std::string& file,
                                      const ReadFault& fault) {
  base::MutexLock lock(state_->mutex);
  const DirectoryImage* directory = state_->image.Find(WithoutTrailingSlashes(path));
  if (directory == nullptr) return NoSuchFile(path, file);
  const auto found = directory->visible.find(file);
  if (found == directory->visible.end()) return NoSuchFile(path, file);
  state_->read_faults[found->second->id].push_back(fault);
  return {};
}

void SimulatedDisk::HealReads() {
  base::MutexLock lock(state_->mutex);
  state_->read_faults.clear();
}

void SimulatedDisk::SetContent(const std::string& path, const std::string& file,
                               std::string_view content) {
  base::MutexLock lock(state_->mutex);
  const std::string plain = WithoutTrailingSlashes(path);
  DirectoryImage* directory = state_->image.Make(plain);
  std::shared_ptr<Inode>& inode = directory->visible[file];
  if (inode == nullptr) inode = state_->image.NewInode(plain);
  if (state_->observer != nullptr) state_->observer->Tampered(plain);
  inode->is_linked = true;
  inode->pending.clear();
  inode->lost.Clear();
  inode->durable = Image::Of(content);
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
  if (state_->observer != nullptr) state_->observer->Tampered(WithoutTrailingSlashes(path));
  found->second->DropName();
  directory->visible.erase(found);
  directory->durable.erase(file);
  std::erase_if(directory->pending, [&](const NameEffect& effect) { return effect.name == file; });
  return {};
}

uint64_t SimulatedDisk::used_bytes() const {
  base::MutexLock lock(state_->mutex);
  return state_->image.used_bytes();
}

OpenFileCount SimulatedDisk::TakeOpenFiles() {
  base::MutexLock lock(state_->mutex);
  const OpenFileCount count = state_->open_files;
  state_->open_files.most = count.now;
  return count;
}

void SimulatedDisk::LimitOpenFiles(std::optional<uint64_t> open_files_max) {
  base::MutexLock lock(state_->mutex);
  state_->open_files_max = open_files_max;
}

}  // namespace tandem::test
