// The block index: bytes, searches over many pieces against a plain reference, forged places.
#include "format/block_index.h"

#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <random>

#include "base/status_macros.h"
#include "format/block_index_writer.h"
#include "test/support/hex.h"
#include "test/support/memory_file.h"
#include "test/support/print.h"

namespace tandem::format {
namespace {

constexpr FileId kId{{4}};

// Row blocks as the index sees them: first and last key, rows. All are 64 bytes long.
struct Span {
  std::string first_key, last_key;
  uint32_t rows = 1;
};

struct Written {
  std::string bytes;
  SectionEntry index, data;
  std::optional<SectionEntry> top;
  uint32_t rows = 0;
};

// An index with the file that it reads its pieces from.
struct Opened {
  std::unique_ptr<BlockFile> file;
  BlockIndex index;
  const BlockIndex* operator->() const { return &index; }
};

Written Write(const std::vector<Span>& spans) {
  Written written;
  BlockIndexWriter writer;
  std::string before;
  uint64_t offset = 128;
  for (const Span& span : spans) {
    writer.Add(written.rows, before, span.first_key);
    writer.Place({offset, 60});
    before = span.last_key;
    written.rows += span.rows;
    offset += 64;
  }
  test::MemoryFile memory;
  SectionWriter out(&memory, kId, 64);
  BOOST_REQUIRE(writer.Write(FamilyId(0), &out).ok());
  BOOST_REQUIRE(out.Flush().ok());
  written.bytes = memory.bytes();
  written.index = out.sections()[0];
  if (out.sections().size() > 1) written.top = out.sections()[1];
  written.data.offset = 128;
  written.data.size_bytes = offset - 128;
  return written;
}

// Opens it; `whole`: without its top.
Result<Opened> Open(const Written& written, bool whole = false) {
  Opened opened;
  opened.file = std::make_unique<BlockFile>(std::make_unique<test::MemoryFile>(written.bytes),
                                            FileNumber(1), kId, nullptr);
  IndexPlaces places{&written.index, nullptr, &written.data};
  if (!whole && written.top.has_value()) places.top = &*written.top;
  ASSIGN_OR_RETURN(opened.index, BlockIndex::Open(*opened.file, places, written.rows));
  return opened;
}

// Opens it and reads all of it.
Result<Opened> Load(const Written& written, bool whole = false) {
  ASSIGN_OR_RETURN(Opened opened, Open(written, whole));
  RETURN_IF_ERROR(opened->LoadBlocks(0, opened->size()));
  return opened;
}

std::string SeparatorOf(const BlockIndex& index, uint32_t block) {
  std::string separator = "of another block";
  BOOST_REQUIRE(index.Separator(block, &separator).ok());
  return separator;
}

// No other block may hold `key`. A key between two blocks may lead to either.
void CheckFind(const BlockIndex& index, const std::vector<Span>& spans, const std::string& key) {
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

std::vector<Span> RandomSpans(size_t count, const std::string& prefix, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::string> keys;
  while (keys.size() < 2 * count) {
    std::string key = prefix;
    for (size_t i = random() % 16 + 1; i > 0; --i) key.push_back("\0\x01mn\xfe\xff"[random() % 6]);
    keys.push_back(key);
    if (keys.size() == 2 * count) {
      std::sort(keys.begin(), keys.end());
      keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    }
  }
  std::vector<Span> spans;
  for (size_t i = 0; i < count; ++i) {
    spans.push_back({keys[2 * i], keys[2 * i + 1], static_cast<uint32_t>(random() % 9 + 1)});
  }
  return spans;
}

BOOST_AUTO_TEST_SUITE(BlockIndexTest)

BOOST_AUTO_TEST_CASE(BytesAreTheDocumentedOnes) {
  BlockIndexWriter writer;
  writer.Add(0, "", "ab");
  writer.Add(3, "ax", "bat");
  writer.Place({128, 100});
  writer.Place({232, 120});
  test::MemoryFile memory;
  SectionWriter out(&memory, kId, 64);
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

BOOST_AUTO_TEST_CASE(KeysLeadToTheOnlyBlockThatMayHoldThem) {
  for (const std::string prefix : {"", "tenant/0000000001/", "\xff\xff\xff\xff\xff\xff\xff\xff"}) {
    for (const size_t count : {1, 2, 1024, 1025, 3000}) {
      const auto spans = RandomSpans(count, prefix, count);
      const auto index = Load(Write(spans));
      BOOST_TEST_REQUIRE(index.has_value(), index.status());
      BOOST_TEST((*index)->size() == count);
      for (uint32_t i = 0; i < count; ++i) {
        BOOST_TEST(*(*index)->Find(spans[i].first_key) == i);
        BOOST_TEST(*(*index)->Find(spans[i].last_key) == i);
        CheckFind((*index).index, spans, spans[i].last_key + '\0');
        CheckFind((*index).index, spans, spans[i].first_key.substr(0, spans[i].first_key.size() - 1));
      }
      BOOST_TEST(*(*index)->Find("") == 0u);
      BOOST_TEST(*(*index)->Find(std::string(40, '\xff')) == count - 1);
      CheckFind((*index).index, spans, "tenant/1");
    }
  }
}

BOOST_AUTO_TEST_CASE(LongSeparatorsEndAPieceEarly) {
  std::vector<Span> spans;
  for (uint32_t i = 0; i < 60; ++i) {
    std::string key = std::to_string(100 + i);
    key.append(60000, 'k');
    spans.push_back({key + "a", key + "b"});
    spans.push_back({key + "c", key + "d"});
  }
  const auto index = Load(Write(spans));
  BOOST_TEST_REQUIRE(index.has_value(), index.status());
  for (uint32_t i = 0; i < spans.size(); ++i) {
    BOOST_TEST(*(*index)->Find(spans[i].first_key) == i);
    BOOST_TEST(*(*index)->Find(spans[i].last_key) == i);
  }
}

BOOST_AUTO_TEST_CASE(OrdinalsLeadToTheirBlocksFromAnyHint) {
  const auto spans = RandomSpans(200, "", 3);
  const Written written = Write(spans);
  const auto index = Load(written);
  uint32_t ordinal = 0;
  for (uint32_t block = 0; block < spans.size(); ++block) {
    BOOST_TEST((*index)->At(block).first == ordinal);
    BOOST_TEST((*index)->At(block).count == spans[block].rows);
    for (uint32_t i = 0; i < spans[block].rows; ++i, ++ordinal) {
      for (uint32_t hint = 0; hint < spans.size(); hint += 7) {
        BOOST_TEST(*(*index)->BlockOf(ordinal, hint) == block);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(PlacesOutsideTheDataSectionAreCorruption) {
  const auto spans = RandomSpans(5, "", 3);
  const Written good = Write(spans);
  BOOST_TEST(Load(good).has_value());
  const auto code = [&](auto change) {
    Written bad = good;
    change(&bad);
    return Load(bad).status().code();
  };
  BOOST_TEST(code([](Written* w) { w->data.offset += 8; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](Written* w) { w->data.size_bytes -= 8; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](Written* w) { w->rows = 4; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](Written* w) { w->index.count += 1; }) == StatusCode::kCorruption);
  BOOST_TEST(code([](Written* w) { w->index.size_bytes = 0; }) == StatusCode::kCorruption);
}

BOOST_AUTO_TEST_CASE(SeparatorsThatDoNotRiseAreCorruption) {
  std::vector<Span> spans = RandomSpans(5, "", 3);
  std::swap(spans[2], spans[3]);
  BOOST_TEST(Load(Write(spans)).status().code() == StatusCode::kCorruption);
  // Across the border of two pieces as well.
  spans = RandomSpans(1100, "", 3);
  for (uint32_t i = 1024; i < 1100; ++i) spans[i].first_key.insert(0, 1, '\0');
  for (uint32_t i = 1023; i < 1100; ++i) spans[i].last_key.clear();
  BOOST_TEST(Load(Write(spans)).status().code() == StatusCode::kCorruption);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
