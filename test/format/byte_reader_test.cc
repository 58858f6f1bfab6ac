// Varints: every length, at the end of the bytes and before others, and what is none.
#define BOOST_TEST_DYN_LINK
#include "format/byte_reader.h"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <string>

#include "format/coding.h"

namespace tandem::format {
namespace {

// Reads it with `padding` bytes after it, each of them `behind`.
uint64_t Read(const std::string& varint, size_t padding, char behind, bool* is_ok) {
  const std::string bytes = varint + std::string(padding, behind);
  ByteReader reader(bytes);
  const uint64_t value = reader.Varint();
  *is_ok = reader.ok();
  if (*is_ok) BOOST_REQUIRE_EQUAL(reader.remaining(), padding);
  return value;
}

void CheckReads(uint64_t value) {
  std::string varint;
  AppendVarint(&varint, value);
  for (size_t padding = 0; padding <= 9; ++padding) {
    for (const char behind : {'\0', '\x01', '\x80', '\xff'}) {
      bool is_ok = false;
      BOOST_REQUIRE_EQUAL(Read(varint, padding, behind, &is_ok), value);
      BOOST_REQUIRE(is_ok);
    }
  }
}

void CheckFails(const std::string& bytes) {
  for (const size_t padding : {0, 1, 8}) {
    bool is_ok = true;
    BOOST_REQUIRE_EQUAL(Read(bytes, padding, '\0', &is_ok), 0u);
    BOOST_REQUIRE(!is_ok);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(byte_reader)

BOOST_AUTO_TEST_CASE(VarintsOfEveryLengthComeBack) {
  for (int bits = 0; bits < 64; ++bits) {
    const uint64_t power = uint64_t{1} << bits;
    for (const uint64_t value : {power - 1, power, power + 1, power | 0x5555555555555555 % power}) {
      CheckReads(value);
    }
  }
  CheckReads(UINT64_MAX);
}

BOOST_AUTO_TEST_CASE(LongerFormsAndLargerNumbersFail) {
  std::string zeros;
  for (int bytes = 1; bytes < 10; ++bytes) {
    zeros.push_back('\x80');
    CheckFails(zeros + '\0');
    CheckFails(std::string(zeros.size(), '\xff') + '\0');
  }
  CheckFails(std::string(9, '\xff') + '\x02');
  CheckFails(std::string(10, '\x80') + '\x01');
}

BOOST_AUTO_TEST_CASE(CutVarintsFail) {
  for (size_t bytes = 0; bytes < 10; ++bytes) {
    bool is_ok = true;
    Read(std::string(bytes, '\xff'), 0, '\0', &is_ok);
    BOOST_TEST(!is_ok);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::format
