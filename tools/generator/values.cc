// See values.h.
#include "tools/generator/values.h"

#include <unordered_set>

namespace tandem::test {
namespace {

using std::string_literals::operator""s;

constexpr uint64_t kLongBytesMax = 9000;

std::string RandomText(Dice* dice) {
  static const std::vector<std::string> kWords = {"",
                                                  "a",
                                                  "ab",
                                                  "abc",
                                                  "a\0b"s,
                                                  "games",
                                                  "gam",
                                                  "game",
                                                  "z\xc3\xa9",
                                                  "\xe2\x82\xac",
                                                  "very/equal/1",
                                                  "very/equal/2",
                                                  "~",
                                                  "\0"s,
                                                  "b",
                                                  "c",
                                                  "d",
                                                  "e",
                                                  "Game a\xc3\x89 b",
                                                  "e d, c/b a",
                                                  "gAME\xc5\xbf",
                                                  "\xce\xa3\xce\xb1\xcf\x82",
                                                  "\xf0\x9f\x98\x80"};
  return dice->Pick(kWords);
}

std::string RandomInteger(Dice* dice) {
  static const std::vector<std::string> kEdges = {
      "-9223372036854775808", "9223372036854775807", "-1", "0", "007", "7", "-0"};
  if (dice->Chance(15)) return dice->Pick(kEdges);
  return std::to_string(static_cast<int64_t>(dice->Below(40)) - 10);
}

std::string RandomBytes(Dice* dice) {
  static const std::vector<char> kBytesUsed = {'\0', '\1', 'a', '\xff'};
  if (dice->Chance(3)) return std::string(100 + dice->Below(600), dice->Pick(kBytesUsed));
  if (dice->Chance(20)) return "the same prefix of every value " + std::to_string(dice->Below(9));
  std::string value(dice->Below(4), '\0');
  for (char& byte : value) byte = dice->Pick(kBytesUsed);
  return value;
}

std::string RandomLong(Dice* dice) {
  return std::string(dice->Below(kLongBytesMax), static_cast<char>('a' + dice->Below(26)));
}

std::string RandomKey(Dice* dice, uint64_t numbers) {
  const std::string number = std::to_string(dice->Below(numbers));
  switch (dice->Below(5)) {
    case 0:
      return number;
    case 1:
      return "packages/main/and/a/long/equal/prefix/" + number;
    case 2:
      return "k\0"s + number + "\0"s;
    case 3: {
      std::string key(1 + dice->Below(12), '\0');
      for (char& byte : key) byte = dice->Chance(50) ? '\0' : '\xff';
      return key;
    }
    default:
      return "\xff" + number;
  }
}

}  // namespace

std::string RandomValue(Dice* dice, ValueKind kind) {
  switch (kind) {
    case ValueKind::kText:
      return RandomText(dice);
    case ValueKind::kInteger:
      return RandomInteger(dice);
    case ValueKind::kBytes:
      return RandomBytes(dice);
    case ValueKind::kPlain:
      return dice->Chance(1) ? RandomLong(dice) : std::to_string(dice->Below(1000));
    case ValueKind::kLong:
      return RandomLong(dice);
  }
  return "";
}

std::string RandomOutsider(Dice* dice, ValueKind kind) {
  static const std::vector<std::string> kFarIntegers = {"9223372036854775808",
                                                        "-9223372036854775809",
                                                        "100000000000000000000000000",
                                                        "-100000000000000000000000000",
                                                        "+3",
                                                        "+0",
                                                        "-000"};
  static const std::vector<std::string> kNoText = {"\xc3(", "\xff", "a\x80", "gam\xed\xa0\x80"};
  static const std::vector<std::string> kStarts = {"", "games", "\xff", "the same prefix"};
  if (kind == ValueKind::kInteger) return dice->Pick(kFarIntegers);
  if (kind == ValueKind::kText && dice->Chance(50)) return dice->Pick(kNoText);
  return dice->Pick(kStarts) + std::string(2000 + dice->Below(3000), dice->Chance(50) ? '\0' : 'a');
}

std::vector<std::string> NewKeys(Dice* dice, uint64_t count) {
  std::unordered_set<std::string> known;
  std::vector<std::string> keys;
  while (keys.size() < count) {
    std::string key = RandomKey(dice, 10 * count);
    if (known.insert(key).second) keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace tandem::test
