// See simulated_file.h. Each operation asks the control first, without the disk's lock, and then
// acts under it; a crash may come between the two.
#include "tools/simulation/simulated_file.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"

namespace tandem::test {
namespace {

constexpr uint64_t kFileBytesMax = uint64_t{1} << 32;

// What lies beyond would have to fit into memory.
Status CheckEnd(uint64_t offset, uint64_t size, const std::string& name) {
  if (offset <= kFileBytesMax && size <= kFileBytesMax - offset) return {};
  return Status::IoError("'" + name + "' would become larger than a simulated file can be");
}

}  // namespace

SimulatedFile::SimulatedFile(std::shared_ptr<SimulatedState> state, std::shared_ptr<Inode> inode,
                             std::string name, base::OpenMode mode) NO_THREAD_SAFETY_ANALYSIS
    : state_(std::move(state)),
      inode_(std::move(inode)),
      name_(std::move(name)),
      mode_(mode),
      life_(state_->life),
      seen_errors_(inode_->error_count) {
  ++inode_->open_count;
  OpenFileCount& count = state_->open_files;
  count.most = std::max(count.most, ++count.now);
}

SimulatedFile::~SimulatedFile() {
  base::MutexLock lock(state_->mutex);
  if (!CheckAliveLocked().ok()) return;
  inode_->Close();
  --state_->open_files.now;
}

Status SimulatedFile::CheckAliveLocked() const {
  if (life_ == state_->life) return {};
  return Status::IoError("'" + name_ + "' was opened before the machine stopped");
}

Status SimulatedFile::CheckAlive() const {
  base::MutexLock lock(state_->mutex);
  return CheckAliveLocked();
}

Status SimulatedFile::CheckWritable() const {
  RETURN_IF_ERROR(CheckAlive());
  if (mode_ == base::OpenMode::kReadWrite) return {};
  return Status::IoError("'" + name_ + "' is open for reading only");
}

Result<size_t> SimulatedFile::Read(uint64_t offset, std::span<char> buffer) {
  RETURN_IF_ERROR(CheckAlive());
  RETURN_IF_ERROR(state_->control
                      .Admit({.operation = DiskOperation::kRead,
                              .name = name_,
                              .offset = offset,
                              .size = buffer.size()})
                      .status);
  base::MutexLock lock(state_->mutex);
  RETURN_IF_ERROR(CheckAliveLocked());
  const std::string& bytes = inode_->visible.bytes;
  if (offset >= bytes.size()) return size_t{0};
  const size_t count = std::min<uint64_t>(buffer.size(), bytes.size() - offset);
  std::copy_n(bytes.data() + offset, count, buffer.data());
  Observe({.operation = DiskOperation::kRead,
           .directory = inode_->home,
           .name = name_,
           .offset = offset,
           .size = count});
  const auto faults = state_->read_faults.find(inode_->id);
  if (faults == state_->read_faults.end()) return count;
  return ReadThroughFaults(faults->second, *inode_, offset, buffer.first(count));
}

Status SimulatedFile::Write(uint64_t offset, std::string_view data) {
  RETURN_IF_ERROR(CheckWritable());
  RETURN_IF_ERROR(CheckEnd(offset, data.size(), name_));
  const DiskControl::Verdict verdict = state_->control.Admit(
      {.operation = DiskOperation::kWrite, .name = name_, .offset = offset, .size = data.size()});
  base::MutexLock lock(state_->mutex);
  RETURN_IF_ERROR(CheckAliveLocked());
  if (verdict.status.ok()) return WriteWhatFits(offset, data);
  if (verdict.partly) {
    WriteWhatFits(offset, data.substr(0, data.size() / 2)).Ignore("the write fails in any case");
  }
  return verdict.status;
}

// How many of the bytes at `offset` find space.
size_t SimulatedFile::Fitting(uint64_t offset, size_t size) const {
  const auto budget = state_->control.space_budget();
  if (!budget.has_value()) return size;
  const uint64_t used = state_->image.used_bytes();
  const uint64_t end = inode_->used_bytes() + (*budget > used ? *budget - used : 0);
  return end > offset ? std::min<uint64_t>(size, end - offset) : 0;
}

Status SimulatedFile::WriteWhatFits(uint64_t offset, std::string_view data) {
  const size_t count = Fitting(offset, data.size());
  WriteVisible(offset, data.substr(0, count));
  if (count == data.size()) return {};
  return Status::NoSpace("cannot write at offset " + std::to_string(offset + count) + " of '" +
                         name_ + "': the simulated disk is full");
}

void SimulatedFile::WriteVisible(uint64_t offset, std::string_view data) {
  if (data.empty()) return;
  Observe({.operation = DiskOperation::kWrite,
           .directory = inode_->home,
           .name = name_,
           .offset = offset,
           .data = data});
  const uint64_t end = offset + data.size();
  // As file systems do, which learn of a file's size when its pages are written: a growth that a
  // failed sync lost comes back with a write that reaches so far.
  if (end > inode_->KeptSize()) {
    inode_->Change({.kind = Effect::Kind::kGrow, .id = state_->image.NextEffectId(), .size = end});
  }
  inode_->Change({.kind = Effect::Kind::kBytes,
                  .id = state_->image.NextEffectId(),
                  .offset = offset,
                  .bytes = std::string(data)});
}

uint64_t SimulatedFile::LastEffect() const {
  base::MutexLock lock(state_->mutex);
  return state_->image.last_effect_id();
}

Status SimulatedFile::DataSync() { return SyncUpTo(LastEffect()); }

Status SimulatedFile::SyncUpTo(uint64_t last_effect) {
  RETURN_IF_ERROR(CheckAlive());
  const DiskControl::Verdict verdict =
      state_->control.Admit({.operation = DiskOperation::kDataSync, .name = name_});
  base::MutexLock lock(state_->mutex);
  RETURN_IF_ERROR(CheckAliveLocked());
  if (verdict.is_power_off) return verdict.status;
  if (verdict.status.ok()) {
    inode_->Sync(last_effect);
    const Status past = PastError();
    if (past.ok()) {
      Observe({.operation = DiskOperation::kDataSync, .directory = inode_->home, .name = name_});
    }
    return past;
  }
  if (IsSilent(verdict.sync_failure) && state_->observer != nullptr) state_->observer->Distrust();
  Survival survival({.kept = CrashPolicy::Kept::kRandom, .seed = state_->random->Next64()});
  inode_->FailSync(verdict.sync_failure, verdict.status, verdict.partly ? &survival : nullptr);
  seen_errors_ = inode_->error_count;
  return IsSilent(verdict.sync_failure) ? Status() : verdict.status;
}

void SimulatedFile::Observe(Observation seen) {
  seen.inode = inode_.get();
  state_->Observe(seen);
}

// The error of an earlier sync that this handle learns of now.
Status SimulatedFile::PastError() {
  if (inode_->late_error.has_value()) return *std::exchange(inode_->late_error, std::nullopt);
  if (seen_errors_ == inode_->error_count) return {};
  seen_errors_ = inode_->error_count;
  return inode_->handle_error.value_or(Status());
}

Result<uint64_t> SimulatedFile::Size() {
  base::MutexLock lock(state_->mutex);
  RETURN_IF_ERROR(CheckAliveLocked());
  return inode_->visible.size_bytes;
}

Status SimulatedFile::Truncate(uint64_t size_bytes) {
  RETURN_IF_ERROR(CheckWritable());
  RETURN_IF_ERROR(CheckEnd(0, size_bytes, name_));
  RETURN_IF_ERROR(
      state_->control
          .Admit({.operation = DiskOperation::kTruncate, .name = name_, .size = size_bytes})
          .status);
  base::MutexLock lock(state_->mutex);
  RETURN_IF_ERROR(CheckAliveLocked());
  inode_->Change(
      {.kind = Effect::Kind::kResize, .id = state_->image.NextEffectId(), .size = size_bytes});
  Observe({.operation = DiskOperation::kTruncate,
           .directory = inode_->home,
           .name = name_,
           .size = size_bytes});
  return {};
}

Status SimulatedFile::Preallocate(uint64_t size_bytes) {
  RETURN_IF_ERROR(CheckWritable());
  RETURN_IF_ERROR(CheckEnd(0, size_bytes, name_));
  RETURN_IF_ERROR(
      state_->control
          .Admit({.operation = DiskOperation::kPreallocate, .name = name_, .size = size_bytes})
          .status);
  base::MutexLock lock(state_->mutex);
  RETURN_IF_ERROR(CheckAliveLocked());
  if (Fitting(0, size_bytes) < size_bytes) {
    return Status::NoSpace("cannot reserve space for '" + name_ + "': the simulated disk is full");
  }
  inode_->Change(
      {.kind = Effect::Kind::kReserve, .id = state_->image.NextEffectId(), .size = size_bytes});
  return {};
}

Status SimulatedFile::Extend(uint64_t size_bytes) {
  RETURN_IF_ERROR(CheckWritable());
  RETURN_IF_ERROR(CheckEnd(0, size_bytes, name_));
  RETURN_IF_ERROR(
      state_->control
          .Admit({.operation = DiskOperation::kExtend, .name = name_, .size = size_bytes})
          .status);
  base::MutexLock lock(state_->mutex);
  RETURN_IF_ERROR(CheckAliveLocked());
  if (Fitting(0, size_bytes) < size_bytes) {
    return Status::NoSpace("cannot extend '" + name_ + "': the simulated disk is full");
  }
  if (size_bytes > inode_->visible.size_bytes) {
    inode_->Change(
        {.kind = Effect::Kind::kGrow, .id = state_->image.NextEffectId(), .size = size_bytes});
    inode_->visible.zeroed_bytes = size_bytes;
  }
  Observe({.operation = DiskOperation::kExtend,
           .directory = inode_->home,
           .name = name_,
           .size = size_bytes});
  return Status();
}

}  // namespace tandem::test
