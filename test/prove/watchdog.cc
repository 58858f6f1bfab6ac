// See watchdog.h.
#include "test/prove/watchdog.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace tandem::prove {
namespace {

constexpr auto kPause = std::chrono::milliseconds(100);
// What main() answers when a suite found something.
constexpr int kFoundExit = 8;

}  // namespace

Watchdog::Watchdog(const std::string& suite)
    : suite_(suite), clock_(base::NewSystemClock()), thread_([this] {
        while (!is_over_.load()) {
          Look();
          std::this_thread::sleep_for(kPause);
        }
      }) {}

Watchdog::~Watchdog() {
  is_over_.store(true);
  thread_.join();
}

void Watchdog::Begin(size_t slot, std::function<std::string()> describe) {
  base::MutexLock lock(mutex_);
  slots_[slot] = {clock_->MonotonicMicros(), std::move(describe)};
}

void Watchdog::End(size_t slot) {
  base::MutexLock lock(mutex_);
  slots_[slot].describe = nullptr;
}

void Watchdog::Look() {
  base::MutexLock lock(mutex_);
  for (const Watched& watched : slots_) {
    if (!watched.describe) continue;
    if (clock_->MonotonicMicros() - watched.begin_micros < kHangMicros) continue;
    std::fprintf(stderr, "prove: %s: hangs for 10 s: %s\n", suite_.c_str(),
                 watched.describe().c_str());
    std::_Exit(kFoundExit);
  }
}

}  // namespace tandem::prove
