// Regular expressions, as RE2 reads them: its time is linear in the text and its memory is bounded,
// whatever the pattern.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/status.h"

namespace tandem::engine {

/// What a pattern and the texts that it is matched with consist of.
enum class RegexpEncoding : uint8_t {
  kUtf8,
  kBytes,  ///< Each byte is the character of that number (Latin-1).
};

/// Threads: any.
class Regexp {
 public:
  /// Errors: kInvalidArgument (it is too long, no pattern of RE2, or compiles to too much: the
  /// message has RE2's reason).
  static Result<std::shared_ptr<const Regexp>> Compile(std::string_view pattern,
                                                       RegexpEncoding encoding);
  ~Regexp();
  Regexp(const Regexp&) = delete;
  Regexp& operator=(const Regexp&) = delete;

  /// Whether a part of the text matches. Requires: the text is in the encoding.
  bool MatchesPartOf(std::string_view text) const;

  std::string_view pattern() const;
  RegexpEncoding encoding() const;

 private:
  struct Program;
  explicit Regexp(std::unique_ptr<const Program> program);

  const std::unique_ptr<const Program> program_;
};

/// Checks a pattern whose column is not known yet. Errors: as Compile, if no encoding suits it.
Status CheckRegexp(std::string_view pattern);

/// What RE2's prefilter knows of the texts that match: which literals they have, in lower case as
/// RE2 makes it.
class RegexpLiterals {
 public:
  explicit RegexpLiterals(const Regexp& regexp);
  ~RegexpLiterals();

  /// Distinct, of three bytes or more.
  const std::vector<std::string>& texts() const { return texts_; }
  /// Whether a text may match that has those literals alone of which `has` is true. Requires: `has`
  /// is as long as texts().
  bool MayMatch(const std::vector<bool>& has) const;

 private:
  struct Filter;

  std::unique_ptr<const Filter> filter_;
  std::vector<std::string> texts_;
};

/// Whether RE2 has letters that utf8proc, of an older version of Unicode, has not: then it may take
/// characters for the same in another case that trigrams have as different ones.
bool RegexpsHaveNewerLetters();

}  // namespace tandem::engine
