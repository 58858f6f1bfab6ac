// Bitmap sections: bytes, round trips over block borders, and lies under right checksums.
#include "format/block/bitmap_section.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <random>

#include "test/support/hex.h"
#include "tools/simulation/memory_file.h"
#include "test/support/print.h"

namespace tandem::format {
namespace {

constexpr FileId kId{{4}};

struct Written {
  SectionEntry section;
  std::string bytes;
};

Written Write(const Bitmap& bitmap) {
  test::MemoryFile memory;
  SectionWriter out(&memory, kId, 64);
  BOOST_REQUIRE(WriteBitmapSection(SectionKind::kCleanRows, 0, bitmap, &out).ok());
  BOOST_REQUIRE(out.Flush().ok());
  return {out.sections()[0], memory.bytes()};
}

Result<Bitmap> Read(const Written& written, uint32_t size) {
  const BlockFile file(std::make_unique<test::MemoryFile>(written.bytes), FileNumber(1), kId,
                       nullptr);
  return ReadBitmapSection(file, written.section, size);
}

bool Same(const Bitmap& a, const Bitmap& b) {
  return a.size() == b.size() &&
         std::equal(a.words().begin(), a.words().end(), b.words().begin(), b.words().end());
}

Written WriteRaw(uint32_t count, uint32_t first, std::string_view raw, uint64_t ones) {
  test::MemoryFile memory;
  SectionWriter out(&memory, kId, 64);
  BOOST_REQUIRE(out.Begin(SectionKind::kCleanRows, 0).ok());
  BOOST_REQUIRE(out.Append({BlockKind::kBitmap, 0, count, first, raw, Compression::kNone}));
  BOOST_REQUIRE(out.End(ones).ok());
  BOOST_REQUIRE(out.Flush().ok());
  return {out.sections()[0], memory.bytes()};
}

BOOST_AUTO_TEST_SUITE(BitmapSectionTest)

BOOST_AUTO_TEST_CASE(BytesAreTheDocumentedOnes) {
  Bitmap bitmap(3);
  bitmap.Set(0);
  bitmap.Set(2);
  BOOST_TEST(test::Hex(Write(bitmap).bytes.substr(32)) == test::HexOf(R"(
    05 00 00 00 00 00 00 00  # words
    00 00 00 00              # ranks
    00 00 00 00              # padding)"));
}

BOOST_AUTO_TEST_CASE(FullAndEmptyHaveNoBytes) {
  for (const bool value : {false, true}) {
    const Bitmap bitmap(1000, value);
    const Written written = Write(bitmap);
    BOOST_TEST(written.section.size_bytes == 0u);
    BOOST_TEST(written.section.flags == (value ? kSectionFlagFull : kSectionFlagEmpty));
    const auto read = Read(written, 1000);
    BOOST_REQUIRE(read.has_value());
    BOOST_TEST(Same(*read, bitmap));
    BOOST_TEST(read->CountOnes() == (value ? 1000u : 0u));
  }
}

BOOST_AUTO_TEST_CASE(RandomBitmapsRoundTrip) {
  std::mt19937 random(3);
  for (const uint32_t size : {2u, 63u, 64u, 65u, 511u, 512u, 513u, 5000u, kBitmapBlockBits,
                              kBitmapBlockBits + 1, 2 * kBitmapBlockBits + 700}) {
    Bitmap bitmap(size);
    for (uint32_t i = 0; i < size / 2; ++i) bitmap.Set(random() % size);
    bitmap.Set(size - 1);
    bitmap.Clear(0);
    const auto read = Read(Write(bitmap), size);
    BOOST_REQUIRE(read.has_value());
    BOOST_TEST(Same(*read, bitmap));
  }
}

BOOST_AUTO_TEST_CASE(LiesUnderRightChecksumsAreCorruption) {
  const std::string words("\x05\0\0\0\0\0\0\0", 8);
  const std::string rank(4, '\0');
  BOOST_TEST(Read(WriteRaw(3, 0, words + rank, 2), 3).has_value());
  const std::string beyond("\x0d\0\0\0\0\0\0\0", 8);
  const std::string wrong_rank("\1\0\0\0", 4);
  for (const Written& lie : {WriteRaw(3, 0, words + rank, 3), WriteRaw(3, 64, words + rank, 2),
                             WriteRaw(4, 0, words + rank, 2), WriteRaw(3, 0, beyond + rank, 3),
                             WriteRaw(3, 0, words + wrong_rank, 2), WriteRaw(3, 0, words, 2),
                             WriteRaw(3, 0, words + rank + rank, 2)}) {
    BOOST_TEST(Read(lie, 3).status().code() == StatusCode::kCorruption);
  }
  Written cut = WriteRaw(3, 0, words + rank, 2);
  BOOST_TEST(Read(cut, 4000).status().code() == StatusCode::kCorruption);
  cut.section.size_bytes -= 8;
  BOOST_TEST(Read(cut, 3).status().code() == StatusCode::kCorruption);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
