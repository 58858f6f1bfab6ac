// A condition on the text of a value that no set of values says: that it has a part, as CONTAINS
// asks, or that a part of it matches a pattern. And what an index over trigrams knows of it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/predicate/regexp.h"

namespace tandem::engine {

struct TextTest {
  std::string part = {};                           ///< Of CONTAINS.
  std::shared_ptr<const Regexp> regexp = nullptr;  ///< Of REGEXP, in the place of `part`.
  bool negated = false;                            ///< True for a text that does not satisfy it.

  bool Accepts(std::string_view text) const {
    const bool satisfies =
        regexp == nullptr ? text.find(part) != std::string_view::npos : regexp->MatchesPartOf(text);
    return satisfies != negated;
  }
};

/// One that texts may have in several forms, as of letters that are the same in another case: each
/// form as it is in an index.
using TrigramForms = std::vector<std::string>;

struct LiteralPart {
  std::string text;
  std::vector<TrigramForms> trigrams;  ///< A text with the part has a form of each.
};
/// A text has one of them.
using LiteralParts = std::vector<LiteralPart>;

/// What each text has that satisfies the test; nothing if that is not known, or no trigram. An AND:
/// of the parts in each of the lists, one is in the text.
std::vector<LiteralParts> PartsNeededBy(const TextTest& test);

/// The parts as an explanation has them: 'abc' or 'def'.
std::string Described(const LiteralParts& parts);

}  // namespace tandem::engine
