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
/// a path that is none, an empty separator, timestamp_of or one of a family after another one, two
/// of several values).
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
/// Records the library's version of Unicode in those that depend on it.
void PinFunctions(std::span<Function> functions);
/// Without the version if it is the library's.
Functions AsDeclared(Functions functions);
/// Whether they were pinned by another version, so that they make no value here.
bool ArePinnedByOthers(std::span<const Function> functions);

/// Replaces `*result` by what they make of a Put: no more bytes than the value, or a number. False:
/// its value is absent. Requires: they were checked and make one value.
bool ApplyFunctions(std::span<const Function> functions, std::string_view value, int64_t timestamp,
                    std::string* result);
/// Replaces `*results` by what they make of a Put, in no order and perhaps repeated. Each has no
/// more bytes than the value, or at most kWordBytesMax. Those of a family are applied to one of its
/// columns: `value` is the qualifier, or the value. Requires: they were checked and make several
/// values.
void ApplyMultiValued(std::span<const Function> functions, std::string_view value,
                      int64_t timestamp, ValueList* results);

}  // namespace tandem::format
