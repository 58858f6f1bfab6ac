// Each function replaces a text by another one, or by several; the first gets the stored value.
#include "format/functions.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>
#include <utility>

#include "base/quote.h"
#include "base/status_macros.h"
#include "format/coding.h"
#include "format/fields.h"
#include "format/function/concat.h"
#include "format/hash.h"
#include "format/json_scalar.h"
#include "format/text_terms.h"
#include "format/value_text.h"
#include "tandem/limits.h"

namespace tandem::format {
namespace {

using std::chrono::days;
using std::chrono::microseconds;

constexpr std::string_view kUnits[] = {"second", "minute", "hour",    "day",
                                       "week",   "month",  "quarter", "year"};

bool IsUnit(std::string_view unit) { return std::ranges::find(kUnits, unit) != std::end(kUnits); }

// Only ASCII: what other letters become depends on a language and on a version of Unicode.
void ChangeCase(char from, char to, std::string* text) {
  for (char& c : *text) {
    if (c >= from && c < from + 26) c = static_cast<char>(c - from + to);
  }
}

bool StartsCharacter(char c) { return (c & 0xc0) != 0x80; }

size_t CharactersIn(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, StartsCharacter));
}

// The offset of the character that `skipped` others precede; the size of the text if it is shorter.
size_t OffsetOfCharacter(std::string_view text, uint64_t skipped) {
  if (skipped >= text.size()) return text.size();
  for (size_t i = 0; i < text.size(); ++i) {
    if (StartsCharacter(text[i]) && skipped-- == 0) return i;
  }
  return text.size();
}

void Substring(uint64_t first, uint64_t count, std::string* text) {
  text->erase(0, OffsetOfCharacter(*text, first - 1));
  if (count > 0) text->resize(OffsetOfCharacter(*text, count));
}

void SubstringBytes(uint64_t first, uint64_t count, std::string* bytes) {
  bytes->erase(0, static_cast<size_t>(std::min<uint64_t>(first - 1, bytes->size())));
  if (count > 0 && count < bytes->size()) bytes->resize(static_cast<size_t>(count));
}

// False: there are fewer parts.
bool SplitPart(std::string_view separator, uint64_t number, std::string* text) {
  size_t begin = 0;
  for (; number > 1; --number) {
    const size_t end = text->find(separator, begin);
    if (end == std::string::npos) return false;
    begin = end + separator.size();
  }
  text->resize(std::min(text->find(separator, begin), text->size()));
  text->erase(0, begin);
  return true;
}

void Reverse(std::string* text) {
  std::ranges::reverse(*text);
  // The bytes of each character are the wrong way round now, its first one last.
  for (auto begin = text->begin(); begin != text->end();) {
    const auto end = std::find_if(begin, text->end(), StartsCharacter) + 1;
    std::reverse(begin, end);
    begin = end;
  }
}

// The largest multiple of `unit` from `origin` that is at most `time`; nullopt: it is out of range.
std::optional<int64_t> FloorTo(int64_t unit, int64_t origin, int64_t time) {
  int64_t shifted = 0, floor = 0;
  if (__builtin_sub_overflow(time, origin, &shifted)) return std::nullopt;
  const int64_t rest = shifted % unit;
  if (__builtin_sub_overflow(time, rest < 0 ? rest + unit : rest, &floor)) return std::nullopt;
  return floor;
}

// The beginning of the month, quarter or year; nullopt: the calendar does not reach that far.
std::optional<int64_t> FloorToMonths(unsigned months, int64_t time) {
  constexpr int64_t kDay = microseconds(days(1)).count();
  const int64_t day = time / kDay - (time % kDay < 0 ? 1 : 0);
  constexpr int64_t kCalendarDays = 11'000'000;  // Some 30,000 years.
  if (day < -kCalendarDays || day > kCalendarDays) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::sys_days(days(day))};
  const unsigned month = static_cast<unsigned>(date.month()) - 1;
  const std::chrono::year_month_day first =
      date.year() / std::chrono::month(month - month % months + 1) / 1;
  return microseconds(std::chrono::sys_days(first).time_since_epoch()).count();
}

