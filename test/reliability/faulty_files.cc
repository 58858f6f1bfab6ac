// See faulty_files.h.
#include "test/reliability/faulty_files.h"

#include <cerrno>
#include <vector>

namespace tandem::reliability {
namespace {

using test::DiskFault;
using test::DiskOperation;
using test::RingFault;
using test::SyncFailure;
using Call = EmulatedCall;

// Small enough that a block of one read is gone before the next.
constexpr uint64_t kNoCacheBytes = 1;

// Errors that only the disk can show: what they leave behind decides.
std::vector<FaultKind> DiskKinds() {
  const std::vector<DiskOperation> growing = {DiskOperation::kWrite, DiskOperation::kPreallocate,
                                              DiskOperation::kExtend, DiskOperation::kCreate,
                                              DiskOperation::kDataSync};
  const std::vector<DiskOperation> syncing = {DiskOperation::kDataSync};
  const Status error = Status::IoError("injected: the disk answers with an error");
  const Status full = Status::NoSpace("injected: no space left on the disk");
  const auto kind = [](const char* name, DiskFault fault) {
    return FaultKind{.name = name, .back_end = BackEnd::kDisk, .fault = std::move(fault)};
  };
  std::vector<FaultKind> kinds = {
      kind("EIO", {.status = error}),
      kind("EIO after a part", {.partly = true, .status = error}),
      kind("ENOSPC after a part", {.operations = growing, .partly = true, .status = full}),
      kind("a sync that reverts", {.operations = syncing, .sync_failure = SyncFailure::kReverted}),
      kind("a sync that fails once a handle",
           {.operations = syncing, .sync_failure = SyncFailure::kOncePerHandle}),
  };
  kinds[0].is_for_pairs = true;
  return kinds;
}

std::vector<FaultKind> CallKinds() {
  const std::vector<Call> growing = {Call::kWrite,        Call::kPreallocate, Call::kExtend,
                                     Call::kCreate,       Call::kSync,        Call::kDirectorySync,
                                     Call::kMakeDirectory};
  const std::vector<Call> opening = {Call::kOpen, Call::kCreate, Call::kOpenDirectory};
  const std::vector<Call> waiting = {Call::kRead,          Call::kWrite,    Call::kSync,
                                     Call::kDirectorySync, Call::kTruncate, Call::kPreallocate,
                                     Call::kExtend};
  std::vector<Call> slow = waiting;
  slow.insert(slow.end(), {Call::kOpen, Call::kCreate, Call::kOpenDirectory, Call::kLock});
  const auto kind = [](const char* name, CallFault fault) {
    return FaultKind{.name = name, .back_end = BackEnd::kPosix, .fault = std::move(fault)};
  };
  std::vector<FaultKind> kinds = {
      kind("EIO", {.error = EIO}),
      kind("ENOSPC", {.calls = growing, .error = ENOSPC}),
      kind("EMFILE", {.calls = opening, .error = EMFILE}),
      kind("a short transfer", {.calls = {Call::kRead, Call::kWrite}, .error = 0}),
      kind("EINTR", {.calls = slow, .error = EINTR}),
      kind("EAGAIN", {.calls = waiting, .error = EAGAIN}),
  };
  for (size_t i = 3; i < kinds.size(); ++i) kinds[i].passes_once = true;
  kinds[3].passes_always = true;
  return kinds;
}

// What a ring refuses for good, plain calls do.
std::vector<FaultKind> RingKinds() {
  const auto kind = [](const char* name, RingFault::Of of, int error) {
    const bool passes = of == RingFault::Of::kEnter || error != EIO;
    return FaultKind{.name = name,
                     .back_end = BackEnd::kRing,
                     .fault = RingFault{.of = of, .error = error},
                     .passes_once = passes,
                     .passes_always = passes};
  };
  constexpr auto kCompletion = RingFault::Of::kCompletion;
  constexpr auto kEnter = RingFault::Of::kEnter;
  return {
      kind("a completion with EIO", kCompletion, EIO),
      kind("a completion with EAGAIN", kCompletion, EAGAIN),
      kind("a completion with EINTR", kCompletion, EINTR),
      kind("a completion with ECANCELED", kCompletion, ECANCELED),
      kind("a completion of a part", kCompletion, 0),
      kind("a submission refused with EAGAIN", kEnter, EAGAIN),
      kind("a submission refused with EBUSY", kEnter, EBUSY),
      kind("a submission refused with EINTR", kEnter, EINTR),
      kind("a submission refused with ENOMEM", kEnter, ENOMEM),
      kind("a submission refused with EIO", kEnter, EIO),
  };
}

std::vector<FaultKind> AllKinds() {
  std::vector<FaultKind> kinds = DiskKinds();
  for (FaultKind& kind : CallKinds()) kinds.push_back(std::move(kind));
  for (FaultKind& kind : RingKinds()) kinds.push_back(std::move(kind));
  return kinds;
}

bool CountsAll(const FaultKind& kind) {
  const auto* const disk = std::get_if<DiskFault>(&kind.fault);
  const auto* const call = std::get_if<CallFault>(&kind.fault);
  return !(disk != nullptr && !disk->operations.empty()) &&
         !(call != nullptr && !call->calls.empty());
}

}  // namespace

const char* BackEndName(BackEnd back_end) {
  constexpr const char* kNames[] = {"simulated files", "POSIX calls", "rings"};
  return kNames[static_cast<size_t>(back_end)];
}

std::span<const FaultKind> FaultKinds() {
  static const std::vector<FaultKind> kinds = AllKinds();
  return kinds;
}

std::string Fault::Describe() const {
  std::string text = kind->name;
  text += sticky ? ", from number " : ", at number ";
  text += std::to_string(at);
  if (!CountsAll(*kind)) text += " of those that can fail so";
  return text + (sticky ? " on" : "");
}

FaultyFiles::FaultyFiles(uint64_t seed, BackEnd back_end) : disk_(seed) {
  if (back_end == BackEnd::kRing) disk_.UseRings({.faults = rings_});
  if (back_end != BackEnd::kPosix) return;
  calls_.emplace(&disk_);
  posix_ = base::NewPosixFileSystem();
}

void FaultyFiles::Inject(const Fault& fault) {
  const auto placed = [&fault](auto of_kind) {
    of_kind.at = fault.at;
    of_kind.sticky = fault.sticky;
    return of_kind;
  };
  if (const auto* const call = std::get_if<CallFault>(&fault.kind->fault)) {
    return calls_->Inject(placed(*call));
  }
  if (const auto* const ring = std::get_if<RingFault>(&fault.kind->fault)) {
    return rings_->Inject(placed(*ring));
  }
  disk_.control().InjectFault(placed(std::get<DiskFault>(fault.kind->fault)));
}

void FaultyFiles::ClearFaults() {
  if (calls_.has_value()) calls_->ClearFaults();
  rings_->Clear();
  disk_.control().ClearFaults();
}

bool FaultyFiles::has_struck() {
  return (calls_.has_value() && calls_->has_struck()) || rings_->has_struck() ||
         disk_.control().has_struck();
}

uint64_t FaultyFiles::CountFor(const FaultKind& kind) {
  if (std::holds_alternative<CallFault>(kind.fault)) return calls_->call_count();
  if (const auto* const ring = std::get_if<RingFault>(&kind.fault)) return rings_->count(ring->of);
  return disk_.control().operation_count();
}

Workload WorkloadFor(const Workload& workload, BackEnd back_end) {
  Workload changed = workload;
  if (back_end == BackEnd::kRing) changed.tuning.block_cache_bytes = kNoCacheBytes;
  return changed;
}

}  // namespace tandem::reliability
