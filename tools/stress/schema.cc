// See schema.h.
#include "tools/stress/schema.h"

#include <algorithm>

namespace tandem::stress {
namespace {

std::string Hex(uint64_t number, size_t digits) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text(digits, '0');
  for (size_t i = digits; i > 0; --i, number >>= 4) text[i - 1] = kDigits[number & 15];
  return text;
}

std::vector<std::string> SplitKeys(std::vector<std::string> keys) {
  std::ranges::sort(keys);
  std::vector<std::string> splits;
  for (const size_t quarter : {1, 2, 3}) {
    const std::string& key = keys[keys.size() * quarter / 4];
    if (splits.empty() || splits.back() != key) splits.push_back(key);
  }
  return splits;
}

}  // namespace

std::vector<std::string> NewKeys(uint64_t seed, uint64_t count) {
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t number = Mix(seed, i);
    std::string key = Hex(number, 4);
    switch (number % 5) {
      case 0:
        key = "a/common/beginning/of/many/keys/" + key;
        break;
      case 1:
        key.push_back('\0');
        break;
      case 2:
        key.insert(0, "\xff\xff");
        break;
      default:
        break;
    }
    // What makes it the only one of its number.
    keys.push_back(key + "-" + std::to_string(i));
  }
  return keys;
}

std::vector<TableOptions> NewTables(uint64_t seed, const std::vector<std::string>& keys) {
  constexpr uint32_t kBlockSizes[] = {512, 1024, 4096, 8192};
  const auto block_size = [&](uint64_t what) { return kBlockSizes[Mix(seed, what) % 4]; };
  const auto packing = [&](uint64_t what) {
    return Mix(seed, what) % 2 == 0 ? Compression::kZstd : Compression::kNone;
  };
  TableOptions north;
  north.name = kNorth;
  north.families = {{.name = "d", .compression = packing(1), .block_size_bytes = block_size(2)},
                    {.name = "h",
                     .max_versions = 3,
                     .compression = packing(3),
                     .block_size_bytes = block_size(4)},
                    {.name = "w", .compression = packing(5), .block_size_bytes = block_size(6)}};
  TableOptions south = north;
  south.name = kSouth;
  for (FamilyOptions& family : south.families) {
    family.compression =
        family.compression == Compression::kZstd ? Compression::kNone : Compression::kZstd;
    family.block_size_bytes = 8704 - family.block_size_bytes;
  }
  north.indexes = {{"gen", {{"d", "gen", ColumnType::kInt64}}},
                   {"word", {{"d", "word", ColumnType::kText}}},
                   {"tag", {{"h", "tag", ColumnType::kBytes, true}}},
                   {"size", {{"w", "size", ColumnType::kInt64, true}}}};
  // Without its index a column would compare as bytes.
  south.indexes = north.indexes;
  for (IndexOptions& index : south.indexes) {
    index.columns[0].descending = !index.columns[0].descending;
  }
  north.split_keys = SplitKeys(keys);
  TableOptions loose;
  loose.name = kLoose;
  loose.families = {{.name = "d", .max_versions = 2}};
  loose.indexes = {{"word", {{"d", "word", ColumnType::kText}}}};
  return {north, south, loose};
}

std::string RandomWord(Dice* dice) {
  static const std::vector<std::string> kWords = {
      "", "a", "ab", "abc", "games", "game", "libs", "admin", "z\xc3\xa9", "~", "doc", "devel"};
  return dice->Pick(kWords);
}

std::string RandomTag(Dice* dice) {
  std::string tag(dice->Below(6), '\0');
  for (char& byte : tag)
    byte =
        "\0\x01"
        "ab\x7f\xff"[dice->Below(6)];
  return tag;
}

}  // namespace tandem::stress
