// A block of a file that has one row of a family and no other, as it is stored there. A merge that
// keeps the row as it is copies the block instead of compressing the row again.
#pragma once

#include <string_view>

#include "format/cell/dictionary.h"
#include "format/types.h"

namespace tandem::format {

/// Lifetime: of what gave it.
struct StoredRow {
  FamilyId family;
  std::string_view block;             ///< Header and payload, which were checked. Empty: none.
  const Dictionary* names = nullptr;  ///< Of the family in that file.
};

}  // namespace tandem::format
