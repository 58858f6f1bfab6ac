// A table that is exported, attached to itself and restored beside itself: nothing that a read sees
// of it changes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/engine.h"
#include "tandem/status.h"

namespace tandem::test {

/// Of the name of the table that CopyOntoItself restores, which a crash may leave.
inline constexpr std::string_view kRestoredSuffix = "-restored";

/// Exports the table to the directory "copy-N", N being the next `*number` that is free, attaches
/// that to the table, and adds it as another table, which is dropped.
Status CopyOntoItself(engine::Engine* engine, const std::string& table, uint64_t* number);

}  // namespace tandem::test
