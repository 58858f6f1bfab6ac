// What the other sections of a damaged store file still know of rows that are lost: the key hashes
// have one for each, the index sections name the values that led to them, another family may have
// the key.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/salvage/damaged_file.h"
#include "engine/salvage/family_scan.h"
#include "tandem/status.h"

namespace tandem::format {

/// An index entry of a lost row.
struct LostValue {
  IndexId index;
  std::string name;         ///< Of the index.
  bool is_current = false;  ///< False: of the older part, a version that is not the newest.
  std::string value;        ///< As a reader of the index prints it.
};

struct LostRow {
  uint32_t ordinal = 0;
  std::optional<uint64_t> key_hash;  ///< nullopt: its block of key hashes is broken.
  std::optional<std::string> key;    ///< When a good block of any family holds the row.
  std::vector<LostValue> values;
};

/// Further lost rows of a file are counted, not described.
inline constexpr size_t kDescribedRowsMax = 100'000;

/// Describes the rows of `ordinals`, ascending, at most kDescribedRowsMax of them. Sentences about
/// sections that could not be read go to `*damage`. Errors: kIoError, kOutOfMemory.
Result<std::vector<LostRow>> DescribeLostRows(const DamagedFile& file,
                                              std::span<const FamilyScan> families,
                                              std::span<const uint32_t> ordinals,
                                              std::vector<std::string>* damage);

}  // namespace tandem::format
