// The textual forms of typed values: what is accepted, what it means, and what is refused.
#define BOOST_TEST_DYN_LINK
#include "format/value_text.h"

#include <boost/test/unit_test.hpp>
#include <limits>

namespace tandem::format {
namespace {

BOOST_AUTO_TEST_SUITE(ValueTextSuite)

BOOST_AUTO_TEST_CASE(IntegersAreStrictDecimal) {
  BOOST_TEST(ParseInt64("0").value() == 0);
  BOOST_TEST(ParseInt64("-1").value() == -1);
  BOOST_TEST(ParseInt64("007").value() == 7);
  BOOST_TEST(ParseInt64("9223372036854775807").value() == std::numeric_limits<int64_t>::max());
  BOOST_TEST(ParseInt64("-9223372036854775808").value() == std::numeric_limits<int64_t>::min());
  BOOST_TEST(ParseUint64("18446744073709551615").value() == std::numeric_limits<uint64_t>::max());
  for (const char* text : {"", "-", "+1", " 1", "1 ", "1.0", "0x1", "1e3", "--1", "1-",
                           "9223372036854775808", "-9223372036854775809"}) {
    BOOST_TEST(!ParseInt64(text).has_value(), text);
  }
  for (const char* text : {"", "-1", "-0", "+1", " 1", "18446744073709551616"}) {
    BOOST_TEST(!ParseUint64(text).has_value(), text);
  }
}

BOOST_AUTO_TEST_CASE(DoublesAreFiniteDecimal) {
  BOOST_TEST(ParseDouble("1.5").value() == 1.5);
  BOOST_TEST(ParseDouble("-2e-3").value() == -2e-3);
  BOOST_TEST(ParseDouble("1.7976931348623157e308").value() == std::numeric_limits<double>::max());
  BOOST_TEST(ParseDouble("5e-324").value() == std::numeric_limits<double>::denorm_min());
  for (const char* text : {"", "inf", "-inf", "INF", "infinity", "nan", "NaN", "-nan", "nan(1)",
                           "1e309", "+1", " 1", "1 ", "0x1p3", "1,5", "."}) {
    BOOST_TEST(!ParseDouble(text).has_value(), text);
  }
}

BOOST_AUTO_TEST_CASE(DoubleTextIsShortestAndReadsBack) {
  BOOST_TEST(DoubleText(0.1) == "0.1");
  BOOST_TEST(DoubleText(-1e300) == "-1e+300");
  BOOST_TEST(ParseDouble(DoubleText(1.0 / 3)).value() == 1.0 / 3);
}

BOOST_AUTO_TEST_CASE(BoolsAreTwoWords) {
  BOOST_TEST(ParseBool("true").value() == true);
  BOOST_TEST(ParseBool("false").value() == false);
  for (const char* text : {"", "True", "1", "0", "true ", "yes"}) {
    BOOST_TEST(!ParseBool(text).has_value(), text);
  }
}

BOOST_AUTO_TEST_CASE(TimestampsAreMicrosecondsOrRfc3339) {
  BOOST_TEST(ParseTimestamp("-5").value() == -5);
  BOOST_TEST(ParseTimestamp("2024").value() == 2024);
  BOOST_TEST(ParseTimestamp("1970-01-01T00:00:00Z").value() == 0);
  BOOST_TEST(ParseTimestamp("1970-01-01t00:00:01.5z").value() == 1'500'000);
  BOOST_TEST(ParseTimestamp("1970-01-01 00:00:00.000001Z").value() == 1);
  BOOST_TEST(ParseTimestamp("1969-12-31T23:59:59.999999Z").value() == -1);
  BOOST_TEST(ParseTimestamp("2024-02-29T12:30:00+02:30").value() == 1'709'200'800'000'000);
  BOOST_TEST(ParseTimestamp("2024-02-29T10:00:00-00:00").value() == 1'709'200'800'000'000);
  BOOST_TEST(ParseTimestamp("2024-02-28T23:00:00-11:00").value() == 1'709'200'800'000'000);
  BOOST_TEST(ParseTimestamp("0000-01-01T00:00:00Z").value() == -62'167'219'200'000'000);
  BOOST_TEST(ParseTimestamp("9999-12-31T23:59:59.999999Z").value() == 253'402'300'799'999'999);
}

BOOST_AUTO_TEST_CASE(OtherTimestampsAreRefused) {
  for (const char* text : {"",
                           "1970-01-01",
                           "1970-01-01T00:00:00",
                           "1970-01-01T00:00Z",
                           "1970-1-1T00:00:00Z",
                           "2023-02-29T00:00:00Z",
                           "2024-13-01T00:00:00Z",
                           "2024-00-01T00:00:00Z",
                           "2024-04-31T00:00:00Z",
                           "2024-01-01T24:00:00Z",
                           "2024-01-01T00:60:00Z",
                           "2016-12-31T23:59:60Z",
                           "2024-01-01T00:00:00.Z",
                           "2024-01-01T00:00:00.1234567Z",
                           "2024-01-01T00:00:00+0100",
                           "2024-01-01T00:00:00+24:00",
                           "2024-01-01T00:00:00+01:60",
                           "2024-01-01T00:00:00ZZ",
                           " 2024-01-01T00:00:00Z",
                           "2024-01-01T00:00:00 Z",
                           "2024/01/01T00:00:00Z",
                           "12024-01-01T00:00:00Z",
                           "-024-01-01T00:00:00Z"}) {
    BOOST_TEST(!ParseTimestamp(text).has_value(), text);
  }
}

BOOST_AUTO_TEST_CASE(Utf8IsStrict) {
  for (const char* text :
       {"", "abc", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
        "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "12345678\xc3\xa4 234567"}) {
    BOOST_TEST(IsUtf8(text), text);
  }
  BOOST_TEST(IsUtf8(std::string_view("\0", 1)));
  for (const char* text :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2 ", "\xe0\x9f\xbf", "\xe0\xa0",
        "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf0\x90\x80", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xff", "\xfe", "12345678\xc3", "1234567\xff"}) {
    BOOST_TEST(!IsUtf8(text), text);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
