// Typed row keys: declarations, bytes and errors as a table of cases; order, round trips and ranges
// against tuples of fields that are compared one by one.
#define BOOST_TEST_DYN_LINK
#include "tandem/row_key.h"

#include <algorithm>
#include <array>
#include <boost/test/unit_test.hpp>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "format/hash.h"
#include "tandem/encoding.h"
#include "tandem/limits.h"
#include "test/support/hex.h"
#include "test/support/print.h"
#include "test/support/script_runner.h"
#include "test/support/test_random.h"

namespace tandem::format {
namespace {

using test::TestRandom;
using Fields = std::vector<RowKeyField>;

RowKeySchema Parsed(const std::string& declaration) {
  Result<RowKeySchema> schema = RowKeySchema::Parse(declaration);
  BOOST_REQUIRE_MESSAGE(schema.has_value(), schema.status().ToString());
  return *std::move(schema);
}

// FIELD=VALUE words.
Fields FieldsOf(const std::vector<std::string>& words, size_t first) {
  Fields fields;
  for (size_t i = first; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    if (equals == std::string::npos) break;
    fields.push_back({words[i].substr(0, equals), test::Unescaped(words[i].substr(equals + 1))});
  }
  return fields;
}

std::string Text(const Status& status) { return std::string(status.message()); }

std::string Text(const Fields& fields) {
  std::string text;
  for (const RowKeyField& field : fields) {
    text += (text.empty() ? "" : " ") + field.name + "=" + field.value;
  }
  return text;
}

std::string Text(const Result<std::vector<RowRange>>& ranges) {
  if (!ranges.has_value()) return Text(ranges.status());
  std::string text;
  for (const RowRange& range : *ranges) {
    text +=
        (text.empty() ? "[" : "; [") + test::Hex(range.start) + ", " + test::Hex(range.end) + ")";
    if (range.leading_bytes > 0) text += " without " + std::to_string(range.leading_bytes);
  }
  return text;
}

// The words after the fields: FIELD FROM TO, "-" for none.
RowKeyBounds BoundsOf(const std::vector<std::string>& words, size_t first) {
  RowKeyBounds bounds;
  if (words.at(first) != "-") bounds.field = words.at(first);
  if (words.at(first + 1) != "-") bounds.from = words.at(first + 1);
  if (words.at(first + 2) != "-") bounds.to = words.at(first + 2);
  return bounds;
}

std::string Answer(const std::vector<std::string>& words) {
  const Result<RowKeySchema> schema = RowKeySchema::Parse(words.at(1));
  if (!schema.has_value()) return Text(schema.status());
  const Fields fields = FieldsOf(words, 2);
  const size_t after = 2 + fields.size();
  if (words[0] == "parse") return schema->ToString();
  if (words[0] == "key") {
    const Result<std::string> key = schema->Encode(fields);
    return key.has_value() ? test::Hex(*key) : Text(key.status());
  }
  if (words[0] == "fields") {
    const auto decoded = schema->Decode(test::FromHex(words.at(2)));
    return decoded.has_value() ? Text(*decoded) : Text(decoded.status());
  }
  if (words[0] == "ranges") return Text(schema->Ranges(fields));
  if (words[0] == "ordered") {
    const Result<ScanOptions> scan = schema->InFieldOrder(fields);
    return scan.has_value() ? Text(scan->ranges) : Text(scan.status());
  }
  if (words[0] == "between") return Text(schema->Between(fields, BoundsOf(words, after)));
  const auto newest = schema->Newest(fields, std::stoull(words.at(after)));
  if (!newest.has_value()) return Text(newest.status());
  return Text(newest->ranges) + (newest->reverse ? " in reverse, " : ", ") +
         std::to_string(newest->limit) + " rows";
}

// A value, and what it sorts as: numbers by size, all others by bytes.
struct Sample {
  std::string text;
  std::variant<int64_t, uint64_t, std::string> order;
};

int64_t RandomInt64(TestRandom& random) {
  if (random.OneIn(8)) return random.OneIn(2) ? INT64_MIN : INT64_MAX;
  const auto number = static_cast<int64_t>(random.Next());
  return random.OneIn(2) ? number : number % 300;
}

Sample OfText(std::string text) { return {text, text}; }

Sample RandomValue(TestRandom& random, const std::string& type) {
  using std::string_literals::operator""s;
  if (type == "int64" || type == "timestamp") {
    const int64_t number = RandomInt64(random);
    return {std::to_string(number), number};
  }
  if (type == "uint64") {
    const auto number = static_cast<uint64_t>(RandomInt64(random));
    return {std::to_string(number), number};
  }
  if (type == "uuid") {
    const std::string digits = random.Text(8, "0189af");
    const std::string low = random.OneIn(2) ? "000000000000" : "ffffffffffff";
    return OfText(std::string(8 - digits.size(), '0') + digits + "-0000-4000-80ff-" + low);
  }
  if (type == "bytes(3)") {
    const std::string bytes = random.Text(3, "\0\1\x7f\xfe\xff"s);
    return OfText(bytes + std::string(3 - bytes.size(), '\0'));
  }
  if (type == "bytes") return OfText(random.Text(5, "\0\1a\xfe\xff"s));
  std::string text = random.Text(type == "text" ? 6 : 4, "\1 a\x7f");
  if (random.OneIn(3)) text += random.OneIn(2) ? "\xc3\xa9" : "\xf4\x8f\xbf\xbf";
  return OfText(text);
}

constexpr const char* kTypes[] = {"text",  "text(8)", "bytes",     "bytes(3)",
                                  "int64", "uint64",  "timestamp", "uuid"};

// Two fields and their directions.
struct Shape {
  std::string types[2];
  bool descending[2];

