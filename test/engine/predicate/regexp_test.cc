// Patterns: what they match, beside a matcher that knows a few operators; and the literals that an
// index is asked for, which every match has to have.
#define BOOST_TEST_DYN_LINK
#include "engine/predicate/regexp.h"

#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <vector>

#include "engine/predicate/text_test.h"
#include "format/text_terms.h"
#include "format/value_list.h"
#include "format/value_text.h"
#include "tandem/limits.h"
#include "test/support/test_random.h"
#include "tools/generator/regexps.h"

namespace tandem::engine {
namespace {

constexpr RegexpEncoding kUtf8 = RegexpEncoding::kUtf8;
constexpr RegexpEncoding kBytes = RegexpEncoding::kBytes;

std::shared_ptr<const Regexp> Compiled(std::string_view pattern, RegexpEncoding encoding = kUtf8) {
  const auto regexp = Regexp::Compile(pattern, encoding);
  BOOST_REQUIRE_MESSAGE(regexp.has_value(), regexp.status().ToString());
  return *regexp;
}

bool Matches(std::string_view pattern, std::string_view text, RegexpEncoding encoding = kUtf8) {
  return Compiled(pattern, encoding)->MatchesPartOf(text);
}

std::string ErrorOf(std::string_view pattern, RegexpEncoding encoding = kUtf8) {
  return Regexp::Compile(pattern, encoding).status().ToString();
}

std::vector<LiteralParts> PartsOf(std::string_view pattern, RegexpEncoding encoding) {
  return PartsNeededBy({.regexp = Compiled(pattern, encoding)});
}

std::string Needs(std::string_view pattern, RegexpEncoding encoding = kUtf8) {
  std::string text;
  for (const LiteralParts& parts : PartsOf(pattern, encoding)) {
    text += (text.empty() ? "" : " and ") + Described(parts);
  }
  return text;
}

std::set<std::string> TrigramsOf(std::string_view text) {
  format::ValueList list;
  format::AddTrigrams(text, &list);
  std::set<std::string> trigrams;
  for (size_t i = 0; i < list.size(); ++i) trigrams.emplace(list[i]);
  return trigrams;
}

// Whether an index over trigrams would have the text among the candidates.
bool HasWhatIsNeeded(const std::vector<LiteralParts>& needed, std::string_view text) {
  const std::set<std::string> trigrams = TrigramsOf(text);
  const auto has_form = [&](const TrigramForms& forms) {
    return std::ranges::any_of(forms, [&](const auto& form) { return trigrams.contains(form); });
  };
  const auto has_part = [&](const LiteralPart& part) {
    return std::ranges::all_of(part.trigrams, has_form);
  };
  return std::ranges::all_of(
      needed, [&](const LiteralParts& parts) { return std::ranges::any_of(parts, has_part); });
}

// Matches bytes by literals, . [abc] ( ) | ? * + ^ and $: from a set of places where matches begin
// to those where they end.
class NaiveMatcher {
 public:
  NaiveMatcher(std::string_view pattern, std::string_view text) : pattern_(pattern), text_(text) {}

  bool MatchesPart() {
    Places all;
    for (size_t place = 0; place <= text_.size(); ++place) all.insert(place);
    return !Alternatives(all).empty();
  }

 private:
  using Places = std::set<size_t>;

  bool IsAt(std::string_view characters) const {
    return at_ < pattern_.size() && characters.find(pattern_[at_]) != std::string_view::npos;
  }

  Places Alternatives(const Places& from) {
    Places to = Sequence(from);
    while (IsAt("|")) {
      ++at_;
      to.merge(Sequence(from));
    }
    return to;
  }

  Places Sequence(Places from) {
    while (at_ < pattern_.size() && !IsAt("|)")) from = Repeated(from);
    return from;
  }

  Places Repeated(const Places& from) {
    const size_t start = at_;
    Places reached = Atom(from);
    if (!IsAt("?*+")) return reached;
    const size_t end = at_ + 1;
    if (pattern_[at_] != '?') {
      for (size_t before = 0; before != reached.size();) {
        before = reached.size();
        at_ = start;
        reached.merge(Atom(reached));
      }
    }
    if (pattern_[end - 1] != '+') reached.insert(from.begin(), from.end());
    at_ = end;
    return reached;
  }

