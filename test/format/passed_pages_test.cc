// What a pass over a file leaves of it in the system's cache, however far that reads ahead.
#define BOOST_TEST_DYN_LINK
#include "format/passed_pages.h"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <vector>

#include "test/support/paged_file.h"
#include "test/support/print.h"
#include "tools/simulation/memory_file.h"

namespace tandem::test {
namespace {

using format::PassedPages;

constexpr uint64_t kMegabyte = 1 << 20;
constexpr uint64_t kPageBytes = PageCache::kPageBytes;

// Counts what it is asked.
class AskedFile final : public ForwardingFile {
 public:
  AskedFile(std::shared_ptr<base::File> beneath, uint64_t* looks)
      : ForwardingFile(std::move(beneath)), looks_(looks) {}
  std::vector<bool> CachedPages(uint64_t offset, uint64_t size_bytes) override {
    ++*looks_;
    return is_known ? ForwardingFile::CachedPages(offset, size_bytes) : std::vector<bool>();
  }
  void DropCached(uint64_t offset, uint64_t size_bytes) override {
    dropped_bytes += size_bytes;
    ForwardingFile::DropCached(offset, size_bytes);
  }
  bool is_known = true;
  uint64_t dropped_bytes = 0;

 private:
  uint64_t* const looks_;
};

struct PassedPagesFixture {
  PassedPagesFixture() { pages->read_ahead_bytes = 16 * kMegabyte; }

  void Pass(uint64_t begin, uint64_t end) {
    PassedPages passed(&file);
    std::string window(kMegabyte, '\0');
    for (uint64_t at = begin; at < end; at += window.size()) {
      passed.Look(at, window.size());
      (void)file.Read(at, window);
      passed.PassedTo(at);
    }
    passed.Finish();
  }

  static constexpr uint64_t kSize = 160 * kMegabyte;
  std::shared_ptr<PageCache> pages = std::make_shared<PageCache>();
  uint64_t looks = 0;
  AskedFile file{
      std::make_shared<PagedFile>(std::make_shared<MemoryFile>(std::string(kSize, 'x')), pages),
      &looks};
};

BOOST_FIXTURE_TEST_SUITE(PassedPagesSuite, PassedPagesFixture)

BOOST_AUTO_TEST_CASE(NothingIsLeftOfWhatCame) {
  Pass(0, kSize);
  BOOST_TEST(pages->count() == 0u);
  // What the system reads ahead, and the window.
  BOOST_TEST(pages->cached_max <= 19 * kMegabyte / kPageBytes);
}

// A call that ends within a folio leaves it to a later one.
BOOST_AUTO_TEST_CASE(LargeFoliosGoTogether) {
  pages->folio_bytes = 4 * kMegabyte;
  Pass(0, kSize);
  BOOST_TEST(pages->count() == 0u);
  BOOST_TEST(pages->cached_max <= 25 * kMegabyte / kPageBytes);
}

BOOST_AUTO_TEST_CASE(WhatWasThereStays) {
  for (uint64_t at = 5000; at < kSize; at += 7 * kMegabyte + 4097) pages->Bring(at, at + 100'000);
  const std::vector<bool> before = pages->cached;
  Pass(3 * kMegabyte + 1, kSize - 2 * kMegabyte);
  std::vector<bool> after = pages->cached;
  after.resize(before.size());
  BOOST_TEST(after == before);
}

BOOST_AUTO_TEST_CASE(EachStepIsLookedAtOnce) {
  Pass(0, kSize);
  const uint64_t steps = kSize / PassedPages::kStepBytes;
  BOOST_TEST(looks >= steps);
  BOOST_TEST(looks <= steps + 2);
}

BOOST_AUTO_TEST_CASE(WhereNothingIsKnownNothingGoes) {
  file.is_known = false;
  Pass(0, kSize);
  BOOST_TEST(looks == 1u);
  BOOST_TEST(file.dropped_bytes == 0u);
  PassedPages passed(&file);
  passed.Look(0, kMegabyte);
  BOOST_TEST(passed.WereCached(0, kMegabyte));
}

BOOST_AUTO_TEST_CASE(BytesWereCachedIfAllTheirPagesWere) {
  pages->Bring(kMegabyte, 2 * kMegabyte);
  PassedPages passed(&file);
  passed.Look(0, 4 * kMegabyte);
  BOOST_TEST(passed.WereCached(kMegabyte, kMegabyte));
  BOOST_TEST(passed.WereCached(kMegabyte + 5000, 1));
  BOOST_TEST(!passed.WereCached(kMegabyte - 1, 2));
  BOOST_TEST(!passed.WereCached(kMegabyte + 10, kMegabyte));
  BOOST_TEST(!passed.WereCached(0, 1));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
