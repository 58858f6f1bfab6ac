// The helpers for values of the Be types: their bytes, and that an index reads them.
#define BOOST_TEST_DYN_LINK
#include "tandem/encoding.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <limits>
#include <memory>
#include <vector>

#include "tandem/tandem.h"
#include "test/support/temporary_directory.h"

namespace tandem {
namespace {

BOOST_AUTO_TEST_SUITE(encoding)

BOOST_AUTO_TEST_CASE(BytesAreBigEndian) {
  BOOST_CHECK_EQUAL(EncodeUint64Be(0x0102030405060708), "\x01\x02\x03\x04\x05\x06\x07\x08");
  BOOST_CHECK_EQUAL(EncodeInt64Be(-2), "\xff\xff\xff\xff\xff\xff\xff\xfe");
  BOOST_CHECK_EQUAL(EncodeDoubleBe(1.0), std::string("\x3f\xf0\0\0\0\0\0\0", 8));
  BOOST_CHECK_EQUAL(EncodeBoolBe(true), "\1");
}

BOOST_AUTO_TEST_CASE(WhatWasEncodedIsDecoded) {
  for (const int64_t value : {std::numeric_limits<int64_t>::min(), int64_t{-1}, int64_t{0},
                              int64_t{1}, std::numeric_limits<int64_t>::max()}) {
    BOOST_CHECK(DecodeInt64Be(EncodeInt64Be(value)) == value);
    BOOST_CHECK(DecodeUint64Be(EncodeUint64Be(static_cast<uint64_t>(value))) ==
                static_cast<uint64_t>(value));
  }
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double value : {-kInfinity, -1.5, 0.0, 1e300, kInfinity}) {
    BOOST_CHECK(DecodeDoubleBe(EncodeDoubleBe(value)) == value);
  }
  for (const bool value : {false, true}) BOOST_CHECK(DecodeBoolBe(EncodeBoolBe(value)) == value);
}

BOOST_AUTO_TEST_CASE(OtherLengthsAreNoValues) {
  for (const char* bytes : {"", "1234567", "123456789"}) {
    BOOST_CHECK(!DecodeInt64Be(bytes) && !DecodeUint64Be(bytes) && !DecodeDoubleBe(bytes));
    BOOST_CHECK(!DecodeBoolBe(bytes));
  }
  BOOST_CHECK(!DecodeBoolBe("1"));
}

// A literal of a predicate is decimal text for these types, too.
BOOST_AUTO_TEST_CASE(AnIndexReadsThem) {
  const test::TemporaryDirectory place;
  auto db = Database::Open(place.path() + "/db", {.create_if_missing = true});
  BOOST_REQUIRE(db.has_value());
  TableOptions table{.name = "t", .families = {{.name = "d"}}};
  table.indexes = {{.name = "n", .columns = {{.qualifier = "n", .type = ColumnType::kInt64Be}}},
                   {.name = "x", .columns = {{.qualifier = "x", .type = ColumnType::kDoubleBe}}}};
  BOOST_REQUIRE((*db)->CreateTable(table).ok());
  WriteBatch batch;
  for (const int64_t n : {-300, -2, 0, 7, 256}) {
    const std::string key = "r" + std::to_string(n);
    batch.Put("t", key, "d", "n", EncodeInt64Be(n));
    batch.Put("t", key, "d", "x", EncodeDoubleBe(static_cast<double>(n) / 2));
  }
  BOOST_REQUIRE((*db)->Write({}, batch).ok());
  const auto keys = [&](const Predicate& predicate, const std::string& order_by) {
    std::string keys;
    auto rows = (*db)->Query({}, "t", predicate, {.order_by = order_by});
    BOOST_REQUIRE(rows.has_value());
    while (rows->Next()) keys += std::string(rows->row().key()) + " ";
    BOOST_CHECK(rows->status().ok());
    return keys;
  };
  BOOST_CHECK_EQUAL(keys(Predicate::Less("n", "7"), "n"), "r-300 r-2 r0 ");
  BOOST_CHECK_EQUAL(keys(Predicate::GreaterOrEqual("x", "-1"), "x"), "r-2 r0 r7 r256 ");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem
