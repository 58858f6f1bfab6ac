// The functions that a program under test registers (Options::functions), for indexes, conditions
// and the model alike.
#pragma once

#include <cstdint>

#include "format/registry/registered.h"

namespace tandem::test {

/// By name, all with the version. Whatever it is they return the same. Lifetime: the program's.
///   even    the value, if its last byte is an even number; else none
///   digits  how many digits the value has; none if it has no byte. It throws where the first is an
///           x, which is no value either.
///   twice   the value twice, so that it may be too long for an index
const format::FunctionRegistry& ProgramFunctions(uint64_t version = 1);

/// The functions as the engine resolves them by those of version 1.
Functions Resolved(Functions functions);

}  // namespace tandem::test
