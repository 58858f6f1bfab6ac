// The block index: bytes, searches over many pieces against a plain reference, forged places.
#include "format/row/block_index.h"

#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>

#include "format/row/block_index_writer.h"
#include "test/format/row/written_index.h"
#include "test/support/hex.h"
#include "test/support/print.h"
#include "tools/simulation/memory_file.h"

namespace tandem::format {
namespace {

using test::IndexSpan;
using test::kIndexFileId;
using test::LoadIndex;
using test::OpenIndex;
using test::RandomSpans;
using test::WriteIndex;
using test::WrittenIndex;

std::string SeparatorOf(const BlockIndex& index, uint32_t block) {
  std::string separator = "of another block";
  BOOST_REQUIRE(index.Separator(block, &separator).ok());
  return separator;
}

// No other block may hold `key`. A key between two blocks may lead to either.
void CheckFind(const BlockIndex& index, const std::vector<IndexSpan>& spans,
               const std::string& key) {
  const uint32_t block = *index.Find(key);
  BOOST_REQUIRE(block < spans.size());
  if (block > 0) BOOST_TEST((spans[block - 1].last_key < key));
  if (block + 1 < spans.size()) BOOST_TEST((key < spans[block + 1].first_key));
  for (uint32_t hint = 0; hint < spans.size(); hint += 1 + hint / 4) {
    BOOST_REQUIRE_EQUAL(*index.Find(key, hint), block);
  }
  BOOST_REQUIRE_EQUAL(*index.Find(key, block), block);
  if (block > 0) BOOST_TEST((SeparatorOf(index, block) <= key));
  if (block + 1 < spans.size()) BOOST_TEST((key < SeparatorOf(index, block + 1)));
}

BOOST_AUTO_TEST_SUITE(BlockIndexTest)

BOOST_AUTO_TEST_CASE(BytesAreTheDocumentedOnes) {
  BlockIndexWriter writer;
  writer.Add(0, "", "ab");
  writer.Add(3, "ax", "bat");
  writer.Place({128, 100});
  writer.Place({232, 120});
  test::MemoryFile memory;
  SectionWriter out(&memory, kIndexFileId, 64);
  BOOST_REQUIRE(writer.Write(FamilyId(0), &out).ok());
  BOOST_REQUIRE(out.Flush().ok());
  BOOST_TEST(test::Hex(std::string_view(memory.bytes()).substr(32, 67)) == test::HexOf(R"(
    00 00  00 00 00 00 00 00  # no common prefix
    00 00 00 00 00 00 62 61   00 00 00 00 00 00 00 62  # heads "ab", "b"
    80 00 00 00 00 00 00 00   E8 00 00 00 00 00 00 00  # offsets
    64 00 00 00  78 00 00 00  # stored sizes
    00 00 00 00  03 00 00 00  # firsts
    02 00 00 00  03 00 00 00  # key ends
    61 62  62                 # heap)"));
}

BOOST_AUTO_TEST_CASE(BytesOfATopAreTheDocumentedOnes) {
  const std::vector<SeparatorEntry> pieces = {{"ab", {4096, 131}, 0}, {"b", {4232, 139}, 3}};
  const std::vector<TopEntry> tops = {{128, 100}, {232, 220}};
  BOOST_TEST(test::Hex(EncodeIndexTop(pieces, tops, 0)) == test::HexOf(R"(
    00 00  00  00 00 00 00 00
    80 00 00 00 00 00 00 00  E8 00 00 00 00 00 00 00  # data offsets
    64 00 00 00 00 00 00 00  DC 00 00 00 00 00 00 00  # data bytes 100, 220
    00 00 00 00 00 00 62 61  00 00 00 00 00 00 00 62  # heads "ab", "b"
    00 10 00 00 00 00 00 00  88 10 00 00 00 00 00 00  # offsets
    83 00 00 00  8B 00 00 00  # stored sizes
    00 00 00 00  03 00 00 00  # firsts
    02 00 00 00  03 00 00 00  # key ends
    61 62  62                 # heap)"));
}

BOOST_AUTO_TEST_CASE(KeysLeadToTheOnlyBlockThatMayHoldThem) {
  for (const std::string prefix : {"", "tenant/0000000001/", "\xff\xff\xff\xff\xff\xff\xff\xff"}) {
    for (const size_t count : {1, 2, 128, 129, 1024, 3000}) {
      const auto spans = RandomSpans(count, prefix, count);
      const WrittenIndex written = WriteIndex(spans);
      BOOST_TEST(written.top.has_value() == (count > 128));
      const auto index = count % 2 == 0 ? OpenIndex(written) : OpenIndex(written, /*whole=*/true);
      BOOST_TEST_REQUIRE(index.has_value(), index.status());
      BOOST_TEST((*index)->size() == count);
      for (uint32_t i = 0; i < count; ++i) {
        BOOST_TEST(*(*index)->Find(spans[i].first_key) == i);
        BOOST_TEST(*(*index)->Find(spans[i].last_key) == i);
        CheckFind((*index).index, spans, spans[i].last_key + '\0');
        CheckFind((*index).index, spans,
                  spans[i].first_key.substr(0, spans[i].first_key.size() - 1));
      }
      BOOST_TEST(*(*index)->Find("") == 0u);
      BOOST_TEST(*(*index)->Find(std::string(40, '\xff')) == count - 1);
      CheckFind((*index).index, spans, "tenant/1");
    }
  }
}

BOOST_AUTO_TEST_CASE(LongSeparatorsLeadToTheirBlocks) {
  std::vector<IndexSpan> spans;
  for (uint32_t i = 0; i < 60; ++i) {
    std::string key = std::to_string(100 + i);
    key.append(60000, 'k');
    spans.push_back({key + "a", key + "b"});
    spans.push_back({key + "c", key + "d"});
  }
  const auto index = LoadIndex(WriteIndex(spans));
  BOOST_TEST_REQUIRE(index.has_value(), index.status());
  for (uint32_t i = 0; i < spans.size(); ++i) {
    BOOST_TEST(*(*index)->Find(spans[i].first_key) == i);
    BOOST_TEST(*(*index)->Find(spans[i].last_key) == i);
  }
}

// The ordinals of block `block` and their neighbours lead there from any hint. Of a block with many
// rows, the ordinals at its ends and in the middle.
void CheckOrdinals(const BlockIndex& index, uint32_t block, uint32_t first, uint32_t rows) {
  BOOST_TEST(index.At(block)->first == first);
  BOOST_TEST(index.At(block)->count == rows);
  for (const uint32_t i : {0u, 1u, rows / 2, rows - 1}) {
    if (i >= rows) continue;
    for (uint32_t hint = 0; hint < index.size(); hint += 7) {
      BOOST_REQUIRE_EQUAL(*index.BlockOf(first + i, hint), block);
    }
    for (const uint32_t back : {0u, 1u, 2u, 3u}) {
      if (block >= back) BOOST_REQUIRE_EQUAL(*index.BlockOf(first + i, block - back), block);
    }
  }
}

BOOST_AUTO_TEST_CASE(OrdinalsLeadToTheirBlocksFromAnyHint) {
  // Alike, at random, ever more, ever fewer, and all but a few in one block.
  const std::vector<std::function<uint32_t(uint32_t)>> shapes = {
      [](uint32_t) { return 7; },
      [](uint32_t block) { return block * 2654435761u % 9 + 1; },
      [](uint32_t block) { return block * block + 1; },
      [](uint32_t block) { return (300 - block) * (300 - block); },
      [](uint32_t block) { return block % 128 == 3 ? 10'000'000 : 1; },
      [](uint32_t block) { return block % 128 == 127 ? 10'000'000 : 2; },
  };
  for (const auto& rows_of : shapes) {
    auto spans = RandomSpans(300, "", 3);
    for (uint32_t block = 0; block < spans.size(); ++block) spans[block].rows = rows_of(block);
    const WrittenIndex written = WriteIndex(spans);
    const auto index = LoadIndex(written);
    BOOST_TEST_REQUIRE(index.has_value(), index.status());
    uint32_t first = 0;
    for (uint32_t block = 0; block < spans.size(); ++block) {
      CheckOrdinals(index->index, block, first, spans[block].rows);
      first += spans[block].rows;
    }
  }
}

BOOST_AUTO_TEST_CASE(PlacesOutsideTheDataSectionAreCorruption) {
  const auto spans = RandomSpans(5, "", 3);
  const WrittenIndex good = WriteIndex(spans);
  BOOST_TEST(LoadIndex(good).has_value());
  const auto code = [&](auto change) {
    WrittenIndex bad = good;
    change(&bad);
    return LoadIndex(bad).status().code();
  };
  BOOST_TEST(code([](WrittenIndex* w) { w->data.offset += 8; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](WrittenIndex* w) { w->data.size_bytes -= 8; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](WrittenIndex* w) { w->rows = 4; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](WrittenIndex* w) { w->index.count += 1; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](WrittenIndex* w) { w->index.size_bytes = 0; }) == StatusCode::kCorruption);
}

BOOST_AUTO_TEST_CASE(SeparatorsThatDoNotRiseAreCorruption) {
  std::vector<IndexSpan> spans = RandomSpans(5, "", 3);
  std::swap(spans[2], spans[3]);
  BOOST_TEST(LoadIndex(WriteIndex(spans)).status().code() == StatusCode::kCorruption);
  // Across the border of two pieces as well.
  for (const bool whole : {false, true}) {
    spans = RandomSpans(200, "", 3);
    for (uint32_t i = 128; i < 200; ++i) spans[i].first_key.insert(0, 1, '\0');
    for (uint32_t i = 127; i < 200; ++i) spans[i].last_key.clear();
    BOOST_TEST(LoadIndex(WriteIndex(spans), whole).status().code() == StatusCode::kCorruption);
    // The top rises; the last entry of the first piece does not stay below the second.
    spans = RandomSpans(200, "a", 3);
    spans[126].last_key.clear();
    spans[127].first_key = "b";
    BOOST_TEST(LoadIndex(WriteIndex(spans), whole).status().code() == StatusCode::kCorruption);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
