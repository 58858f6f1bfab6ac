// Footer, section table and statistics: their bytes, and what makes them be refused.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "format/block/footer.h"
#include "format/block/section_table.h"
#include "store_file/file_statistics.h"
#include "test/support/hex.h"
#include "test/support/print.h"

namespace tandem::format {
namespace {

constexpr FileId kId{{4}};

BlockRef BlockOf(std::string_view raw, uint32_t count) {
  auto block = std::make_shared<Block>();
  block->count = count;
  block->raw_bytes = static_cast<uint32_t>(raw.size());
  block->data = base::AllocateInHeap(raw.size());
  std::memcpy(block->data.get(), raw.data(), raw.size());
  return block;
}

Footer SampleFooter() {
  Footer footer;
  footer.file_size = 1024;
  footer.table_offsets[0] = 128;
  footer.table_offsets[1] = 640;
  footer.table_bytes = 464;
  footer.sections = 9;
  footer.number = FileNumber(5);
  return footer;
}

std::vector<SectionEntry> SampleSections() {
  SectionEntry data{SectionKind::kData, 0, 0, 128, 104, 1, 0x1122334455667788};
  SectionEntry older{SectionKind::kIndexLeaves, kSectionFlagOlder, 3, 256, 8, 2, 1};
  SectionEntry current{SectionKind::kIndexLeaves, 0, 3, 320, 0, 2, 1};
  return {data, older, current};
}

std::string Table(const std::vector<SectionEntry>& sections) {
  std::string raw;
  AppendSectionTable(sections, &raw);
  return raw;
}

FileStatistics SampleStatistics() {
  FileStatistics s;
  s.rows = 2;
  s.clean_rows = 1;
  s.cells = 3;
  s.deletes = 1;
  s.raw_bytes = 10;
  s.min_sequence = SequenceNumber(4);
  s.max_sequence = SequenceNumber(5);
  s.min_timestamp = -1;
  s.max_timestamp = 6;
  s.min_key = "a";
  s.max_key = "b";
  s.column_times.push_back({FamilyId(0), "q", 6, 6});
  s.family_times.push_back({FamilyId(0), "", 5, 6});
  return s;
}

BOOST_AUTO_TEST_SUITE(FileEndTest)

BOOST_AUTO_TEST_CASE(FooterBytesAreTheDocumentedOnes) {
  std::string bytes;
  AppendFooter(SampleFooter(), kId, &bytes);
  BOOST_REQUIRE(bytes.size() == kFooterBytes);
  const std::string expected = test::HexOf(R"(
    89 46 4F 4F 54 45 52 0A  # magic
    00 04 00 00 00 00 00 00  # file size
    80 00 00 00 00 00 00 00  80 02 00 00 00 00 00 00  # tables
    D0 01 00 00  09 00 00 00 # size and entries of a table
    05 00 00 00 00 00 00 00  # file number
    00 00 00 00 00 00 00 00)");
  BOOST_TEST(test::Hex(bytes.substr(0, 56)) == expected);
  BOOST_TEST(test::Hex(bytes.substr(64, 56)) == expected);
  BOOST_TEST(bytes.substr(56, 8) != bytes.substr(120));
  const auto decoded = DecodeFooter(bytes, kId, 1024, "store-5");
  BOOST_REQUIRE(decoded.has_value());
  BOOST_TEST((*decoded == SampleFooter()));
}

BOOST_AUTO_TEST_CASE(FooterSurvivesOneDamagedCopyNotTwo) {
  std::string good;
  AppendFooter(SampleFooter(), kId, &good);
  for (size_t first = 0; first < 64; ++first) {
    std::string bytes = good;
    bytes[first] = static_cast<char>(bytes[first] ^ 4);
    BOOST_TEST(DecodeFooter(bytes, kId, 1024, "store-5").has_value());
    bytes[64 + (first * 7) % 64] = static_cast<char>(bytes[64 + (first * 7) % 64] ^ 4);
    BOOST_TEST(DecodeFooter(bytes, kId, 1024, "store-5").status().code() ==
               StatusCode::kCorruption);
  }
  BOOST_TEST(DecodeFooter(good, kId, 1088, "store-5").status().code() == StatusCode::kCorruption);
  BOOST_TEST(DecodeFooter(good, FileId{}, 1024, "store-5").status().code() ==
             StatusCode::kCorruption);
}

BOOST_AUTO_TEST_CASE(SectionTableBytesAreTheDocumentedOnes) {
  const auto sections = SampleSections();
  BOOST_TEST(test::Hex(Table(sections).substr(0, kSectionEntryBytes)) == test::HexOf(R"(
    03 00 00 00  00 00 00 00  # kind, flags
    00 00 00 00  00 00 00 00  # owner
    80 00 00 00 00 00 00 00   # offset
    68 00 00 00 00 00 00 00   # size
    01 00 00 00 00 00 00 00   # count
    88 77 66 55 44 33 22 11   # checksum)"));
  const auto decoded = DecodeSectionTable(*BlockOf(Table(sections), 3), 64, 320);
  BOOST_REQUIRE(decoded.has_value());
  BOOST_TEST(Table(*decoded) == Table(sections));
  BOOST_TEST(FindSection(*decoded, SectionKind::kIndexLeaves, 3, true)->offset == 256u);
  BOOST_TEST(FindSection(*decoded, SectionKind::kIndexLeaves, 3)->offset == 320u);
  BOOST_TEST(FindSection(*decoded, SectionKind::kIndexLeaves, 4) == nullptr);
}

BOOST_AUTO_TEST_CASE(SectionsOutOfPlaceAreCorruption) {
  const auto code = [](auto change, uint64_t table_offset = 320) {
    auto sections = SampleSections();
    change(&sections);
    const BlockRef block = BlockOf(Table(sections), static_cast<uint32_t>(sections.size()));
    return DecodeSectionTable(*block, 64, table_offset).status().code();
  };
  using Sections = std::vector<SectionEntry>;
  BOOST_TEST(code([](Sections*) {}) == StatusCode::kOk);
  BOOST_TEST(code([](Sections*) {}, 256) == StatusCode::kCorruption);
  BOOST_TEST(code([](Sections* s) { (*s)[0].offset = 192; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](Sections* s) { (*s)[0].size_bytes = 100; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](Sections* s) { (*s)[0].size_bytes = ~uint64_t{7}; }) ==
             StatusCode::kCorruption);
  BOOST_TEST(code([](Sections* s) { (*s)[1].flags = 0; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](Sections* s) { std::swap((*s)[0], (*s)[1]); }) == StatusCode::kCorruption);
  const std::string raw = Table(SampleSections());
  BOOST_TEST(DecodeSectionTable(*BlockOf(raw, 2), 64, 320).status().code() ==
             StatusCode::kCorruption);
  BOOST_TEST(DecodeSectionTable(*BlockOf(raw, 0x55555555), 64, 320).status().code() ==
             StatusCode::kCorruption);
}

BOOST_AUTO_TEST_CASE(StatisticsBytesAreTheDocumentedOnes) {
  std::string raw;
  AppendStatistics(SampleStatistics(), &raw);
  BOOST_TEST(test::Hex(raw) == test::HexOf(R"(
    02 00 00 00  01 00 00 00  # rows, clean rows
    03 00 00 00 00 00 00 00   # cells
    01 00 00 00 00 00 00 00   # markers
    0A 00 00 00 00 00 00 00   # raw bytes
    04 00 00 00 00 00 00 00   05 00 00 00 00 00 00 00  # sequences
    FF FF FF FF FF FF FF FF   06 00 00 00 00 00 00 00  # timestamps
    01 61  01 62              # keys
    01  00 01 71              # one column: family 0, "q"
    06 00 00 00 00 00 00 00   06 00 00 00 00 00 00 00
    01  00 00                 # one family: 0
    05 00 00 00 00 00 00 00   06 00 00 00 00 00 00 00)"));
  const auto decoded = DecodeStatistics(*BlockOf(raw, 2));
  BOOST_REQUIRE(decoded.has_value());
  BOOST_TEST((*decoded == SampleStatistics()));
  for (size_t size = 0; size < raw.size(); ++size) {
    BOOST_TEST(DecodeStatistics(*BlockOf(raw.substr(0, size), 2)).status().code() ==
               StatusCode::kCorruption);
  }
  BOOST_TEST(DecodeStatistics(*BlockOf(raw + "x", 2)).status().code() == StatusCode::kCorruption);
  BOOST_TEST(DecodeStatistics(*BlockOf(raw, 3)).status().code() == StatusCode::kCorruption);
}

BOOST_AUTO_TEST_CASE(StatisticsThatContradictThemselvesAreCorruption) {
  const auto code = [](auto change) {
    FileStatistics s = SampleStatistics();
    change(&s);
    std::string raw;
    AppendStatistics(s, &raw);
    return DecodeStatistics(*BlockOf(raw, s.rows)).status().code();
  };
  using S = FileStatistics;
  BOOST_TEST(code([](S*) {}) == StatusCode::kOk);
  BOOST_TEST(code([](S* s) { s->rows = 0; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](S* s) { s->rows = 0x80000000; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](S* s) { s->clean_rows = 3; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](S* s) { s->cells = 1; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](S* s) { s->deletes = 4; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](S* s) { s->min_sequence = SequenceNumber(6); }) == StatusCode::kCorruption);
  BOOST_TEST(code([](S* s) { s->max_timestamp = -2; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](S* s) { s->min_key = "c"; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](S* s) { s->min_key = ""; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](S* s) { s->column_times[0].min_timestamp = 7; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](S* s) { s->column_times.push_back(s->column_times[0]); }) ==
             StatusCode::kCorruption);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
