// The words and trigrams of a text, by the tables of Unicode that utf8proc has.
#pragma once

#include <cstdint>
#include <string_view>

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

}  // namespace tandem::format