  Places Atom(const Places& from) {
    const char c = pattern_[at_++];
    if (c == '(') {
      Places to = Alternatives(from);
      ++at_;
      return to;
    }
    std::string_view accepted = pattern_.substr(at_ - 1, 1);
    if (c == '[') {
      const size_t end = pattern_.find(']', at_);
      accepted = pattern_.substr(at_, end - at_);
      at_ = end + 1;
    }
    Places to;
    for (const size_t place : from) {
      if (c == '^' || c == '$') {
        if (place == (c == '^' ? 0 : text_.size())) to.insert(place);
      } else if (place < text_.size() &&
                 (c == '.' || accepted.find(text_[place]) != std::string_view::npos)) {
        to.insert(place + 1);
      }
    }
    return to;
  }

  std::string_view pattern_, text_;
  size_t at_ = 0;
};

std::string RandomSimplePattern(test::TestRandom* random, int depth) {
  std::string pattern;
  for (uint64_t atoms = random->Below(5); atoms > 0; --atoms) {
    const uint64_t kind = random->Below(10);
    if (kind == 0) {
      pattern += random->OneIn(2) ? '^' : '$';
      continue;
    }
    if (kind < 3 && depth > 0) {
      pattern += "(" + RandomSimplePattern(random, depth - 1) + ")";
    } else if (kind == 3) {
      pattern += "[" + std::string(1, "abcd"[random->Below(4)]) + "c]";
    } else {
      pattern += "abcd."[random->Below(5)];
    }
    if (random->OneIn(3)) pattern += "?*+"[random->Below(3)];
  }
  if (depth > 0 && random->OneIn(4)) pattern += "|" + RandomSimplePattern(random, depth - 1);
  return pattern;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(regexps)

BOOST_AUTO_TEST_CASE(APatternIsLookedForAnywhere) {
  BOOST_TEST(Matches("b.d", "abcde"));
  BOOST_TEST(!Matches("^b", "abc"));
  BOOST_TEST(Matches("", ""));
  BOOST_TEST(!Matches("ABC", "abc"));
  BOOST_TEST(Matches("(?i)ABC", "abc"));
  BOOST_TEST(Matches(std::string_view("a\0b", 3), std::string_view("xa\0b", 4)));
}

BOOST_AUTO_TEST_CASE(TextIsCharactersAndBytesAreBytes) {
  BOOST_TEST(Matches("^.$", "\xc3\xa4"));
  BOOST_TEST(!Matches("^.$", "\xc3\xa4", kBytes));
  BOOST_TEST(Matches("^..$", "\xc3\xa4", kBytes));
  BOOST_TEST(Matches("\xc3\xa4", "\xc3\xa4", kBytes));
  BOOST_TEST(Matches("(?i)\xc3\x84", "\xc3\xa4"));
  BOOST_TEST(!Matches("(?i)\xc3\x84", "\xc3\xa4", kBytes));
  BOOST_TEST(Matches("^[\\x80-\\xff]$", "\xff", kBytes));
  BOOST_TEST(Matches("(?i)k", "\xe2\x84\xaa"));  // The sign of Kelvin.
}

BOOST_AUTO_TEST_CASE(ErrorsNameThePatternAndTheReason) {
  const std::string start = "InvalidArgument: REGEXP takes a pattern in RE2's syntax, not ";
  BOOST_TEST(ErrorOf("a(b") == start + "'a(b': missing ): a(b");
  BOOST_TEST(ErrorOf("a**") == start + "'a**': bad repetition operator: **");
  BOOST_TEST(ErrorOf("\xff") == start + "'\\xff': invalid UTF-8");
  BOOST_TEST(ErrorOf("\xff", kBytes) == "OK");
  BOOST_TEST(ErrorOf("\\pL{1000}") == start + "'\\pL{1000}': pattern too large - compile failed");
  BOOST_TEST(ErrorOf(std::string(kRegexpBytesMax, 'a')) == "OK");
  BOOST_TEST(ErrorOf(std::string(kRegexpBytesMax + 1, 'a')) ==
             "InvalidArgument: a pattern of REGEXP has 4097 bytes, the most are 4096");
  BOOST_TEST(CheckRegexp("\xff").ToString() == "OK");
  BOOST_TEST(CheckRegexp("(\xff").ToString() == start + "'(\\xff': invalid UTF-8");
}

BOOST_AUTO_TEST_CASE(TheyMatchWhatANaiveMatcherDoes) {
  test::TestRandom random("TheyMatchWhatANaiveMatcherDoes");
  size_t matches = 0, others = 0;
  for (size_t trial = 0; trial < test::Trials(4000); ++trial) {
    const std::string pattern = RandomSimplePattern(&random, 3);
    const auto regexp = Compiled(pattern);
    const auto as_bytes = Compiled(pattern, kBytes);
    for (int i = 0; i < 8; ++i) {
      const std::string text = random.Text(8, "abcde");
      const bool expected = NaiveMatcher(pattern, text).MatchesPart();
      BOOST_REQUIRE_MESSAGE(regexp->MatchesPartOf(text) == expected, pattern << " in " << text);
      BOOST_REQUIRE_MESSAGE(as_bytes->MatchesPartOf(text) == expected, pattern << " in " << text);
      ++(expected ? matches : others);
    }
  }
  BOOST_TEST(matches > 500);
  BOOST_TEST(others > 500);
}

BOOST_AUTO_TEST_CASE(LiteralsOfEachMatchAreFound) {
  BOOST_TEST(Needs("needle") == "'needle'");
  BOOST_TEST(Needs("^Needle[0-9]*$") == "'needle'");
  BOOST_TEST(Needs("foo.*bar") == "'bar' and 'foo'");
  BOOST_TEST(Needs("(err|fail)or") == "'failor' or 'error'");
  BOOST_TEST(Needs("(abc|def).*(ghi|jkl)x") == "'def' or 'abc' and 'jklx' or 'ghix'");
  BOOST_TEST(Needs("abc(def)?.*ghi+") == "'abc'");
  BOOST_TEST(Needs("(?:abc){2,}") == "'abc'");
  BOOST_TEST(Needs("(?i)NeeDle", kBytes) == "'needle'");
  BOOST_TEST(Needs("abc|d") == "");
  BOOST_TEST(Needs("a.b.c") == "");
  BOOST_TEST(Needs("ab") == "");
  BOOST_TEST(Needs("") == "");
  BOOST_TEST(Needs("(abc)*") == "");
  // One character of three bytes has no trigram, three have one.
  BOOST_TEST(Needs("\xe6\x97\xa5") == "");
  BOOST_TEST(Needs("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e") ==
             "'\\xe6\\x97\\xa5\\xe6\\x9c\\xac\\xe8\\xaa\\x9e'");
  // Of bytes that are no whole character a text may have any trigram.
  BOOST_TEST(Needs("\xa5z\xe6\x97", kBytes) == "");
  BOOST_TEST(Needs("\xa5zzz\xe6\x97", kBytes) == "'\\xa5zzz\\xe6\\x97'");
}

BOOST_AUTO_TEST_CASE(ManyAlternativesAreLeftToTheRows) {
  std::string pattern;
  for (char c = 'a'; c <= 'z'; ++c) {
    for (char d = 'a'; d <= 'e'; ++d) pattern += std::string("|xy") + c + d + "z.*";
  }
  BOOST_TEST(Needs(pattern.substr(1)) == "");
}

BOOST_AUTO_TEST_CASE(EveryMatchHasTheLiterals) {
  test::TestRandom random("EveryMatchHasTheLiterals");
  test::Dice dice(random.Next());
  static const std::vector<std::string> kPieces = {"game",
                                                   "Games",
                                                   "s",
                                                   "S",
                                                   "\xc5\xbf",
                                                   "k",
                                                   "\xe2\x84\xaa",
                                                   "abc",
                                                   "i",
                                                   "\xc4\xb0",
                                                   "\xc4\xb1",
                                                   "\xe1\xba\x9e",
                                                   "\xc3\x9f",
                                                   "\xce\xa3",
                                                   "x",
                                                   "y/z",
                                                   "\xcf\x82",
                                                   "\xcf\x83",
                                                   "\xc2\xb5",
                                                   "\xff",
                                                   "\xe6\x97\xa5",
                                                   " ",
                                                   "0",
                                                   "\xea\xad\xb0",
                                                   "\xe1\x8e\xa0"};
  size_t with_literals = 0;
  const size_t trials = test::Trials(6000);
  for (size_t trial = 0; trial < trials; ++trial) {
    std::string first, text;
    for (uint64_t n = 1 + random.Below(6); n > 0; --n)
      first += kPieces[random.Below(kPieces.size())];
    const std::string pattern = test::RandomRegexp(&dice, first);
    for (const RegexpEncoding encoding : {kUtf8, kBytes}) {
      const auto regexp = Compiled(pattern, encoding);
      const std::vector<LiteralParts> needed = PartsNeededBy({.regexp = regexp});
      for (int i = 0; i < 6; ++i) {
        text = i == 0 ? first : "";
        for (uint64_t n = random.Below(6); n > 0; --n)
          text += kPieces[random.Below(kPieces.size())];
        if (i == 1) text = first;
        if (encoding == kUtf8 && !format::IsUtf8(text)) continue;
        if (!regexp->MatchesPartOf(text)) continue;
        with_literals += !needed.empty();
        BOOST_REQUIRE_MESSAGE(HasWhatIsNeeded(needed, text),
                              pattern << " matches " << text << " without " << Needs(pattern));
      }
    }
  }
  BOOST_TEST(with_literals * 12 > trials);
}

// Of every letter that RE2 takes for the same as another one, all have the same forms: whichever of
// them is in a literal, and whichever in a text, the index is asked for what the text has.
BOOST_AUTO_TEST_CASE(LettersThatAreTheSameForAPatternHaveTheSameForms) {
  BOOST_TEST(!RegexpsHaveNewerLetters());
  struct Character {
    std::string text;
    std::vector<std::string> forms;
  };
  std::vector<Character> characters;
  const auto add = [&characters](uint32_t low, uint32_t end) {
    for (uint32_t c = low; c < end; ++c) {
      std::string text;
      if (c < 0x80) {
        text = static_cast<char>(c);
      } else if (c < 0x800) {
        text = {static_cast<char>(0xc0 | (c >> 6)), static_cast<char>(0x80 | (c & 63))};
      } else if (c < 0x10000) {
        text = {static_cast<char>(0xe0 | (c >> 12)), static_cast<char>(0x80 | ((c >> 6) & 63)),
                static_cast<char>(0x80 | (c & 63))};
      } else {
        text = {static_cast<char>(0xf0 | (c >> 18)), static_cast<char>(0x80 | ((c >> 12) & 63)),
                static_cast<char>(0x80 | ((c >> 6) & 63)), static_cast<char>(0x80 | (c & 63))};
      }
      const auto trigrams =
          format::TrigramsOfLiteral("0" + text + "0", format::LiteralCase::kFolded);
      BOOST_REQUIRE_EQUAL(trigrams.size(), 1u);
      characters.push_back({std::move(text), trigrams[0]});
    }
  };
  // All blocks with letters of two cases.
  add('0', 0x590);
  add(0x10a0, 0x1100);
  add(0x13a0, 0x1400);
  add(0x1c80, 0x1cc0);
  add(0x1d00, 0x2190);
  add(0x2460, 0x2500);
  add(0x2c00, 0x2e00);
  add(0xa640, 0xa7ff);
  add(0xab30, 0xabc0);
  add(0xfb00, 0xfb18);
  add(0xff20, 0xff60);
  add(0x10400, 0x10600);
  add(0x10c80, 0x10d00);
  add(0x118a0, 0x118e0);
  add(0x16e40, 0x16e80);
  add(0x1e900, 0x1e950);
  size_t in_two_forms = 0;
  const size_t step = test::Stride();
  for (size_t i = 0; i < characters.size(); i += step) {
    const Character& one = characters[i];
    in_two_forms += one.forms.size() > 1;
    std::string others;
    for (const Character& other : characters) {
      if (other.forms != one.forms) others += other.text;
    }
    const std::string pattern =
        "(?i)[" +
        (one.text == "^" || one.text == "[" || one.text == "\\" || one.text == "]" ? "\\" + one.text
                                                                                   : one.text) +
        "]";
    BOOST_REQUIRE_MESSAGE(!Matches(pattern, others), pattern << " matches others");
    // The text has one of the forms, whatever it is.
    std::set<std::string> trigrams = TrigramsOf("0" + one.text + "0");
    BOOST_REQUIRE_EQUAL(trigrams.size(), 1u);
    BOOST_REQUIRE_MESSAGE(std::ranges::count(one.forms, *trigrams.begin()) == 1, pattern);
  }
  BOOST_TEST(in_two_forms * step > 20);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::engine
