// Finding a section in a file's section table.
#pragma once

#include <cstdint>
#include <vector>

#include "format/block/section_writer.h"

namespace tandem::format {

/// The section of that kind and owner; with `part_flag` kSectionFlagOlder that of the older part.
/// nullptr when there is none.
inline const SectionEntry* FindSection(const std::vector<SectionEntry>& sections, SectionKind kind,
                                       uint32_t owner, uint32_t part_flag = 0) {
  for (const SectionEntry& section : sections) {
    if (section.kind == kind && section.owner == owner &&
        (section.flags & kSectionFlagOlder) == part_flag) {
      return &section;
    }
  }
  return nullptr;
}

}  // namespace tandem::format
