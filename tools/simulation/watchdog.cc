// See watchdog.h.
#include "tools/simulation/watchdog.h"

#include <algorithm>
#include <utility>

namespace tandem::test {
namespace {

constexpr int64_t kPauseMicrosMin = 1'000, kPauseMicrosMax = 100'000;
// A longer pause than this many was not the watchdog's: the whole process was stopped.
constexpr int64_t kPausesCounted = 5;

}  // namespace

Watchdog::Watchdog(Setup setup)
    : setup_(std::move(setup)), clock_(base::NewSystemClock()), slots_(setup_.slots) {
  if (setup_.limit_micros > 0) thread_ = std::thread([this] { Watch(); });
}

Watchdog::~Watchdog() {
  {
    base::MutexLock lock(mutex_);
    is_over_ = true;
    over_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void Watchdog::Begin(size_t slot, std::function<std::string()> describe) {
  base::MutexLock lock(slots_[slot].mutex);
  slots_[slot].begin_micros = now_micros_.load(std::memory_order_relaxed);
  slots_[slot].describe = std::move(describe);
}

void Watchdog::End(size_t slot) {
  base::MutexLock lock(slots_[slot].mutex);
  slots_[slot].describe = nullptr;
}

int64_t Watchdog::PauseMicros() const {
  return std::clamp(setup_.limit_micros / 10, kPauseMicrosMin, kPauseMicrosMax);
}

void Watchdog::Watch() {
  int64_t last = clock_->MonotonicMicros();
  std::vector<Underway> found;
  while (!Look(&found)) {
    {
      base::MutexLock lock(mutex_);
      if (!is_over_) over_.WaitFor(mutex_, PauseMicros());
      if (is_over_) return;
    }
    const int64_t now = clock_->MonotonicMicros();
    const int64_t passed = std::min(now - last, kPausesCounted * PauseMicros());
    now_micros_.store(now_micros_.load(std::memory_order_relaxed) + passed,
                      std::memory_order_relaxed);
    last = now;
  }
  setup_.on_hang(found);
}

bool Watchdog::Look(std::vector<Underway>* found) {
  const int64_t now = now_micros_.load(std::memory_order_relaxed);
  const auto hangs = [&](int64_t begin) { return now - begin > setup_.limit_micros; };
  const bool any = std::ranges::any_of(slots_, [&](Slot& slot) {
    base::MutexLock lock(slot.mutex);
    return slot.describe && hangs(slot.begin_micros);
  });
  if (!any) return false;
  for (size_t i = 0; i < slots_.size(); ++i) {
    base::MutexLock lock(slots_[i].mutex);
    if (!slots_[i].describe) continue;
    const int64_t begin = slots_[i].begin_micros;
    found->push_back({i, now - begin, hangs(begin), slots_[i].describe()});
  }
  std::ranges::stable_sort(*found, std::ranges::greater(), &Underway::micros);
  // What hung may have come back between the two looks.
  if (!found->empty() && found->front().hangs) return true;
  found->clear();
  return false;
}

}  // namespace tandem::test
