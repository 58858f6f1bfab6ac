// Which literals a text needs to match a pattern is asked of RE2's prefilter: a formula of AND and
// OR over literals, which can be evaluated and not be looked at.
//
// 1. A literal without a trigram says nothing, and counts as if every text had it.
// 2. A set of literals is needed (one of them) if no text may match that has all others. The set of
//    all literals is the weakest of these; where it is not needed, none is.
// 3. For each literal, others are taken out of that set as long as it stays needed: first those of
//    the sets found before, the literal itself last. A set that is left cannot be made smaller. It
//    is one list of the AND.
#include "engine/predicate/text_test.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/quote.h"
#include "format/text_terms.h"
#include "format/value_list.h"
#include "format/value_text.h"

namespace tandem::engine {
namespace {

// How much of a part that is looked for is looked at: the rest would rule out little.
constexpr size_t kPartBytesMax = 1024;
// Each is looked up in each file. A pattern with more is mostly a long list of alternatives, each
// of which adds candidates.
constexpr size_t kLiteralsMax = 64;
// Lists of one AND.
constexpr size_t kListsMax = 4;

format::LiteralCase CaseOf(std::string_view literal, RegexpEncoding encoding) {
  if (encoding == RegexpEncoding::kBytes) return format::LiteralCase::kAsciiLower;
  const bool is_ascii = std::ranges::all_of(literal, [](char c) { return (c & 0x80) == 0; });
  return is_ascii || RegexpsHaveNewerLetters() ? format::LiteralCase::kAsciiFolded
                                               : format::LiteralCase::kFolded;
}

class NeededLiterals {
 public:
  explicit NeededLiterals(const Regexp& regexp) : literals_(regexp) {
    const std::vector<std::string>& texts = literals_.texts();
    if (texts.size() > kLiteralsMax) return;
    for (const std::string& text : texts) {
      const std::string_view start = std::string_view(text).substr(0, kPartBytesMax);
      parts_.push_back({text, format::TrigramsOfLiteral(start, CaseOf(start, regexp.encoding()))});
    }
  }

  std::vector<LiteralParts> Lists() const {
    std::vector<LiteralParts> lists;
    std::set<std::vector<bool>> known;
    std::vector<bool> are_in_some(parts_.size());
    for (size_t last = 0; last < parts_.size() && lists.size() < kListsMax; ++last) {
      if (are_in_some[last] || parts_[last].trigrams.empty()) continue;
      const std::vector<bool> needed = FindSmallSet(are_in_some, last);
      LiteralParts& list = lists.emplace_back();
      for (size_t i = 0; i < parts_.size(); ++i) {
        if (!needed[i]) continue;
        list.push_back(parts_[i]);
        are_in_some[i] = true;
      }
      if (list.empty() || !known.insert(needed).second) lists.pop_back();
    }
    return lists;
  }

 private:
  // Literals are taken out as step 3 says. None: not even all are needed.
  std::vector<bool> FindSmallSet(const std::vector<bool>& first, size_t last) const {
    std::vector<bool> needed(parts_.size());
    for (size_t i = 0; i < parts_.size(); ++i) needed[i] = !parts_[i].trigrams.empty();
    if (!AreNeeded(needed)) return std::vector<bool>(parts_.size());
    const auto leave_out = [&](size_t i) {
      if (!needed[i]) return;
      needed[i] = false;
      needed[i] = !AreNeeded(needed);
    };
    for (const bool is_first : {true, false}) {
      for (size_t i = 0; i < parts_.size(); ++i) {
        if (i != last && first[i] == is_first) leave_out(i);
      }
    }
    leave_out(last);
    return needed;
  }

  bool AreNeeded(std::vector<bool> literals) const {
    literals.flip();
    return !literals_.MayMatch(literals);
  }

  const RegexpLiterals literals_;
  std::vector<LiteralPart> parts_;  // By literal; none where there are too many.
};

std::vector<LiteralParts> PartsOf(std::string_view text) {
  LiteralPart part{std::string(text), {}};
  format::ValueList trigrams;
  if (format::IsUtf8(text)) format::AddTrigrams(text.substr(0, kPartBytesMax), &trigrams);
  for (size_t i = 0; i < trigrams.size(); ++i) part.trigrams.push_back({std::string(trigrams[i])});
  if (part.trigrams.empty()) return {};
  return {{std::move(part)}};
}

}  // namespace

std::vector<LiteralParts> PartsNeededBy(const TextTest& test) {
  if (test.negated) return {};
  return test.regexp == nullptr ? PartsOf(test.part) : NeededLiterals(*test.regexp).Lists();
}

std::string Described(const LiteralParts& parts) {
  std::string text;
  for (const LiteralPart& part : parts) {
    text += (text.empty() ? "" : " or ") + base::Quote(part.text);
  }
  return text;
}

}  // namespace tandem::engine
