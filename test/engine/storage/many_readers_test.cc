// Many read-only opens of real files by several threads while a writer flushes, merges, rolls the
// log, closes and reopens: none of them reports damage.
#define BOOST_TEST_DYN_LINK
#include <stdlib.h>  // mkdtemp

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "engine/engine.h"
#include "engine/runtime/background.h"
#include "test/engine/test_engine.h"

namespace tandem::test {
namespace {

constexpr int kReaders = 3;

// The whole number by hand: TANDEM_OPENS=10000.
int Opens() {
  const char* const opens = getenv("TANDEM_OPENS");
  return opens == nullptr ? 500 : std::atoi(opens);
}

// In memory where the machine allows it, so that the writer is as fast as it can be.
std::string NewFolder() {
  std::string path = std::filesystem::exists("/dev/shm") ? "/dev/shm/" : "/tmp/";
  path += "tandem_readers_XXXXXX";
  BOOST_REQUIRE(mkdtemp(path.data()) != nullptr);
  return path;
}

struct World {
  World() {
    tuning.memstore_bytes = 16 << 10;
    tuning.log_segment_bytes = 16 << 10;
    tuning.compaction_runs = 3;
  }
  Result<std::unique_ptr<engine::Engine>> Open(base::Executor* executor, bool read_only) {
    Options options;
    options.create_if_missing = !read_only;
    options.read_only = read_only;
    return engine::Engine::Open(path, options, tuning,
                                {.file_system = files.get(),
                                 .clock = clock.get(),
                                 .random = random.get(),
                                 .executor = executor});
  }

  const std::string folder = NewFolder();
  const std::string path = folder + "/db";
  const std::unique_ptr<base::FileSystem> files = base::NewPosixFileSystem();
  const std::unique_ptr<base::Clock> clock = base::NewSystemClock();
  const std::unique_ptr<base::RandomSource> random = base::NewSystemRandom();
  engine::Tuning tuning = SmallTuning();
  std::atomic<bool> stop{false};
  std::atomic<int> opens{0};
  base::Mutex mutex;
  std::vector<std::string> alarms GUARDED_BY(mutex);
};

// Commits, and now and then ends and begins again, until all readers are done.
void WriteOn(World* world, base::Executor* executor) {
  for (uint64_t life = 0; !world->stop; ++life) {
    auto engine = *world->Open(executor, false);
    if (life == 0) (void)engine->CreateTable(SimpleTable(1));
    for (int i = 0; i < 20'000 && !world->stop; ++i) {
      WriteBatch batch;
      batch.Put("t", "r" + std::to_string(i % 500), "d", "c", std::string(100, 'v'));
      (void)engine->Write({}, batch);
      if (i % 1000 == 999) (void)engine->Compact("t");
    }
    (void)engine->Close();
  }
}

void ReadOn(World* world, base::Executor* executor) {
  while (world->opens.fetch_add(1) < Opens()) {
    const auto engine = world->Open(executor, true);
    Status status = engine.status();
    if (status.ok()) status = (*engine)->Get({}, "t", "r0").status();
    // Before the writer made them.
    if (status.ok() || status.code() == StatusCode::kNotFound) continue;
    base::MutexLock lock(world->mutex);
    world->alarms.push_back(status.ToString());
  }
}

BOOST_AUTO_TEST_SUITE(ManyReadersSuite)

BOOST_AUTO_TEST_CASE(OpensBesideAWriterRaiseNoAlarm) {
  World world;
  const auto executor = *engine::NewThreadPool(2, world.clock.get());
  std::thread writer([&] { WriteOn(&world, executor.get()); });
  std::vector<std::thread> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.emplace_back([&] { ReadOn(&world, executor.get()); });
  }
  for (std::thread& reader : readers) reader.join();
  world.stop = true;
  writer.join();
  {
    base::MutexLock lock(world.mutex);
    BOOST_TEST(world.alarms.size() == 0u);
    for (const std::string& alarm : world.alarms) BOOST_TEST_MESSAGE(alarm);
    if (!world.alarms.empty()) BOOST_TEST(world.alarms.front() == "");
  }
  std::filesystem::remove_all(world.folder);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
