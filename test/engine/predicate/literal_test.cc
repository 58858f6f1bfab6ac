// Values in predicates that no row can have: each still has its place in the order of its type, and
// an index, asked in either direction, and a scan agree on it.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <limits>
#include <string>
#include <vector>

#include "test/engine/read_world.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

struct Column {
  const char* name;
  ColumnType type;
  std::vector<std::string> values;  // Ascending, one a row.
};

std::string BigEndian(uint64_t bits) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(bits >> shift);
  return bytes;
}

const std::vector<Column>& Columns() {
  static const std::vector<Column> kColumns = {
      {"i", ColumnType::kInt64, {"-9223372036854775808", "-7", "0", "7", "9223372036854775807"}},
      {"u", ColumnType::kUint64, {"0", "1", "7", "9223372036854775808", "18446744073709551615"}},
      {"d", ColumnType::kDouble, {"-1.7976931348623157e308", "-1", "0", "5e-324", "1e308"}},
      {"b", ColumnType::kBool, {"false", "false", "true", "true", "true"}},
      {"t",
       ColumnType::kTimestamp,
       {"-9223372036854775808", "-1", "0", "1", "2026-01-01T00:00:00Z"}},
      {"s", ColumnType::kText, {"", "a", "b", "b\xc3\xa9", std::string(2045, 'c')}},
      {"y", ColumnType::kBytes, {"", std::string(1022, '\0'), "a", "b", "\xff"}},
      {"ib",
       ColumnType::kInt64Be,
       {BigEndian(uint64_t{1} << 63), BigEndian(UINT64_MAX), BigEndian(0), BigEndian(1),
        BigEndian(INT64_MAX)}},
      {"db",
       ColumnType::kDoubleBe,
       {BigEndian(0xfff0000000000000), BigEndian(0xffefffffffffffff), BigEndian(0),
        BigEndian(0x7fefffffffffffff), BigEndian(0x7ff0000000000000)}},
  };
  return kColumns;
}

// Five rows in one file, and the same five in a memstore under other keys.
struct LiteralFixture {
  explicit LiteralFixture() : worlds{ReadWorld(Options(false)), ReadWorld(Options(true))} {
    for (ReadWorld& world : worlds) {
      Fill(world, "file");
      world.Flush(0);
      Fill(world, "memstore");
    }
  }
  static WorldOptions Options(bool descending) {
    WorldOptions options;
    options.families.push_back({.name = "f"});
    for (const Column& column : Columns()) {
      options.indexes.push_back(
          {std::string("by_") + column.name, {{"", column.name, column.type, descending}}});
    }
    return options;
  }
  static void Fill(ReadWorld& world, const std::string& prefix) {
    for (size_t row = 0; row < 5; ++row) {
      ModelOperation put;
      put.table = kWorldTable;
      put.row = prefix + std::to_string(row);
      put.family = "f";
      for (const Column& column : Columns()) {
        put.columns.emplace_back(column.name, column.values[row]);
      }
      world.Apply(put);
    }
  }
  /// How many of the five rows match, which every way of asking has to agree on.
  uint64_t Count(const Predicate& predicate) {
    const bool is_not = predicate.kind() == Predicate::Kind::kNot;
    const std::string column = (is_not ? predicate.children()[0] : predicate).qualifier();
    std::vector<uint64_t> counts;
    for (ReadWorld& world : worlds) {
      QueryOptions by_index, scan;
      by_index.use_index = "by_" + column;
      scan.no_index = true;
      for (const QueryOptions& query : {by_index, scan}) {
        const auto count = engine::CountRows(world.resources(), world.View(world.Moments()[0]), {},
                                             predicate, query);
        BOOST_REQUIRE_MESSAGE(count.has_value(), predicate.ToString()
                                                     << ": " << count.status().ToString());
        counts.push_back(*count);
      }
    }
    for (const uint64_t count : counts) {
      BOOST_CHECK_MESSAGE(count == counts[0], predicate.ToString());
    }
    return counts[0] / 2;
  }
  /// Rows below and above a literal, and equal to it, by all operators together.
  std::string Place(const std::string& column, const std::string& literal) {
    using Kind = Predicate::Kind;
    const auto count = [&](Kind kind) {
      return Count(Predicate::Compare(kind, column, {literal}));
    };
    const uint64_t below = count(Kind::kLess), above = count(Kind::kGreater);
    const uint64_t equal = count(Kind::kEqual);
    BOOST_CHECK_EQUAL(count(Kind::kLessOrEqual), below + equal);
    BOOST_CHECK_EQUAL(count(Kind::kGreaterOrEqual), above + equal);
    BOOST_CHECK_EQUAL(count(Kind::kNotEqual), below + above);
    BOOST_CHECK_EQUAL(Count(Predicate::In(column, {literal, literal})), equal);
    BOOST_CHECK_EQUAL(Count(Predicate::Between(column, literal, literal)), equal);
    BOOST_CHECK_EQUAL(Count(Predicate::Not(Predicate::Less(column, literal))), above + equal);
    return std::to_string(below) + " " + std::to_string(equal) + " " + std::to_string(above);
  }
  Status Refusal(const std::string& text) {
    const auto predicate = Predicate::Parse(text);
    BOOST_REQUIRE(predicate.has_value());
    return engine::CountRows(worlds[0].resources(), worlds[0].View(worlds[0].Moments()[0]), {},
                             *predicate, {})
        .status();
  }

