// Index keys: for every type the order of encodings is the order of values, no encoding is a prefix
// of another, and decoding gives the value back.
#define BOOST_TEST_DYN_LINK
#include "index/key.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <vector>

#include "format/value_text.h"
#include "tandem/limits.h"
#include "test/support/hex.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::format {
namespace {

using test::TestRandom;
using test::Hex;

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

BOOST_AUTO_TEST_SUITE(IndexKeySuite)

BOOST_AUTO_TEST_CASE(BytesAreAsDocumented) {
  BOOST_TEST(Hex(Encode(Column(ColumnType::kText), "a")) == "02 61 00 01");
  BOOST_TEST(Hex(Encode(Column(ColumnType::kText, true), "a")) == "FD 9E FF FE");
  BOOST_TEST(Hex(Encode(Column(ColumnType::kBytes), std::string_view("a\0b", 3))) ==
             "02 61 00 FF 62 00 01");
  BOOST_TEST(Hex(Encode(Column(ColumnType::kInt64), "-1")) == "02 7F FF FF FF FF FF FF FF");
  BOOST_TEST(Hex(Encode(Column(ColumnType::kUint64), "258")) == "02 00 00 00 00 00 00 01 02");
  BOOST_TEST(Hex(Encode(Column(ColumnType::kDouble), "1")) == "02 BF F0 00 00 00 00 00 00");
  BOOST_TEST(Hex(Encode(Column(ColumnType::kDouble), "-1")) == "02 40 0F FF FF FF FF FF FF");
  BOOST_TEST(Hex(Encode(Column(ColumnType::kBool), "true")) == "02 01");
  BOOST_TEST(Hex(Encode(Column(ColumnType::kBool), std::nullopt)) == "01");
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

BOOST_AUTO_TEST_CASE(OneValueHasOneKey) {
  BOOST_TEST(Encode(Column(ColumnType::kDouble), "-0") == Encode(Column(ColumnType::kDouble), "0"));
  BOOST_TEST(Encode(Column(ColumnType::kDoubleBe), DoubleBytes(-0.0)) ==
             Encode(Column(ColumnType::kDouble), "0"));
  BOOST_TEST(Encode(Column(ColumnType::kInt64), "-0") == Encode(Column(ColumnType::kInt64), "0"));
  BOOST_TEST(Encode(Column(ColumnType::kTimestamp), "1970-01-01T00:00:01Z") ==
             Encode(Column(ColumnType::kTimestampBe), BigEndian(1'000'000)));
}

BOOST_AUTO_TEST_CASE(ValuesThatDoNotFitAreRefused) {
  const std::vector<std::pair<ColumnType, std::string>> refused = {
      {ColumnType::kText, "\xff"},
      {ColumnType::kInt64, "1.5"},
      {ColumnType::kUint64, "-1"},
      {ColumnType::kDouble, "nan"},
      {ColumnType::kDouble, "inf"},
      {ColumnType::kBool, "TRUE"},
      {ColumnType::kTimestamp, "yesterday"},
      {ColumnType::kInt64Be, "1234567"},
      {ColumnType::kUint64Be, "123456789"},
      {ColumnType::kDoubleBe, DoubleBytes(std::numeric_limits<double>::quiet_NaN())},
      {ColumnType::kBoolBe, "\2"},
      {ColumnType::kBoolBe, ""},
      {ColumnType::kTimestampBe, ""}};
  for (const auto& [type, value] : refused) {
    std::string key = "before";
    const Status status = AppendIndexKey(Column(type), value, &key);
    BOOST_TEST(status.code() == StatusCode::kInvalidArgument, status);
    BOOST_TEST(key == "before");
  }
  std::string key;
  const Status status = AppendIndexKey(Column(ColumnType::kInt64), "a\n", &key);
  BOOST_TEST(status.message() == "value 'a\\x0a' of column 'c' does not fit the index type int64");
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

BOOST_AUTO_TEST_CASE(MalformedKeysAreCorruption) {
  const std::vector<std::pair<ColumnType, std::string>> malformed = {
      {ColumnType::kText, ""},
      {ColumnType::kText, "\3"},
      {ColumnType::kText, "\2"},
      {ColumnType::kText, "\2a"},
      {ColumnType::kText, std::string("\2a\0", 3)},
      {ColumnType::kText, std::string("\2a\0\2", 4)},
      {ColumnType::kText, std::string("\2\xff\0\1", 4)},
      {ColumnType::kInt64, "\2abcdefg"},
      {ColumnType::kBool, "\2\2"},
      {ColumnType::kDouble, "\2\xff\xff\xff\xff\xff\xff\xff\xff"},
      {ColumnType::kDouble, "\2\x7f\xff\xff\xff\xff\xff\xff\xff"}};
  for (const auto& [type, bytes] : malformed) {
    std::string_view key = bytes;
    BOOST_TEST(DecodeIndexKey(Column(type), &key).status().code() == StatusCode::kCorruption,
               Hex(bytes));
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

BOOST_AUTO_TEST_CASE(SuccessorFollowsEveryKeyWithThePrefix) {
  BOOST_TEST(Successor("a").value() == "b");
  BOOST_TEST(Successor("a\xff\xff").value() == "b");
  BOOST_TEST(!Successor("\xff\xff").has_value());
  BOOST_TEST(!Successor("").has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