std::optional<int64_t> DateTrunc(std::string_view unit, int64_t time) {
  constexpr int64_t kSecond = 1'000'000, kDay = 86'400 * kSecond;
  constexpr int64_t kFirstMonday = -3 * kDay;  // 1970 began on a Thursday.
  if (unit == "second") return FloorTo(kSecond, 0, time);
  if (unit == "minute") return FloorTo(60 * kSecond, 0, time);
  if (unit == "hour") return FloorTo(3'600 * kSecond, 0, time);
  if (unit == "day") return FloorTo(kDay, 0, time);
  if (unit == "week") return FloorTo(7 * kDay, kFirstMonday, time);
  return FloorToMonths(unit == "month" ? 1 : unit == "quarter" ? 3 : 12, time);
}

bool SetNumber(std::optional<int64_t> number, std::string* text) {
  if (number.has_value()) *text = std::to_string(*number);
  return number.has_value();
}

bool ReplaceByJson(const std::string& path, std::string* text) {
  const std::string json = std::exchange(*text, {});
  return FindJsonScalar(json, *ParseJsonPath(path), text);
}

bool IsPinnedToRegistered(const Function& call) {
  return call.registered != nullptr && call.registered->version == call.first;
}

// An error that may pass makes no value absent, since an index would keep that.
bool Call(const Function& function, std::string* text) {
  if (!IsPinnedToRegistered(function)) return false;
  try {
    std::optional<std::string> made = function.registered->apply(*text);
    if (!made.has_value() || made->size() > kFunctionValueBytesMax) return false;
    *text = *std::move(made);
    return true;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (...) {
    return false;
  }
}

// False: the value is absent.
bool Apply(const Function& function, int64_t timestamp, std::span<const std::string_view> joined,
           std::string* text) {
  switch (function.kind) {
    case FunctionKind::kLower:
      ChangeCase('A', 'a', text);
      return true;
    case FunctionKind::kUpper:
      ChangeCase('a', 'A', text);
      return true;
    case FunctionKind::kReverse:
      if (!IsUtf8(*text)) return false;
      Reverse(text);
      return true;
    case FunctionKind::kSubstring:
      if (!IsUtf8(*text)) return false;
      Substring(function.first, function.count, text);
      return true;
    case FunctionKind::kLength:
      if (!IsUtf8(*text)) return false;
      *text = std::to_string(CharactersIn(*text));
      return true;
    case FunctionKind::kHash:
      *text = std::to_string(Hash64(*text));
      return true;
    case FunctionKind::kBucket:
      *text = std::to_string(Hash64(*text) % function.first);
      return true;
    case FunctionKind::kDateTrunc: {
      const std::optional<int64_t> time = ParseTimestamp(*text);
      return time.has_value() && SetNumber(DateTrunc(function.text, *time), text);
    }
    case FunctionKind::kJson:
      return ReplaceByJson(function.text, text);
    case FunctionKind::kTimestampOf:
      return SetNumber(timestamp, text);
    case FunctionKind::kSubstringBytes:
      SubstringBytes(function.first, function.count, text);
      return true;
    case FunctionKind::kSplitPart:
      return SplitPart(function.text, function.first, text);
    case FunctionKind::kCall:
      return Call(function, text);
    case FunctionKind::kConcat:
      return Concat(function, joined, text);
    default:
      return false;
  }
}

bool DependsOnUnicode(const Function& function) {
  return function.kind == FunctionKind::kWords || function.kind == FunctionKind::kTrigrams;
}

// Whether `first` is the version of what computes it.
bool IsPinned(const Function& function) {
  return DependsOnUnicode(function) || function.kind == FunctionKind::kCall;
}

bool IsPinnedByOthers(const Function& function) {
  if (function.kind == FunctionKind::kCall) return !IsPinnedToRegistered(function);
  return DependsOnUnicode(function) && function.first != 0 && function.first != UnicodeVersion();
}

bool IsSubstring(const Function& function) {
  return function.kind == FunctionKind::kSubstring ||
         function.kind == FunctionKind::kSubstringBytes;
}

bool IsOfFamily(const Function& function) {
  return function.kind == FunctionKind::kMapKeys || function.kind == FunctionKind::kMapValues;
}

bool IsMultiValued(const Function& function) {
  return DependsOnUnicode(function) || IsOfFamily(function) ||
         function.kind == FunctionKind::kSplit || function.kind == FunctionKind::kJsonEach;
}

void AddParts(std::string_view text, std::string_view separator, ValueList* parts) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts->Add(text.substr(0, end));
    text.remove_prefix(std::min(end + separator.size(), text.size()));
  }
}

