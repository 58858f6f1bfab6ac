// A few rows take a few bytes on disk: the space between the sections of a small file is small.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>

#include "format/file_header.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

struct SmallFiles : TestEngine {
  SmallFiles() {
    tuning.section_alignment = 4096;  // As in a user's database.
    tuning.memstore_bytes = 8 << 20;
    tuning.memstores_total_bytes = 64 << 20;
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    BOOST_REQUIRE_EQUAL((**this).CreateTable(SimpleTable()).ToString(), "OK");
  }
  // Of the only store file.
  std::string Content() {
    const auto files = (**this).Info().tables[0].regions[0].files;
    BOOST_REQUIRE_EQUAL(files.size(), 1u);
    return *disk.Content("db", "store-" + std::to_string(files[0].number));
  }
  uint64_t Alignment() {
    return 1u << format::DecodeFileHeader(Content(), format::FileKind::kStore, "")->alignment_log2;
  }
};

BOOST_FIXTURE_TEST_SUITE(SmallFilesSuite, SmallFiles)

BOOST_AUTO_TEST_CASE(OneRowTakesLittle) {
  BOOST_REQUIRE(Put("row", "c", "1").ok());
  BOOST_REQUIRE((**this).Flush("t").ok());
  BOOST_TEST(Content().size() < 4096u);
  BOOST_REQUIRE(Put("other", "c", "2").ok());
  BOOST_REQUIRE((**this).Compact("t").ok());
  BOOST_TEST(Content().size() < 4096u);
  BOOST_TEST((**this).Verify(true)->findings.empty());
}

BOOST_AUTO_TEST_CASE(LargeFilesKeepTheirAlignment) {
  for (int i = 0; i < 40; ++i) {
    BOOST_REQUIRE(Put("row" + std::to_string(i), "v", std::string(60'000, 'v')).ok());
  }
  BOOST_REQUIRE((**this).Flush("t").ok());
  BOOST_TEST(Alignment() == 4096u);
  // What is left of them after a merge is small again.
  for (int i = 1; i < 40; ++i) {
    WriteBatch batch;
    batch.DeleteRow("t", "row" + std::to_string(i));
    BOOST_REQUIRE(Write(batch).ok());
  }
  BOOST_REQUIRE((**this).Compact("t").ok());
  BOOST_REQUIRE(Put("row0", "c", "2").ok());
  BOOST_REQUIRE((**this).Compact("t").ok());
  BOOST_TEST(Alignment() == 64u);
  BOOST_TEST(Value("row0", "v").size() == 60'000u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