  ReadWorld worlds[2];
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(literal, LiteralFixture)

BOOST_AUTO_TEST_CASE(NumbersOutsideATypeLieBesideAllOfIt) {
  BOOST_CHECK_EQUAL(Place("i", "9223372036854775808"), "5 0 0");
  BOOST_CHECK_EQUAL(Place("i", "9223372036854775807"), "4 1 0");
  BOOST_CHECK_EQUAL(Place("i", "-9223372036854775809"), "0 0 5");
  BOOST_CHECK_EQUAL(Place("i", "-1" + std::string(60, '0')), "0 0 5");
  BOOST_CHECK_EQUAL(Place("u", "-1"), "0 0 5");
  BOOST_CHECK_EQUAL(Place("u", "-0"), "0 1 4");
  BOOST_CHECK_EQUAL(Place("u", "18446744073709551616"), "5 0 0");
  BOOST_CHECK_EQUAL(Place("t", "9223372036854775808"), "5 0 0");
  BOOST_CHECK_EQUAL(Place("t", "-9223372036854775809"), "0 0 5");
  BOOST_CHECK_EQUAL(Place("ib", "9223372036854775808"), "5 0 0");
  BOOST_CHECK_EQUAL(Place("ib", "-9223372036854775809"), "0 0 5");
}

BOOST_AUTO_TEST_CASE(DecimalsBeyondADoubleLieBetweenItAndInfinity) {
  BOOST_CHECK_EQUAL(Place("d", "1e309"), "5 0 0");
  BOOST_CHECK_EQUAL(Place("d", "-1e309"), "0 0 5");
  BOOST_CHECK_EQUAL(Place("d", "1e99999999999999999999"), "5 0 0");
  BOOST_CHECK_EQUAL(Place("d", "0.000001e400"), "5 0 0");
  BOOST_CHECK_EQUAL(Place("d", "1e-400"), "2 1 2");  // Rounds to 0, as others round.
  BOOST_CHECK_EQUAL(Place("d", "-1e-99999999999999999999"), "2 1 2");
  BOOST_CHECK_EQUAL(Place("d", std::string(400, '1') + "e-400"), "4 0 1");
  BOOST_CHECK_EQUAL(Place("db", "1e309"), "4 0 1");
  BOOST_CHECK_EQUAL(Place("db", "-1e309"), "1 0 4");
}

BOOST_AUTO_TEST_CASE(ANumberMayBeginWithPlus) {
  BOOST_CHECK_EQUAL(Place("i", "+0"), "2 1 2");
  BOOST_CHECK_EQUAL(Place("u", "+7"), "2 1 2");
  BOOST_CHECK_EQUAL(Place("d", "+.0"), "2 1 2");
  BOOST_CHECK_EQUAL(Place("t", "+1"), "3 1 1");
}

BOOST_AUTO_TEST_CASE(LongValuesAndBytesThatAreNoTextHaveTheirPlace) {
  BOOST_CHECK_EQUAL(Place("s", std::string(2045, 'c')), "4 1 0");
  BOOST_CHECK_EQUAL(Place("s", std::string(2046, 'c')), "5 0 0");
  BOOST_CHECK_EQUAL(Place("s", "a" + std::string(5000, 'z')), "2 0 3");
  BOOST_CHECK_EQUAL(Place("s", "b\xc3"), "3 0 2");
  BOOST_CHECK_EQUAL(Place("s", "\xff"), "5 0 0");
  BOOST_CHECK_EQUAL(Place("y", std::string(1022, '\0')), "1 1 3");
  BOOST_CHECK_EQUAL(Place("y", std::string(1023, '\0')), "2 0 3");
  BOOST_CHECK_EQUAL(Place("y", std::string(100'000, '\xff')), "5 0 0");
  const auto prefixed = [&](const std::string& column, const std::string& prefix) {
    return Count(Predicate::Prefix(column, prefix));
  };
  BOOST_CHECK_EQUAL(prefixed("s", std::string(2045, 'c')), 1u);
  BOOST_CHECK_EQUAL(prefixed("s", std::string(2046, 'c')), 0u);
  BOOST_CHECK_EQUAL(prefixed("s", "b\xc3"), 1u);
  BOOST_CHECK_EQUAL(prefixed("y", std::string(4000, '\0')), 0u);
}

BOOST_AUTO_TEST_CASE(WhatIsNoNumberTimeOrTruthIsRefused) {
  for (const char* text : {"i = 'x'", "i < ''", "i = '+'", "i = '--1'", "i = '+-1'", "i > 1.5",
                           "u = ' 1'", "d = 'inf'", "d = 'nan'", "d = '1e'", "d = '+-1'",
                           "d = '0x1'", "t = 'now'", "t = '2026-02-30T00:00:00Z'", "b = 1",
                           "b = '+true'", "i IN (1, 'x')", "i BETWEEN 1 AND 'x'"}) {
    const Status status = Refusal(text);
    BOOST_CHECK_MESSAGE(status.code() == StatusCode::kInvalidArgument,
                        text << ": " << status.ToString());
    BOOST_CHECK(status.message().find("does not fit the index type") != std::string_view::npos);
  }
}

BOOST_AUTO_TEST_CASE(InOfNothingHoldsForNoRow) {
  const Predicate none = *Predicate::Parse("i IN ()");
  BOOST_CHECK_EQUAL(none.ToString(), "i IN ()");
  BOOST_CHECK_EQUAL(Count(none), 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