void AddValues(const Function& function, std::string_view text, ValueList* values) {
  switch (function.kind) {
    case FunctionKind::kSplit:
      return AddParts(text, function.text, values);
    case FunctionKind::kJsonEach:
      return AddJsonScalars(text, *ParseJsonPath(function.text), values);
    case FunctionKind::kWords:
      AddWords(text, values);
      return;
    case FunctionKind::kMapKeys:
    case FunctionKind::kMapValues:
      return values->Add(text);  // Of one column of the family.
    default:
      return AddTrigrams(text, values);
  }
}

Status Invalid(const Function& function, const std::string& what) {
  return Status::InvalidArgument(std::string(FunctionName(function.kind)) + ": " + what);
}

Status CheckFunction(const Function& function) {
  if (FunctionName(function.kind) == "unknown") {
    return Status::InvalidArgument(
        "function number " + std::to_string(static_cast<int>(function.kind)) + " is not known");
  }
  if (function.kind == FunctionKind::kConcat) RETURN_IF_ERROR(CheckConcat(function));
  const bool takes_parts = function.kind == FunctionKind::kConcat;
  const bool is_path =
      function.kind == FunctionKind::kJson || function.kind == FunctionKind::kJsonEach;
  const bool is_split =
      function.kind == FunctionKind::kSplit || function.kind == FunctionKind::kSplitPart;
  const bool is_call = function.kind == FunctionKind::kCall;
  const bool takes_text =
      is_path || is_split || is_call || function.kind == FunctionKind::kDateTrunc;
  const bool takes_count = IsSubstring(function);
  const bool takes_number = takes_count || function.kind == FunctionKind::kBucket ||
                            function.kind == FunctionKind::kSplitPart;
  const bool may_have_number = takes_number || is_call || DependsOnUnicode(function);
  if (takes_number && function.first == 0) {
    return Invalid(function, "expected a number from 1, found 0");
  }
  if ((!may_have_number && function.first != 0) || (!takes_text && !function.text.empty()) ||
      (!takes_count && function.count != 0) || (!takes_parts && !function.parts.empty())) {
    return Invalid(function, "it has an argument too many");
  }
  if (function.kind == FunctionKind::kDateTrunc && !IsUnit(function.text)) {
    return Invalid(function, base::Quote(function.text) +
                                 " is no unit: second, minute, hour, day, week, month, quarter, "
                                 "year");
  }
  if (is_call && (function.text.empty() || function.text.size() > kNameBytesMax)) {
    return Invalid(function, "expected the name of a function, 1 to " +
                                 std::to_string(kNameBytesMax) + " bytes");
  }
  if (function.text.size() > kFunctionTextBytesMax) {
    return Invalid(function,
                   (is_split ? "its separator has more than " : "its path has more than ") +
                       std::to_string(kFunctionTextBytesMax) + " bytes, the limit");
  }
  if (is_split && function.text.empty()) return Invalid(function, "its separator is empty");
  if (is_path && !ParseJsonPath(function.text).has_value()) {
    return Invalid(function, base::Quote(function.text) +
                                 " is no path: expected $ and then .name, .\"any name\" or [0]");
  }
  return {};
}

// Of lists of such functions the text would grow without bound.
bool TakesValueTwice(const Function& function) {
  return std::ranges::count(function.parts, ConcatPart::Kind::kValue, &ConcatPart::kind) > 1;
}

// Columns are joined to one value, once.
Status CheckJoined(std::span<const Function> functions) {
  const auto joining = std::ranges::find_if(functions, JoinsColumns);
  if (joining == functions.end()) return {};
  if (std::find_if(joining + 1, functions.end(), JoinsColumns) != functions.end()) {
    return Invalid(*joining, "two of them join columns: name all columns in one");
  }
  const auto several = std::find_if(functions.begin(), joining, IsMultiValued);
  if (several == joining) return {};
  return Invalid(*joining, "columns are joined to one value, not to the several of " +
                               std::string(FunctionName(several->kind)));
}

