// The top of a block index: what is read through it and when, hostile tops and pieces under correct
// checksums, indexes without one.
#define BOOST_TEST_DYN_LINK
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <thread>

#include "format/block/block_codec.h"
#include "format/byte_reader.h"
#include "format/coding.h"
#include "format/corruption.h"
#include "format/hash.h"
#include "test/format/row/written_index.h"
#include "test/support/forwarding_file.h"
#include "test/support/print.h"

namespace tandem::format {
namespace {

using test::IndexSpan;
using test::kIndexFileId;
using test::LoadIndex;
using test::OpenIndex;
using test::RandomSpans;
using test::WriteIndex;
using test::WrittenIndex;

// Counts the reads of a file, and fails them on request.
class FailingFile final : public test::ForwardingFile {
 public:
  FailingFile(std::string bytes, int* reads)
      : ForwardingFile(std::make_unique<test::MemoryFile>(std::move(bytes))), reads_(reads) {}
  Result<size_t> Read(uint64_t offset, std::span<char> buffer) override {
    if ((*reads_)++ < 0) return Status::IoError("the test says so");
    return ForwardingFile::Read(offset, buffer);
  }

 private:
  int* reads_;
};

BlockFile CountedFile(const WrittenIndex& written, int* reads) {
  return {std::make_unique<FailingFile>(written.bytes, reads), FileNumber(1), kIndexFileId,
          nullptr};
}

// Makes the checksum of the block at `offset` right again.
void Seal(uint64_t offset, std::string* bytes) {
  const uint32_t stored = LoadAt<uint32_t>(*bytes, offset + 8);
  if (stored > bytes->size() - offset - kBlockHeaderBytes) return;
  const std::string_view covered =
      std::string_view(*bytes).substr(offset + 8, kBlockHeaderBytes - 8 + stored);
  StoreAt(bytes, offset, Hash64(covered, ChecksumSeed(kIndexFileId, offset)));
}

// Everything that an index says.
std::string Contents(const BlockIndex& index) {
  std::string all, separator;
  for (uint32_t block = 0; block < index.size(); ++block) {
    const DataBlock at = *index.At(block);
    BOOST_REQUIRE(index.Separator(block, &separator).ok());
    AppendU64(&all, at.handle.offset);
    AppendU32(&all, at.handle.stored_bytes);
    AppendU32(&all, at.first);
    AppendU32(&all, at.count);
    AppendLengthPrefixed(&all, separator);
  }
  return all;
}

BOOST_AUTO_TEST_SUITE(BlockIndexTopTest)

BOOST_AUTO_TEST_CASE(APieceIsReadWhenItIsNeededAndOnce) {
  const auto spans = RandomSpans(1000, "", 5);
  const WrittenIndex written = WriteIndex(spans);
  int reads = 0;
  const BlockFile file = CountedFile(written, &reads);
  const auto index =
      BlockIndex::Open(file, {&written.index, &*written.top, &written.data}, written.rows);
  BOOST_TEST_REQUIRE(index.has_value(), index.status());
  BOOST_TEST(index->piece_count() == 8u);
  BOOST_TEST(reads == 1);
  BOOST_TEST(*index->Find(spans[300].first_key) == 300u);
  BOOST_TEST(reads == 2);
  for (uint32_t block = 256; block < 384; ++block) {
    BOOST_TEST(*index->Find(spans[block].last_key) == block);
    BOOST_TEST(*index->BlockOf(index->At(block)->first, 300) == block);
  }
  BOOST_TEST(reads == 2);
  // The first separator of a piece is in the top.
  std::string separator;
  BOOST_TEST(index->Separator(512, &separator).ok());
  BOOST_TEST((spans[511].last_key < separator && separator <= spans[512].first_key));
  BOOST_TEST(reads == 2);
  // So do the bytes of whole pieces.
  BOOST_TEST(*index->DataBytes(512, 1000) == 488u * 60);
  BOOST_TEST(reads == 2);
  BOOST_TEST(*index->DataBytes(300, 310) == 10u * 60);
  BOOST_TEST(reads == 2);
  // Two runs of neighbours are missing.
  BOOST_TEST(index->LoadBlocks(130, 1000).ok());
  BOOST_TEST(reads == 4);
  BOOST_TEST(!index->HasPiece(0));
}

BOOST_AUTO_TEST_CASE(AFailedReadIsTriedAgain) {
  const auto spans = RandomSpans(300, "", 5);
  const WrittenIndex written = WriteIndex(spans);
  int reads = 0;
  const BlockFile file = CountedFile(written, &reads);
  const auto index =
      BlockIndex::Open(file, {&written.index, &*written.top, &written.data}, written.rows);
  BOOST_TEST_REQUIRE(index.has_value(), index.status());
  reads = -3;
  BOOST_TEST(index->Find(spans[200].first_key).status().code() == StatusCode::kIoError);
  BOOST_TEST(index->BlockOf(0, 0).status().code() == StatusCode::kIoError);
  BOOST_TEST(index->LoadBlocks(0, 300).code() == StatusCode::kIoError);
  BOOST_TEST(*index->Find(spans[200].first_key) == 200u);
}

BOOST_AUTO_TEST_CASE(ThreadsThatSearchAtOnceFindTheSame) {
  const auto spans = RandomSpans(2000, "", 6);
  const WrittenIndex written = WriteIndex(spans);
  for (int round = 0; round < 10; ++round) {
    const auto index = OpenIndex(written);
    BOOST_TEST_REQUIRE(index.has_value(), index.status());
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (uint32_t thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&, thread] {
        for (uint32_t i = 0; i < 2000; ++i) {
          const uint32_t block = (i * 7 + thread) % 2000;
          if (*(*index)->Find(spans[block].last_key) != block) ++wrong;
          if (*(*index)->BlockOf((*index)->At(block)->first, 0) != block) ++wrong;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    BOOST_TEST(wrong == 0);
  }
}

// Whatever byte of a top is changed, under a right checksum: something contradicts it.
BOOST_AUTO_TEST_CASE(AnyOtherTopIsCorruption) {
  const WrittenIndex good = WriteIndex(RandomSpans(300, "ab", 7));
  BOOST_REQUIRE(LoadIndex(good).has_value());
  const uint64_t begin = good.top->offset;
  const uint32_t payload = LoadAt<uint32_t>(good.bytes, begin + 8);
  constexpr uint64_t kKindAt = 16, kFlagsAt = 18, kCountAt = 20;
  for (uint64_t at = kKindAt; at < kBlockHeaderBytes + payload; ++at) {
    if (at >= kFlagsAt && at < kCountAt) continue;  // Not checked, of any block.
    for (const int change : {1, 0x80, 0xff}) {
      WrittenIndex bad = good;
      bad.bytes[begin + at] = static_cast<char>(bad.bytes[begin + at] ^ change);
      Seal(begin, &bad.bytes);
      const StatusCode code = LoadIndex(bad).status().code();
      const bool refused = code == StatusCode::kCorruption || code == StatusCode::kUnsupported;
      BOOST_REQUIRE_MESSAGE(refused, "byte " << at);
    }
  }
  // Without a right checksum none is believed at all.
  for (uint64_t at = 0; at < kBlockHeaderBytes + payload; ++at) {
    WrittenIndex bad = good;
    bad.bytes[begin + at] = static_cast<char>(bad.bytes[begin + at] ^ 4);
    BOOST_REQUIRE(OpenIndex(bad).status().code() == StatusCode::kCorruption);
  }
}

// A changed piece is refused, with and without a top, or its answers stay within bounds.
BOOST_AUTO_TEST_CASE(AChangedPieceIsRefusedOrUsable) {
  const WrittenIndex good = WriteIndex(RandomSpans(300, "ab", 8));
  const uint32_t payload = LoadAt<uint32_t>(good.bytes, good.index.offset + 8);
  int refused = 0, used = 0;
  for (const bool whole : {false, true}) {
    for (uint64_t at = 16; at < kBlockHeaderBytes + payload; ++at) {
      WrittenIndex bad = good;
      char& byte = bad.bytes[good.index.offset + at];
      byte = static_cast<char>(byte ^ (1 << at % 8));
      Seal(good.index.offset, &bad.bytes);
      const auto index = LoadIndex(bad, whole);
      if (!index.has_value()) {
        ++refused;
        continue;
      }
      ++used;
      for (uint32_t block = 0; block < (*index)->size(); ++block) {
        const DataBlock place = *(*index)->At(block);
        BOOST_REQUIRE(place.handle.offset >= good.data.offset);
        BOOST_REQUIRE(BlockEnd(place.handle) <= good.data.offset + good.data.size_bytes);
        BOOST_REQUIRE(place.count > 0 && place.first + place.count <= good.rows);
      }
      BOOST_REQUIRE(*(*index)->Find("abm") < (*index)->size());
    }
  }
  BOOST_TEST(refused > 1000);
  BOOST_TEST(used > 100);
}

BOOST_AUTO_TEST_CASE(SectionsThatDoNotFitTheTopAreCorruption) {
  const WrittenIndex good = WriteIndex(RandomSpans(300, "", 9));
  const auto code = [&](auto change) {
    WrittenIndex bad = good;
    change(&bad);
    return LoadIndex(bad).status().code();
  };
  using W = WrittenIndex;
  BOOST_TEST(code([](W* w) { w->index.count -= 50; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](W* w) { w->index.count = 256; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](W* w) { w->index.count += 1; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](W* w) { w->index.count = uint64_t{1} << 32; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](W* w) { w->index.size_bytes += 8; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](W* w) { w->index.size_bytes -= 8; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](W* w) { w->index.offset += 8; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](W* w) { w->top->count += 1; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](W* w) { w->top->size_bytes = 0; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](W* w) { w->top->size_bytes += 8; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](W* w) { w->data.offset += 8; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](W* w) { w->data.size_bytes -= 8; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](W* w) { w->rows -= 10; }) == StatusCode::kCorruption);
}

// Pieces of long separators once ended early; they are searched like others.
BOOST_AUTO_TEST_CASE(UnevenPiecesAreCut) {
  const auto spans = RandomSpans(700, "prefix", 10);
  const WrittenIndex even = WriteIndex(spans);
  const auto expected = LoadIndex(even);
  BOOST_TEST_REQUIRE(expected.has_value(), expected.status());
  for (const std::vector<uint32_t>& cuts : std::vector<std::vector<uint32_t>>{
           {100, 350, 700}, {1, 700}, {128, 256, 300, 700}, {512, 700}, {700}}) {
    test::MemoryFile memory;
    SectionWriter out(&memory, kIndexFileId, 64);
    BOOST_REQUIRE(out.Begin(SectionKind::kBlockIndex, 0).ok());
    uint32_t block = 0;
    for (const uint32_t end : cuts) {
      std::vector<std::string> separators(end - block);
      std::vector<SeparatorEntry> entries;
      const uint32_t first = block;
      for (; block < end; ++block) {
        std::string& separator = separators[block - first];
        BOOST_REQUIRE((*expected)->Separator(block, &separator).ok());
        const DataBlock place = *(*expected)->At(block);
        entries.push_back({separator, place.handle, place.first});
      }
      const std::string raw = EncodeIndexPiece(entries);
      BlockContent content{.kind = BlockKind::kBlockIndex, .raw = raw};
      content.count = end - first;
      content.first = first;
      BOOST_REQUIRE(out.Append(content).has_value());
    }
    BOOST_REQUIRE(out.End(700).ok());
    BOOST_REQUIRE(out.Flush().ok());
    WrittenIndex uneven = even;
    uneven.bytes = memory.bytes();
    uneven.index = out.sections()[0];
    const auto index = LoadIndex(uneven, /*whole=*/true);
    BOOST_TEST_REQUIRE(index.has_value(), index.status());
    BOOST_TEST((Contents(index->index) == Contents(expected->index)));
    for (uint32_t i = 0; i < spans.size(); ++i) {
      BOOST_REQUIRE_EQUAL(*(*index)->Find(spans[i].last_key), i);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
