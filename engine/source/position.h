// A place between two rows of a read.
#pragma once

#include <optional>
#include <string>

namespace tandem::engine {

/// Of rows in key order: after the row `key` (or where it would be). Of rows in the order of an
/// index: after the row `key` among those with the index entry `entry`; without a key, between the
/// rows whose entries are below `entry` and the others, whatever the direction.
struct Position {
  std::optional<std::string> entry;
  std::optional<std::string> key;
};

/// Where a read begins, and which way it goes.
struct ReadFrom {
  Position position;
  bool before = false;  ///< The rows before it, the nearest first.
};

}  // namespace tandem::engine