enum FunctionTag : uint64_t { kFunctionKind = 1, kFirst = 3, kCount = 5, kText = 7, kPart = 9 };
enum PartTag : uint64_t { kPartKind = 1, kPartText = 3, kPartFamily = 5, kPartQualifier = 7 };

std::string EncodePart(const ConcatPart& part, FamilyId family) {
  std::string out;
  AppendNumberField(&out, kPartKind, static_cast<uint64_t>(part.kind));
  if (part.kind == ConcatPart::Kind::kText) AppendField(&out, kPartText, part.text);
  if (part.kind == ConcatPart::Kind::kColumn) {
    AppendNumberField(&out, kPartFamily, family.value);
    AppendField(&out, kPartQualifier, part.qualifier);
  }
  return out;
}

// Adds it to the parts, and the family of a column.
Status DecodePart(std::string_view bytes, std::vector<ConcatPart>* parts,
                  std::vector<FamilyId>* families) {
  FieldReader fields(bytes, "part record");
  ConcatPart part;
  std::optional<FamilyId> family;
  std::optional<std::string> qualifier;
  while (fields.Next()) {
    switch (fields.tag()) {
      case kPartKind:
        part.kind = static_cast<ConcatPart::Kind>(
            fields.Number(static_cast<uint64_t>(ConcatPart::Kind::kColumn)));
        break;
      case kPartText:
        part.text = std::string(fields.Bytes());
        break;
      case kPartFamily:
        family = FamilyId(static_cast<uint8_t>(fields.Number(UINT8_MAX)));
        break;
      case kPartQualifier:
        qualifier = std::string(fields.Bytes());
        break;
      default:
        fields.Unknown();
    }
  }
  RETURN_IF_ERROR(fields.Finish({kPartKind}));
  const bool is_column = part.kind == ConcatPart::Kind::kColumn;
  if (family.has_value() != is_column || qualifier.has_value() != is_column) {
    return Status::Corruption("part record: expected a family and a qualifier of a column alone");
  }
  if (is_column) {
    part.qualifier = *std::move(qualifier);
    families->push_back(*family);
  }
  parts->push_back(std::move(part));
  return {};
}

}  // namespace

std::string_view FunctionName(FunctionKind kind) {
  switch (kind) {
    case FunctionKind::kLower:
      return "lower";
    case FunctionKind::kUpper:
      return "upper";
    case FunctionKind::kReverse:
      return "reverse";
    case FunctionKind::kSubstring:
      return "substr";
    case FunctionKind::kLength:
      return "length";
    case FunctionKind::kHash:
      return "hash";
    case FunctionKind::kBucket:
      return "bucket";
    case FunctionKind::kDateTrunc:
      return "date_trunc";
    case FunctionKind::kJson:
      return "json";
    case FunctionKind::kTimestampOf:
      return "timestamp_of";
    case FunctionKind::kSplit:
      return "split";
    case FunctionKind::kJsonEach:
      return "json_each";
    case FunctionKind::kWords:
      return "words";
    case FunctionKind::kTrigrams:
      return "trigrams";
    case FunctionKind::kSubstringBytes:
      return "substr_bytes";
    case FunctionKind::kSplitPart:
      return "split_part";
    case FunctionKind::kConcat:
      return "concat";
    case FunctionKind::kCall:
      return "call";
    case FunctionKind::kMapKeys:
      return "map_keys";
    case FunctionKind::kMapValues:
      return "map_values";
  }
  return "unknown";
}

