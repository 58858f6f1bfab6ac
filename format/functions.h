// Evaluates the functions of a column (tandem/function.h). What one returns for a value is part of
// the format: index sections keep it. A function that should return something else gets another
// number.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/types.h"
#include "format/value_list.h"
#include "tandem/function.h"
#include "tandem/schema.h"
#include "tandem/status.h"

namespace tandem::format {

/// Kinds have the numbers from 1 to this one.
inline constexpr int kFunctionKinds = static_cast<int>(FunctionKind::kMapValues);

/// The name that the function has in text; "unknown" for a number that is none.
std::string_view FunctionName(FunctionKind kind);

/// Errors: kInvalidArgument (too many, an unknown kind, an argument that is out of range, a unit or
/// a path that is none, an empty separator, timestamp_of or one of a family after another one, two
/// of several values, two concats that join columns, one of them after several values, what a
/// function returns joined twice).
Status CheckFunctions(std::span<const Function> functions);
/// Whether what the functions return can be of the type: text, or read from text; bytes where the
/// last one cuts them, or returns what is stored. Requires: `functions` is not empty.
bool MayBeOfType(std::span<const Function> functions, ColumnType type);
/// The type of what the last one returns, or the one that is asked for; kBytes asks for none.
/// Requires: `functions` is not empty and was checked. Errors: kInvalidArgument (the type reads no
/// text, and the last one cuts no bytes).
Result<ColumnType> TypeOfFunctions(std::span<const Function> functions,
                                   std::optional<ColumnType> asked);

/// Whether they make several values of one.
bool AreMultiValued(std::span<const Function> functions);
/// Whether trigrams is among them.
bool AreTrigrams(std::span<const Function> functions);
/// Whether a function of the program is among them, whose results are of any length.
bool HaveCalls(std::span<const Function> functions);
/// Records the library's version of Unicode in those that depend on it.
void PinFunctions(std::span<Function> functions);
/// Without versions that are the library's or the registered function's.
Functions AsDeclared(Functions functions);
/// Whether they were pinned by another version of Unicode, or call a function that is not
/// registered with the version they have, so that they make no value here.
bool ArePinnedByOthers(std::span<const Function> functions);
/// Why they are: "function 'soundex' is not registered". Empty: they are not.
std::string WhyPinnedByOthers(std::span<const Function> functions);

/// Whether concat is among them: what they return may be longer than the value.
bool HaveConcat(std::span<const Function> functions);

/// Replaces `*result` by what they make of a Put: no more bytes than the value, a number, or with
/// concat and functions of the program at most kFunctionValueBytesMax. False: its value is absent.
/// `joined`: the values of the columns that concat joins, by part. Requires: they were checked and
/// make one value. Errors: throws std::bad_alloc if a function of the program does.
bool ApplyFunctions(std::span<const Function> functions, std::string_view value, int64_t timestamp,
                    std::string* result, std::span<const std::string_view> joined = {});
/// Replaces `*results` by what they make of a Put, in no order and perhaps repeated. Without concat
/// each has no more bytes than the value, or at most kWordBytesMax. Those of a family are applied
/// to one of its columns: `value` is the qualifier, or the value. Requires: they were checked and
/// make several values.
void ApplyMultiValued(std::span<const Function> functions, std::string_view value,
                      int64_t timestamp, ValueList* results,
                      std::span<const std::string_view> joined = {});

/// The record of a function; format/schema.cc has the table of fields. `*families`: of the columns
/// that it and the functions after it join; takes its own out.
std::string EncodeFunction(const Function& function, std::span<const FamilyId>* families);
/// Adds the families of the columns that it joins, which its parts do not name. Errors:
/// kCorruption, kUnsupported (an unknown function or critical field).
Result<Function> DecodeFunction(std::string_view bytes, std::vector<FamilyId>* families);

}  // namespace tandem::format
