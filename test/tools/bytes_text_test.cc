// Bytes as text on the command line and in output.
#define BOOST_TEST_DYN_LINK
#include "tools/tandem/bytes_text.h"

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <fstream>

#include "test/support/print.h"
#include "test/support/temporary_directory.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

using std::string_literals::operator""s;

std::string RandomBytes(TestRandom& random) {
  std::string bytes;
  for (size_t n = random.Below(30); n > 0; --n) {
    const unsigned choice = random.Below(4);
    if (choice == 0)
      bytes += "\\x";
    else if (choice == 1)
      bytes += "é€😀"[random.Below(9)];
    else
      bytes += static_cast<char>(random.Next());
  }
  return bytes;
}

BOOST_AUTO_TEST_SUITE(bytes_text)

BOOST_AUTO_TEST_CASE(EscapesAreBytes) {
  BOOST_CHECK_EQUAL(*tools::ParseBytes("a\\x00b\\xFf"), "a\0b\xff"s);
  BOOST_CHECK_EQUAL(*tools::ParseBytes("a\\b\\"), "a\\b\\");
  BOOST_CHECK_EQUAL(*tools::ParseBytes(""), "");
  for (const char* wrong : {"\\x", "\\x1", "\\xg0", "a\\x0"}) {
    BOOST_CHECK_EQUAL(tools::ParseBytes(wrong).error().code(), StatusCode::kInvalidArgument);
  }
  BOOST_CHECK_EQUAL(tools::ParseBytes("ab\\xz").error().message(),
                    "'ab\\x5cxz' at position 3: expected two hex digits after \\x, as in \\x0a");
}

BOOST_AUTO_TEST_CASE(HexAndBase64AreBytes) {
  BOOST_CHECK_EQUAL(*tools::ParseBytes("0x00fF10"), "\0\xff\x10"s);
  BOOST_CHECK_EQUAL(*tools::ParseBytes("base64:AP8Q"), "\0\xff\x10"s);
  BOOST_CHECK_EQUAL(*tools::ParseBytes("base64:"), "");
  BOOST_CHECK_EQUAL(*tools::ParseBytes("base64:YQ=="), "a");
  for (const char* wrong : {"0x", "0x1", "0xzz", "base64:A",
                            "base64:YQ=", "base64:Y===", "base64:YR==", "base64:Y!=="}) {
    BOOST_CHECK_MESSAGE(!tools::ParseBytes(wrong).has_value(), wrong);
  }
}

BOOST_AUTO_TEST_CASE(FilesAreTakenAsTheyAre) {
  const TemporaryDirectory directory;
  const std::string path = directory.Path("value");
  std::ofstream(path, std::ios::binary) << "a\\x00\n\0b"s;
  BOOST_CHECK_EQUAL(*tools::ParseBytes("@" + path), "a\\x00\n\0b"s);
  BOOST_CHECK_EQUAL(tools::ParseBytes("@" + path + "x").error().code(), StatusCode::kNotFound);
  BOOST_CHECK(!tools::ParseBytes("@" + directory.path()).has_value());
}

BOOST_AUTO_TEST_CASE(PlainTextIsUtf8WithoutControls) {
  for (const auto& text : {""s, "a b"s, "é€😀"s, "\\"s, "\u00a0"s}) {
    BOOST_CHECK_MESSAGE(tools::IsPlainText(text), text);
  }
  for (const auto& bytes :
       {"\0"s, "a\n"s, "\t"s, "\x7f"s, "\xff"s, "\xc3"s, "\xc0\x80"s, "\xed\xa0\x80"s,
        "\xf4\x90\x80\x80"s, "\xc2\x85"s, "\xe0\x80\x80"s, "\xf0\x80\x80\x80"s}) {
    BOOST_CHECK_MESSAGE(!tools::IsPlainText(bytes), tools::EncodeHex(bytes));
  }
}

BOOST_AUTO_TEST_CASE(EscapedBytesComeBack) {
  TestRandom random("bytes_text");
  for (int i = 0; i < 20'000; ++i) {
    const std::string bytes = RandomBytes(random);
    const std::string text = tools::EscapeBytes(bytes);
    BOOST_REQUIRE(tools::IsPlainText(text));
    BOOST_REQUIRE_EQUAL(*tools::ParseEscaped(text), bytes);
    BOOST_REQUIRE_EQUAL(*tools::DecodeBase64(tools::EncodeBase64(bytes)), bytes);
    if (!bytes.empty()) BOOST_REQUIRE_EQUAL(*tools::DecodeHex(tools::EncodeHex(bytes)), bytes);
  }
}

BOOST_AUTO_TEST_CASE(SplittingKeepsEmptyParts) {
  const auto check = [](std::string_view text, std::vector<std::string_view> expected) {
    const auto parts = tools::SplitText(text, ',');
    BOOST_CHECK_EQUAL_COLLECTIONS(parts.begin(), parts.end(), expected.begin(), expected.end());
  };
  check("", {});
  check("a", {"a"});
  check("a,b", {"a", "b"});
  check(",a,", {"", "a", ""});
}

BOOST_AUTO_TEST_CASE(KeysAreTextThatMeansThem) {
  for (const std::string key :
       {"plain", "0x41", "base64:QQ==", "@file", "a@0x", "\\x41", "", "\n"}) {
    BOOST_CHECK_EQUAL(*tools::ParseBytes(tools::KeyText(key)), key);
  }
  BOOST_CHECK_EQUAL(tools::KeyText("0x41"), "\\x30x41");
  BOOST_CHECK_EQUAL(tools::KeyText("a@"), "a@");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
