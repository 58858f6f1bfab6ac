// Files, over every back end.
#define BOOST_TEST_DYN_LINK
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "base/random.h"
#include "test/base/back_ends.h"

namespace tandem::test {
namespace {

using base::File;
using base::OpenMode;

BOOST_AUTO_TEST_SUITE(FileSuite)

BOOST_DATA_TEST_CASE(BytesComeBackAsWritten, kBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  const auto file = *disk.directory->Create("000001.log");
  BOOST_TEST(file->name() == "000001.log");
  BOOST_TEST(file->Write(0, "hello").ok());
  BOOST_TEST(file->Write(5, " world").ok());
  BOOST_TEST(file->Write(0, "H").ok());
  BOOST_TEST(file->Write(3, "").ok());
  BOOST_TEST(file->DataSync().ok());
  BOOST_TEST(ReadAll(*file) == "Hello world");
  const auto again = *disk.directory->Open("000001.log", OpenMode::kReadOnly);
  BOOST_TEST(ReadAll(*again) == "Hello world");
}

BOOST_DATA_TEST_CASE(ReadIsShortOnlyAtTheEnd, kBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  const auto file = *disk.directory->Create("f");
  BOOST_TEST(file->Write(0, "0123456789").ok());
  std::string buffer(8, '?');
  BOOST_TEST(*file->Read(0, buffer) == 8u);
  BOOST_TEST(*file->Read(6, buffer) == 4u);
  BOOST_TEST(buffer == "67894567");
  BOOST_TEST(*file->Read(10, buffer) == 0u);
  BOOST_TEST(*file->Read(1'000'000, buffer) == 0u);
  BOOST_TEST(*file->Read(0, {}) == 0u);
}

BOOST_DATA_TEST_CASE(AGapReadsAsZeros, kBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  const auto file = *disk.directory->Create("f");
  BOOST_TEST(file->Write(3, "x").ok());
  BOOST_TEST(ReadAll(*file) == std::string("\0\0\0x", 4));
}

BOOST_DATA_TEST_CASE(PagesOfTheCacheAreKnownAndCanGo, kBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  constexpr uint64_t kPage = File::kCachePageBytes;
  const auto file = *disk.directory->Create("f");
  const std::string bytes(100 * kPage, 'x');
  BOOST_TEST(file->Write(0, bytes).ok());
  BOOST_TEST(file->CachedPages(0, 0).empty());
  file->DropCached(0, 0);  // Not all of it.
  const std::vector<bool> written = file->CachedPages(0, 100 * kPage);
  if (written.empty()) return;  // The back end knows nothing about pages.
  BOOST_TEST(written == std::vector<bool>(100, true));
  BOOST_TEST(file->CachedPages(90 * kPage, 10 * kPage + 1).size() == 11u);

  BOOST_TEST(file->DataSync().ok());
  file->DropCached(20 * kPage - 1, 30 * kPage + 2);
  const std::vector<bool> left = file->CachedPages(0, 100 * kPage);
  if (left == written) return;  // The file system is nothing but a cache.
  BOOST_TEST(std::count(left.begin(), left.end(), false) == 30);
  BOOST_TEST(left[19]);
  BOOST_TEST(!left[20]);
  BOOST_TEST(!left[49]);
  BOOST_TEST(left[50]);
  BOOST_TEST(ReadAll(*file) == bytes);
  BOOST_TEST(file->CachedPages(20 * kPage, kPage) == std::vector<bool>(1, true));
}

BOOST_DATA_TEST_CASE(WhatIsNotOnTheDiskStaysInTheCache, kBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  const auto file = *disk.directory->Create("f");
  const std::string bytes(1 << 20, 'y');
  BOOST_TEST(file->Write(0, bytes).ok());
  file->DropCached(0, bytes.size());
  BOOST_TEST(ReadAll(*file) == bytes);
  BOOST_TEST(file->DataSync().ok());
  file->DropCached(0, bytes.size());
  BOOST_TEST(ReadAll(*file) == bytes);
}

BOOST_DATA_TEST_CASE(TruncateCutsAndExtends, kBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  const auto file = *disk.directory->Create("f");
  BOOST_TEST(file->Write(0, "abcdef").ok());
  BOOST_TEST(file->Truncate(2).ok());
  BOOST_TEST(ReadAll(*file) == "ab");
  BOOST_TEST(file->Truncate(4).ok());
  BOOST_TEST(ReadAll(*file) == std::string("ab\0\0", 4));
  BOOST_TEST(*file->Size() == 4u);
}

BOOST_DATA_TEST_CASE(PreallocateKeepsTheSize, kBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  const auto file = *disk.directory->Create("f");
  BOOST_TEST(file->Write(0, "abc").ok());
  BOOST_TEST(file->Preallocate(1 << 20).ok());
  BOOST_TEST(file->Preallocate(0).ok());
  BOOST_TEST(ReadAll(*file) == "abc");
}

BOOST_DATA_TEST_CASE(ExtendNeverMakesAFileShorter, kBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  const auto file = *disk.directory->Create("f");
  BOOST_TEST(file->Preallocate(1 << 20).ok());
  BOOST_TEST(file->Write(0, "abc").ok());
  BOOST_TEST(file->Extend(5).ok());
  BOOST_TEST(ReadAll(*file) == std::string("abc\0\0", 5));
  BOOST_TEST(file->Write(3, "def").ok());
  BOOST_TEST(file->Extend(5).ok());
  BOOST_TEST(ReadAll(*file) == "abcdef");
}

BOOST_DATA_TEST_CASE(WritesThroughAReadOnlyHandleNameTheFile, kRealBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  BOOST_TEST(disk.directory->Create("000007.run").has_value());
  const auto file = *disk.directory->Open("000007.run", OpenMode::kReadOnly);
  const Status status = file->Write(42, "x");
  BOOST_TEST((status.code() == StatusCode::kIoError));
  BOOST_TEST(status.message() == "cannot write at offset 42 of '000007.run': Bad file descriptor");
}

BOOST_DATA_TEST_CASE(ARemovedFileStaysReadableThroughItsHandle, kBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  const auto file = *disk.directory->Create("f");
  BOOST_TEST(file->Write(0, "still here").ok());
  BOOST_TEST(disk.directory->Remove("f").ok());
  BOOST_TEST(ReadAll(*file) == "still here");
}

BOOST_DATA_TEST_CASE(RandomWritesAgreeWithAString, kBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  constexpr uint64_t kSeed = 4711;
  BOOST_TEST_MESSAGE("seed " << kSeed);
  const auto random = base::NewSeededRandom(kSeed);
  const auto file = *disk.directory->Create("f");
  std::string expected;
  for (int i = 0; i < 300; ++i) {
    const size_t offset = random->Next64() % 100'000;
    std::string data(random->Next64() % 20'000, '\0');
    random->Fill(data);
    BOOST_REQUIRE(file->Write(offset, data).ok());
    if (!data.empty() && expected.size() < offset + data.size()) {
      expected.resize(offset + data.size());
    }
    expected.replace(offset, data.size(), data);
    if (i % 20 != 0) continue;
    const size_t size = random->Next64() % 120'000;
    BOOST_REQUIRE(file->Truncate(size).ok());
    expected.resize(size);
  }
  BOOST_TEST((ReadAll(*file) == expected));
}

// A file system of 1 MiB, where this process may mount one.
class TinyDisk {
 public:
  explicit TinyDisk(const std::string& path) : path_(path) {
    is_mounted_ = mount("tmpfs", path.c_str(), "tmpfs", 0, "size=1m") == 0;
    if (!is_mounted_) std::printf("the test of a full disk is skipped: no right to mount one\n");
  }
  ~TinyDisk() {
    if (is_mounted_) umount2(path_.c_str(), MNT_DETACH);
  }
  bool is_mounted() const { return is_mounted_; }

 private:
  std::string path_;
  bool is_mounted_;
};

BOOST_DATA_TEST_CASE(AFullDiskIsNoSpaceAndPasses, kRealBackEnds) {
  TestDisk disk(sample);
  if (disk.skipped) return;
  TinyDisk tiny(disk.temporary.path());
  if (!tiny.is_mounted()) return;
  const auto directory = *disk.file_system->OpenDirectory(disk.temporary.path(), false);
  BOOST_TEST(*directory->FreeSpace() <= 1u << 20);
  const auto first = *directory->Create("first");
  BOOST_TEST(first->Write(0, std::string(700'000, 'a')).ok());
  const auto second = *directory->Create("second");
  const std::string data(700'000, 'b');
  const Status status = second->Write(0, data);
  BOOST_TEST((status.code() == StatusCode::kNoSpace), status.ToString());
  BOOST_TEST((second->Preallocate(2 << 20).code() == StatusCode::kNoSpace));

  std::string copy = data;
  base::IoRequest request{.kind = base::IoRequest::Kind::kWrite, .file = second.get()};
  request.buffer = copy;
  base::IoRequest* requests[] = {&request};
  const auto queue = disk.file_system->NewQueue(4);
  queue->Submit(requests);
  BOOST_TEST(queue->Wait() == &request);
  BOOST_TEST((request.status.code() == StatusCode::kNoSpace), request.status.ToString());

  BOOST_TEST(first->Truncate(0).ok());
  BOOST_TEST(second->Write(0, data).ok());
  BOOST_TEST((ReadAll(*second) == data));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
