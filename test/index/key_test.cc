// Index keys: for every type the order of encodings is the order of values, no encoding is a prefix
// of another, and decoding gives the value back.
#define BOOST_TEST_DYN_LINK
#include "index/key.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "format/value_text.h"
#include "tandem/limits.h"
#include "test/support/hex.h"
#include "test/support/print.h"
#include "test/support/script_runner.h"
#include "test/support/test_random.h"

namespace tandem::format {
namespace {

using test::Hex;
using test::TestRandom;

IndexColumnRecord Column(ColumnType type, bool descending = false) {
  return {FamilyId(0), "c", type, descending};
}

std::string Encode(const IndexColumnRecord& column, std::optional<std::string_view> value) {
  std::string key;
  const Status status = AppendIndexKey(column, value, &key);
  BOOST_TEST(status.ok(), status);
  return key;
}

std::string BigEndian(uint64_t number) {
  const uint64_t swapped = __builtin_bswap64(number);
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &swapped, 8);
  return bytes;
}

std::string DoubleBytes(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, 8);
  return BigEndian(bits);
}

// Checks `stored`, which rise strictly, and their plain texts against each other, both directions.
void CheckOrder(ColumnType type, const std::vector<std::string>& stored,
                const std::vector<std::string>& plain) {
  for (const bool descending : {false, true}) {
    const IndexColumnRecord column = Column(type, descending);
    std::vector<std::string> keys{Encode(column, std::nullopt)};
    for (const std::string& value : stored) keys.push_back(Encode(column, value));
    for (size_t i = 1; i < keys.size(); ++i) {
      const bool rises = keys[i - 1] < keys[i];
      BOOST_TEST(rises != descending, Hex(keys[i - 1]) << " and " << Hex(keys[i]));
      BOOST_TEST(!keys[i].starts_with(keys[i - 1]));
      BOOST_TEST(!keys[i - 1].starts_with(keys[i]));
      const std::string followed = keys[i] + keys[i - 1] + "rest";
      std::string_view rest = followed;
      const auto first = DecodeIndexKey(column, &rest);
      BOOST_REQUIRE(first.has_value());
      BOOST_TEST(first->value() == plain[i - 1]);
      const auto second = DecodeIndexKey(column, &rest);
      BOOST_REQUIRE(second.has_value());
      BOOST_TEST(second->has_value() == (i > 1));
      BOOST_TEST(rest == "rest");
    }
  }
}

ColumnType TypeOf(const std::string& name) {
  const std::pair<const char*, ColumnType> types[] = {
      {"bytes", ColumnType::kBytes},         {"text", ColumnType::kText},
      {"int64", ColumnType::kInt64},         {"uint64", ColumnType::kUint64},
      {"double", ColumnType::kDouble},       {"bool", ColumnType::kBool},
      {"timestamp", ColumnType::kTimestamp}, {"int64_be", ColumnType::kInt64Be},
      {"uint64_be", ColumnType::kUint64Be},  {"double_be", ColumnType::kDoubleBe},
      {"bool_be", ColumnType::kBoolBe},      {"timestamp_be", ColumnType::kTimestampBe}};
  for (const auto& [type_name, type] : types) {
    if (name == type_name) return type;
  }
  BOOST_FAIL("no type " << name);
  return {};
}

// Of a value: its key, or why it has none, and then nothing was appended.
std::string KeyText(const IndexColumnRecord& column, std::optional<std::string_view> value) {
  std::string key = "before";
  const Status status = AppendIndexKey(column, value, &key);
  BOOST_TEST(key.starts_with("before"));
  key.erase(0, 6);
  BOOST_TEST((status.ok() || key.empty()));
  if (value.has_value()) {
    BOOST_TEST(CheckIndexValue(column, *value).ToString() == status.ToString());
  }
  return status.ok() ? Hex(key) : status.ToString();
}

std::string DecodedText(const IndexColumnRecord& column, std::string_view key) {
  const auto value = DecodeIndexKey(column, &key);
  if (!value.has_value()) return value.error().code() == StatusCode::kCorruption ? "corrupt" : "?";
  return value->has_value() ? **value : "absent";
}

std::string Answer(const std::vector<std::string>& words) {
  const std::string bytes = test::Unescaped(words.back());
  if (words[0] == "successor") {
    const auto next = Successor(bytes);
    return next.has_value() ? *next : "none";
  }
  BOOST_REQUIRE_EQUAL(words.size(), words[0] == "absent" ? 2u : 3u);
  const IndexColumnRecord column = Column(TypeOf(words[1]), words[0] == "descending");
  if (words[0] == "absent") return KeyText(column, std::nullopt);
  if (words[0] == "decode") return DecodedText(column, bytes);
  return KeyText(column, bytes);
}

BOOST_AUTO_TEST_SUITE(IndexKeySuite)

BOOST_AUTO_TEST_CASE(KeysAreThoseOfTheTable) {
  test::RunTable("test/index/tables/key.txt", Answer);
}

BOOST_AUTO_TEST_CASE(BytesKeepTheirOrder) {
  TestRandom random("BytesKeepTheirOrder");
  for (const ColumnType type : {ColumnType::kBytes, ColumnType::kText}) {
    const bool text = type == ColumnType::kText;
    const std::string_view alphabet =
        text ? std::string_view("\0\1az\x7f", 5) : std::string_view("\0\1a\xfe\xff", 5);
    std::set<std::string> values{"", std::string(1, '\0'), std::string(2, '\0')};
    for (int i = 0; i < 2000; ++i) values.insert(random.Text(6, alphabet));
    const std::vector<std::string> sorted(values.begin(), values.end());
    CheckOrder(type, sorted, sorted);
  }
}

