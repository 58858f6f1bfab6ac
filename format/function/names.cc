// A name is a letter, underscore or non-ASCII byte followed by those, digits, dots and hyphens
// (there is no arithmetic, so "Installed-Size" is one name).
#include "format/function/names.h"

#include <algorithm>

#include "base/quote.h"

namespace tandem::format {
namespace {

// REGEXP is none, so that a column of that name needs no quotes: an operator follows a column.
constexpr std::string_view kKeywords[] = {"AND",  "OR",   "NOT",    "BETWEEN",  "IN",   "IS",
                                          "NULL", "LIKE", "PREFIX", "CONTAINS", "TRUE", "FALSE"};

bool IsAscii(char c) { return (c & 0x80) == 0; }
bool ContinuesPlainName(char c) { return ContinuesName(c) && IsAscii(c); }

}  // namespace

bool EqualsUpper(std::string_view text, std::string_view upper) {
  return std::ranges::equal(text, upper, {}, UpperAscii);
}

bool StartsName(char c) {
  const char upper = UpperAscii(c);
  return (upper >= 'A' && upper <= 'Z') || c == '_' || !IsAscii(c);
}

bool ContinuesName(char c) {
  return StartsName(c) || (c >= '0' && c <= '9') || c == '.' || c == '-';
}

bool IsReserved(std::string_view word) {
  return std::ranges::any_of(
      kKeywords, [word](std::string_view keyword) { return EqualsUpper(word, keyword); });
}

std::string_view KeyFieldOf(std::string_view name) {
  const size_t point = kRowKeyColumn.size();
  if (!name.starts_with(kRowKeyColumn) || name.size() <= point || name[point] != '.') return {};
  const std::string_view field = name.substr(point + 1);
  return std::ranges::all_of(field, ContinuesPlainName) ? field : std::string_view();
}

bool IsPlainName(std::string_view name) {
  if (name.empty() || !StartsName(name[0]) || name == kRowKeyColumn) return false;
  return std::ranges::all_of(name, ContinuesPlainName) && !IsReserved(name) &&
         KeyFieldOf(name).empty();
}

std::string NameText(std::string_view name) {
  return IsPlainName(name) ? std::string(name) : base::QuoteDoubling(name, '"');
}

std::string ColumnNameText(std::string_view family, std::string_view qualifier) {
  if (family.empty()) return NameText(qualifier);
  return NameText(family) + ":" + NameText(qualifier);
}

}  // namespace tandem::format
