// Files that share a bounded number of descriptors: how many are open, which one goes, what a pin
// holds, and what a file shows that was closed and opened again.
#define BOOST_TEST_DYN_LINK
#include "base/file_pool.h"

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "engine/runtime/background.h"
#include "test/base/back_ends.h"
#include "test/support/print.h"
#include "tools/simulation/simulated_disk.h"

namespace tandem::test {
namespace {

using base::FilePool;

std::string NameOf(int i) { return "f" + std::to_string(i); }
std::string ContentOf(int i) { return "content of " + std::to_string(1000 + i); }

// Opens a file by its name; the directory outlives it.
class NamedSource final : public FilePool::Source {
 public:
  NamedSource(base::Directory* directory, std::string name)
      : directory_(directory), name_(std::move(name)) {}
  Result<std::unique_ptr<base::File>> Open() override {
    return directory_->Open(name_, base::OpenMode::kReadOnly);
  }

 private:
  base::Directory* const directory_;
  const std::string name_;
};

struct PoolOnADisk {
  explicit PoolOnADisk(uint32_t places, int files)
      : directory(*disk.OpenDirectory("d", true)), pool(FilePool::Make(places)) {
    for (int i = 0; i < files; ++i) disk.SetContent("d", NameOf(i), ContentOf(i));
    disk.TakeOpenFiles();
  }

  std::unique_ptr<base::File> Open(int i) {
    auto file = pool->Open(NameOf(i), std::make_unique<NamedSource>(directory.get(), NameOf(i)));
    BOOST_REQUIRE_EQUAL(file.status().ToString(), "OK");
    return *std::move(file);
  }
  std::vector<std::unique_ptr<base::File>> OpenAll(int count) {
    std::vector<std::unique_ptr<base::File>> files;
    for (int i = 0; i < count; ++i) files.push_back(Open(i));
    return files;
  }
  /// The names of the files that `work` opens.
  template <typename Work>
  std::string Opened(Work work) {
    disk.control().SetTracing(true);
    work();
    std::string names;
    for (const DiskEvent& event : disk.control().TakeTrace()) {
      if (event.operation == DiskOperation::kOpen) names += event.name + " ";
    }
    disk.control().SetTracing(false);
    return names;
  }

