// The parts of a store file: schema, statistics, sections, blocks, cells.
#include <algorithm>

#include "base/status_macros.h"
#include "format/cell_stream.h"
#include "format/far_value.h"
#include "format/row_stream.h"
#include "format/store_file.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/dump.h"
#include "tools/tandem/dump_store_file.h"
#include "tools/tandem/format_text.h"

namespace tandem::tools {
namespace {

struct NamedSection {
  format::SectionKind kind;
  std::string_view name;
};
constexpr NamedSection kSections[] = {
    {format::SectionKind::kSchema, "schema"},
    {format::SectionKind::kDictionary, "dictionary"},
    {format::SectionKind::kData, "data"},
    {format::SectionKind::kBlockIndex, "block-index"},
    {format::SectionKind::kBlockIndexTop, "block-index-top"},
    {format::SectionKind::kKeyHashes, "key-hashes"},
    {format::SectionKind::kCleanRows, "clean-rows"},
    {format::SectionKind::kFilter, "filter"},
    {format::SectionKind::kIndexLeaves, "index-leaves"},
    {format::SectionKind::kIndexPostings, "index-postings"},
    {format::SectionKind::kIndexDirectory, "index-directory"},
    {format::SectionKind::kIndexPresent, "index-present"},
    {format::SectionKind::kIndexTouched, "index-touched"},
    {format::SectionKind::kStatistics, "statistics"},
    {format::SectionKind::kDigests, "digests"},
    {format::SectionKind::kPresence, "presence"},
};

std::string_view SectionName(format::SectionKind kind) {
  const auto found = std::ranges::find(kSections, kind, &NamedSection::kind);
  return found == std::end(kSections) ? "unknown" : found->name;
}

std::string FlagNames(uint32_t flags) {
  std::string names;
  const auto add = [&](uint32_t flag, const char* name) {
    if ((flags & flag) != 0) names += (names.empty() ? "" : " ") + std::string(name);
  };
  add(format::kSectionFlagOlder, "older");
  add(format::kSectionFlagFull, "full");
  add(format::kSectionFlagEqual, "equal");
  add(format::kSectionFlagEmpty, "empty");
  return names;
}

/// The name of the family or index that the section is about.
Value OwnerName(const format::TableRecord& table, const format::SectionEntry& section) {
  const format::SectionKind kind = section.kind;
  if (kind == format::SectionKind::kBlockIndex || kind == format::SectionKind::kDictionary ||
      kind == format::SectionKind::kPresence) {
    if (section.owner == format::kKeysOwner) return Value();
    return FamilyName(table, format::FamilyId(static_cast<uint8_t>(section.owner)));
  }
  for (const format::IndexRecord& index : table.indexes) {
    const bool is_of_index =
        kind >= format::SectionKind::kIndexLeaves && kind <= format::SectionKind::kIndexTouched;
    if (is_of_index && index.id.value == section.owner) return index.name;
  }
  return Value();
}

void DumpStatistics(const format::StoreFile& file, RecordWriter* writer) {
  const format::FileStatistics& statistics = file.statistics();
  const Property properties[] = {
      {"region_start", file.region_start()},
      {"rows", statistics.rows},
      {"clean_rows", statistics.clean_rows},
      {"cells", statistics.cells},
      {"deletes", statistics.deletes},
      {"raw_bytes", statistics.raw_bytes},
      {"min_sequence", statistics.min_sequence.value},
      {"max_sequence", statistics.max_sequence.value},
      {"min_timestamp", statistics.min_timestamp},
      {"max_timestamp", statistics.max_timestamp},
      {"min_key", statistics.min_key},
      {"max_key", statistics.max_key},
  };
  writer->AddProperties("statistics", properties);
}

void DumpSections(const format::StoreFile& file, RecordWriter* writer) {
  writer->Begin("section", {"section", "owner", "owner_name", "flags", "offset", "bytes", "count",
                            "checksum"});
  for (const format::SectionEntry& section : file.sections()) {
    writer->Add({SectionName(section.kind), section.owner, OwnerName(file.table(), section),
                 FlagNames(section.flags), section.offset, section.size_bytes, section.count,
                 HashText(section.checksum)});
  }
  writer->End();
}

Status DumpBlocksOf(const format::DataSection& data, Value family, RecordWriter* writer) {
  RETURN_IF_ERROR(data.LoadBlocks());
  for (uint32_t i = 0; i < data.block_count(); ++i) {
    const format::DataBlock block = data.BlockAt(i);
    ASSIGN_OR_RETURN(const format::RowBlockRef rows, data.ReadRowsUncached(i));
    std::string key;
    RETURN_IF_ERROR(rows->Key(0, &key));
    writer->Add({family, i, block.handle.offset, block.handle.stored_bytes,
                 data.OrdinalOf(block.first), block.count, key});
  }
  return {};
}

/// The blocks of each family, and those of the keys where no family carries them.
Status DumpBlocks(format::StoreFile* file, RecordWriter* writer) {
  writer->Begin(
      "block", {"family", "block", "offset", "stored_bytes", "first_ordinal", "rows", "first_key"});
  for (const format::FamilyId family : file->families()) {
    ASSIGN_OR_RETURN(const format::DataSection* data, file->Family(family));
    RETURN_IF_ERROR(DumpBlocksOf(*data, FamilyName(file->table(), family), writer));
  }
  ASSIGN_OR_RETURN(const format::DataSection* keys,
                   file->Family(format::FamilyId(format::kKeysOwner)));
  if (keys != nullptr) RETURN_IF_ERROR(DumpBlocksOf(*keys, Value(), writer));
  writer->End();
  return {};
}

Status DumpCell(const format::RowStream& row, const format::Cell& cell, std::string_view family,
                RecordWriter* writer) {
  const bool put = cell.kind == format::CellKind::kPut;
  const bool column = cell.kind != format::CellKind::kDeleteFamily;
  std::string far_value;
  if (cell.is_far()) RETURN_IF_ERROR(format::ReadFarValue(cell, &far_value));
  const std::string_view value = cell.is_far() ? far_value : cell.value;
  writer->Add({row.ordinal(), row.key(), family, column ? Value(cell.qualifier) : Value(),
               cell.timestamp, cell.sequence.value, CellKindName(cell.kind),
               put ? Value(value) : Value()});
  return {};
}

Status DumpCells(format::StoreFile* file, const Context& context, RecordWriter* writer) {
  writer->Begin("cell", {"ordinal", "row", "family", "column", "timestamp", "sequence", "operation",
                         "value"});
  format::RowStream rows(file, 0, file->row_count());
  while (true) {
    RETURN_IF_ERROR(rows.Next());
    if (!rows.valid()) break;
    ASSIGN_OR_RETURN(const auto pieces, rows.Stream());
    while (true) {
      if (context.is_interrupted()) return Status::Cancelled("interrupted");
      ASSIGN_OR_RETURN(const bool more, pieces->Next());
      if (!more) break;
      for (const format::Cell& cell : pieces->cells()) {
        RETURN_IF_ERROR(DumpCell(rows, cell, FamilyName(file->table(), cell.family), writer));
      }
    }
  }
  writer->End();
  return {};
}

/// The bytes of every section of the kind that was asked for.
Status DumpSectionBytes(const format::StoreFile& file, Dump& dump) {
  std::vector<std::string> names = {"header"};
  for (const NamedSection& section : kSections) names.emplace_back(section.name);
  RETURN_IF_ERROR(CheckPart(dump.options, names));
  for (const format::SectionEntry& section : file.sections()) {
    if (SectionName(section.kind) != dump.options.section) continue;
    RETURN_IF_ERROR(DumpHex(dump, section.offset, section.offset + section.size_bytes));
  }
  return {};
}

}  // namespace

std::string_view FamilyName(const format::TableRecord& table, format::FamilyId id) {
  for (const format::FamilyRecord& family : table.families) {
    if (family.id == id) return family.options.name;
  }
  return "?";
}

Result<std::shared_ptr<format::StoreFile>> OpenProbedStoreFile(ProbedFile* probed) {
  return format::StoreFile::Open(std::move(probed->file), {}, nullptr);
}

Status DumpStoreFile(Dump& dump) {
  static const std::vector<std::string> kParts = {"header",   "schema", "statistics",
                                                  "sections", "blocks", "cells"};
  if (!dump.options.hex) RETURN_IF_ERROR(CheckPart(dump.options, kParts));
  if (dump.options.section == "header") return {};
  ASSIGN_OR_RETURN(const auto file, OpenProbedStoreFile(&dump.probed));
  if (dump.options.hex) {
    // The bytes are read through the handle that the store file has now.
    ASSIGN_OR_RETURN(dump.probed.file, dump.probed.directory->Open(file->blocks().file().name(),
                                                                   base::OpenMode::kReadOnly));
    return DumpSectionBytes(*file, dump);
  }
  if (dump.Wants("schema")) DumpTable(file->table(), &dump.writer);
  if (dump.Wants("statistics")) DumpStatistics(*file, &dump.writer);
  if (dump.Wants("sections")) DumpSections(*file, &dump.writer);
  if (dump.Wants("blocks")) RETURN_IF_ERROR(DumpBlocks(file.get(), &dump.writer));
  if (dump.Wants("cells")) return DumpCells(file.get(), dump.context, &dump.writer);
  return {};
}

}  // namespace tandem::tools
