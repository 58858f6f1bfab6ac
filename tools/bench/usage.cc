// See usage.h.
#include "tools/bench/usage.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "base/clock.h"
#include "tools/bench/sync_counter.h"

namespace tandem::bench {
namespace {

base::Clock& SystemClock() {
  static const std::unique_ptr<base::Clock> clock = base::NewSystemClock();
  return *clock;
}

double SecondsOf(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// /proc/self/io has one "name: number" a line. Where it may not be read the figures stay 0.
void ReadInputOutput(Usage* usage) {
  std::FILE* file = std::fopen("/proc/self/io", "r");
  if (file == nullptr) return;
  char name[32];
  unsigned long long bytes = 0;
  while (std::fscanf(file, "%31[^:]: %llu ", name, &bytes) == 2) {
    if (std::strcmp(name, "read_bytes") == 0) usage->read_bytes = bytes;
    if (std::strcmp(name, "write_bytes") == 0) usage->written_bytes = bytes;
    if (std::strcmp(name, "wchar") == 0) usage->handed_bytes = bytes;
  }
  std::fclose(file);
}

// The second number of /proc/self/statm: pages.
uint64_t ResidentBytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  unsigned long long pages = 0;
  const bool found = std::fscanf(file, "%*u %llu", &pages) == 1;
  std::fclose(file);
  return found ? pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

}  // namespace

double SecondsNow() { return static_cast<double>(SystemClock().MonotonicMicros()) / 1e6; }

void SleepSeconds(double seconds) {
  if (seconds > 0) SystemClock().SleepMicros(static_cast<int64_t>(seconds * 1e6));
}

void WaitUntilItStays(const std::function<bool()>& is_so) {
  for (int times = 0; times < 3; SleepSeconds(0.005)) times = is_so() ? times + 1 : 0;
}

Usage UsageNow() {
  Usage usage;
  usage.seconds = SecondsNow();
  rusage resources = {};
  (void)getrusage(RUSAGE_SELF, &resources);
  usage.cpu_seconds = SecondsOf(resources.ru_utime) + SecondsOf(resources.ru_stime);
  usage.peak_bytes = static_cast<uint64_t>(resources.ru_maxrss) * 1024;
  usage.resident_bytes = ResidentBytes();
  usage.syncs = SyncsSoFar();
  ReadInputOutput(&usage);
  return usage;
}

void UseTwoProcessors() {
  cpu_set_t allowed, chosen;
  CPU_ZERO(&chosen);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&chosen) < 2; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &chosen);
  }
  (void)sched_setaffinity(0, sizeof chosen, &chosen);
}

}  // namespace tandem::bench
