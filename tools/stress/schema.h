// The tables of a stressed database and the keys of their rows.
//
//   north  three families, three versions in one of them, four indexes, several regions
//   south  its mirror: the same families, written by the same batches, stored otherwise
//   loose  written at Durability::kMemory and by no other batch: nothing of it is ever logged
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tandem/schema.h"
#include "tools/stress/dice.h"

namespace tandem::stress {

inline constexpr const char* kNorth = "north";
inline constexpr const char* kSouth = "south";
inline constexpr const char* kLoose = "loose";

/// `count` distinct keys: short, long, with equal beginnings, with 0x00 and 0xFF in them.
std::vector<std::string> NewKeys(uint64_t seed, uint64_t count);

/// In the order of the head of this file. `keys` decide where north is cut into regions.
std::vector<TableOptions> NewTables(uint64_t seed, const std::vector<std::string>& keys);

/// One of a few words, so that an index over them has long lists.
std::string RandomWord(Dice* dice);
/// Bytes of any kind.
std::string RandomTag(Dice* dice);

}  // namespace tandem::stress
