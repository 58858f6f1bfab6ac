// Functions of a column: what an index keeps, and what a condition compares, in the place of the
// stored value. As text, with x for a column, `_row` (the row key) or another function of one:
//
//   lower(x), upper(x)      text       the letters A to Z changed, all other bytes as they are
//   reverse(x)              text       the characters from the last to the first
//   substr(x, start [, n])  text       the characters from number `start` on, the first is 1; n of
//                                      them, or all
//   length(x)               int64      the number of characters
//   hash(x)                 uint64     XXH3-64 of the bytes, seed 0
//   bucket(x, n)            uint64     hash(x) modulo n
//   date_trunc('unit', x)   timestamp  the beginning of the second, minute, hour, day, week (from
//                                      Monday), month, quarter or year in which a time lies, UTC
//   json(x, 'path')         text       the string, number or boolean at '$.name."any name"[0]'
//   timestamp_of(column)    timestamp  when the cell was written, not its value
//   substr_bytes(x, start [, n])
//                           text       as substr, but of bytes; may be cast to a _be type, which
//                                      reads the bytes
//   split_part(x, 'separator', n)
//                           text       the part number n between separators, the first is 1, which
//                                      may be empty; absent if there are fewer
//   concat(x, 'text', ...)  text       what is given joined, as it stands: texts, x, and perhaps
//                                      more columns; absent if one of them is
//   call('name', x)         text       what a function of the program (Options::functions) returns
//
// These make several values. A list has one of them at most; functions after it take each value:
//
//   split(x, 'separator')   text       the parts between separators, without empty ones
//   json_each(x, 'path')    text       the strings, numbers and booleans in the array at the path
//   words(x)                text       the words in lower case, see below
//   trigrams(x)             text       each three characters that follow one another, in lower case
//   map_keys(family)        bytes      the qualifiers of the row's columns in the family
//   map_values(family)      bytes      the values of those columns
//
// A condition on several values holds if it holds for one of them: words(title) != 'a' holds if
// there is another word, NOT words(title) = 'a' if there is no word 'a'. A row without a value has
// the column absent.
//
// A word is a run of letters, marks and digits of Unicode, after NFKC_Casefold: `Straße` is
// `strasse`. Each Chinese or Japanese character that is written without spaces is a word. One of
// more than kWordBytesMax is left out. Characters of trigrams are turned to lower case one by one;
// an index over them finds what a column CONTAINS, if that has three characters or more, and what
// matches a REGEXP, if every match has a literal part of as many. Both depend on the version of
// Unicode that the library has: an index that was made with another one is not used.
//
// Characters are those of UTF-8. What a function takes and returns is text; a timestamp is given as
// microseconds. Of `_row` the key's bytes are taken; it has no timestamp_of. A function that cannot
// be computed makes the column absent, as does a result that is not UTF-8: of bytes that are not
// UTF-8 (but split, split_part and substr_bytes cut any bytes, and trigrams takes each such byte
// for a character), a text that is no time, broken JSON, null, a path that leads nowhere, to an
// object or an array. So does a value of more than kFunctionValueBytesMax, except for
// timestamp_of. What they return never changes: an index keeps it. That of call() changes with the
// function's version (RegisteredFunction).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace tandem {

/// Numbers are on disk.
enum class FunctionKind : uint8_t {
  kLower = 1,
  kUpper = 2,
  kReverse = 3,
  kSubstring = 4,
  kLength = 5,
  kHash = 6,
  kBucket = 7,
  kDateTrunc = 8,
  kJson = 9,
  kTimestampOf = 10,
  kSplit = 11,
  kJsonEach = 12,
  kWords = 13,
  kTrigrams = 14,
  kSubstringBytes = 15,
  kSplitPart = 16,
  kConcat = 17,
  kCall = 18,
  kMapKeys = 19,
  kMapValues = 20,
};

/// A function of the program, under a name that indexes and conditions use (Options::functions). It
/// is called on threads that write, flush, merge, build indexes and query, several at once, while
/// others wait for them.
struct RegisteredFunction {
  /// An index over the function is of this version, and unusable where another one is registered:
  /// to be raised whenever the function returns something else for any value. From 1.
  uint64_t version = 1;
  /// Of a value, or of what the functions before make of it; what it returns is text for the next
  /// one, or of the type that the column is cast to. Always the same for the same value. There is
  /// no value where it returns nullopt or more than kFunctionValueBytesMax, or throws; but
  /// std::bad_alloc is the error of the operation. It must not call the database.
  std::function<std::optional<std::string>(std::string_view value)> apply = {};
};

