// The section table: which sections a store file has and where. It follows the last section, twice,
// each copy at a multiple of the alignment; one damaged copy does not lose the file.
//
// Block of kind kSectionTable; first = 0 and 1 in the two copies; count = sections; not compressed.
// Its raw bytes are one entry per section, in the order of offsets:
//   OFFSET SIZE FIELD     MEANING
//        0    2 kind      SectionKind; a reader passes over kinds that it does not know
//        2    2 zero
//        4    4 flags     kSectionFlag...
//        8    4 owner     family or index, by kind; else 0
//       12    4 zero
//       16    8 offset    the end of what is before (header, section), rounded up to the alignment
//       24    8 size      a multiple of 8
//       32    8 count     by kind
//       40    8 checksum  XXH3-64, seed 0, of the section's bytes
// Each combination of kind, owner and flag kSectionFlagOlder occurs at most once.
//
// Example: the data section of family 0 at 128, 104 bytes, 1 row:
//   03 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00  80 00 00 00 00 00 00 00
//   68 00 00 00 00 00 00 00  01 00 00 00 00 00 00 00  checksum
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/block/block.h"
#include "format/block/section_writer.h"
#include "tandem/status.h"

namespace tandem::format {

inline constexpr size_t kSectionEntryBytes = 48;

/// Appends the raw bytes of the block.
void AppendSectionTable(const std::vector<SectionEntry>& sections, std::string* out);
/// Errors: kCorruption when the sections are not contiguous from the header to the table at
/// `table_offset`, each at the next multiple of `alignment`, or an entry repeats another.
Result<std::vector<SectionEntry>> DecodeSectionTable(const Block& block, uint32_t alignment,
                                                     uint64_t table_offset);

/// The entry of that kind, owner and part; nullptr when there is none.
const SectionEntry* FindSection(const std::vector<SectionEntry>& sections, SectionKind kind,
                                uint32_t owner = 0, bool older = false);

/// `offset` rounded up to a multiple of `alignment`, a power of two.
inline uint64_t AlignUp(uint64_t offset, uint64_t alignment) {
  return (offset + alignment - 1) & ~(alignment - 1);
}

}  // namespace tandem::format
