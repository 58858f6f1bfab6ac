// Random patterns of REGEXP that have something to do with a text.
#pragma once

#include <string>
#include <string_view>

#include "tools/generator/dice.h"

namespace tandem::test {

/// Most match the text: literals of it, with classes, repetitions, alternatives, anchors and other
/// case in the place of some. Each is a pattern in either encoding.
std::string RandomRegexp(Dice* dice, std::string_view text);

}  // namespace tandem::test
