// A window over key hashes gives what the file holds, wherever blocks end and whatever was asked
// for before, and refuses blocks that are damaged or lie.
#define BOOST_TEST_DYN_LINK
#include "store_file/key_hashes_reader.h"

#include <boost/test/unit_test.hpp>

#include "test/store_file/forged_file.h"
#include "test/store_file/store_files.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::format {
namespace {

constexpr uint32_t kRows = 2 * kKeyHashesPerBlock + 700;

struct WindowFixture {
  WindowFixture() {
    test::Rows rows;
    for (uint32_t i = 0; i < kRows; ++i) {
      rows["row" + std::to_string(100'000 + i)].push_back({CellKind::kPut, "a", 5, i + 1, "v"});
    }
    bytes = test::WriteRows(test::PlainTable(), rows)->bytes;
    const auto file = *test::OpenBytes(bytes);
    const auto all = file->KeyHashes();
    BOOST_TEST_REQUIRE(all.has_value());
    hashes.assign(all->begin(), all->end());
    for (const BlockHandle& handle : test::BlocksOf(bytes)) {
      if (ClaimedKind(std::string_view(bytes).substr(handle.offset)) == BlockKind::kKeyHashes) {
        blocks.push_back(handle);
      }
    }
    BOOST_TEST_REQUIRE(blocks.size() == 3u);
  }

  void Check(KeyHashesReader* window, uint32_t first, uint32_t count) const {
    const auto read = window->Read(first, count);
    BOOST_TEST_REQUIRE(read.has_value(), read.status());
    BOOST_TEST_REQUIRE(read->size() == count);
    BOOST_TEST_REQUIRE(std::equal(read->begin(), read->end(), hashes.begin() + first));
  }

  std::string bytes;
  std::vector<uint64_t> hashes;
  std::vector<BlockHandle> blocks;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(KeyHashesReaderTest, WindowFixture)

BOOST_AUTO_TEST_CASE(RowsAnywhereAreThoseOfTheFile) {
  test::TestRandom random("KeyHashesReaderTest/RowsAnywhereAreThoseOfTheFile");
  for (const bool is_loaded : {false, true}) {
    const auto file = *test::OpenBytes(bytes);
    if (is_loaded) BOOST_TEST_REQUIRE(file->KeyHashes().has_value());
    KeyHashesReader window(file.get());
    Check(&window, 0, kRows);
    uint32_t first = 0;
    for (size_t i = 0; i < test::Trials(3000); ++i) {
      first = random.OneIn(10) ? static_cast<uint32_t>(random.Below(kRows)) : first;
      const uint64_t most = random.OneIn(20) ? kRows : 300;
      const auto count =
          static_cast<uint32_t>(1 + random.Below(std::min<uint64_t>(most, kRows - first)));
      Check(&window, first, count);
      first = std::min(kRows - 1, first + static_cast<uint32_t>(random.Below(count + 1)));
    }
  }
}

BOOST_AUTO_TEST_CASE(ADamagedBlockIsReportedAndTheOthersAreRead) {
  for (const size_t at : {0, 9, 20, 24, 33, 4000}) {
    std::string bad = bytes;
    bad[blocks[1].offset + at] = static_cast<char>(bad[blocks[1].offset + at] ^ 16);
    const auto file = *test::OpenBytes(bad);
    KeyHashesReader window(file.get());
    for (int pass = 0; pass < 2; ++pass) {
      Check(&window, kKeyHashesPerBlock - 20, 20);
      const auto across = window.Read(kKeyHashesPerBlock - 20, 21);
      BOOST_TEST(across.status().code() == StatusCode::kCorruption);
      BOOST_TEST(window.Read(kKeyHashesPerBlock, 1).status().code() == StatusCode::kCorruption);
      Check(&window, 2 * kKeyHashesPerBlock, 700);
    }
  }
}

BOOST_AUTO_TEST_CASE(LiesUnderARightChecksumAreCorruption) {
  // Codec, count and first.
  for (const size_t at : {17, 20, 24}) {
    std::string bad = bytes;
    bad[blocks[2].offset + at] = static_cast<char>(bad[blocks[2].offset + at] ^ 1);
    test::SealBlock(&bad, blocks[2].offset);
    const auto file = *test::OpenBytes(bad);
    KeyHashesReader window(file.get());
    Check(&window, 0, 2 * kKeyHashesPerBlock);
    const auto read = window.Read(2 * kKeyHashesPerBlock, 5);
    BOOST_TEST(read.status().code() == StatusCode::kCorruption);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::format
