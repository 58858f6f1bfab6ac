// Names as predicates and declarations write them.
#pragma once

#include <string>
#include <string_view>

namespace tandem::format {

/// What names the row key where a column could be named.
inline constexpr std::string_view kRowKeyColumn = "_row";

/// The field of the row key that a name is of, as `user` of `_row.user`; empty: it is of none.
std::string_view KeyFieldOf(std::string_view name);

/// A letter as a capital, if it is ASCII.
inline char UpperAscii(char c) {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}
/// Whether `text` is `upper`, which is given in capitals, in any case.
bool EqualsUpper(std::string_view text, std::string_view upper);

/// Whether a name may start with the byte, or go on with it.
bool StartsName(char c);
bool ContinuesName(char c);

/// Whether `word` is a keyword, in any case.
bool IsReserved(std::string_view word);
/// Whether `name` can be written in a predicate without quotes and is read as a column name.
bool IsPlainName(std::string_view name);
/// The name as it is written in a predicate: in quotes unless it is plain.
std::string NameText(std::string_view name);
/// The name of a column, with its family unless that is empty.
std::string ColumnNameText(std::string_view family, std::string_view qualifier);

}  // namespace tandem::format
