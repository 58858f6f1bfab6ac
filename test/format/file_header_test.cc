// The bytes of the file header, and everything that makes it be refused.
#include "format/file_header.h"

#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "format/hash.h"
#include "test/support/hex.h"
#include "test/support/print.h"

namespace tandem::format {
namespace {

FileHeader SampleHeader() {
  FileHeader header;
  header.kind = FileKind::kStore;
  header.alignment_log2 = 6;
  header.number = FileNumber(5);
  for (uint8_t i = 0; i < 16; ++i) {
    header.database.bytes[i] = static_cast<uint8_t>(0x01 + i);
    header.id.bytes[i] = static_cast<uint8_t>(0x21 + i);
  }
  return header;
}

std::string Encoded(const FileHeader& header) {
  std::string bytes;
  AppendFileHeader(header, &bytes);
  return bytes;
}

// Writes `value` at `offset` and makes the checksum right again.
template <typename T>
std::string Patched(std::string bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
  const uint64_t checksum = Hash64(std::string_view(bytes).substr(0, 120));
  std::memcpy(bytes.data() + 120, &checksum, sizeof(checksum));
  return bytes;
}

StatusCode CodeOf(std::string_view bytes) {
  return DecodeFileHeader(bytes, FileKind::kStore, "store-5").status().code();
}

BOOST_AUTO_TEST_SUITE(FileHeaderTest)

BOOST_AUTO_TEST_CASE(BytesAreTheDocumentedOnes) {
  BOOST_TEST(test::Hex(Encoded(SampleHeader())) == test::HexOf(R"(
    89 54 41 4E 44 45 4D 0A  # magic
    04 06                    # kind, alignment
    01 00  80 00 00 00       # version, header size
    00 00 00 00 00 00 00 00  # compatible
    00 00 00 00 00 00 00 00  # read-compatible
    00 00 00 00 00 00 00 00  # incompatible
    01 02 03 04 05 06 07 08 09 0A 0B 0C 0D 0E 0F 10  # database id
    05 00 00 00 00 00 00 00                          # file number
    21 22 23 24 25 26 27 28 29 2A 2B 2C 2D 2E 2F 30  # file id
    00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
    00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00
    75 B7 4B 02 B9 E6 33 C9  # checksum)"));
}

BOOST_AUTO_TEST_CASE(DecodesWhatWasEncoded) {
  FileHeader header = SampleHeader();
  header.compatible = 9;
  header.read_compatible = 2;
  const auto decoded = DecodeFileHeader(Encoded(header) + "more", FileKind::kStore, "store-5");
  BOOST_REQUIRE(decoded.has_value());
  BOOST_TEST((*decoded == header));
  BOOST_TEST(!decoded->writable());
}

BOOST_AUTO_TEST_CASE(EveryFlippedBitIsCorruption) {
  const std::string bytes = Encoded(SampleHeader());
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string bad = bytes;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    BOOST_TEST(CodeOf(bad) == StatusCode::kCorruption);
  }
}

BOOST_AUTO_TEST_CASE(EveryCutIsCorruption) {
  const std::string bytes = Encoded(SampleHeader());
  for (size_t size = 0; size < bytes.size(); ++size) {
    BOOST_TEST(CodeOf(std::string_view(bytes).substr(0, size)) == StatusCode::kCorruption);
  }
}

BOOST_AUTO_TEST_CASE(LaterVersionsAndUnknownFeaturesAreUnsupported) {
  const std::string bytes = Encoded(SampleHeader());
  BOOST_TEST(CodeOf(Patched(bytes, 10, uint16_t{2})) == StatusCode::kUnsupported);
  BOOST_TEST(CodeOf(Patched(bytes, 32, uint64_t{1} << 40)) == StatusCode::kUnsupported);
}

BOOST_AUTO_TEST_CASE(FieldsOutOfRangeAreCorruption) {
  const std::string bytes = Encoded(SampleHeader());
  BOOST_TEST(CodeOf(Patched(bytes, 8, uint8_t{3})) == StatusCode::kCorruption);
  BOOST_TEST(CodeOf(Patched(bytes, 9, uint8_t{2})) == StatusCode::kCorruption);
  BOOST_TEST(CodeOf(Patched(bytes, 9, uint8_t{64})) == StatusCode::kCorruption);
  BOOST_TEST(CodeOf(Patched(bytes, 12, uint32_t{256})) == StatusCode::kCorruption);
  BOOST_TEST(CodeOf(Patched(bytes, 100, uint8_t{1})) == StatusCode::kCorruption);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
