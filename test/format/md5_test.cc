// The examples of RFC 1321, and digests by another implementation (Python's hashlib).
#define BOOST_TEST_DYN_LINK
#include "format/md5.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>

namespace tandem::format {
namespace {

std::string Hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (const char byte : bytes) {
    hex += kDigits[static_cast<uint8_t>(byte) >> 4];
    hex += kDigits[static_cast<uint8_t>(byte) & 15];
  }
  return hex;
}

BOOST_AUTO_TEST_SUITE(md5)

BOOST_AUTO_TEST_CASE(Examples) {
  BOOST_TEST(Hex(Md5("")) == "d41d8cd98f00b204e9800998ecf8427e");
  BOOST_TEST(Hex(Md5("a")) == "0cc175b9c0f1b6a831c399e269772661");
  BOOST_TEST(Hex(Md5("abc")) == "900150983cd24fb0d6963f7d28e17f72");
  BOOST_TEST(Hex(Md5("message digest")) == "f96b697d7cb7938d525a2f31aaf161d0");
  BOOST_TEST(Hex(Md5("abcdefghijklmnopqrstuvwxyz")) == "c3fcd3d76192e4007dfb496cca67e13b");
  BOOST_TEST(Hex(Md5("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")) ==
             "d174ab98d277d9f5a5611c2c9f419d9f");
}

// Byte j of text i is 7 i + j: of no byte, and of every remainder of a block several times.
BOOST_AUTO_TEST_CASE(EveryLength) {
  std::string digests;
  for (size_t i = 0; i < 300; ++i) {
    std::string text;
    for (size_t j = 0; j < i; ++j) text.push_back(static_cast<char>(7 * i + j));
    digests += Md5(text);
  }
  BOOST_TEST(Hex(Md5(digests)) == "62013c86fad7c16561532885a846de08");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::format