BOOST_AUTO_TEST_CASE(IntegersKeepTheirOrder) {
  TestRandom random("IntegersKeepTheirOrder");
  std::set<int64_t> values{0, 1, -1, std::numeric_limits<int64_t>::min(),
                           std::numeric_limits<int64_t>::max()};
  for (int i = 0; i < 2000; ++i) {
    values.insert(static_cast<int64_t>(random.Next()) >> random.Below(64));
  }
  std::vector<std::string> texts, binary;
  for (const int64_t value : values) {
    texts.push_back(std::to_string(value));
    binary.push_back(BigEndian(static_cast<uint64_t>(value)));
  }
  CheckOrder(ColumnType::kInt64, texts, texts);
  CheckOrder(ColumnType::kTimestamp, texts, texts);
  CheckOrder(ColumnType::kInt64Be, binary, texts);
  CheckOrder(ColumnType::kTimestampBe, binary, texts);

  std::set<uint64_t> unsigned_values;
  for (const int64_t value : values) unsigned_values.insert(static_cast<uint64_t>(value));
  texts.clear();
  binary.clear();
  for (const uint64_t value : unsigned_values) {
    texts.push_back(std::to_string(value));
    binary.push_back(BigEndian(value));
  }
  CheckOrder(ColumnType::kUint64, texts, texts);
  CheckOrder(ColumnType::kUint64Be, binary, texts);
}

BOOST_AUTO_TEST_CASE(DoublesKeepTheirOrder) {
  TestRandom random("DoublesKeepTheirOrder");
  std::set<double> values{0.0,
                          1.0,
                          -1.0,
                          std::numeric_limits<double>::denorm_min(),
                          std::numeric_limits<double>::max(),
                          std::numeric_limits<double>::lowest()};
  while (values.size() < 2000) {
    const uint64_t bits = random.Next();
    double value;
    std::memcpy(&value, &bits, 8);
    if (std::isfinite(value)) values.insert(value);
  }
  std::vector<std::string> texts, binary;
  for (const double value : values) {
    texts.push_back(DoubleText(value));
    binary.push_back(DoubleBytes(value));
  }
  CheckOrder(ColumnType::kDouble, texts, texts);
  const double infinity = std::numeric_limits<double>::infinity();
  binary.insert(binary.begin(), DoubleBytes(-infinity));
  binary.push_back(DoubleBytes(infinity));
  texts.insert(texts.begin(), "-inf");
  texts.push_back("inf");
  CheckOrder(ColumnType::kDoubleBe, binary, texts);
}

BOOST_AUTO_TEST_CASE(BoolsKeepTheirOrder) {
  CheckOrder(ColumnType::kBool, {"false", "true"}, {"false", "true"});
  CheckOrder(ColumnType::kBoolBe, {std::string(1, '\0'), "\1"}, {"false", "true"});
}

BOOST_AUTO_TEST_CASE(LongestKeyFitsAndOneByteMoreDoesNot) {
  const size_t value_bytes = kIndexKeyBytesMax - 3;
  BOOST_TEST(Encode(Column(ColumnType::kBytes), std::string(value_bytes, 'x')).size() ==
             kIndexKeyBytesMax);
  std::string key;
  const std::string zeros(value_bytes / 2 + 1, '\0');
  for (const std::string& value :
       {std::string(value_bytes + 1, 'x'), zeros, std::string(70000, 'x')}) {
    BOOST_TEST(AppendIndexKey(Column(ColumnType::kBytes), value, &key).code() ==
               StatusCode::kInvalidArgument);
    BOOST_TEST(key.empty());
  }
}

BOOST_AUTO_TEST_CASE(ASizeIsKnownToFitIfZerosOfItDo) {
  for (const ColumnType type : {ColumnType::kBytes, ColumnType::kText}) {
    for (size_t bytes = 0; bytes <= kIndexKeyBytesMax; ++bytes) {
      const bool fits = FitsIndex(Column(type), std::string(bytes, '\0'));
      BOOST_REQUIRE_EQUAL(AlwaysFitsIndex(bytes), fits);
    }
  }
}

BOOST_AUTO_TEST_CASE(PrefixRangeHoldsExactlyWhatStartsWithIt) {
  TestRandom random("PrefixRangeHoldsExactlyWhatStartsWithIt");
  for (const bool descending : {false, true}) {
    const IndexColumnRecord column = Column(ColumnType::kBytes, descending);
    const std::string_view alphabet("\0\1a\xff", 4);
    for (int i = 0; i < 20000; ++i) {
      const std::string prefix = random.Text(3, alphabet);
      const std::string value = random.Text(5, alphabet);
      const KeyRange range = PrefixRange(column, prefix);
      BOOST_TEST(range.Contains(Encode(column, value)) == value.starts_with(prefix));
      BOOST_TEST(!range.Contains(Encode(column, std::nullopt)));
    }
  }
}

BOOST_AUTO_TEST_CASE(PresentAndEqualRanges) {
  for (const bool descending : {false, true}) {
    const IndexColumnRecord column = Column(ColumnType::kInt64, descending);
    const KeyRange present = PresentRange(column);
    for (const char* value : {"-9223372036854775808", "0", "9223372036854775807"}) {
      const std::string key = Encode(column, value);
      BOOST_TEST(present.Contains(key));
      BOOST_TEST(EqualRange(key).Contains(key));
      BOOST_TEST(!EqualRange(key).Contains(Encode(column, "5")));
    }
    BOOST_TEST(!present.Contains(Encode(column, std::nullopt)));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
