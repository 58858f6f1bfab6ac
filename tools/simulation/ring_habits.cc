// Counting the operations of rings down to those that fail.
#include "tools/simulation/ring_habits.h"

namespace tandem::test {
namespace {

bool Strikes(RingFault* fault) {
  if (fault->at <= 1) return true;
  --fault->at;
  return false;
}

}  // namespace

void RingFaults::Inject(const RingFault& fault) {
  base::MutexLock lock(mutex_);
  faults_.push_back(fault);
}

void RingFaults::Clear() {
  base::MutexLock lock(mutex_);
  faults_.clear();
}

bool RingFaults::has_struck() const {
  base::MutexLock lock(mutex_);
  return has_struck_;
}

uint64_t RingFaults::count(RingFault::Of of) const {
  base::MutexLock lock(mutex_);
  return counts_[static_cast<size_t>(of)];
}

std::optional<RingFault> RingFaults::Judge(RingFault::Of of) {
  base::MutexLock lock(mutex_);
  ++counts_[static_cast<size_t>(of)];
  std::optional<RingFault> struck;
  for (auto fault = faults_.begin(); fault != faults_.end();) {
    const bool strikes = fault->of == of && Strikes(&*fault);
    if (strikes) struck = *fault;
    fault = strikes && !fault->sticky ? faults_.erase(fault) : fault + 1;
  }
  has_struck_ = has_struck_ || struck.has_value();
  return struck;
}

}  // namespace tandem::test
