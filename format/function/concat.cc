// See concat.h.
#include "format/function/concat.h"

#include <algorithm>

#include "base/quote.h"
#include "base/status_macros.h"
#include "format/function/names.h"
#include "tandem/limits.h"

namespace tandem::format {
namespace {

using Kind = ConcatPart::Kind;

bool IsColumn(const ConcatPart& part) { return part.kind == Kind::kColumn; }

Status Invalid(const std::string& what) { return Status::InvalidArgument("concat: " + what); }

std::string TooLong(std::string_view what, size_t bytes, size_t limit) {
  return std::string(what) + " has " + std::to_string(bytes) + " bytes, the limit is " +
         std::to_string(limit);
}

Status CheckPart(const ConcatPart& part) {
  if (part.kind > Kind::kColumn) return Invalid("a part is neither a value, a text nor a column");
  const bool names_column = !part.family.empty() || !part.qualifier.empty();
  if ((part.kind != Kind::kText && !part.text.empty()) || (!IsColumn(part) && names_column)) {
    return Invalid("a part has an argument too many");
  }
  if (part.text.size() > kFunctionTextBytesMax) {
    return Invalid(TooLong("a text", part.text.size(), kFunctionTextBytesMax));
  }
  if (part.qualifier.size() > kQualifierBytesMax) {
    return Invalid(TooLong("a column's name", part.qualifier.size(), kQualifierBytesMax));
  }
  return {};
}

}  // namespace

bool JoinsColumns(const Function& function) {
  return std::ranges::any_of(function.parts, IsColumn);
}

Status CheckConcat(const Function& function) {
  const size_t count = function.parts.size();
  if (count < 2 || count > kConcatPartsMax) {
    return Invalid("it joins " + std::to_string(count) + " parts, expected 2 to " +
                   std::to_string(kConcatPartsMax));
  }
  for (const ConcatPart& part : function.parts) RETURN_IF_ERROR(CheckPart(part));
  const bool has_value = std::ranges::any_of(
      function.parts, [](const ConcatPart& part) { return part.kind == Kind::kValue; });
  return has_value ? Status() : Invalid("no part is the column that it is applied to");
}

bool Concat(const Function& function, std::span<const std::string_view> columns,
            std::string* text) {
  const auto next = [&, column = columns.begin()](const ConcatPart& part) mutable {
    if (part.kind == Kind::kColumn) return *column++;
    return std::string_view(part.kind == Kind::kText ? part.text : *text);
  };
  size_t bytes = 0;
  for (auto each = next; const ConcatPart& part : function.parts) bytes += each(part).size();
  if (bytes > kFunctionValueBytesMax) return false;
  std::string all;
  all.reserve(bytes);
  for (auto each = next; const ConcatPart& part : function.parts) all += each(part);
  *text = std::move(all);
  return true;
}

std::string TextOfConcat(const Function& function, const std::string& value) {
  std::string text;
  for (const ConcatPart& part : function.parts) {
    text += text.empty() ? "concat(" : ", ";
    if (part.kind == Kind::kValue) text += value;
    if (part.kind == Kind::kText) text += base::QuoteDoubling(part.text, '\'');
    if (part.kind == Kind::kColumn) text += ColumnNameText(part.family, part.qualifier);
  }
  return text + ")";
}

}  // namespace tandem::format
