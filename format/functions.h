// Evaluates the functions of a column (tandem/function.h). What one returns for a value is part of
// the format: index sections keep it. A function that should return something else gets another
// number.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

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
/// a path that is none, an empty separator, timestamp_of after another one, two of several values).
Status CheckFunctions(std::span<const Function> functions);
/// Whether what the functions return can be of the type: text, or read from text; bytes where the
/// last one cuts them. Requires: `functions` is not empty.
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

/// Replaces `*result` by what they make of a Put: no more bytes than the value, a number, or what a
/// function of the program returns, at most kFunctionValueBytesMax. False: its value is absent.
/// Requires: they were checked and make one value. Errors: throws std::bad_alloc if a function of
/// the program does.
bool ApplyFunctions(std::span<const Function> functions, std::string_view value, int64_t timestamp,
                    std::string* result);
/// Replaces `*results` by what they make of a Put, in no order and perhaps repeated. Each has no
/// more bytes than the value, or at most kWordBytesMax. Requires: they were checked and make
/// several values.
void ApplyMultiValued(std::span<const Function> functions, std::string_view value,
                      int64_t timestamp, ValueList* results);

}  // namespace tandem::format