/// One of what kConcat joins.
struct ConcatPart {
  enum class Kind : uint8_t {
    kValue,   ///< What the functions before make of the column, once; the column: once or more.
    kText,    ///< `text`.
    kColumn,  ///< The value of another column.
  };
  Kind kind = Kind::kValue;
  std::string text = {};
  std::string family = {};  ///< Empty: the table's first family.
  std::string qualifier = {};

  static ConcatPart Value() { return {}; }
  static ConcatPart Text(std::string text) {
    return {.kind = Kind::kText, .text = std::move(text)};
  }
  static ConcatPart Column(std::string family, std::string qualifier) {
    return {.kind = Kind::kColumn, .family = std::move(family), .qualifier = std::move(qualifier)};
  }

  bool operator==(const ConcatPart&) const = default;
};

struct Function {
  FunctionKind kind = FunctionKind::kLower;
  /// Of kSubstring and kSubstringBytes: the start, from 1. Of kSplitPart: the part, from 1. Of
  /// kBucket: how many, from 1. Of kWords and kTrigrams in an index: the version of Unicode, as
  /// 150100 for 15.1; 0 otherwise: that of the library. Of kCall in an index: the function's
  /// version; 0 otherwise: that of the registered one.
  uint64_t first = 0;
  /// Of kSubstring and kSubstringBytes: how many characters or bytes; 0: all.
  uint64_t count = 0;
  /// Of kDateTrunc: the unit. Of kJson and kJsonEach: the path. Of kSplit and kSplitPart: the
  /// separator. Of kCall: the name.
  std::string text = {};
  /// Of kConcat: 2 to kConcatPartsMax.
  std::vector<ConcatPart> parts = {};
  /// Of kCall, set by the engine; null: the function is not registered. Functions that differ in it
  /// alone are equal.
  std::shared_ptr<const RegisteredFunction> registered = {};

  static Function Lower() { return {.kind = FunctionKind::kLower}; }
  static Function Upper() { return {.kind = FunctionKind::kUpper}; }
  static Function Reverse() { return {.kind = FunctionKind::kReverse}; }
  static Function Substring(uint64_t start, uint64_t count = 0) {
    return {.kind = FunctionKind::kSubstring, .first = start, .count = count};
  }
  static Function Length() { return {.kind = FunctionKind::kLength}; }
  static Function Hash() { return {.kind = FunctionKind::kHash}; }
  static Function Bucket(uint64_t buckets) {
    return {.kind = FunctionKind::kBucket, .first = buckets};
  }
  static Function DateTrunc(std::string unit) {
    return {.kind = FunctionKind::kDateTrunc, .text = std::move(unit)};
  }
  static Function Json(std::string path) {
    return {.kind = FunctionKind::kJson, .text = std::move(path)};
  }
  static Function Split(std::string separator) {
    return {.kind = FunctionKind::kSplit, .text = std::move(separator)};
  }
  static Function JsonEach(std::string path) {
    return {.kind = FunctionKind::kJsonEach, .text = std::move(path)};
  }
  static Function Words() { return {.kind = FunctionKind::kWords}; }
  static Function Trigrams() { return {.kind = FunctionKind::kTrigrams}; }
  static Function SubstringBytes(uint64_t start, uint64_t count = 0) {
    return {.kind = FunctionKind::kSubstringBytes, .first = start, .count = count};
  }
  static Function SplitPart(std::string separator, uint64_t part) {
    return {.kind = FunctionKind::kSplitPart, .first = part, .text = std::move(separator)};
  }
  static Function Concat(std::vector<ConcatPart> parts) {
    return {.kind = FunctionKind::kConcat, .parts = std::move(parts)};
  }
  static Function Call(std::string name) {
    return {.kind = FunctionKind::kCall, .text = std::move(name)};
  }
  static Function MapKeys() { return {.kind = FunctionKind::kMapKeys}; }
  static Function MapValues() { return {.kind = FunctionKind::kMapValues}; }
  static Function TimestampOf() { return {.kind = FunctionKind::kTimestampOf}; }

  bool operator==(const Function& other) const {
    return kind == other.kind && first == other.first && count == other.count &&
           text == other.text && parts == other.parts;
  }
};

/// Applied in this order: the first one to the column.
using Functions = std::vector<Function>;

/// "lower(substr(name, 1, 3))" for the text of a column, "name".
std::string TextOf(const Functions& functions, std::string column);

}  // namespace tandem

#pragma GCC visibility pop
