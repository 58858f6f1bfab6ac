// Blocks and sections: the bytes of a block, and that no damaged block is believed.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <random>

#include "base/file_system.h"
#include "format/block/block_codec.h"
#include "format/block/block_file.h"
#include "format/block/section_writer.h"
#include "format/block/sequential_reader.h"
#include "format/hash.h"
#include "test/support/hex.h"
#include "test/support/print.h"
#include "test/support/split_loops.h"
#include "test/support/temporary_directory.h"
#include "tools/simulation/memory_file.h"

namespace tandem::format {
namespace {

constexpr FileId kId{{9, 8, 7}};

BlockPlace PlaceAt(uint64_t offset) {
  return {std::make_shared<const std::string>("store-1"), kId, offset};
}

std::string Encoded(const BlockContent& content, uint64_t offset) {
  std::string bytes, scratch;
  AppendBlock(content, ChecksumSeed(kId, offset), &scratch, &bytes);
  return bytes;
}

BlockContent Sample(std::string_view raw, Compression compression = Compression::kNone) {
  return {BlockKind::kKeyHashes, 0x0102, 7, 9, raw, compression};
}

// Changes one field and makes the checksum right again.
template <typename T>
std::string Patched(std::string bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
  const uint64_t checksum = Hash64(std::string_view(bytes).substr(8), ChecksumSeed(kId, 64));
  std::memcpy(bytes.data(), &checksum, sizeof(checksum));
  return bytes;
}

StatusCode CodeOf(std::string_view bytes) {
  return DecodeBlock(PlaceAt(64), BlockKind::kKeyHashes, bytes).status().code();
}

BOOST_AUTO_TEST_SUITE(BlockTest)

// Of a real file: systems refuse such an offset, where a file in memory has no bytes.
BOOST_AUTO_TEST_CASE(AnOffsetPastEveryFileIsCorrupt) {
  const test::TemporaryDirectory place;
  const auto file_system = base::NewPosixFileSystem();
  auto directory = file_system->OpenDirectory(place.path(), /*create=*/false);
  BOOST_REQUIRE(directory.has_value());
  auto file = (*directory)->Create("store-1");
  BOOST_REQUIRE(file.has_value());
  const BlockFile blocks(std::move(*file), FileNumber(1), kId, nullptr);
  constexpr uint64_t kOffsets[] = {uint64_t{1} << 62, (uint64_t{1} << 63) - 64, uint64_t{1} << 63,
                                   ~uint64_t{7}};
  for (const uint64_t offset : kOffsets) {
    const auto read = blocks.Read({offset, 90}, BlockKind::kRows);
    BOOST_CHECK_EQUAL(read.status().code(), StatusCode::kCorruption);
  }
}

BOOST_AUTO_TEST_CASE(HeaderBytesAreTheDocumentedOnes) {
  const std::string bytes = Encoded(Sample("abc"), 64);
  BOOST_TEST(test::Hex(bytes.substr(8)) == test::HexOf(R"(
    03 00 00 00  03 00 00 00  # stored size, raw size
    08 00  02 01              # kind, codec, flags
    07 00 00 00  09 00 00 00  # count, first
    00 00 00 00
    61 62 63)"));
  uint64_t checksum;
  std::memcpy(&checksum, bytes.data(), sizeof(checksum));
  BOOST_TEST(checksum == Hash64(bytes.substr(8), ChecksumSeed(kId, 64)));
}

BOOST_AUTO_TEST_CASE(DecodesWhatWasEncoded) {
  std::mt19937 random(1);
  for (const size_t size : {0, 1, 7, 8, 9, 100, 8192, 300000}) {
    for (const bool repetitive : {false, true}) {
      std::string raw(size, 'x');
      if (!repetitive) {
        for (char& byte : raw) byte = static_cast<char>(random());
      }
      for (const Compression compression : {Compression::kNone, Compression::kZstd}) {
        const std::string bytes = Encoded(Sample(raw, compression), 64);
        const bool smaller = bytes.size() < raw.size();
        BOOST_TEST(smaller == (repetitive && size >= 100 && compression == Compression::kZstd));
        const auto block = DecodeBlock(PlaceAt(64), BlockKind::kKeyHashes, bytes);
        BOOST_REQUIRE(block.has_value());
        BOOST_TEST(((*block)->raw() == raw));
        BOOST_TEST((*block)->flags == 0x0102);
        BOOST_TEST((*block)->count == 7u);
        BOOST_TEST((*block)->first == 9u);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(EveryFlippedBitIsCorruption) {
  for (const std::string& raw : {std::string("some bytes"), std::string(200, 'z')}) {
    const std::string bytes = Encoded(Sample(raw, Compression::kZstd), 64);
    for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      std::string bad = bytes;
      bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
      BOOST_TEST(CodeOf(bad) == StatusCode::kCorruption);
    }
  }
}

BOOST_AUTO_TEST_CASE(BlockOfAnotherPlaceFileOrKindIsCorruption) {
  const std::string bytes = Encoded(Sample("abc"), 64);
  BOOST_TEST(CodeOf(bytes) == StatusCode::kOk);
  const auto code = [&](const BlockPlace& place, BlockKind kind) {
    return DecodeBlock(place, kind, bytes).status().code();
  };
  BOOST_TEST(code(PlaceAt(72), BlockKind::kKeyHashes) == StatusCode::kCorruption);
  BOOST_TEST(code(PlaceAt(64), BlockKind::kRows) == StatusCode::kCorruption);
  const BlockPlace foreign{std::make_shared<const std::string>("store-1"), FileId{{1}}, 64};
  BOOST_TEST(code(foreign, BlockKind::kKeyHashes) == StatusCode::kCorruption);
}

BOOST_AUTO_TEST_CASE(LiesUnderARightChecksumAreCorruption) {
  const std::string plain = Encoded(Sample("abc"), 64);
  const std::string packed = Encoded(Sample(std::string(200, 'z'), Compression::kZstd), 64);
  for (const std::string& bytes :
       {Patched(plain, 8, uint32_t{4}), Patched(plain, 12, uint32_t{4}),
        Patched(plain, 12, uint32_t{2}), Patched(plain, 12, kBlockRawBytesMax + 1),
        Patched(plain, 16, uint8_t{200}), Patched(plain, 17, uint8_t{1}),
        Patched(plain, 28, uint32_t{1}), Patched(packed, 12, uint32_t{199}),
        Patched(packed, 12, uint32_t{201}), Patched(packed, 12, kBlockRawBytesMax),
        Patched(packed, 17, uint8_t{0}), Patched(packed, 40, uint8_t{0xff})}) {
    BOOST_TEST(CodeOf(bytes) == StatusCode::kCorruption);
  }
}

BOOST_AUTO_TEST_CASE(AnUnknownCodecUnderARightChecksumIsUnsupported) {
  const std::string bytes = Patched(Encoded(Sample("abc"), 64), 17, uint8_t{2});
  const auto block = DecodeBlock(PlaceAt(64), BlockKind::kKeyHashes, bytes);
  BOOST_TEST(block.error().code() == StatusCode::kUnsupported);
  BOOST_TEST(block.error().message() == "store-1: offset 64: unknown codec 2 of block");
}

BOOST_AUTO_TEST_CASE(MessageNamesFileOffsetExpectedAndFound) {
  const auto block = DecodeBlock(PlaceAt(64), BlockKind::kRows, Encoded(Sample("abc"), 64));
  BOOST_TEST(block.error().message() == "store-1: offset 64: kind of block: expected 1, found 8");
}

BOOST_AUTO_TEST_CASE(SectionsAreAlignedPaddedAndHashed) {
  test::MemoryFile memory;
  SectionWriter out(&memory, kId, 64);
  BOOST_REQUIRE(out.AppendRaw("header").ok());
  std::vector<BlockHandle> handles;
  for (uint32_t section = 0; section < 3; ++section) {
    BOOST_REQUIRE(out.Begin(SectionKind::kKeyHashes, section).ok());
    for (uint32_t i = 0; i < section; ++i) {
      const auto handle = out.Append(Sample(std::string(i + 1, 'b')));
      BOOST_REQUIRE(handle.has_value());
      handles.push_back(*handle);
    }
    BOOST_REQUIRE(out.End(section).ok());
  }
  BOOST_REQUIRE(out.Flush().ok());
  const std::string& bytes = memory.bytes();
  BOOST_TEST(bytes.size() == out.offset());
  BOOST_TEST((HashOf128(bytes) == out.hash()));
  for (const SectionEntry& section : out.sections()) {
    BOOST_TEST(section.offset % 64 == 0u);
    BOOST_TEST(section.checksum == Hash64(bytes.substr(section.offset, section.size_bytes)));
  }
  BOOST_TEST(out.sections()[2].size_bytes == 80u);
  BlockFile file(std::make_unique<test::MemoryFile>(bytes), FileNumber(1), kId, nullptr);
  SequentialReader reader(file, out.sections()[2]);
  for (const std::string raw : {"b", "bb"}) {
    const auto block = reader.Next(BlockKind::kKeyHashes);
    BOOST_REQUIRE(block.has_value());
    BOOST_TEST((*block)->raw() == raw);
  }
  BOOST_TEST(reader.done());
  BOOST_TEST(reader.Next(BlockKind::kKeyHashes).status().code() == StatusCode::kCorruption);
  BOOST_TEST(file.Read(handles[2], BlockKind::kKeyHashes).has_value());
}

// A file of two sections: three blocks one by one or, if there are `loops`, as groups.
std::string GroupedBlocks(base::Parallel* loops, std::vector<BlockHandle>* handles) {
  test::MemoryFile memory;
  SectionWriter out(&memory, kId, 64, loops);
  for (uint32_t section = 0; section < 2; ++section) {
    BOOST_REQUIRE(out.Begin(SectionKind::kKeyHashes, section).ok());
    for (int i = 0; i < 2; ++i) {
      BlockGroup group;
      for (const size_t size : {500, 3, 700}) {
        group.blocks.push_back({Sample({}, Compression::kZstd), size});
        group.raw.append(size, static_cast<char>('a' + i));
      }
      const auto placed = [handles](const BlockHandle& handle) { handles->push_back(handle); };
      BOOST_REQUIRE(out.AppendGroup(&group, placed).ok());
      BOOST_TEST(group.blocks.empty());
      BOOST_TEST(group.raw.empty());
    }
    BOOST_REQUIRE(out.Append(Sample("alone")).has_value());
    BOOST_REQUIRE(out.End(section).ok());
  }
  BOOST_REQUIRE(out.Flush().ok());
  BOOST_TEST((HashOf128(memory.bytes()) == out.hash()));
  return memory.bytes();
}

BOOST_AUTO_TEST_CASE(GroupsAreTheSameBytesWhereTheyAreCompressedInParallel) {
  std::vector<BlockHandle> expected, handles;
  test::SplitLoops loops;
  const std::string bytes = GroupedBlocks(nullptr, &expected);
  BOOST_TEST((GroupedBlocks(&loops, &handles) == bytes));
  BOOST_TEST((handles == expected));
  BOOST_TEST(handles.size() == 12u);
  BOOST_TEST(loops.loops() == 4u);
}

BOOST_AUTO_TEST_CASE(AGroupThatWaitsIsDroppedWithTheWriter) {
  test::MemoryFile memory;
  test::SplitLoops loops;
  {
    SectionWriter out(&memory, kId, 64, &loops);
    BOOST_REQUIRE(out.Begin(SectionKind::kKeyHashes, 0).ok());
    BlockGroup group;
    group.blocks.push_back({Sample({}, Compression::kZstd), 3});
    group.raw = "abc";
    group.unpacked_bytes = 3;
    const auto placed = [](const BlockHandle&) { BOOST_ERROR("a block that was not written"); };
    BOOST_REQUIRE(out.AppendGroup(&group, placed).ok());
    BOOST_TEST(out.waiting_bytes() == 3u);
  }
  BOOST_TEST(memory.bytes().empty());
}

BOOST_AUTO_TEST_CASE(HandlesThatPointNowhereAreCorruption) {
  BlockFile file(
      std::make_unique<test::MemoryFile>(std::string(64, '\0') + Encoded(Sample("abc"), 64)),
      FileNumber(1), kId, nullptr);
  const auto code = [&](uint64_t offset, uint32_t size) {
    return file.Read({offset, size}, BlockKind::kKeyHashes).status().code();
  };
  BOOST_TEST(code(64, 35) == StatusCode::kOk);
  BOOST_TEST(code(64, 34) == StatusCode::kCorruption);
  BOOST_TEST(code(64, 36) == StatusCode::kCorruption);
  BOOST_TEST(code(64, 0) == StatusCode::kCorruption);
  BOOST_TEST(code(64, 0xffffffff) == StatusCode::kCorruption);
  BOOST_TEST(code(65, 35) == StatusCode::kCorruption);
  BOOST_TEST(code(0xfffffffffffffff8, 40) == StatusCode::kCorruption);
}

// zstd frames by hand: a window of 128 KiB and blocks of one repeated byte, each 4 bytes long.
std::string FrameOfZeros(size_t blocks) {
  std::string frame("\x28\xb5\x2f\xfd\x00\x38", 6);
  for (size_t i = 0; i < blocks; ++i) {
    const uint32_t header = (uint32_t{128 * 1024} << 3) | (1u << 1) | (i + 1 == blocks ? 1u : 0u);
    for (int byte = 0; byte < 3; ++byte) frame.push_back(static_cast<char>(header >> (8 * byte)));
    frame.push_back('\0');
  }
  return frame;
}

// A block whose header claims `raw_bytes` for that payload, its checksum right.
std::string BlockOf(std::string_view payload, uint32_t raw_bytes) {
  std::string bytes = Encoded(Sample(payload), 64);
  bytes = Patched(bytes, 12, raw_bytes);
  return Patched(bytes, 17, uint8_t{1});
}

BOOST_AUTO_TEST_CASE(AFrameNeverFillsMoreThanItsBlockClaims) {
  // Sound first, so that what follows fails for the reason that is meant.
  BOOST_TEST(CodeOf(BlockOf(FrameOfZeros(2), 256 * 1024)) == StatusCode::kOk);
  // A gibibyte in 32 KiB, claimed as anything that may be claimed.
  const std::string bomb = FrameOfZeros(8192);
  for (const uint32_t claimed : {1u, 4096u, 64u * 1024, kBlockRawBytesMax}) {
    BOOST_TEST(CodeOf(BlockOf(bomb, claimed)) == StatusCode::kCorruption, claimed);
  }
  BOOST_TEST(CodeOf(BlockOf(bomb, kBlockRawBytesMax + 1)) == StatusCode::kCorruption);
  BOOST_TEST(CodeOf(BlockOf(bomb, UINT32_MAX)) == StatusCode::kCorruption);
}

BOOST_AUTO_TEST_CASE(AFrameThatIsNotExactlyItsBlockIsRefused) {
  const std::string frame = FrameOfZeros(1);
  constexpr uint32_t kRaw = 128 * 1024;
  BOOST_TEST(CodeOf(BlockOf(frame, kRaw)) == StatusCode::kOk);
  BOOST_TEST(CodeOf(BlockOf(frame, kRaw - 1)) == StatusCode::kCorruption);
  BOOST_TEST(CodeOf(BlockOf(frame, kRaw + 1)) == StatusCode::kCorruption);
  BOOST_TEST(CodeOf(BlockOf(frame + frame, 2 * kRaw)) == StatusCode::kCorruption);
  BOOST_TEST(CodeOf(BlockOf(frame + std::string(1, '\0'), kRaw)) == StatusCode::kCorruption);
  BOOST_TEST(CodeOf(BlockOf(frame.substr(0, frame.size() - 1), kRaw)) == StatusCode::kCorruption);
  // A frame that readers skip, alone and before a sound one.
  const std::string skipped("\x50\x2a\x4d\x18\x04\x00\x00\x00wxyz", 12);
  BOOST_TEST(CodeOf(BlockOf(skipped, kRaw)) == StatusCode::kCorruption);
  BOOST_TEST(CodeOf(BlockOf(skipped + frame, kRaw)) == StatusCode::kCorruption);
  // One that needs a dictionary.
  std::string with_dictionary = frame;
  with_dictionary[4] = 1;
  with_dictionary.insert(6, 1, '\x07');
  BOOST_TEST(CodeOf(BlockOf(with_dictionary, kRaw)) == StatusCode::kCorruption);
  BOOST_TEST(CodeOf(BlockOf("", kRaw)) == StatusCode::kCorruption);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
