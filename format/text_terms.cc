// Text in ASCII, which is most, needs no table.
#include "format/text_terms.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "format/value_text.h"
#include "tandem/limits.h"

namespace tandem::format {
namespace {

constexpr size_t kCharactersOfTrigram = 3;

bool IsAscii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c & 0x80) == 0; });
}

char LowerAscii(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool IsAsciiOfWord(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// False: it is too long.
bool AddWord(std::string_view word, ValueList* words) {
  if (word.size() > kWordBytesMax) return false;
  if (!word.empty()) words->Add(word);
  return true;
}

bool AddAsciiWords(std::string_view text, ValueList* words) {
  bool has_all = true;
  std::string word;
  for (const char c : text) {
    const char lower = LowerAscii(c);
    if (IsAsciiOfWord(lower)) {
      word += lower;
      continue;
    }
    has_all &= AddWord(word, words);
    word.clear();
  }
  return AddWord(word, words) && has_all;
}

// Scripts that are written without spaces: kana, and ideographs of all planes.
bool IsWordAlone(utf8proc_int32_t character) {
  const auto in = [character](utf8proc_int32_t low, utf8proc_int32_t high) {
    return character >= low && character <= high;
  };
  return in(0x3040, 0x30ff) || in(0x3400, 0x4dbf) || in(0x4e00, 0x9fff) || in(0xf900, 0xfaff) ||
         in(0x20000, 0x3fffd);
}

bool IsOfWord(utf8proc_int32_t character) {
  switch (utf8proc_category(character)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return true;
    default:
      return false;
  }
}

struct Free {
  void operator()(utf8proc_uint8_t* bytes) const { std::free(bytes); }
};

// Calls use(character, its bytes) for each; use(-1, it) for a byte that is not of UTF-8.
template <typename Use>
void ForEachCharacter(std::string_view text, Use use) {
  while (!text.empty()) {
    utf8proc_int32_t character = -1;
    const utf8proc_ssize_t read =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                         static_cast<utf8proc_ssize_t>(text.size()), &character);
    const size_t size = read > 0 ? static_cast<size_t>(read) : 1;
    use(read > 0 ? character : -1, text.substr(0, size));
    text.remove_prefix(size);
  }
}

// NFKC_Casefold. Requires: UTF-8.
std::string Folded(std::string_view text) {
  utf8proc_uint8_t* bytes = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
      static_cast<utf8proc_ssize_t>(text.size()), &bytes,
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT |
                                     UTF8PROC_CASEFOLD | UTF8PROC_IGNORE));
  const std::unique_ptr<utf8proc_uint8_t, Free> owned(bytes);
  if (size < 0) throw std::bad_alloc();  // No other error is left for UTF-8.
  return {reinterpret_cast<const char*>(bytes), static_cast<size_t>(size)};
}

void AppendCharacter(utf8proc_int32_t character, std::string* out) {
  std::array<utf8proc_uint8_t, 4> bytes;
  const auto size = static_cast<size_t>(utf8proc_encode_char(character, bytes.data()));
  out->append(reinterpret_cast<const char*>(bytes.data()), size);
}

std::string TextOf(utf8proc_int32_t character) {
  std::string text;
  AppendCharacter(character, &text);
  return text;
}

std::string LowerText(utf8proc_int32_t character) { return TextOf(utf8proc_tolower(character)); }

// Of characters that are the same by case folding, and not all the same in lower case: what they
// become in lower case, as of sigma and final sigma.
class LowerForms {
 public:
  LowerForms() {
    // By full case folding: characters of one simple folding have the same, too.
    std::map<std::vector<utf8proc_int32_t>, std::vector<utf8proc_int32_t>> groups;
    for (utf8proc_int32_t c = 0; c < kEnd; ++c) {
      std::vector<utf8proc_int32_t> folded = Folding(c);
      if (folded.size() != 1 || folded[0] != c) groups[std::move(folded)].push_back(c);
    }
    for (auto& [folded, characters] : groups) {
      if (folded.size() == 1) characters.push_back(folded[0]);
      std::set<std::string> forms;
      for (const utf8proc_int32_t c : characters) forms.insert(LowerText(c));
      if (forms.size() == 1) continue;
      for (const utf8proc_int32_t c : characters) forms_[c].assign(forms.begin(), forms.end());
    }
  }

  std::vector<std::string> Of(utf8proc_int32_t character) const {
    const auto found = forms_.find(character);
    return found == forms_.end() ? std::vector<std::string>{LowerText(character)} : found->second;
  }

 private:
  static constexpr utf8proc_int32_t kEnd = 0x20000;  // No character from here on has case.

