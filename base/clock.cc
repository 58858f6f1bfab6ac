// The system's clocks and sleep. Nothing else asks the kernel for them.
#include "base/clock.h"

#include <cerrno>
#include <ctime>

namespace tandem::base {
namespace {

constexpr int64_t kMicrosPerSecond = 1'000'000;
constexpr int64_t kNanosPerMicro = 1'000;

int64_t ReadClock(clockid_t id) {
  timespec now{};
  clock_gettime(id, &now);
  return int64_t{now.tv_sec} * kMicrosPerSecond + now.tv_nsec / kNanosPerMicro;
}

class SystemClock final : public Clock {
 public:
  int64_t WallMicros() override { return ReadClock(CLOCK_REALTIME); }
  int64_t MonotonicMicros() override { return ReadClock(CLOCK_BOOTTIME); }

  void SleepMicros(int64_t micros) override {
    if (micros <= 0) return;
    timespec left{.tv_sec = static_cast<time_t>(micros / kMicrosPerSecond),
                  .tv_nsec = static_cast<long>(micros % kMicrosPerSecond * kNanosPerMicro)};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
  }
};

}  // namespace

std::unique_ptr<Clock> NewSystemClock() { return std::make_unique<SystemClock>(); }

}  // namespace tandem::base
