// Ranges of keys when some fields are known, and the fields of keys of several declarations.
#define BOOST_TEST_DYN_LINK
#include "format/row_key/key_fields.h"

#include <boost/test/unit_test.hpp>
#include <optional>
#include <string>
#include <vector>

#include "format/row_key/field.h"
#include "format/row_key/ranges.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

using format::KeyPrefix;
using format::ValueBound;
using format::ValueInterval;

bool Contains(const RowRange& range, const std::string& key) {
  return key >= range.start && (range.end.empty() || key < range.end);
}

// Plain bytes of values of the field, which ascend.
std::vector<std::string> ValuesOf(const RowKeyPart& field) {
  std::vector<std::string> texts = {"-9223372036854775808", "-1", "0", "9223372036854775807"};
  if (field.type == RowKeyType::kUint64) texts = {"0", "1", "256", "18446744073709551615"};
  if (field.type == RowKeyType::kText)
    texts = {"", "\1", "a", "a\1", "ab", "b", "\xf4\x8f\xbf\xbf"};
  if (field.type == RowKeyType::kBytes) {
    texts = {"",
             std::string(1, '\0'),
             std::string("\0\1", 2),
             "a",
             std::string("a\0", 2),
             "ab",
             "\xff",
             "\xff\xff"};
    if (field.width_bytes != 0) texts = {std::string(2, '\0'), "aa", "ab", "\xff\xff"};
  }
  std::vector<std::string> plain;
  for (const std::string& text : texts) plain.push_back(*format::PlainBytes(field, text));
  return plain;
}

// All intervals between two of the values, with and without these.
std::vector<ValueInterval> IntervalsOf(const std::vector<std::string>& values) {
  std::vector<std::optional<ValueBound>> bounds = {std::nullopt};
  for (const std::string& value : values) {
    bounds.push_back(ValueBound{value, true});
    bounds.push_back(ValueBound{value, false});
  }
  std::vector<ValueInterval> intervals;
  for (const auto& low : bounds) {
    for (const auto& high : bounds) {
      const bool is_inverted = low.has_value() && high.has_value() && low->key > high->key;
      if (!is_inverted) intervals.push_back({low, high});
    }
  }
  return intervals;
}

// Of a key `first, field` with the field in the place that the declaration gives it.
void CheckExact(const std::string& declaration, size_t place) {
  const RowKeySchema schema = *RowKeySchema::Parse(declaration);
  const auto fields = format::FieldsOf(schema.parts());
  const std::vector<std::string> values = ValuesOf(*fields[place]);
  KeyPrefix prefix;
  for (size_t i = 0; i < place; ++i) format::AddField(fields, ValuesOf(*fields[i])[2], &prefix);
  std::vector<std::string> keys;
  for (const std::string& value : values) {
    KeyPrefix key = prefix;
    format::AddField(fields, value, &key);
    while (key.fields < fields.size()) {
      format::AddField(fields, ValuesOf(*fields[key.fields]).back(), &key);
    }
    keys.push_back(key.bytes);
  }
  for (const ValueInterval& interval : IntervalsOf(values)) {
    const auto range = format::RangeUnder(fields, prefix, interval);
    for (size_t i = 0; i < values.size(); ++i) {
      const bool is_in = range.has_value() && Contains(*range, keys[i]);
      BOOST_REQUIRE_MESSAGE(is_in == interval.Contains(values[i]),
                            declaration << ", value " << i << " of field " << place);
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(key_fields)

BOOST_AUTO_TEST_CASE(ARangeHasTheValuesWithinItsBounds) {
  for (const char* type :
       {"text", "text(4)", "bytes", "bytes(2)", "int64", "uint64", "timestamp"}) {
    for (const char* order : {"", " desc"}) {
      const std::string field = std::string("f:") + type + order;
      CheckExact(field, 0);
      CheckExact(field + ", g:text", 0);
      CheckExact("g:text, " + field, 1);
      CheckExact("g:bytes desc, " + field + ", h:int64", 1);
    }
  }
}

BOOST_AUTO_TEST_CASE(AKeyWithAllFieldsIsARangeOfItsOwn) {
  const RowKeySchema schema = *RowKeySchema::Parse("a:text, b:text");
  const auto fields = format::FieldsOf(schema.parts());
  KeyPrefix key;
  format::AddField(fields, "x", &key);
  format::AddField(fields, "y", &key);
  const auto range = format::RangeUnder(fields, key, {});
  BOOST_REQUIRE(range.has_value());
  BOOST_TEST(range->start == std::string("x\0y", 3));
  BOOST_TEST(range->end == std::string("x\0y\0", 4));
}

BOOST_AUTO_TEST_CASE(FieldsAreThoseOfAnyDeclaration) {
  const std::vector<std::string> former = {"mod(n, 2), user:text, n:int64", "user:text, n:int64"};
  const format::KeyFields fields(*RowKeyEpochs::Parse("salt(4), user:text, n:int64", former));
  const std::vector<RowKeyField> row = {{"user", "ann"}, {"n", "7"}};
  const std::vector<std::string> keys = *fields.keys().Keys(row);
  BOOST_TEST(keys.size() >= 2U);
  std::vector<std::string> plain;
  for (const std::string& key : keys) {
    BOOST_REQUIRE(fields.Decode(key, &plain));
    BOOST_TEST(plain.front() == "ann");
    const auto prefix = fields.PrefixOf(key, 1);
    BOOST_REQUIRE(prefix.has_value());
    BOOST_TEST(prefix->fields == 1U);
    BOOST_TEST(prefix->bytes == key.substr(0, key.size() - 8));
  }
  BOOST_TEST(!fields.Decode("raw", &plain));
  BOOST_TEST(!fields.PrefixOf("raw", 1).has_value());
  BOOST_TEST(!fields.Decode("", &plain));
  BOOST_TEST(*fields.PlaceOf("n") == 1U);
  BOOST_TEST(fields.PlaceOf("m").error().message() ==
             "row key: there is no field 'm'; the fields are user, n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
