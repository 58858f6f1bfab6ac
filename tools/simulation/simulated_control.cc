// See simulated_control.h.
#include "tools/simulation/simulated_control.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace tandem::test {
namespace {

bool Concerns(const DiskFault& fault, DiskOperation operation) {
  const auto& operations = fault.operations;
  return operations.empty() ||
         std::find(operations.begin(), operations.end(), operation) != operations.end();
}

}  // namespace

std::string_view DiskOperationName(DiskOperation operation) {
  switch (operation) {
    case DiskOperation::kRead:
      return "read";
    case DiskOperation::kWrite:
      return "write";
    case DiskOperation::kTruncate:
      return "truncate";
    case DiskOperation::kPreallocate:
      return "preallocate";
    case DiskOperation::kDataSync:
      return "sync";
    case DiskOperation::kCreate:
      return "create";
    case DiskOperation::kOpen:
      return "open";
    case DiskOperation::kRemove:
      return "remove";
    case DiskOperation::kList:
      return "list";
    case DiskOperation::kDirectorySync:
      return "directory sync";
    case DiskOperation::kLink:
      return "link";
    case DiskOperation::kExtend:
      return "extend";
  }
  return "unknown";
}

std::string Describe(const DiskEvent& event) {
  std::string text(DiskOperationName(event.operation));
  text += " " + event.name;
  const bool has_range =
      event.operation == DiskOperation::kRead || event.operation == DiskOperation::kWrite;
  if (has_range) text += " at " + std::to_string(event.offset);
  if (event.size != 0) text += ", " + std::to_string(event.size) + " bytes";
  return text;
}

DiskControl::Verdict DiskControl::Admit(const DiskEvent& event) {
  std::function<void(const DiskEvent&)> hook;
  {
    base::MutexLock lock(mutex_);
    hook = hook_;
  }
  if (hook) hook(event);
  base::MutexLock lock(mutex_);
  last_events_[operation_count_ % last_events_.size()] = event;
  ++operation_count_;
  if (is_tracing_) trace_.push_back(event);
  return Judge(event.operation);
}

DiskControl::Verdict DiskControl::Judge(DiskOperation operation) {
  if (power_off_in_.has_value()) {
    if (*power_off_in_ <= 1) {
      return {.status = Status::IoError("injected: the power is off"), .is_power_off = true};
    }
    --*power_off_in_;
  }
  Verdict verdict;
  for (auto fault = faults_.begin(); fault != faults_.end();) {
    if (!Concerns(*fault, operation)) {
      ++fault;
      continue;
    }
    if (fault->at > 1) {
      --fault->at;
      ++fault;
      continue;
    }
    has_struck_ = true;
    verdict = {
        .status = fault->status, .partly = fault->partly, .sync_failure = fault->sync_failure};
    fault = fault->sticky ? fault + 1 : faults_.erase(fault);
  }
  return verdict;
}

void DiskControl::InjectFault(DiskFault fault) {
  base::MutexLock lock(mutex_);
  faults_.push_back(std::move(fault));
}

void DiskControl::ClearFaults() {
  base::MutexLock lock(mutex_);
  faults_.clear();
  has_struck_ = false;
}

void DiskControl::PowerOffAt(uint64_t at) {
  base::MutexLock lock(mutex_);
  power_off_in_ = at;
}

void DiskControl::PowerOn() {
  base::MutexLock lock(mutex_);
  power_off_in_.reset();
}

uint64_t DiskControl::operation_count() const {
  base::MutexLock lock(mutex_);
  return operation_count_;
}

bool DiskControl::has_struck() const {
  base::MutexLock lock(mutex_);
  return has_struck_;
}

void DiskControl::SetTracing(bool on) {
  base::MutexLock lock(mutex_);
  is_tracing_ = on;
}

std::vector<DiskEvent> DiskControl::TakeTrace() {
  base::MutexLock lock(mutex_);
  return std::exchange(trace_, {});
}

void DiskControl::SetHook(std::function<void(const DiskEvent&)> hook) {
  base::MutexLock lock(mutex_);
  hook_ = std::move(hook);
}

void DiskControl::Report(const std::string& violation) {
  base::MutexLock lock(mutex_);
  if (violation_handler_) return violation_handler_(violation);
  const uint64_t count = std::min<uint64_t>(operation_count_, last_events_.size());
  std::fprintf(stderr, "the simulated disk: %s\nthe last %llu operations:\n", violation.c_str(),
               static_cast<unsigned long long>(count));
  for (uint64_t i = operation_count_ - count; i < operation_count_; ++i) {
    std::fprintf(stderr, "  %s\n", Describe(last_events_[i % last_events_.size()]).c_str());
  }
  std::abort();
}

void DiskControl::SetViolationHandler(std::function<void(const std::string&)> handler) {
  base::MutexLock lock(mutex_);
  violation_handler_ = std::move(handler);
}

void DiskControl::SetSpaceBudget(std::optional<uint64_t> size_bytes) {
  base::MutexLock lock(mutex_);
  space_budget_ = size_bytes;
}

std::optional<uint64_t> DiskControl::space_budget() const {
  base::MutexLock lock(mutex_);
  return space_budget_;
}

}  // namespace tandem::test
