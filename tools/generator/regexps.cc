// See regexps.h. The text is cut into characters, each of which becomes an atom.
#include "tools/generator/regexps.h"

#include <algorithm>
#include <vector>

#include "format/value_text.h"

namespace tandem::test {
namespace {

constexpr size_t kCharactersMax = 10;  // Of the text, in one pattern.

// The characters, a byte that is not of UTF-8 as one.
std::vector<std::string> CharactersOf(std::string_view text) {
  std::vector<std::string> characters;
  while (!text.empty()) {
    size_t size = 1;
    while (size < std::min<size_t>(4, text.size()) && !format::IsUtf8(text.substr(0, size))) ++size;
    if (!format::IsUtf8(text.substr(0, size))) size = 1;
    characters.emplace_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return characters;
}

std::string Swapped(std::string text) {
  for (char& c : text) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) c = static_cast<char>(c ^ 0x20);
  }
  return text;
}

// The character as a pattern of itself.
std::string Quoted(const std::string& character) {
  if (!format::IsUtf8(character)) return ".";
  const char c = character[0];
  if (c == '\0') return "\\x00";
  const bool is_plain = (c & 0x80) != 0 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                        (c >= 'A' && c <= 'Z') || c == ' ' || c == '_' || c < 0x20;
  return is_plain ? character : "\\" + character;
}

std::string Atom(Dice* dice, const std::string& character) {
  static const std::vector<std::string> kClasses = {".",    "\\w",  "[a-m]", "[^xyz]",
                                                    "\\pL", "\\PN", "\\C",   "[[:alpha:]]"};
  static const std::vector<std::string> kOthers = {"x", "\xc3\xa9", "[aes]", "game", "\xc5\xbf"};
  const std::string quoted = Quoted(character);
  if (dice->Chance(60)) return quoted;
  switch (dice->Below(7)) {
    case 0:
      return dice->Pick(kClasses);
    case 1:
      return "(" + quoted + "|" + dice->Pick(kOthers) + ")";
    case 2:
      return "(?:" + dice->Pick(kOthers) + ")?" + quoted;
    case 3:
      return "(?:" + quoted + ")+";
    case 4:
      return "(?i:" + Quoted(Swapped(character)) + ")";
    case 5:
      return "(?:" + quoted + "){1,2}";
    default:
      return dice->Pick(kOthers);
  }
}

std::string Sequence(Dice* dice, const std::vector<std::string>& characters) {
  const size_t start = dice->Chance(40) ? 0 : dice->Below(characters.size() + 1);
  const size_t end = std::min(characters.size(), start + dice->Below(kCharactersMax + 1));
  std::string pattern;
  if (start == 0 && dice->Chance(20)) pattern += dice->Chance(80) ? "^" : "\\b";
  for (size_t i = start; i < end; ++i) {
    pattern += Atom(dice, characters[i]);
    if (!dice->Chance(8)) continue;
    pattern += ".*";
    i += dice->Below(4);
  }
  if (end == characters.size() && dice->Chance(20)) pattern += "$";
  return pattern;
}

}  // namespace

std::string RandomRegexp(Dice* dice, std::string_view text) {
  std::vector<std::string> characters = CharactersOf(text.substr(0, 100));
  const bool ignores_case = dice->Chance(15);
  if (ignores_case) std::ranges::transform(characters, characters.begin(), Swapped);
  std::string pattern = Sequence(dice, characters);
  if (dice->Chance(20)) {
    pattern = "(" + pattern + "|" + Sequence(dice, characters) + ")" + Sequence(dice, characters);
  }
  return ignores_case ? "(?i)" + pattern : pattern;
}

}  // namespace tandem::test
