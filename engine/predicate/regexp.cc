// RE2 reports errors by value. It logs nothing and throws nothing but std::bad_alloc.
#include "engine/predicate/regexp.h"

#include <re2/filtered_re2.h>
#include <re2/re2.h>

#include <utility>

#include "base/check.h"
#include "format/text_terms.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

// Of a program and the states of its automaton, which RE2 makes while it matches and throws away
// when they are more. With a quarter of it, patterns of a hundred repeated classes are up to a
// thousand times slower.
constexpr int64_t kProgramBytesMax = 8 * 1024 * 1024;
// A trigram has no fewer.
constexpr int kLiteralBytesMin = 3;

// A pattern, or a piece of one: backslashes stay, so that it can be compared with what was written.
std::string Shown(std::string_view pattern) {
  constexpr size_t kBytesMax = 80;
  constexpr char kDigits[] = "0123456789abcdef";
  std::string shown;
  for (const char c : pattern.substr(0, kBytesMax)) {
    if (c >= 0x20 && c < 0x7f) {
      shown += c;
      continue;
    }
    shown.append("\\x") += kDigits[static_cast<uint8_t>(c) >> 4];
    shown += kDigits[static_cast<uint8_t>(c) & 15];
  }
  return pattern.size() > kBytesMax ? shown + "..." : shown;
}

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

re2::RE2::Options OptionsFor(RegexpEncoding encoding) {
  re2::RE2::Options options;
  options.set_encoding(encoding == RegexpEncoding::kUtf8 ? re2::RE2::Options::EncodingUTF8
                                                         : re2::RE2::Options::EncodingLatin1);
  options.set_log_errors(false);
  options.set_never_capture(true);
  options.set_max_mem(kProgramBytesMax);
  return options;
}

}  // namespace

struct Regexp::Program {
  Program(std::string_view pattern, RegexpEncoding is)
      : encoding(is), re2(Piece(pattern), OptionsFor(is)) {}

  const RegexpEncoding encoding;
  const re2::RE2 re2;
};

Regexp::Regexp(std::unique_ptr<const Program> program) : program_(std::move(program)) {}
Regexp::~Regexp() = default;

Result<std::shared_ptr<const Regexp>> Regexp::Compile(std::string_view pattern,
                                                      RegexpEncoding encoding) {
  if (pattern.size() > kRegexpBytesMax) {
    return Status::InvalidArgument("a pattern of REGEXP has " + std::to_string(pattern.size()) +
                                   " bytes, the most are " + std::to_string(kRegexpBytesMax));
  }
  auto program = std::make_unique<const Program>(pattern, encoding);
  if (!program->re2.ok()) {
    return Status::InvalidArgument("REGEXP takes a pattern in RE2's syntax, not '" +
                                   Shown(pattern) + "': " + Shown(program->re2.error()));
  }
  return std::shared_ptr<const Regexp>(new Regexp(std::move(program)));
}

bool Regexp::MatchesPartOf(std::string_view text) const {
  return program_->re2.Match(Piece(text), 0, text.size(), re2::RE2::UNANCHORED, nullptr, 0);
}

std::string_view Regexp::pattern() const { return program_->re2.pattern(); }
RegexpEncoding Regexp::encoding() const { return program_->encoding; }

Status CheckRegexp(std::string_view pattern) {
  const Status status = Regexp::Compile(pattern, RegexpEncoding::kUtf8).status();
  if (status.ok() || Regexp::Compile(pattern, RegexpEncoding::kBytes).has_value()) return {};
  return status;
}

struct RegexpLiterals::Filter {
  re2::FilteredRE2 regexps{kLiteralBytesMin};  // One.
};

RegexpLiterals::RegexpLiterals(const Regexp& regexp) {
  auto filter = std::make_unique<Filter>();
  int id = 0;
  const auto error =
      filter->regexps.Add(Piece(regexp.pattern()), OptionsFor(regexp.encoding()), &id);
  if (error != re2::RE2::NoError) return;  // Not to be expected of what was compiled before.
  filter->regexps.Compile(&texts_);
  filter_ = std::move(filter);
}
RegexpLiterals::~RegexpLiterals() = default;

bool RegexpLiterals::MayMatch(const std::vector<bool>& has) const {
  if (filter_ == nullptr) return true;
  DCHECK(has.size() == texts_.size());
  std::vector<int> literals, regexps;
  for (size_t i = 0; i < has.size(); ++i) {
    if (has[i]) literals.push_back(static_cast<int>(i));
  }
  filter_->regexps.AllPotentials(literals, &regexps);
  return !regexps.empty();
}

bool RegexpsHaveNewerLetters() {
  // Marks, numbers and symbols have case, too.
  static const bool has = [] {
    const auto letters = Regexp::Compile("[\\pL\\pM\\pN\\pS]", RegexpEncoding::kUtf8);
    return !letters.has_value() || (*letters)->MatchesPartOf(format::UnassignedCharacters());
  }();
  return has;
}

}  // namespace tandem::engine
