// The file system whose reads take longer: by a clock that a test steps, so that the times are
// exact.
#define BOOST_TEST_DYN_LINK
#include "tools/bench/slow_files.h"

#include <array>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "test/support/print.h"
#include "test/support/temporary_directory.h"
#include "tools/simulation/manual_clock.h"

namespace tandem::bench {
namespace {

constexpr int64_t kLatency = 1'000;

struct SlowFilesFixture {
  SlowFilesFixture() {
    directory = *files.OpenDirectory(folder.path(), false);
    file = *directory->Create("f");
    BOOST_REQUIRE_EQUAL(file->Write(0, "0123456789abcdef").ToString(), "OK");
    files.SetLatency(kLatency);
  }

  const test::TemporaryDirectory folder;
  test::ManualClock clock;
  const std::unique_ptr<base::FileSystem> real = base::NewPosixFileSystem();
  SlowFileSystem files{real.get(), &clock};
  std::unique_ptr<base::Directory> directory;
  std::unique_ptr<base::File> file;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(slow_files, SlowFilesFixture)

BOOST_AUTO_TEST_CASE(EachReadOfAFileTakesTheLatency) {
  std::array<char, 4> bytes = {};
  for (int reads = 1; reads <= 3; ++reads) {
    BOOST_REQUIRE_EQUAL(*file->Read(6, bytes), 4u);
    BOOST_TEST(std::string(bytes.data(), bytes.size()) == "6789");
    BOOST_TEST(clock.MonotonicMicros() == reads * kLatency);
  }
  BOOST_REQUIRE_EQUAL(file->Write(0, "x").ToString(), "OK");
  BOOST_TEST(*file->Size() == 16u);
  BOOST_TEST(clock.MonotonicMicros() == 3 * kLatency);
  files.SetLatency(0);
  BOOST_REQUIRE_EQUAL(*file->Read(0, bytes), 4u);
  BOOST_TEST(std::string(bytes.data(), bytes.size()) == "x123");
  BOOST_TEST(clock.MonotonicMicros() == 3 * kLatency);
}

// Eight reads in flight wait side by side.
BOOST_AUTO_TEST_CASE(ReadsOfAQueueTakeItTogether) {
  const std::unique_ptr<base::IoQueue> queue = files.NewQueue(8);
  std::vector<std::array<char, 2>> bytes(8);
  std::vector<base::IoRequest> requests(8);
  std::vector<base::IoRequest*> submitted;
  for (size_t i = 0; i < requests.size(); ++i) {
    requests[i].file = file.get();
    requests[i].offset = 2 * i;
    requests[i].buffer = bytes[i];
    submitted.push_back(&requests[i]);
  }
  queue->Submit(submitted);
  BOOST_TEST(clock.MonotonicMicros() == 0);
  for (size_t i = 0; i < requests.size(); ++i) {
    base::IoRequest* const done = queue->Wait();
    BOOST_REQUIRE(done != nullptr);
    BOOST_TEST(done->status.ok());
    BOOST_TEST(done->transferred == 2u);
  }
  BOOST_TEST(queue->Wait() == nullptr);
  BOOST_TEST(clock.MonotonicMicros() == kLatency);
  for (size_t i = 0; i < bytes.size(); ++i) {
    BOOST_TEST(std::string(bytes[i].data(), 2) == std::string("0123456789abcdef").substr(2 * i, 2));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::bench
