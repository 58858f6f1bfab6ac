// Streams over blocks: any piece comes back, and sections that are not what they say are refused.
#define BOOST_TEST_DYN_LINK
#include "format/block/stream_section.h"

#include <boost/test/unit_test.hpp>

#include "test/index/section_file.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::format {
namespace {

using test::TestRandom;

constexpr StreamKind kKind{SectionKind::kIndexPostings, BlockKind::kPostings};

struct Stream {
  std::string bytes;
  SectionEntry section;
  std::unique_ptr<BlockFile> file;

  StreamReader Reader() const {
    return StreamReader(*file, section, kKind.block, StreamReader::Through::kFile);
  }
};

Stream WriteRandom(TestRandom* random, size_t size) {
  Stream stream;
  stream.bytes.resize(size);
  for (char& c : stream.bytes) c = static_cast<char>(random->Next());
  auto memory = std::make_unique<test::MemoryFile>();
  SectionWriter out(memory.get(), test::kTestFileId, 64);
  BOOST_REQUIRE(WriteStream(kKind, 5, kSectionFlagOlder, stream.bytes, &out).ok());
  BOOST_REQUIRE(out.Flush().ok());
  stream.section = out.sections().front();
  stream.file =
      std::make_unique<BlockFile>(std::move(memory), FileNumber(1), test::kTestFileId, nullptr);
  return stream;
}

BOOST_AUTO_TEST_SUITE(StreamSectionSuite)

BOOST_AUTO_TEST_CASE(EveryPieceIsReadBack) {
  TestRandom random("EveryPieceIsReadBack");
  for (const size_t size : {size_t{1}, size_t{7}, size_t{kStreamBlockBytes},
                            size_t{kStreamBlockBytes} + 1, size_t{3} * kStreamBlockBytes + 100}) {
    const Stream stream = WriteRandom(&random, size);
    BOOST_TEST(stream.section.count == size);
    StreamReader reader = stream.Reader();
    for (int i = 0; i < 200; ++i) {
      const uint64_t at = random.Below(size + 1);
      const uint64_t piece = random.Below(size - at + 1);
      const auto bytes = reader.Read(at, piece);
      BOOST_REQUIRE(bytes.has_value());
      BOOST_REQUIRE(*bytes == std::string_view(stream.bytes).substr(at, piece));
    }
    BOOST_TEST(*ReadWholeStream(*stream.file, stream.section, kKind.block) == stream.bytes);
  }
}

BOOST_AUTO_TEST_CASE(PiecesOutsideAreCorruption) {
  TestRandom random("PiecesOutsideAreCorruption");
  const Stream stream = WriteRandom(&random, 100);
  StreamReader reader = stream.Reader();
  BOOST_TEST(reader.Read(0, 101).status().code() == StatusCode::kCorruption);
  BOOST_TEST(reader.Read(101, 0).status().code() == StatusCode::kCorruption);
  BOOST_TEST(reader.Read(~uint64_t{0}, 2).status().code() == StatusCode::kCorruption);
  BOOST_TEST(reader.Read(2, ~uint64_t{0}).status().code() == StatusCode::kCorruption);
}

BOOST_AUTO_TEST_CASE(SizesThatDoNotAgreeAreCorruption) {
  TestRandom random("SizesThatDoNotAgreeAreCorruption");
  Stream stream = WriteRandom(&random, kStreamBlockBytes + 100);
  for (const uint64_t count : {uint64_t{100}, uint64_t{kStreamBlockBytes} + 200, ~uint64_t{0}}) {
    Stream& changed = stream;
    changed.section.count = count;
    BOOST_TEST(changed.Reader().Read(0, 1).status().code() == StatusCode::kCorruption);
  }
  // Padding hides the difference, so the block's own size decides.
  stream.section.count = kStreamBlockBytes + 101;
  BOOST_TEST(stream.Reader().Read(kStreamBlockBytes, 1).status().code() == StatusCode::kCorruption);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
