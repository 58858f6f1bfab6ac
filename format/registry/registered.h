// The functions of a program (Options::functions), and what of a schema they compute.
//
// A record that is read from disk names functions and their versions (Function::text and first).
// The engine resolves it before anything computes by it: Function::registered is what the program
// has under that name, of whatever version, or null. An index with a function that is not
// registered with its version is unusable: no file gets a section of it, memstores have no entries
// that queries read, no query is served by it, and its table refuses writes.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>

#include "format/schema.h"
#include "tandem/function.h"
#include "tandem/status.h"

namespace tandem::format {

/// By name; none is null.
using FunctionRegistry =
    std::map<std::string, std::shared_ptr<const RegisteredFunction>, std::less<>>;
inline const FunctionRegistry kNoFunctions;

/// Errors: kInvalidArgument (a name that is none, a null, no function, version 0).
Status CheckRegistry(const FunctionRegistry& registry);

/// Sets Function::registered of all functions of the record.
void Resolve(const FunctionRegistry& registry, TableRecord* table);
/// Resolves functions that a condition or a new index asks for, and pins them to the registered
/// version. Errors: kInvalidArgument (one is not registered; the message lists those that are).
Status PinCalls(const FunctionRegistry& registry, std::span<Function> functions);
/// What the record's indexes call, with their versions and no function: a registry by which the
/// same indexes can be declared where the functions are not registered.
FunctionRegistry CallsOf(const TableRecord& table);

/// Whether the index calls a function of the program, for a column or in its WHERE.
bool HasCalls(const IndexRecord& index);
/// Why nothing can be computed by the index: "function 'soundex' is not registered", or that it was
/// made with another version of Unicode. Empty: it can.
std::string WhyUnusable(const IndexRecord& index);
/// Whether there is such a reason.
bool IsUnusable(const IndexRecord& index);

/// Errors: kUnsupported (an index of the table calls a function that is not registered with its
/// version: nothing may be written).
Status CheckCalls(const TableRecord& table);

}  // namespace tandem::format
