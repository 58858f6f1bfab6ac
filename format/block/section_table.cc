// Encoding and checked decoding of the section table.
#include "format/block/section_table.h"

#include "format/byte_reader.h"
#include "format/coding.h"
#include "format/file_header.h"

namespace tandem::format {

void AppendSectionTable(const std::vector<SectionEntry>& sections, std::string* out) {
  for (const SectionEntry& section : sections) {
    AppendU16(out, static_cast<uint16_t>(section.kind));
    AppendU16(out, 0);
    AppendU32(out, section.flags);
    AppendU32(out, section.owner);
    AppendU32(out, 0);
    AppendU64(out, section.offset);
    AppendU64(out, section.size_bytes);
    AppendU64(out, section.count);
    AppendU64(out, section.checksum);
  }
}

Result<std::vector<SectionEntry>> DecodeSectionTable(const Block& block, uint32_t alignment,
                                                     uint64_t table_offset) {
  if (block.raw_bytes != uint64_t{block.count} * kSectionEntryBytes) {
    return block.Corrupt("size of the section table is not that of its entries");
  }
  std::vector<SectionEntry> sections;
  ByteReader reader(block.raw());
  uint64_t end = kFileHeaderBytes;
  for (uint32_t i = 0; i < block.count; ++i) {
    SectionEntry entry;
    entry.kind = static_cast<SectionKind>(reader.U16());
    uint32_t zero = reader.U16();
    entry.flags = reader.U32();
    entry.owner = reader.U32();
    zero |= reader.U32();
    entry.offset = reader.U64();
    entry.size_bytes = reader.U64();
    entry.count = reader.U64();
    entry.checksum = reader.U64();
    const bool in_place = entry.offset == AlignUp(end, alignment) && entry.offset <= table_offset;
    if (zero != 0 || !in_place || entry.size_bytes % kBlockAlignment != 0 ||
        entry.size_bytes > table_offset - entry.offset) {
      return block.Corrupt("entry " + std::to_string(i) + " of the section table is out of place");
    }
    const bool older = (entry.flags & kSectionFlagOlder) != 0;
    if (FindSection(sections, entry.kind, entry.owner, older) != nullptr) {
      return block.Corrupt("entry " + std::to_string(i) + " of the section table repeats another");
    }
    end = entry.offset + entry.size_bytes;
    sections.push_back(entry);
  }
  if (AlignUp(end, alignment) > table_offset) {
    return block.Corrupt("the section table overlaps the last section");
  }
  return sections;
}

const SectionEntry* FindSection(const std::vector<SectionEntry>& sections, SectionKind kind,
                                uint32_t owner, bool older) {
  for (const SectionEntry& section : sections) {
    const bool is_older = (section.flags & kSectionFlagOlder) != 0;
    if (section.kind == kind && section.owner == owner && is_older == older) return &section;
  }
  return nullptr;
}

}  // namespace tandem::format
