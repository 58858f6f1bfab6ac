// What the numbers of files are called in dumps.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "format/block/block.h"
#include "format/block/section_writer.h"
#include "format/cell/cell.h"
#include "format/schema.h"
#include "format/types.h"
#include "tools/tandem/output.h"

namespace tandem::tools {

std::string_view SectionName(format::SectionKind kind);
/// Every name that SectionName gives, but the one of unknown kinds.
std::vector<std::string> SectionNames();
std::string SectionFlagNames(uint32_t flags);
std::string_view BlockKindName(format::BlockKind kind);
std::string_view CodecName(uint8_t codec);
std::string_view CellKindName(format::CellKind kind);
/// The name of a family of the table; "?" when it has none of that id.
std::string_view FamilyName(const format::TableRecord& table, format::FamilyId id);
/// The name of the family or index that the section is about; absent where there is none.
Value OwnerName(const format::TableRecord& table, const format::SectionEntry& section);

std::string IdText(const format::RandomId& id);
/// Sixteen hex digits.
std::string HashText(uint64_t hash);

/// Adds a record of kind "bytes": hex digits and text of at most sixteen bytes.
void WriteHexRecord(uint64_t offset, std::string_view bytes, RecordWriter* writer);

/// Families and indexes of a table as records.
void DumpTable(const format::TableRecord& table, RecordWriter* writer);

}  // namespace tandem::tools
