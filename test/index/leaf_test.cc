// Leaves and directories: bytes as documented, look-ups against sorted keys, refusal of other
// bytes.
#define BOOST_TEST_DYN_LINK
#include "index/leaf.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <set>

#include "index/directory.h"
#include "index/postings.h"
#include "test/support/hex.h"
#include "test/support/test_random.h"

namespace tandem::format {
namespace {

using test::FromHex;
using test::Hex;
using test::TestRandom;

BlockRef MakeBlock(const BlockContent& content) {
  auto block = std::make_shared<Block>();
  block->kind = content.kind;
  block->flags = content.flags;
  block->count = content.count;
  block->first = content.first;
  block->raw_bytes = static_cast<uint32_t>(content.raw.size());
  block->data = base::AllocateInHeap(content.raw.size());
  content.raw.copy(block->data.get(), content.raw.size());
  return block;
}

constexpr std::string_view kLeafHex =
    "05 00 00 00 00 00 00 00 01 00 03 00 00 00 00 00 "
    "00 00 00 00 00 01 00 61 00 00 00 00 00 01 00 62 "
    "07 00 00 00 00 00 00 00 01 00 00 00 03 00 00 00 "
    "02 01 01";

// The keys of a leaf, cut from sorted random keys that share a prefix; and how many values it took.
std::vector<std::string> FillLeaf(TestRandom* random, IndexLeafBuilder* builder) {
  const std::string prefix = random->Text(5, "pq");
  const size_t suffix_max = random->OneIn(4) ? 300 : 12;
  std::set<std::string> keys;
  while (keys.size() < 600) {
    keys.insert(prefix + random->Text(suffix_max, std::string_view("\0a\xff", 3)) + "~");
  }
  std::vector<std::string> taken;
  for (const std::string& key : keys) {
    const LeafValue value{key, 1, static_cast<uint32_t>(taken.size()), ""};
    if (builder->IsFullFor(value)) break;
    builder->Add(value);
    taken.push_back(key);
  }
  return taken;
}

BOOST_AUTO_TEST_SUITE(IndexLeafSuite)

BOOST_AUTO_TEST_CASE(LeafIsAsDocumented) {
  IndexLeafBuilder builder;
  std::string list;
  AppendSmallList(std::vector<uint32_t>{1, 3}, &list);
  builder.Add({std::string_view("\2a\0\1", 4), 1, 7, ""});
  builder.Add({std::string_view("\2b\0\1", 4), 2, 0, list});
  const BlockContent content = builder.Finish(5);
  BOOST_TEST(Hex(content.raw) == kLeafHex);
  BOOST_TEST(content.count == 2u);
  BOOST_TEST(content.flags == 0);
  BOOST_TEST(builder.empty());
}

BOOST_AUTO_TEST_CASE(LeafOfKeysOfDifferentLengthsIsAsDocumented) {
  IndexLeafBuilder builder;
  builder.Add({"xy", 1, 258, ""});
  builder.Add({"xz23456789", 1, 3, ""});
  const BlockContent content = builder.Finish(0);
  BOOST_TEST(content.flags == kLeafFlagAllSingle);
  BOOST_TEST(Hex(content.raw) ==
             "00 00 00 00 00 00 00 00 01 00 00 00 01 00 00 00 "
             "00 00 00 00 00 00 00 79 38 37 36 35 34 33 32 7A "
             "02 01 00 00 03 00 00 00 00 00 01 00 01 08 78 39");
}

BOOST_AUTO_TEST_CASE(LeafIsReadBack) {
  BlockContent content;
  content.count = 2;
  const std::string raw = FromHex(kLeafHex);
  content.raw = raw;
  const auto leaf = IndexLeaf::Parse(MakeBlock(content));
  BOOST_REQUIRE(leaf.has_value());
  BOOST_TEST(leaf->entries_before() == 5u);
  BOOST_TEST(leaf->EntriesBefore(1) == 1u);
  BOOST_TEST(leaf->EntriesBefore(2) == 3u);
  BOOST_TEST(leaf->Reference(0) == 7u);
  std::string key;
  BOOST_TEST(leaf->Key(1, &key));
  BOOST_TEST(key == std::string_view("\2b\0\1", 4));
  ByteReader list = leaf->ListAt(leaf->Reference(1));
  std::vector<uint32_t> ordinals;
  BOOST_TEST(ReadSmallList({2, 10}, &list, &ordinals));
  BOOST_TEST(ordinals == (std::vector<uint32_t>{1, 3}), boost::test_tools::per_element());
  BOOST_TEST(!leaf->ListAt(3).ok());
}

BOOST_AUTO_TEST_CASE(LowerBoundAgreesWithSortedKeys) {
  TestRandom random("LowerBoundAgreesWithSortedKeys");
  for (int i = 0; i < 40; ++i) {
    IndexLeafBuilder builder;
    const std::vector<std::string> keys = FillLeaf(&random, &builder);
    const BlockContent content = builder.Finish(0);
    BOOST_TEST(content.raw.size() < kLeafBytes + 4096);
    BOOST_TEST(content.flags == kLeafFlagAllSingle);
    const auto leaf = IndexLeaf::Parse(MakeBlock(content));
    BOOST_REQUIRE(leaf.has_value());
    std::string key;
    for (uint32_t at = 0; at < keys.size(); ++at) {
      BOOST_REQUIRE(leaf->Key(at, &key));
      BOOST_REQUIRE(key == keys[at]);
      for (const std::string& probe : {key, key + '\0', key.substr(0, key.size() - 1),
                                       random.Text(8, std::string_view("pq\0a\xff~", 6))}) {
        const auto expected = std::lower_bound(keys.begin(), keys.end(), probe) - keys.begin();
        BOOST_REQUIRE(leaf->LowerBound(probe) == expected);
      }
    }
    BOOST_TEST(leaf->LowerBound("") == 0u);
  }
}

BOOST_AUTO_TEST_CASE(CutAndChangedLeavesAreSafe) {
  TestRandom random("CutAndChangedLeavesAreSafe");
  const std::string raw = FromHex(kLeafHex);
  for (size_t size = 0; size < raw.size() - 2; ++size) {
    BlockContent content;
    content.count = 2;
    const std::string cut = raw.substr(0, size);
    content.raw = cut;
    BOOST_TEST(!IndexLeaf::Parse(MakeBlock(content)).has_value());
  }
  for (int i = 0; i < 20'000; ++i) {
    std::string changed = raw;
    changed[random.Below(changed.size())] = static_cast<char>(random.Next());
    BlockContent content;
    content.raw = changed;
    content.count = static_cast<uint32_t>(random.OneIn(10) ? random.Next() : random.Below(4));
    content.flags = static_cast<uint16_t>(random.Below(3));
    const auto leaf = IndexLeaf::Parse(MakeBlock(content));
    if (!leaf.has_value()) continue;
    BOOST_TEST(leaf->LowerBound("\2b") <= leaf->value_count());
    std::string key;
    for (uint32_t at = 0; at < leaf->value_count(); ++at) {
      (void)leaf->Key(at, &key);
      ByteReader list = leaf->ListAt(leaf->Reference(at));
      (void)list.Varint();
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(IndexDirectorySuite)

std::string ExampleDirectory() {
  IndexDirectoryBuilder builder;
  const std::string a("\2a\0\1", 4), c("\2c\0\1", 4);
  builder.Add({4096, 100}, {a, a, 3, 5});
  builder.Add({4200, 60}, {c, c, 1, 1});
  return builder.Finish();
}

BOOST_AUTO_TEST_CASE(DirectoryIsAsDocumented) {
  BOOST_TEST(Hex(ExampleDirectory()) ==
             "04 00 00 00 00 00 00 00 06 00 00 00 00 00 00 00 02 00 00 00 02 00 00 00 "
             "00 10 00 00 00 00 00 00 68 10 00 00 00 00 00 00 "
             "00 00 00 00 00 00 00 00 05 00 00 00 00 00 00 00 "
             "64 00 00 00 3C 00 00 00 00 00 00 00 02 00 00 00 02 63");
}

BOOST_AUTO_TEST_CASE(DirectoryFindsTheLeaf) {
  TestRandom random("DirectoryFindsTheLeaf");
  for (int i = 0; i < 50; ++i) {
    std::set<std::string> keys;
    const uint64_t count = 1 + random.Below(100);
    // More bytes than a head has, in half of them after a common prefix.
    const size_t bytes_max = random.OneIn(2) ? 6 : 14;
    const std::string prefix = random.OneIn(2) ? "prefix" : "";
    const auto random_key = [&] {
      return prefix + random.Text(bytes_max, std::string_view("\0a\xff", 3)) + "~";
    };
    while (keys.size() < count) keys.insert(random_key());
    IndexDirectoryBuilder builder;
    std::vector<LeafSummary> leaves;
    for (auto key = keys.begin(); key != keys.end();) {
      LeafSummary leaf{*key, *key, 0, 0};
      for (uint64_t values = 1 + random.Below(4); values > 0 && key != keys.end(); --values) {
        leaf.last_key = *key++;
        ++leaf.values;
        leaf.entries += 2;
      }
      leaves.push_back(leaf);
      builder.Add({leaves.size() * 8, 40}, leaf);
    }
    const auto directory = IndexDirectory::Decode(builder.Finish());
    BOOST_REQUIRE(directory.has_value());
    BOOST_TEST(directory->values() == keys.size());
    BOOST_TEST(directory->leaf_count() == leaves.size());
    for (uint32_t leaf = 0; leaf < leaves.size(); ++leaf) {
      BOOST_TEST(directory->LeafOf(leaves[leaf].first_key) == leaf);
      BOOST_TEST(directory->LeafOf(leaves[leaf].last_key) == leaf);
      BOOST_TEST(directory->LeafOf(leaves[leaf].last_key + '\0') >= leaf);
      BOOST_TEST((directory->Leaf(leaf) == BlockHandle{(leaf + 1) * 8, 40}));
      BOOST_TEST(directory->EntriesBefore(leaf + 1) - directory->EntriesBefore(leaf) ==
                 leaves[leaf].entries);
    }
    BOOST_TEST(directory->LeafOf("") == 0u);
    for (int j = 0; j < 100; ++j) {
      const std::string key = random.OneIn(9) ? random.Text(3, "op\xff") : random_key();
      const uint32_t leaf = directory->LeafOf(key);
      BOOST_TEST((leaf == 0 || leaves[leaf - 1].last_key < key));
      BOOST_TEST((leaf + 1 == leaves.size() || key < leaves[leaf + 1].first_key));
      const auto guess = static_cast<uint32_t>(random.Below(leaves.size()));
      BOOST_TEST(directory->LeafOf(key, guess) == leaf);
    }
  }
}

BOOST_AUTO_TEST_CASE(OtherBytesAreNoDirectory) {
  TestRandom random("OtherBytesAreNoDirectory");
  const std::string bytes = ExampleDirectory();
  BOOST_TEST(IndexDirectory::Decode(bytes).has_value());
  BOOST_TEST(!IndexDirectory::Decode(bytes + '\0').has_value());
  for (size_t size = 0; size < bytes.size(); ++size) {
    BOOST_TEST(!IndexDirectory::Decode(bytes.substr(0, size)).has_value());
  }
  const auto refuses = [&](size_t offset, uint8_t byte) {
    std::string changed = bytes;
    changed[offset] = static_cast<char>(byte);
    return !IndexDirectory::Decode(changed).has_value();
  };
  BOOST_TEST(refuses(0, 1));      // Fewer values than leaves.
  BOOST_TEST(refuses(8, 3));      // Fewer entries than values.
  BOOST_TEST(refuses(32, 0x00));  // Offsets do not rise.
  BOOST_TEST(refuses(40, 1));     // Entries before the first leaf.
  BOOST_TEST(refuses(48, 0));     // Counts do not rise.
  BOOST_TEST(refuses(48, 6));     // Counts pass the total.
  BOOST_TEST(refuses(64, 1));     // The first separator is not empty.
  BOOST_TEST(refuses(68, 1));     // Bytes after the last separator.
  BOOST_TEST(refuses(68, 3));     // Separators pass the keys.
  for (int i = 0; i < 20'000; ++i) {
    std::string changed = bytes;
    changed[random.Below(changed.size())] = static_cast<char>(random.Next());
    const auto directory = IndexDirectory::Decode(changed);
    if (directory.has_value()) BOOST_TEST(directory->LeafOf("\2c") < 2u);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
