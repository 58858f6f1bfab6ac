// Queues, over every back end, and the fall back from rings to POSIX calls.
#define BOOST_TEST_DYN_LINK
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "test/base/back_ends.h"

namespace tandem::test {
namespace {

using base::File;
using base::IoRequest;
using base::OpenMode;

// One request with its own buffer.
struct Operation {
  IoRequest request;
  std::string bytes;
};

Operation ReadOf(File& file, uint64_t offset, size_t size) {
  Operation operation{.request = {}, .bytes = std::string(size, '?')};
  operation.request.file = &file;
  operation.request.offset = offset;
  return operation;
}

Operation WriteOf(File& file, uint64_t offset, std::string data) {
  Operation operation{.request = {}, .bytes = std::move(data)};
  operation.request.kind = IoRequest::Kind::kWrite;
  operation.request.file = &file;
  operation.request.offset = offset;
  return operation;
}

// Submits all of them at once. The operations must stay where they are until they are done.
void SubmitAll(base::IoQueue& queue, std::vector<Operation>& operations) {
  std::vector<IoRequest*> requests;
  for (Operation& operation : operations) {
    operation.request.tag = requests.size();
    operation.request.buffer = operation.bytes;
    requests.push_back(&operation.request);
  }
  queue.Submit(requests);
}

// Waits until nothing is outstanding and returns the tags that came back.
std::multiset<uint64_t> WaitAll(base::IoQueue& queue) {
  std::multiset<uint64_t> tags;
  while (const IoRequest* request = queue.Wait()) tags.insert(request->tag);
  return tags;
}

BOOST_AUTO_TEST_SUITE(IoQueueSuite)

BOOST_DATA_TEST_CASE(AThousandRequestsOfDepthSixteenAllComeBackOnce, kBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  constexpr uint64_t kSeed = 99;
  BOOST_TEST_MESSAGE("seed " << kSeed);
  const auto random = base::NewSeededRandom(kSeed);
  std::string content(3'000'000, '\0');
  random->Fill(content);
  const auto file = *disk.directory->Create("f");
  BOOST_TEST(file->Write(0, content).ok());

  const auto queue = disk.file_system->NewQueue(16);
  std::vector<Operation> reads;
  for (int i = 0; i < 1000; ++i) {
    reads.push_back(ReadOf(*file, random->Next64() % 3'010'000, random->Next64() % 30'000));
  }
  SubmitAll(*queue, reads);
  const std::multiset<uint64_t> tags = WaitAll(*queue);
  BOOST_TEST(tags.size() == 1000u);
  BOOST_TEST(std::set<uint64_t>(tags.begin(), tags.end()).size() == 1000u);
  for (const Operation& read : reads) {
    BOOST_REQUIRE(read.request.status.ok());
    const uint64_t offset = std::min<uint64_t>(read.request.offset, content.size());
    const std::string expected = content.substr(offset, read.bytes.size());
    BOOST_REQUIRE(read.request.transferred == expected.size());
    BOOST_REQUIRE(read.bytes.substr(0, expected.size()) == expected);
  }
}

BOOST_DATA_TEST_CASE(WritesAndSyncsGoThroughTheQueue, kBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  constexpr size_t kPiece = 5000;
  const auto file = *disk.directory->Create("f");
  const auto queue = disk.file_system->NewQueue(8);
  std::vector<Operation> writes;
  std::string expected;
  for (size_t i = 0; i < 200; ++i) {
    const std::string piece(kPiece, static_cast<char>('a' + i % 26));
    expected += piece;
    writes.push_back(WriteOf(*file, i * kPiece, piece));
  }
  SubmitAll(*queue, writes);
  BOOST_TEST(WaitAll(*queue).size() == 200u);
  for (const Operation& write : writes) {
    BOOST_REQUIRE(write.request.status.ok());
    BOOST_REQUIRE(write.request.transferred == kPiece);
  }
  std::vector<Operation> syncs(1);
  syncs[0].request.kind = IoRequest::Kind::kDataSync;
  syncs[0].request.file = file.get();
  SubmitAll(*queue, syncs);
  BOOST_TEST(queue->Wait() == &syncs[0].request);
  BOOST_TEST(syncs[0].request.status.ok());
  BOOST_TEST((ReadAll(*file) == expected));
}

BOOST_DATA_TEST_CASE(ReadsAreShortOnlyAtTheEndOfTheFile, kBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  const auto file = *disk.directory->Create("f");
  BOOST_TEST(file->Write(0, "0123456789").ok());
  const auto queue = disk.file_system->NewQueue(2);
  std::vector<Operation> reads;
  reads.push_back(ReadOf(*file, 6, 100));
  reads.push_back(ReadOf(*file, 10, 5));
  reads.push_back(ReadOf(*file, 99, 5));
  reads.push_back(ReadOf(*file, 3, 0));
  reads.push_back(ReadOf(*file, 0, 10));
  SubmitAll(*queue, reads);
  BOOST_TEST(WaitAll(*queue).size() == 5u);
  const size_t expected[] = {4, 0, 0, 0, 10};
  for (size_t i = 0; i < reads.size(); ++i) {
    BOOST_TEST(reads[i].request.status.ok());
    BOOST_TEST(reads[i].request.transferred == expected[i]);
  }
  BOOST_TEST(reads[0].bytes.substr(0, 4) == "6789");
}

BOOST_DATA_TEST_CASE(OneFailureDoesNotTouchTheOthers, kRealBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  const auto file = *disk.directory->Create("000003.run");
  BOOST_TEST(file->Write(0, "0123456789").ok());
  const auto read_only = *disk.directory->Open("000003.run", OpenMode::kReadOnly);
  const auto queue = disk.file_system->NewQueue(4);
  std::vector<Operation> operations;
  operations.push_back(ReadOf(*read_only, 0, 4));
  operations.push_back(WriteOf(*read_only, 2, "x"));
  operations.push_back(ReadOf(*read_only, 4, 4));
  SubmitAll(*queue, operations);
  BOOST_TEST(WaitAll(*queue).size() == 3u);
  BOOST_TEST(operations[0].bytes == "0123");
  BOOST_TEST(operations[2].bytes == "4567");
  BOOST_TEST(operations[1].request.status.ToString() ==
             "IoError: cannot write at offset 2 of '000003.run': Bad file descriptor");
}

BOOST_DATA_TEST_CASE(DestructionAwaitsWhatIsOutstanding, kBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  const auto file = *disk.directory->Create("f");
  std::vector<Operation> writes;
  for (size_t i = 0; i < 100; ++i)
    writes.push_back(WriteOf(*file, i * 3000, std::string(3000, 'w')));
  auto queue = disk.file_system->NewQueue(4);
  SubmitAll(*queue, writes);
  queue.reset();
  BOOST_TEST((ReadAll(*file) == std::string(300'000, 'w')));
}

BOOST_DATA_TEST_CASE(AQueueIsReusable, kBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  const auto file = *disk.directory->Create("f");
  BOOST_TEST(file->Write(0, std::string(100, 'q')).ok());
  for (uint32_t depth : {0u, 1u, 3u, 100'000u}) {
    const auto queue = disk.file_system->NewQueue(depth);
    BOOST_TEST(queue->Wait() == nullptr);
    for (int round = 0; round < 5; ++round) {
      std::vector<Operation> reads;
      for (int i = 0; i < 7; ++i) reads.push_back(ReadOf(*file, i, 10));
      SubmitAll(*queue, reads);
      BOOST_TEST(queue->Wait() != nullptr);
      std::vector<Operation> more;
      more.push_back(ReadOf(*file, 50, 10));
      SubmitAll(*queue, more);
      BOOST_TEST(WaitAll(*queue).size() == 7u);
      for (const Operation& read : reads) BOOST_TEST(read.bytes == std::string(10, 'q'));
    }
  }
}

// A File of another kind, as a wrapper that counts or injects errors would be.
class TwiceFile final : public File {
 public:
  Result<size_t> Read(uint64_t, std::span<char> buffer) override {
    std::fill(buffer.begin(), buffer.end(), '2');
    return buffer.size();
  }
  Status Write(uint64_t, std::string_view) override { return Status::NoSpace("none"); }
  Status DataSync() override { return Status::IoError("never"); }
  Result<uint64_t> Size() override { return uint64_t{0}; }
  Status Truncate(uint64_t) override { return {}; }
  Status Preallocate(uint64_t) override { return {}; }
  const std::string& name() const override { return name_; }

 private:
  std::string name_ = "twice";
};

BOOST_DATA_TEST_CASE(FilesOfOtherKindsRunThroughTheirOwnCalls, kBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  TwiceFile file;
  const auto queue = disk.file_system->NewQueue(1);
  std::vector<Operation> operations;
  operations.push_back(ReadOf(file, 0, 3));
  operations.push_back(WriteOf(file, 0, "x"));
  operations.push_back(ReadOf(file, 0, 0));
  operations[2].request.kind = IoRequest::Kind::kDataSync;
  SubmitAll(*queue, operations);
  BOOST_TEST(WaitAll(*queue).size() == 3u);
  BOOST_TEST(operations[0].bytes == "222");
  BOOST_TEST((operations[1].request.status.code() == StatusCode::kNoSpace));
  BOOST_TEST((operations[2].request.status.code() == StatusCode::kIoError));
}

// Lets this process open no further descriptor.
void ExhaustDescriptors() {
  const int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(next);
  const rlimit limit{.rlim_cur = static_cast<rlim_t>(next), .rlim_max = static_cast<rlim_t>(next)};
  setrlimit(RLIMIT_NOFILE, &limit);
}

BOOST_AUTO_TEST_CASE(WithoutRingsTheFileSystemIsPosixAndSaysWhy) {
  const int outcome = RunInChild([] {
    ExhaustDescriptors();
    std::string reason;
    const auto file_system = base::NewUringFileSystem(&reason);
    if (file_system->name() != "posix") return 1;
    const bool is_one_line = reason.find('\n') == std::string::npos;
    if (!is_one_line || !reason.starts_with("io_uring is refused here (")) return 2;
    return base::NewUringFileSystem(nullptr)->name() == "posix" ? 0 : 3;
  });
  BOOST_TEST(outcome == 0);
}

BOOST_AUTO_TEST_CASE(AQueueThatGetsNoRingWorksAllTheSame) {
  TestDisk disk("io_uring");
  if (disk.skipped) return;
  const auto file = *disk.directory->Create("f");
  BOOST_TEST(file->Write(0, "0123456789").ok());
  const int outcome = RunInChild([&] {
    ExhaustDescriptors();
    const auto queue = disk.file_system->NewQueue(16);
    std::vector<Operation> reads;
    reads.push_back(ReadOf(*file, 2, 5));
    SubmitAll(*queue, reads);
    if (queue->Wait() != &reads[0].request) return 1;
    return reads[0].bytes == "23456" ? 0 : 2;
  });
  BOOST_TEST(outcome == 0);
}

// For the thread sanitizer: the rings come to lie where those of the other thread have lain.
BOOST_DATA_TEST_CASE(QueuesOfTwoThreadsComeAndGo, boost::unit_test::data::make(kRealBackEnds)) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  const auto file = *disk.directory->Create("f");
  BOOST_REQUIRE(file->Write(0, "a file that two threads read").ok());
  std::atomic<int> wrong{0};
  const auto read_often = [&] {
    for (int i = 0; i < 200; ++i) {
      const auto queue = disk.file_system->NewQueue(4);
      std::vector<Operation> operations;
      operations.push_back(ReadOf(*file, 2, 4));
      SubmitAll(*queue, operations);
      WaitAll(*queue);
      if (operations[0].bytes != "file") ++wrong;
    }
  };
  std::thread beside(read_often);
  read_often();
  beside.join();
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