Status CheckFunctions(std::span<const Function> functions) {
  if (functions.size() > kFunctionsMax) {
    return Status::InvalidArgument(std::to_string(functions.size()) +
                                   " functions are applied to a column, the limit is " +
                                   std::to_string(kFunctionsMax));
  }
  for (size_t i = 0; i < functions.size(); ++i) {
    const Status status = CheckFunction(functions[i]);
    if (!status.ok()) return status;
    if (i > 0 && functions[i].kind == FunctionKind::kTimestampOf) {
      return Invalid(functions[i], "expected a column, found what a function returns");
    }
    if (i > 0 && IsOfFamily(functions[i])) {
      return Invalid(functions[i], "expected a family, found what a function returns");
    }
    if (i > 0 && TakesValueTwice(functions[i])) {
      return Invalid(functions[i], "what a function returns is joined once");
    }
  }
  RETURN_IF_ERROR(CheckJoined(functions));
  const auto first = std::ranges::find_if(functions, IsMultiValued);
  if (first == functions.end()) return {};
  const auto second = std::find_if(first + 1, functions.end(), IsMultiValued);
  if (second == functions.end()) return {};
  return Invalid(*second, "expected one value, found the several of " +
                              std::string(FunctionName(first->kind)));
}

bool AreMultiValued(std::span<const Function> functions) {
  return std::ranges::any_of(functions, IsMultiValued);
}

bool AreTrigrams(std::span<const Function> functions) {
  return std::ranges::any_of(
      functions, [](const Function& function) { return function.kind == FunctionKind::kTrigrams; });
}

bool HaveCalls(std::span<const Function> functions) {
  return std::ranges::any_of(
      functions, [](const Function& function) { return function.kind == FunctionKind::kCall; });
}

bool HaveConcat(std::span<const Function> functions) {
  return std::ranges::any_of(
      functions, [](const Function& function) { return function.kind == FunctionKind::kConcat; });
}

void PinFunctions(std::span<Function> functions) {
  for (Function& function : functions) {
    if (DependsOnUnicode(function)) function.first = UnicodeVersion();
  }
}

Functions AsDeclared(Functions functions) {
  for (Function& function : functions) {
    if (IsPinned(function) && !IsPinnedByOthers(function)) function.first = 0;
  }
  return functions;
}

bool ArePinnedByOthers(std::span<const Function> functions) {
  return std::ranges::any_of(functions, IsPinnedByOthers);
}

std::string WhyPinnedByOthers(std::span<const Function> functions) {
  const auto other = std::ranges::find_if(functions, IsPinnedByOthers);
  if (other == functions.end()) return {};
  if (other->kind != FunctionKind::kCall) {
    return "it was made with another version of Unicode: drop it and create it again";
  }
  const std::string name = "function " + base::Quote(other->text);
  const std::string version = "version " + std::to_string(other->first);
  if (other->registered == nullptr) return name + " of " + version + " is not registered";
  return name + " is registered with version " + std::to_string(other->registered->version) +
         ", and it has " + version + ": drop it and create it again";
}

bool MayBeOfType(std::span<const Function> functions, ColumnType type) {
  if (type > ColumnType::kBytes && type <= ColumnType::kTimestamp) return true;
  if (IsOfFamily(functions.back())) return true;  // It returns what is stored.
  return functions.back().kind == FunctionKind::kSubstringBytes && type != ColumnType::kBytes;
}

Result<ColumnType> TypeOfFunctions(std::span<const Function> functions,
                                   std::optional<ColumnType> asked) {
  if (asked.has_value() && *asked != ColumnType::kBytes) {
    if (MayBeOfType(functions, *asked)) return *asked;
    return Invalid(functions.back(), "it returns text, and type " +
                                         std::string(ColumnTypeName(*asked)) + " reads bytes");
  }
  switch (functions.back().kind) {
    case FunctionKind::kLength:
      return ColumnType::kInt64;
    case FunctionKind::kHash:
    case FunctionKind::kBucket:
      return ColumnType::kUint64;
    case FunctionKind::kDateTrunc:
    case FunctionKind::kTimestampOf:
      return ColumnType::kTimestamp;
    case FunctionKind::kMapKeys:
    case FunctionKind::kMapValues:
      return ColumnType::kBytes;
    default:
      return ColumnType::kText;
  }
}

bool ApplyFunctions(std::span<const Function> functions, std::string_view value, int64_t timestamp,
                    std::string* result, std::span<const std::string_view> joined) {
  if (functions.front().kind == FunctionKind::kTimestampOf) {
    result->clear();
  } else if (value.size() > kFunctionValueBytesMax) {
    return false;
  } else {
    result->assign(value);
  }
  return std::ranges::all_of(functions, [=](const Function& function) {
    return Apply(function, timestamp, joined, result);
  });
}