  std::string declaration() const {
    std::string text;
    for (int i = 0; i < 2; ++i) {
      text += (i == 0 ? "a:" : ", b:") + types[i] + (descending[i] ? " desc" : " asc");
    }
    return text;
  }
};
using Tuple = std::array<Sample, 2>;

bool ComesBefore(const Shape& shape, const Tuple& x, const Tuple& y) {
  for (size_t i = 0; i < 2; ++i) {
    if (x[i].order == y[i].order) continue;
    return (x[i].order < y[i].order) != shape.descending[i];
  }
  return false;
}

Fields FieldsOf(const Tuple& tuple) { return {{"a", tuple[0].text}, {"b", tuple[1].text}}; }

std::string KeyOf(const RowKeySchema& schema, const Fields& fields) {
  const Result<std::string> key = schema.Encode(fields);
  BOOST_REQUIRE_MESSAGE(key.has_value(), key.status().ToString());
  return *key;
}

// Distinct tuples in their order. An empty one has no key.
std::vector<Tuple> RandomTuples(TestRandom& random, const Shape& shape, size_t count) {
  std::vector<Tuple> tuples;
  for (size_t i = 0; i < count; ++i) {
    Tuple tuple{RandomValue(random, shape.types[0]), RandomValue(random, shape.types[1])};
    // Equal first fields leave the order to the second.
    if (i > 0 && random.OneIn(3)) tuple[0] = tuples[random.Below(i)][0];
    tuples.push_back(std::move(tuple));
  }
  const auto before = [&](const Tuple& x, const Tuple& y) { return ComesBefore(shape, x, y); };
  std::ranges::sort(tuples, before);
  const auto equal = [&](const Tuple& x, const Tuple& y) { return !before(x, y) && !before(y, x); };
  tuples.erase(std::unique(tuples.begin(), tuples.end(), equal), tuples.end());
  return tuples;
}

bool Holds(const std::vector<RowRange>& ranges, const std::string& key) {
  return std::ranges::any_of(ranges, [&](const RowRange& range) {
    return key >= range.start && (range.end.empty() || key < range.end);
  });
}

bool IsWithin(const Sample& value, const Sample* from, const Sample* to) {
  return (from == nullptr || !(value.order < from->order)) &&
         (to == nullptr || value.order < to->order);
}

// Whether the ranges between bounds of the second field hold the tuples within them, and no others.
void CheckBetween(TestRandom& random, const RowKeySchema& schema,
                  const std::vector<Tuple>& tuples) {
  const auto pick = [&]() -> const Tuple& { return tuples[random.Below(tuples.size())]; };
  const Tuple& chosen = pick();
  Sample low = pick()[1], high = pick()[1];
  if (high.order < low.order) std::swap(low, high);
  const Sample* const from = random.OneIn(4) ? nullptr : &low;
  const Sample* const to = random.OneIn(4) ? nullptr : &high;
  RowKeyBounds bounds{.field = "b"};
  if (from != nullptr) bounds.from = from->text;
  if (to != nullptr) bounds.to = to->text;
  const Fields prefix = {{"a", chosen[0].text}};
  const auto ranges = schema.Between(prefix, bounds);
  if (!ranges.has_value()) {
    const bool is_empty = from != nullptr && to != nullptr && low.order == high.order;
    const bool is_least =
        std::ranges::none_of(tuples, [&](const Tuple& t) { return t[1].order < high.order; });
    BOOST_TEST((is_empty || (to != nullptr && is_least)), ranges.status().ToString());
    return;
  }
  for (const Tuple& tuple : tuples) {
    const bool expected = tuple[0].order == chosen[0].order && IsWithin(tuple[1], from, to);
    BOOST_REQUIRE_EQUAL(Holds(*ranges, KeyOf(schema, FieldsOf(tuple))), expected);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(row_key)

BOOST_AUTO_TEST_CASE(KeysAndErrorsAreWhatTheTableSays) {
  test::RunTable("test/format/tables/row_key.txt", Answer);
}

// 1,450 tuples of a shape are a million pairs, less those that come twice.
BOOST_AUTO_TEST_CASE(KeysSortLikeTheirFields) {
  TestRandom random("KeysSortLikeTheirFields");
  for (const char* type : kTypes) {
    uint64_t pairs = 0;
    for (const bool descending : {false, true}) {
      for (const bool is_last : {false, true}) {
        Shape shape{{type, "uint64"}, {descending, random.OneIn(2)}};
        if (is_last) {
          std::swap(shape.types[0], shape.types[1]);
          std::swap(shape.descending[0], shape.descending[1]);
        }
        const RowKeySchema schema = Parsed(shape.declaration());
        std::vector<std::string> keys;
        for (const Tuple& tuple : RandomTuples(random, shape, 1'450)) {
          keys.push_back(KeyOf(schema, FieldsOf(tuple)));
        }
        size_t wrong = 0;
        for (size_t i = 0; i < keys.size(); ++i) {
          for (size_t j = i + 1; j < keys.size(); ++j) wrong += keys[i] < keys[j] ? 0 : 1;
        }
        BOOST_TEST(wrong == 0u, shape.declaration());
        pairs += keys.size() * (keys.size() - 1) / 2;
      }
    }
    BOOST_TEST(pairs > 1'000'000u, type << ": " << pairs << " pairs");
  }
}

BOOST_AUTO_TEST_CASE(KeysGiveTheirFieldsBack) {
  TestRandom random("KeysGiveTheirFieldsBack");
  const std::string leads[] = {"",
                               "salt(8), ",
                               "salt(65535), hash(a, 8), ",
                               "hash(b, 3), hash(a, 1), ",
                               "reverse(a), ",
                               "hash(b, 16, md5), hash(a, 9, md5), ",
                               "salt(300), hash(a, 2), reverse(a), "};
  for (const char* first : kTypes) {
    for (const char* second : kTypes) {
      const Shape shape{{first, second}, {random.OneIn(2), random.OneIn(2)}};
      for (const std::string& lead : leads) {
        const RowKeySchema schema = Parsed(lead + shape.declaration());
        BOOST_TEST((Parsed(schema.ToString()).parts() == schema.parts()));
        for (const Tuple& tuple : RandomTuples(random, shape, 20)) {
          const Fields fields = FieldsOf(tuple);
          const Result<std::string> key = schema.Encode(fields);
          if (!key.has_value()) {
            BOOST_TEST((fields[0].value.empty() && fields[1].value.empty()));
            continue;
          }
          const auto decoded = schema.Decode(*key);
          BOOST_REQUIRE_MESSAGE(decoded.has_value(), decoded.status().ToString());
          BOOST_TEST((*decoded == fields), Text(*decoded) + " for " + Text(fields));
        }
      }
    }
  }
}

// A get is one get: the salt depends on the fields alone.
BOOST_AUTO_TEST_CASE(SaltsAreThoseOfTheRestOfTheKey) {
  TestRandom random("SaltsAreThoseOfTheRestOfTheKey");
  for (const uint32_t count : {1u, 8u, 256u, 257u, 65'535u}) {
    const RowKeySchema plain = Parsed("a:uint64, b:text");
    const RowKeySchema salted = Parsed("salt(" + std::to_string(count) + "), a:uint64, b:text");
    for (int i = 0; i < 200; ++i) {
      const Fields fields = {{"a", std::to_string(random.Next())}, {"b", random.Text(9, "xyz")}};
      const std::string rest = KeyOf(plain, fields);
      const std::string salt = EncodeUint64Be(Hash64(rest) % count).substr(count > 256 ? 6 : 7);
      BOOST_REQUIRE_EQUAL(test::Hex(KeyOf(salted, fields)), test::Hex(salt + rest));
      const auto ranges = salted.Ranges(fields);
      BOOST_REQUIRE_EQUAL(ranges->size(), 1u);
      BOOST_REQUIRE_EQUAL(ranges->front().end, ranges->front().start + '\0');
    }
  }
}

BOOST_AUTO_TEST_CASE(NumbersThatRiseAreSpreadByReverse) {
  const RowKeySchema schema = Parsed("reverse(id), id:uint64");
  std::vector<int> first_bytes(256);
  for (int id = 0; id < 256; ++id) {
    const std::string key = KeyOf(schema, {{"id", std::to_string(id)}});
    ++first_bytes[static_cast<uint8_t>(key[0])];
  }
  BOOST_TEST(std::ranges::count(first_bytes, 1) == 256);
}

BOOST_AUTO_TEST_CASE(RangesHoldWhatBeginsWithTheirFields) {
  TestRandom random("RangesHoldWhatBeginsWithTheirFields");
  for (const std::string lead : {"", "salt(7), ", "hash(a, 2, md5), ", "salt(3), hash(a, 1), "}) {
    for (const char* first : kTypes) {
      for (const char* second : kTypes) {
        const Shape shape{{first, second}, {random.OneIn(2), random.OneIn(2)}};
        const RowKeySchema schema = Parsed(lead + shape.declaration());
        std::vector<Tuple> tuples = RandomTuples(random, shape, 60);
        std::erase_if(tuples,
                      [](const Tuple& t) { return t[0].text.empty() || t[1].text.empty(); });
        if (tuples.empty()) continue;
        const Tuple& chosen = tuples[random.Below(tuples.size())];
        const auto ranges = schema.Ranges(Fields{{"a", chosen[0].text}});
        BOOST_REQUIRE_MESSAGE(ranges.has_value(), ranges.status().ToString());
        for (const Tuple& tuple : tuples) {
          const bool expected = tuple[0].order == chosen[0].order;
          BOOST_REQUIRE_EQUAL(Holds(*ranges, KeyOf(schema, FieldsOf(tuple))), expected);
        }
        for (int i = 0; i < 5; ++i) CheckBetween(random, schema, tuples);
      }
    }
  }
}

// With the first fields of a key a modulus of a later one has every value.
BOOST_AUTO_TEST_CASE(AModulusOfALaterFieldMakesARangeEach) {
  const RowKeySchema schema = Parsed("mod(id, 5), at:timestamp, id:int64");
  const auto ranges = schema.Between({}, {.field = "at", .from = "10", .to = "20"});
  BOOST_REQUIRE_EQUAL(ranges->size(), 5u);
  for (int id = -7; id < 8; ++id) {
    for (const int at : {9, 10, 19, 20}) {
      const std::string key =
          KeyOf(schema, {{"id", std::to_string(id)}, {"at", std::to_string(at)}});
      BOOST_TEST(Holds(*ranges, key) == (at == 10 || at == 19));
      BOOST_TEST(key[0] == ((id % 5) + 5) % 5);
    }
  }
}

// A number in as many bytes as those below `count` need.
std::string BytesOf(uint64_t number, uint64_t count) {
  return EncodeUint64Be(number).substr(count > 256 ? 6 : 7);
}

// Against division by rounding down, in numbers that hold any of the three types.
BOOST_AUTO_TEST_CASE(PartsOfPartitionsAreNeighbours) {
  using Wide = __int128;
  TestRandom random("PartsOfPartitionsAreNeighbours");
  const auto floor_div = [](Wide x, Wide y) { return x / y - (x % y < 0 ? 1 : 0); };
  for (const auto& [n, m] :
       {std::pair{4, 3}, {1, 257}, {257, 2}, {256, 255}, {65'535, 1}, {7, 7}}) {
    for (const std::string type : {"int64", "uint64", "timestamp"}) {
      const std::string fields = "a:text, id:" + type + (random.OneIn(2) ? " desc" : "");
      const RowKeySchema plain = Parsed(fields);
      const RowKeySchema schema =
          Parsed("mod(id, " + std::to_string(n) + ", " + std::to_string(m) + "), " + fields);
      for (int i = 0; i < 300; ++i) {
        const Sample id = RandomValue(random, type);
        const Wide number = type == "uint64" ? Wide{std::get<uint64_t>(id.order)}
                                             : Wide{std::get<int64_t>(id.order)};
        const Wide quotient = floor_div(number, n);
        const auto partition = static_cast<uint64_t>(number - quotient * n);
        const auto part = static_cast<uint64_t>(quotient - floor_div(quotient, m) * m);
        const Fields values = {{"a", random.Text(3, "xyz")}, {"id", id.text}};
        const std::string key = KeyOf(schema, values);
        std::string lead = BytesOf(partition, static_cast<uint64_t>(n));
        if (m > 1) lead += BytesOf(part, static_cast<uint64_t>(m));
        BOOST_REQUIRE_EQUAL(test::Hex(key), test::Hex(lead + KeyOf(plain, values)));
        BOOST_REQUIRE((*schema.Decode(key) == values));
        BOOST_REQUIRE_EQUAL(schema.Ranges(values)->size(), 1u);
      }
      // Without the number each part is a range; together they have what the plain range has.
      const auto ranges = schema.Between(Fields{{"a", "x"}}, {.field = "id", .from = "5"});
      BOOST_REQUIRE_EQUAL(ranges->size(), static_cast<size_t>(n) * static_cast<size_t>(m));
      BOOST_TEST(std::ranges::is_sorted(*ranges, {}, &RowRange::start));
      for (int i = 0; i < 20; ++i) {
        const Fields values = {{"a", random.OneIn(2) ? "x" : "y"},
                               {"id", std::to_string(random.Below(10))}};
        const bool expected = values[0].value == "x" && std::stoi(values[1].value) >= 5;
        BOOST_TEST(Holds(*ranges, KeyOf(schema, values)) == expected);
      }
    }
  }
}

// What decodes is what its fields encode to, so no two keys show as the same fields.
BOOST_AUTO_TEST_CASE(DamagedKeysNeverPassForOthers) {
  TestRandom random("DamagedKeysNeverPassForOthers");
  for (const char* first : kTypes) {
    for (const std::string lead : {"", "salt(2), ", "reverse(a), "}) {
      const Shape shape{{first, "bytes"}, {random.OneIn(2), random.OneIn(2)}};
      const RowKeySchema schema = Parsed(lead + shape.declaration());
      for (const Tuple& tuple : RandomTuples(random, shape, 300)) {
        Result<std::string> encoded = schema.Encode(FieldsOf(tuple));
        if (!encoded.has_value()) continue;
        std::string key = *encoded;
        key[random.Below(key.size())] = static_cast<char>(random.Next());
        if (random.OneIn(3)) key.resize(random.Below(key.size() + 1));
        const auto decoded = schema.Decode(key);
        if (!decoded.has_value()) continue;
        BOOST_TEST(test::Hex(KeyOf(schema, *decoded)) == test::Hex(key));
      }
    }
  }
}

// Every other partition and part in the place of the right ones.
BOOST_AUTO_TEST_CASE(AKeyInAnotherPartIsNone) {
  const RowKeySchema schema = Parsed("mod(id, 4, 3), id:int64");
  const std::string key = KeyOf(schema, {{"id", "-5"}});
  int decoded = 0;
  for (int partition = 0; partition < 256; ++partition) {
    for (int part = 0; part < 256; ++part) {
      std::string other = key;
      other[0] = static_cast<char>(partition);
      other[1] = static_cast<char>(part);
      if (!schema.Decode(other).has_value()) continue;
      ++decoded;
      BOOST_TEST(test::Hex(other) == test::Hex(key));
    }
  }
  BOOST_TEST(decoded == 1);
}

BOOST_AUTO_TEST_CASE(LimitsAreKept) {
  std::string many;
  for (size_t i = 0; i < kRowKeyPartsMax; ++i) many += "f" + std::to_string(i) + ":text, ";
  const std::string last = "z:text";
  BOOST_TEST(Text(RowKeySchema::Parse(many + last).status()) ==
             "row key: at position 151: more than 16 parts");
  many.resize(many.size() - 2);
  const RowKeySchema schema = Parsed(many);
  BOOST_TEST(schema.fields().size() == kRowKeyPartsMax);
  const std::string name(1'020, 'n');
  BOOST_TEST(Text(RowKeySchema::Parse(name + ":text").status()) ==
             "row key: its declaration has 1025 bytes, the limit is 1024");
  const RowKeySchema text = Parsed("a:text");
  BOOST_TEST(text.Encode(Fields{{"a", std::string(kRowKeyBytesMax, 'x')}}).has_value());
  BOOST_TEST(Text(text.Encode(Fields{{"a", std::string(kRowKeyBytesMax + 1, 'x')}}).status()) ==
             "row key: its fields make 65536 bytes, the limit is 65535");
  for (const char* leads : {"salt(65535), mod(b, 2)", "salt(257), mod(b, 16, 16)"}) {
    const RowKeySchema wide = Parsed(std::string(leads) + ", a:text, b:uint64");
    BOOST_TEST(Text(wide.Ranges(Fields{{"a", "x"}}).status()) ==
               "row key: the keys are in more than 65536 ranges; give more fields");
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::format
