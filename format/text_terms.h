// The words and trigrams of a text, by the tables of Unicode that utf8proc has.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/value_list.h"

namespace tandem::format {

/// The version of the tables, as 150100 for 15.1. Another one may make other terms of a text.
uint64_t UnicodeVersion();

/// Adds the words, in their order, repeated ones too. Text that is not UTF-8 has none. False: it is
/// such text, or has a word that is too long and was left out.
bool AddWords(std::string_view text, ValueList* words);
/// Adds each three characters that follow one another, turned to lower case one by one, so that the
/// trigrams of a part of a text are among those of the text, if the part is UTF-8. A byte that is
/// not of UTF-8 counts as a character.
void AddTrigrams(std::string_view text, ValueList* trigrams);

/// Which characters of a text a character of a literal stands for.
enum class LiteralCase : uint8_t {
  kAsciiLower,   ///< Of A to Z and a to z either one of a letter; of others itself.
  kFolded,       ///< All of the same simple case folding.
  kAsciiFolded,  ///< The same; for which ones others than ASCII stand is not known.
};

/// For each three characters of the literal that follow one another, all trigrams that AddTrigrams
/// may make of them in a text that has the literal. Characters are left out that are not known, and
/// bytes that are not of UTF-8: in a text they may be of a character that begins before, or ends
/// after the literal.
std::vector<std::vector<std::string>> TrigramsOfLiteral(std::string_view literal, LiteralCase is);

/// One after another, the characters that the tables do not have, of all planes that have letters.
std::string UnassignedCharacters();

}  // namespace tandem::format
