// Words and trigrams of texts in ASCII and beyond. Index sections keep them.
#define BOOST_TEST_DYN_LINK
#include "format/text_terms.h"

#include <boost/test/unit_test.hpp>
#include <set>
#include <string>

#include "tandem/limits.h"
#include "test/support/test_random.h"

namespace tandem::format {
namespace {

std::string TextOf(const ValueList& values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i) text += std::string(values[i]) + "|";
  return text;
}

// With an '!' where something was left out.
std::string Words(std::string_view text) {
  ValueList words;
  const bool has_all = AddWords(text, &words);
  return TextOf(words) + (has_all ? "" : "!");
}

std::string Trigrams(std::string_view text) {
  ValueList trigrams;
  AddTrigrams(text, &trigrams);
  return TextOf(trigrams);
}

std::set<std::string> TrigramsOf(std::string_view text) {
  ValueList trigrams;
  AddTrigrams(text, &trigrams);
  std::set<std::string> set;
  for (size_t i = 0; i < trigrams.size(); ++i) set.emplace(trigrams[i]);
  return set;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(text_terms)

BOOST_AUTO_TEST_CASE(WordsOfAscii) {
  BOOST_TEST(Words("") == "");
  BOOST_TEST(Words(" ,.-_ ") == "");
  BOOST_TEST(Words("The QUICK, brown-fox: x86_64 it's") == "the|quick|brown|fox|x86|64|it|s|");
  BOOST_TEST(Words(std::string("a\0b", 3)) == "a|b|");
}

BOOST_AUTO_TEST_CASE(WordsOfOtherScripts) {
  BOOST_TEST(Words("Stra\xc3\x9f"
                   "e") == "strasse|");
  BOOST_TEST(Words("\xef\xac\x81n \xef\xbc\xa1\xef\xbc\xa2") == "fin|ab|");
  // A letter with its accent apart is the same as the composed one.
  BOOST_TEST(Words("Cafe\xcc\x81") == "caf\xc3\xa9|");
  BOOST_TEST(Words("CAF\xc3\x89") == "caf\xc3\xa9|");
  BOOST_TEST(Words("\xce\xa3\xce\x8a\xce\xa3\xce\xa5\xce\xa6\xce\x9f\xce\xa3") ==
             "\xcf\x83\xce\xaf\xcf\x83\xcf\x85\xcf\x86\xce\xbf\xcf\x83|");
  BOOST_TEST(Words("\xe6\x9d\xb1\xe4\xba\xac"
                   "ab\xe3\x81\x82") == "\xe6\x9d\xb1|\xe4\xba\xac|ab|\xe3\x81\x82|");
  BOOST_TEST(Words("\xf0\x9f\x98\x80 a\xe2\x82\xac"
                   "b") == "a|b|");
}

BOOST_AUTO_TEST_CASE(WhatIsNoTextHasNoWords) {
  BOOST_TEST(Words("a \xff") == "!");
  BOOST_TEST(Words("a \xed\xa0\x80") == "!");
}

BOOST_AUTO_TEST_CASE(LongWordsAreLeftOut) {
  const std::string longest(kWordBytesMax, 'a');
  BOOST_TEST(Words("x " + longest + " y") == "x|" + longest + "|y|");
  BOOST_TEST(Words("x " + longest + "a y") == "x|y|!");
  BOOST_TEST(Words("\xc3\xa9 " + longest + "a y") == "\xc3\xa9|y|!");
}

BOOST_AUTO_TEST_CASE(TrigramsAreOfCharacters) {
  BOOST_TEST(Trigrams("ab") == "");
  BOOST_TEST(Trigrams("AbC") == "abc|");
  BOOST_TEST(Trigrams("a\xc3\x89 b") == "a\xc3\xa9 |\xc3\xa9 b|");
  BOOST_TEST(Trigrams("a\xff"
                      "bc") ==
             "a\xff"
             "b|\xff"
             "bc|");
}

// What a search by trigrams rests on.
BOOST_AUTO_TEST_CASE(APartHasTrigramsOfItsTextOnly) {
  test::TestRandom random("APartHasTrigramsOfItsTextOnly");
  static const std::string kPieces[] = {
      "a",    "B",        "\xc3\x89", "\xe1\xba\x9e", "e", "\xcc\x81", "\xf0\x9f\x98\x80", "\xff",
      "\xe2", "\xc4\xb0", " "};
  for (int i = 0; i < 20'000; ++i) {
    std::string before, part, after;
    for (uint64_t count = random.Below(4); count > 0; --count) before += kPieces[random.Below(11)];
    for (uint64_t count = 3 + random.Below(4); count > 0; --count) {
      std::string piece = kPieces[random.Below(11)];
      if (piece == "\xff" || piece == "\xe2") piece = "x";
      part += piece;
    }
    for (uint64_t count = random.Below(4); count > 0; --count) after += kPieces[random.Below(11)];
    const std::set<std::string> all = TrigramsOf(before + part + after);
    for (const std::string& trigram : TrigramsOf(part)) {
      BOOST_REQUIRE_MESSAGE(all.contains(trigram), before + "[" + part + "]" + after);
    }
  }
}

BOOST_AUTO_TEST_CASE(TheVersionIsANumber) {
  BOOST_TEST(UnicodeVersion() >= 90'000u);
  BOOST_TEST(UnicodeVersion() < 1'000'000u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::format