  SimulatedDisk disk;
  std::unique_ptr<base::Directory> directory;
  std::shared_ptr<FilePool> pool;
};

std::string Read(base::File& file) {
  std::string bytes(ContentOf(0).size(), '\0');
  const Result<size_t> count = file.Read(0, bytes);
  if (!count) return count.status().ToString();
  bytes.resize(*count);
  return bytes;
}

BOOST_AUTO_TEST_SUITE(FilePoolSuite)

BOOST_AUTO_TEST_CASE(AnyNumberOfFilesIsReadOverAFewDescriptors) {
  for (const int count : {20, 320}) {
    PoolOnADisk world(4, count);
    const auto files = world.OpenAll(count);
    for (int round = 0; round < 2; ++round) {
      for (int i = 0; i < count; ++i) BOOST_REQUIRE_EQUAL(Read(*files[i]), ContentOf(i));
    }
    BOOST_CHECK_EQUAL(world.disk.TakeOpenFiles().most, 4u);
    BOOST_CHECK_EQUAL(world.pool->counters().open, 4u);
    BOOST_CHECK_EQUAL(world.pool->counters().reopened, 2u * static_cast<uint64_t>(count));
  }
}

BOOST_AUTO_TEST_CASE(TheOneThatWasNotUsedForTheLongestGoes) {
  PoolOnADisk world(3, 4);
  const auto files = world.OpenAll(3);
  Read(*files[0]);  // Now 1 is the oldest, then 2.
  std::unique_ptr<base::File> fourth;
  BOOST_CHECK_EQUAL(world.Opened([&] { fourth = world.Open(3); }), "f3 ");
  BOOST_CHECK_EQUAL(world.Opened([&] { Read(*files[0]), Read(*files[2]); }), "");
  BOOST_CHECK_EQUAL(world.Opened([&] { Read(*files[1]); }), "f1 ");  // Instead of 3.
  BOOST_CHECK_EQUAL(world.Opened([&] { Read(*fourth); }), "f3 ");
}

BOOST_AUTO_TEST_CASE(AFileThatIsGoneGivesItsDescriptorBack) {
  PoolOnADisk world(3, 3);
  auto files = world.OpenAll(3);
  files.clear();
  BOOST_CHECK_EQUAL(world.disk.TakeOpenFiles().now, 0u);
  BOOST_CHECK_EQUAL(world.pool->counters().open, 0u);
}

BOOST_AUTO_TEST_CASE(APinHoldsItsFileAndHalfOfThePlacesAreForPins) {
  PoolOnADisk world(4, 6);
  const auto files = world.OpenAll(6);
  base::FilePin first = files[0]->Pin(), second = files[1]->Pin(), again = files[1]->Pin();
  BOOST_REQUIRE(first.file() != nullptr && second.file() != nullptr && again.file() != nullptr);
  BOOST_CHECK_EQUAL(first.file()->name(), "f0");
  BOOST_CHECK(files[2]->Pin().file() == nullptr);
  for (int round = 0; round < 3; ++round) {
    for (int i = 2; i < 6; ++i) BOOST_CHECK_EQUAL(Read(*files[i]), ContentOf(i));
  }
  BOOST_CHECK_EQUAL(world.Opened([&] { Read(*files[0]), Read(*files[1]); }), "");
  BOOST_CHECK_EQUAL(Read(*first.file()), ContentOf(0));
  second = base::FilePin();
  BOOST_CHECK(files[2]->Pin().file() == nullptr);  // The other pin of the file is left.
  again = base::FilePin();
  BOOST_CHECK(files[2]->Pin().file() != nullptr);
  BOOST_CHECK_EQUAL(world.disk.TakeOpenFiles().most, 4u);
}

BOOST_AUTO_TEST_CASE(QueuesPinWhatTheyRead) {
  for (const bool rings : {false, true}) {
    PoolOnADisk world(4, 40);
    if (rings) world.disk.UseRings();
    const auto files = world.OpenAll(40);
    std::vector<std::string> buffers(40, std::string(ContentOf(0).size(), '\0'));
    std::vector<base::IoRequest> requests(40);
    const auto queue = world.disk.NewQueue(32);
    for (int i = 0; i < 40; ++i) {
      requests[i].file = files[i].get();
      requests[i].buffer = buffers[i];
      base::IoRequest* const request = &requests[i];
      queue->Submit({&request, 1});
      Read(*files[(i * 7) % 40]);  // Others want the places meanwhile.
    }
    while (base::IoRequest* done = queue->Wait()) {
      BOOST_CHECK(done->status.ok());
      BOOST_CHECK(done->pin.file() == nullptr);
    }
    for (int i = 0; i < 40; ++i) BOOST_CHECK_EQUAL(buffers[i], ContentOf(i));
    BOOST_CHECK_LE(world.disk.TakeOpenFiles().most, 4u);
    BOOST_CHECK(files[0]->Pin().file() != nullptr);  // None is left behind.
  }
}

BOOST_AUTO_TEST_CASE(AFileThatCannotBeOpenedAgainSaysSoAndTheNextReadTries) {
  PoolOnADisk world(2, 3);
  const auto files = world.OpenAll(3);
  world.disk.control().InjectFault({.operations = {DiskOperation::kOpen}});
  BOOST_CHECK_EQUAL(Read(*files[0]), "IoError: injected: the disk answers with an error");
  BOOST_CHECK_EQUAL(Read(*files[0]), ContentOf(0));
  world.disk.control().InjectFault({.operations = {DiskOperation::kOpen}});
  BOOST_CHECK(files[1]->Pin().file() == nullptr);
  BOOST_CHECK_EQUAL(Read(*files[1]), ContentOf(1));
  BOOST_CHECK_LE(world.disk.TakeOpenFiles().most, 2u);
}

BOOST_AUTO_TEST_CASE(WhereTheProcessHasNoDescriptorsIdleFilesGoFirst) {
  PoolOnADisk world(8, 10);
  const auto files = world.OpenAll(10);
  world.disk.LimitOpenFiles(3);  // The program has taken the others.
  for (int i = 0; i < 10; ++i) BOOST_CHECK_EQUAL(Read(*files[i]), ContentOf(i));
  BOOST_CHECK_LE(world.pool->counters().open, 3u);
  world.disk.LimitOpenFiles(0);
  int refused = 0;
  for (int i = 0; i < 10; ++i) refused += Read(*files[i]).starts_with("Unavailable: ");
  BOOST_CHECK_EQUAL(refused, 10);
  world.disk.LimitOpenFiles(std::nullopt);
  for (int i = 0; i < 10; ++i) BOOST_CHECK_EQUAL(Read(*files[i]), ContentOf(i));
}

BOOST_AUTO_TEST_CASE(ManyThreadsShareFewPlaces) {
  constexpr int kFiles = 24, kThreads = 8, kReads = 400;
  PoolOnADisk world(3, kFiles);
  const auto files = world.OpenAll(kFiles);
  const auto clock = base::NewSystemClock();
  auto threads = engine::NewThreadPool(kThreads, clock.get());
  BOOST_REQUIRE(threads.has_value());
  std::atomic<int> wrong{0}, done{0};
  for (int thread = 0; thread < kThreads; ++thread) {
    (*threads)->Schedule(base::NewJob(base::Priority::kHigh, [&, thread] {
      const auto random = base::NewSeededRandom(static_cast<uint64_t>(thread));
      for (int i = 0; i < kReads; ++i) {
        const int at = static_cast<int>(random->Next64() % kFiles);
        const base::FilePin pin = i % 3 == 0 ? files[at]->Pin() : base::FilePin();
        wrong += Read(pin.file() != nullptr ? *pin.file() : *files[at]) != ContentOf(at);
      }
      ++done;
    }));
  }
  while (done < kThreads) clock->SleepMicros(1000);
  threads->reset();
  BOOST_CHECK_EQUAL(wrong.load(), 0);
  BOOST_CHECK_LE(world.disk.TakeOpenFiles().most, 3u);
}

BOOST_AUTO_TEST_CASE(RingsComeFromAPool) {
  std::string reason;
  const auto files = base::NewUringFileSystem(&reason, 2);
  if (files->name() != "io_uring") return;
  const TemporaryDirectory temporary;
  const auto directory = *files->OpenDirectory(temporary.path(), false);
  const auto file = *directory->Create("f");
  BOOST_REQUIRE(file->Write(0, ContentOf(0)).ok());
  for (int round = 0; round < 3; ++round) {
    std::vector<std::unique_ptr<base::IoQueue>> queues;
    for (int i = 0; i < 5; ++i) queues.push_back(files->NewQueue(i == 4 ? 64 : 32));
    for (const auto& queue : queues) {
      std::string bytes(ContentOf(0).size(), '\0');
      base::IoRequest request{.file = file.get(), .buffer = bytes};
      base::IoRequest* const pointer = &request;
      queue->Submit({&pointer, 1});
      BOOST_REQUIRE(queue->Wait() == &request);
      BOOST_CHECK_EQUAL(bytes, ContentOf(0));
    }
    BOOST_CHECK_EQUAL(files->open_rings(), 2u);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
