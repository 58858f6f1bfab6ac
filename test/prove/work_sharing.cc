// See work_sharing.h.
#include "test/prove/work_sharing.h"

#include <atomic>
#include <thread>
#include <vector>

namespace tandem::prove {
namespace {

constexpr int kThreads = 2;

}  // namespace

void ShareWork(const std::function<bool(uint64_t item)>& take) {
  std::atomic<uint64_t> next = 0;  // Relaxed would do: items share nothing.
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      while (take(next.fetch_add(1))) {
      }
    });
  }
}

}  // namespace tandem::prove
