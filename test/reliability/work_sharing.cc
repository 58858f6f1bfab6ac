// See work_sharing.h.
#include "test/reliability/work_sharing.h"

#include <atomic>
#include <thread>
#include <vector>

namespace tandem::reliability {
namespace {

constexpr size_t kThreads = 2;

}  // namespace

void ShareWork(const std::function<bool(uint64_t item, size_t thread)>& take) {
  std::atomic<uint64_t> next = 0;  // Relaxed would do: items share nothing.
  std::vector<std::jthread> threads;
  for (size_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      while (take(next.fetch_add(1), thread)) {
      }
    });
  }
}

}  // namespace tandem::reliability