void ApplyMultiValued(std::span<const Function> functions, std::string_view value,
                      int64_t timestamp, ValueList* results,
                      std::span<const std::string_view> joined) {
  results->Clear();
  if (ArePinnedByOthers(functions)) return;
  const auto several = std::ranges::find_if(functions, IsMultiValued);
  const auto before = std::span(functions.begin(), several);
  std::string text(before.empty() ? value : std::string_view());
  if (before.empty() ? value.size() > kFunctionValueBytesMax
                     : !ApplyFunctions(before, value, timestamp, &text, joined)) {
    return;
  }
  const auto after = std::span(several + 1, functions.end());
  if (after.empty()) return AddValues(*several, text, results);
  ValueList values;
  AddValues(*several, text, &values);
  for (size_t i = 0; i < values.size(); ++i) {
    if (ApplyFunctions(after, values[i], timestamp, &text)) results->Add(text);
  }
}

// Arguments that a function does not take are left out.
std::string EncodeFunction(const Function& function, std::span<const FamilyId>* families) {
  std::string out;
  AppendNumberField(&out, kFunctionKind, static_cast<uint64_t>(function.kind));
  if (function.first != 0) AppendNumberField(&out, kFirst, function.first);
  if (function.count != 0) AppendNumberField(&out, kCount, function.count);
  if (!function.text.empty()) AppendField(&out, kText, function.text);
  for (const ConcatPart& part : function.parts) {
    FamilyId family;
    if (part.kind == ConcatPart::Kind::kColumn) {
      family = families->front();
      *families = families->subspan(1);
    }
    AppendField(&out, kPart, EncodePart(part, family));
  }
  return out;
}

Result<Function> DecodeFunction(std::string_view bytes, std::vector<FamilyId>* families) {
  FieldReader fields(bytes, "function record");
  Function function;
  while (fields.Next()) {
    switch (fields.tag()) {
      case kFunctionKind:
        function.kind = static_cast<FunctionKind>(fields.Number(UINT8_MAX));
        if (FunctionName(function.kind) == "unknown") {
          fields.Fail(Status::Unsupported("function record: unknown function " +
                                          std::to_string(static_cast<int>(function.kind))));
        }
        break;
      case kFirst:
        function.first = fields.Number(UINT64_MAX);
        break;
      case kCount:
        function.count = fields.Number(UINT64_MAX);
        break;
      case kText:
        function.text = std::string(fields.Bytes());
        break;
      case kPart:
        if (function.parts.size() == kConcatPartsMax) {
          fields.FailCorrupt("expected at most " + std::to_string(kConcatPartsMax) + " parts");
        } else {
          fields.Fail(DecodePart(fields.Repeated(), &function.parts, families));
        }
        break;
      default:
        fields.Unknown();
    }
  }
  RETURN_IF_ERROR(fields.Finish({kFunctionKind}));
  return function;
}

}  // namespace tandem::format

namespace tandem {

std::string TextOf(const Functions& functions, std::string column) {
  std::string text = std::move(column);
  for (const Function& function : functions) {
    const std::string name = std::string(format::FunctionName(function.kind)) + "(";
    const bool begins_with_text =
        function.kind == FunctionKind::kDateTrunc || function.kind == FunctionKind::kCall;
    if (begins_with_text) {
      text = name + base::QuoteDoubling(function.text, '\'') + ", " + text + ")";
      continue;
    }
    if (function.kind == FunctionKind::kConcat) {
      text = format::TextOfConcat(function, text);
      continue;
    }
    text = name + text;
    if (function.kind == FunctionKind::kSplitPart) {
      text += ", " + base::QuoteDoubling(function.text, '\'') + ", ";
      text += std::to_string(function.first) + ")";
      continue;
    }
    const bool shows_number = function.first != 0 && !format::AreMultiValued({&function, 1});
    if (shows_number) text += ", " + std::to_string(function.first);
    if (function.count != 0) text += ", " + std::to_string(function.count);
    if (!function.text.empty()) text += ", " + base::QuoteDoubling(function.text, '\'');
    text += ')';
  }
  return text;
}

}  // namespace tandem
