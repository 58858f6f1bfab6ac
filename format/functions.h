// Evaluates the functions of a column (tandem/function.h). What one returns for a value is part of
// the format: index sections keep it. A function that should return something else gets another
// number.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tandem/function.h"
#include "tandem/schema.h"
#include "tandem/status.h"

namespace tandem::format {

/// The name that the function has in text; "unknown" for a number that is none.
std::string_view FunctionName(FunctionKind kind);

/// Errors: kInvalidArgument (too many, an unknown kind, an argument that is out of range, a unit or
/// a path that is none, timestamp_of after another one).
Status CheckFunctions(std::span<const Function> functions);
/// Whether what functions return can be of the type: text, or read from text.
bool ReadsText(ColumnType type);
/// The type of what the last one returns, or the one that is asked for; kBytes asks for none.
/// Requires: `functions` is not empty and was checked. Errors: kInvalidArgument (the type reads no
/// text).
Result<ColumnType> TypeOfFunctions(std::span<const Function> functions,
                                   std::optional<ColumnType> asked);

/// Replaces `*result` by what they make of a Put: no more bytes than the value, or a number. False:
/// its value is absent. Requires: they were checked.
bool ApplyFunctions(std::span<const Function> functions, std::string_view value, int64_t timestamp,
                    std::string* result);

}  // namespace tandem::format