  static std::vector<utf8proc_int32_t> Folding(utf8proc_int32_t character) {
    std::array<utf8proc_int32_t, 8> folded;
    int boundary = 0;
    const utf8proc_ssize_t size = utf8proc_decompose_char(character, folded.data(), folded.size(),
                                                          UTF8PROC_CASEFOLD, &boundary);
    if (size <= 0 || static_cast<size_t>(size) > folded.size()) return {character};
    return {folded.begin(), folded.begin() + size};
  }

  std::unordered_map<utf8proc_int32_t, std::vector<std::string>> forms_;
};

// None: they are not known.
std::vector<std::string> FormsOf(utf8proc_int32_t character, LiteralCase is) {
  if (character < 0) return {};
  if (is == LiteralCase::kAsciiLower) return {LowerText(character)};
  // Of ASCII, another character than the two of a letter is the same in another case for two alone:
  // the long s, and the sign of Kelvin, which in lower case is k.
  if (character == 's' || character == 'S') return {"s", "\u017f"};
  if (character < 0x80) return {LowerText(character)};
  if (is == LiteralCase::kAsciiFolded) return {};
  static const LowerForms kForms;
  return kForms.Of(character);
}

// Each first text, followed by each second one, and so on.
std::vector<std::string> Products(const std::vector<std::vector<std::string>>& factors) {
  std::vector<std::string> products = {""};
  for (const std::vector<std::string>& factor : factors) {
    std::vector<std::string> longer;
    for (const std::string& start : products) {
      for (const std::string& next : factor) longer.push_back(start + next);
    }
    products = std::move(longer);
  }
  return products;
}

}  // namespace

uint64_t UnicodeVersion() {
  static const uint64_t version = [] {
    uint64_t number = 0, part = 0;
    for (const char* c = utf8proc_unicode_version();; ++c) {
      if (*c >= '0' && *c <= '9') {
        part = part * 10 + static_cast<uint64_t>(*c - '0');
        continue;
      }
      number = number * 100 + part;
      part = 0;
      if (*c == '\0') return number;
    }
  }();
  return version;
}

bool AddWords(std::string_view text, ValueList* words) {
  if (IsAscii(text)) return AddAsciiWords(text, words);
  if (!IsUtf8(text)) return false;
  const std::string folded = Folded(text);
  bool has_all = true;
  std::string word;
  ForEachCharacter(folded, [&](utf8proc_int32_t character, std::string_view bytes) {
    const bool is_alone = IsWordAlone(character);
    if (!is_alone && IsOfWord(character)) {
      word += bytes;
      return;
    }
    has_all &= AddWord(word, words);
    word.clear();
    if (is_alone && IsOfWord(character)) words->Add(bytes);
  });
  return AddWord(word, words) && has_all;
}

void AddTrigrams(std::string_view text, ValueList* trigrams) {
  std::string lower;
  std::vector<size_t> starts;
  lower.reserve(text.size());
  starts.reserve(text.size() + 1);
  ForEachCharacter(text, [&](utf8proc_int32_t character, std::string_view bytes) {
    starts.push_back(lower.size());
    if (character < 0) {
      lower.append(bytes);
    } else {
      AppendCharacter(utf8proc_tolower(character), &lower);
    }
  });
  starts.push_back(lower.size());
  for (size_t i = 0; i + kCharactersOfTrigram < starts.size(); ++i) {
    const size_t end = starts[i + kCharactersOfTrigram];
    trigrams->Add(std::string_view(lower).substr(starts[i], end - starts[i]));
  }
}

std::vector<std::vector<std::string>> TrigramsOfLiteral(std::string_view literal, LiteralCase is) {
  std::vector<std::vector<std::string>> trigrams, last;  // The forms of the last characters.
  ForEachCharacter(literal, [&](utf8proc_int32_t character, std::string_view) {
    std::vector<std::string> forms = FormsOf(character, is);
    if (forms.empty()) {
      last.clear();
      return;
    }
    last.push_back(std::move(forms));
    if (last.size() > kCharactersOfTrigram) last.erase(last.begin());
    if (last.size() == kCharactersOfTrigram) trigrams.push_back(Products(last));
  });
  return trigrams;
}

std::string UnassignedCharacters() {
  constexpr utf8proc_int32_t kEnd = 0x40000;  // Three planes of ideographs end below it.
  std::string characters;
  for (utf8proc_int32_t c = 0; c < kEnd; ++c) {
    if (utf8proc_category(c) == UTF8PROC_CATEGORY_CN) AppendCharacter(c, &characters);
  }
  return characters;
}

}  // namespace tandem::format
