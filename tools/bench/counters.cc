// Increments and transfers by several threads; see measuring.h.
#include "tools/bench/counters.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "tools/bench/measuring.h"

namespace tandem::bench {
namespace {

constexpr int kThreads = 8;
constexpr uint64_t kAccounts = 1000;

std::unique_ptr<CounterStore> OpenCounters(const std::string& engine, const std::string& path) {
  using Open = std::unique_ptr<CounterStore> (*)(const std::string& path);
  const std::pair<const char*, Open> known[] = {{"tandem", NewTandemCounters},
                                                {"rocksdb", NewRocksDbCounters},
                                                {"lmdb", NewLmdbCounters},
                                                {"sqlite", NewSqliteCounters}};
  for (const auto& [name, open] : known) {
    if (engine == name && open != nullptr) return open(path);
  }
  Fail("counters are not measured with " + engine);
}

std::string KeyOf(const char* kind, uint64_t number) { return kind + std::to_string(number); }

// What thread `thread` does the i-th time.
using Call = std::function<void(CounterWriter*, uint64_t thread, uint64_t i)>;

// Calls a second, and how many there were.
uint64_t MeasureCalls(const std::string& phase, int threads, double seconds, const Call& call,
                      CounterStore* store) {
  std::vector<std::unique_ptr<CounterWriter>> writers;
  for (int i = 0; i < threads; ++i) writers.push_back(store->NewWriter());
  std::atomic<uint64_t> calls = 0;
  std::vector<std::thread> running;
  const Usage begin = UsageNow();
  for (int thread = 0; thread < threads; ++thread) {
    running.emplace_back([&, thread] {
      uint64_t i = 0;
      do {  // Once at least.
        call(writers[thread].get(), thread, i++);
      } while (SecondsNow() - begin.seconds < seconds);
      calls.fetch_add(i, std::memory_order_relaxed);
    });
  }
  for (std::thread& thread : running) thread.join();
  PrintRate(FigureBetween(phase, begin, UsageNow()), calls);
  return calls;
}

void CheckSum(const std::string& what, const char* kind, uint64_t counters, uint64_t expected,
              CounterStore* store) {
  int64_t sum = 0;
  for (uint64_t i = 0; i < counters; ++i) sum += store->Number(KeyOf(kind, i));
  if (sum != static_cast<int64_t>(expected)) {
    Fail(what + " add up to " + std::to_string(sum) + ", not to " + std::to_string(expected));
  }
}

void Transfer(CounterWriter* writer, uint64_t thread, uint64_t i) {
  const uint64_t from = Scattered((thread * 131 + i) % kAccounts, kAccounts);
  const uint64_t to = (from + 1 + i % (kAccounts - 1)) % kAccounts;
  writer->Transfer(KeyOf("account", from), KeyOf("account", to));
}

}  // namespace

void MeasureCounters(const Arguments& arguments) {
  const double seconds = arguments.seconds * 5;
  const auto store = OpenCounters(arguments.engine, arguments.path);
  MeasureCalls(
      "blind puts, 8 threads", kThreads, seconds,
      [](CounterWriter* writer, uint64_t thread, uint64_t i) {
        writer->Put(KeyOf("put", thread), i);
      },
      store.get());
  uint64_t increments = MeasureCalls(
      "increments, 8 threads", kThreads, seconds,
      [](CounterWriter* writer, uint64_t thread, uint64_t) {
        writer->Increment(KeyOf("counter", thread));
      },
      store.get());
  CheckSum("counters", "counter", kThreads, increments, store.get());
  const Call add_to_one = [](CounterWriter* writer, uint64_t, uint64_t) {
    writer->Increment(KeyOf("hot", 0));
  };
  increments = MeasureCalls("hot row, 1 thread", 1, seconds, add_to_one, store.get());
  increments += MeasureCalls("hot row, 8 threads", kThreads, seconds, add_to_one, store.get());
  CheckSum("increments of one row", "hot", 1, increments, store.get());
  MeasureCalls("transfers, 8 threads", kThreads, seconds, Transfer, store.get());
  CheckSum("transfers", "account", kAccounts, 0, store.get());
}

}  // namespace tandem::bench
