// Opens a store file. Nothing is trusted before what it depends on is verified:
//
// 1. The header names the file; it must be the one that the caller expects.
// 2. The footer, at the end of a file of exactly the size that it states, places the section
//    tables.
// 3. The section table (its second copy when the first is damaged) places the sections.
// 4. Schema and statistics are read; the counts of rows that sections and statistics state must
//    agree.
#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "format/block/section_table.h"
#include "format/block/sequential_reader.h"
#include "format/corruption.h"
#include "store_file/ends.h"
#include "store_file/store_file_impl.h"
#include "store_file/stored_schema.h"

namespace tandem::format {
namespace {

Result<std::vector<SectionEntry>> ReadTable(const BlockFile& file, const Footer& footer,
                                            uint64_t offset, uint32_t alignment) {
  ASSIGN_OR_RETURN(const BlockRef block,
                   file.ReadUncached({offset, footer.table_bytes}, BlockKind::kSectionTable));
  if (block->count != footer.sections) {
    return block->Corrupt(Mismatch("sections", footer.sections, block->count));
  }
  return DecodeSectionTable(*block, alignment, footer.table_offsets[0]);
}

// The tables and the footer follow one another without a gap that a section could hide in.
Status CheckFooterPlaces(const BlockFile& file, const Footer& footer, uint32_t alignment) {
  const uint64_t end_of_first = footer.table_offsets[0] + footer.table_bytes;
  const uint64_t end_of_second = footer.table_offsets[1] + footer.table_bytes;
  if (footer.table_offsets[0] > footer.file_size || footer.table_offsets[1] > footer.file_size ||
      footer.table_offsets[1] != AlignUp(end_of_first, alignment) ||
      footer.file_size != AlignUp(end_of_second, kBlockAlignment) + kFooterBytes) {
    return file.Corrupt(footer.file_size - kFooterBytes, "section tables are out of place");
  }
  return {};
}

// The only block of a section that has one.
Result<BlockRef> ReadOnlyBlock(const BlockFile& file, const SectionEntry& section, BlockKind kind) {
  SequentialReader reader(file, section);
  ASSIGN_OR_RETURN(BlockRef block, reader.Next(kind));
  if (!reader.done()) return file.Corrupt(reader.offset(), "section has more than one block");
  return block;
}

// The sections that every file has.
Status CheckSections(const BlockFile& file, const std::vector<SectionEntry>& sections) {
  constexpr SectionKind kOfFile[] = {SectionKind::kSchema, SectionKind::kStatistics,
                                     SectionKind::kData,   SectionKind::kKeyHashes,
                                     SectionKind::kFilter, SectionKind::kCleanRows};
  for (const SectionKind kind : kOfFile) {
    if (FindSection(sections, kind) != nullptr) continue;
    return file.Corrupt(
        0, "section of kind " + std::to_string(static_cast<int>(kind)) + " is missing");
  }
  return {};
}

// What Open needs of both ends, where the caller has not read them.
class EndsRead {
 public:
  Result<FileEnds> Read(base::File* file) {
    FileEnds ends;
    ASSIGN_OR_RETURN(ends.size_bytes, file->Size());
    ASSIGN_OR_RETURN(const size_t first_bytes, file->Read(0, first_));
    ends.first = {first_, first_bytes};
    const uint64_t wanted = std::min<uint64_t>(ends.size_bytes, kFooterBytes);
    ASSIGN_OR_RETURN(const size_t last_bytes,
                     file->Read(ends.size_bytes - wanted, {last_, wanted}));
    ends.last = {last_, last_bytes};
    return ends;
  }

 private:
  char first_[kFileHeaderBytes], last_[kFooterBytes];
};

bool IsOfFamily(SectionKind kind) {
  return kind == SectionKind::kBlockIndex || kind == SectionKind::kDictionary ||
         kind == SectionKind::kPresence || kind == SectionKind::kBlockIndexTop;
}

}  // namespace

const SectionEntry& StoreFile::Impl::Section(SectionKind kind, uint32_t owner) const {
  return *FindSection(sections, kind, owner);
}

// Reads the start key of the region and the table's record.
Status StoreFile::ReadSchema(Impl* impl, TableRecords* tables) {
  const SectionEntry* section = FindSection(impl->sections, SectionKind::kSchema);
  if (section == nullptr) return impl->blocks.Corrupt(0, "the schema section is missing");
  ASSIGN_OR_RETURN(const BlockRef block, ReadOnlyBlock(impl->blocks, *section, BlockKind::kSchema));
  ASSIGN_OR_RETURN(StoredSchema schema, DecodeStoredSchema(*block, tables));
  impl->region_start = std::move(schema.region_start);
  impl->table = std::move(schema.table);
  for (const IndexRecord& index : impl->table->indexes) {
    impl->indexes[index.id];
    impl->broken_indexes[index.id];
  }
  return {};
}

// Reads the statistics and compares what the sections say about the number of rows.
Status StoreFile::ReadStatistics(Impl* impl) {
  const BlockFile& file = impl->blocks;
  RETURN_IF_ERROR(CheckSections(file, impl->sections));
  ASSIGN_OR_RETURN(
      const BlockRef block,
      ReadOnlyBlock(file, impl->Section(SectionKind::kStatistics), BlockKind::kStatistics));
  ASSIGN_OR_RETURN(impl->statistics, DecodeStatistics(*block));
  const uint64_t rows = impl->statistics.rows;
  const SectionEntry& hashes = impl->Section(SectionKind::kKeyHashes);
  const SectionEntry& clean = impl->Section(SectionKind::kCleanRows);
  const SectionEntry& data = impl->Section(SectionKind::kData);
  if (hashes.count != rows || hashes.size_bytes / sizeof(uint64_t) < rows) {
    return file.Corrupt(hashes.offset, Mismatch("key hashes", rows, hashes.count));
  }
  if (data.count != rows) {
    return file.Corrupt(data.offset, Mismatch("rows of the data section", rows, data.count));
  }
  if (clean.count != impl->statistics.clean_rows) {
    return file.Corrupt(clean.offset,
                        Mismatch("clean rows", impl->statistics.clean_rows, clean.count));
  }
  return impl->FindFamilies();
}

// Finds the families that have rows, and the key carrier: the lowest family that every row has, or
// the separate keys, which the file has when there is no such family. Every section of a family
// must belong to one of those.
Status StoreFile::Impl::FindFamilies() {
  const auto find = [this](SectionKind kind, FamilyId owner) {
    return FindSection(sections, kind, owner.value);
  };
  for (const FamilyRecord& family : table->families) {
    if (find(SectionKind::kBlockIndex, family.id) == nullptr) continue;
    if (find(SectionKind::kDictionary, family.id) == nullptr) {
      return blocks.Corrupt(0, "a family has no dictionary");
    }
    families.push_back(family.id);
    data[family.id];
  }
  std::sort(families.begin(), families.end());
  const auto full = std::find_if(families.begin(), families.end(), [&](FamilyId family) {
    return find(SectionKind::kPresence, family) == nullptr;
  });
  const FamilyId keys(kKeysOwner);
  carrier = full != families.end() ? *full : keys;
  if (carrier == keys) data[keys];
  if ((carrier == keys) != (find(SectionKind::kBlockIndex, keys) != nullptr)) {
    return blocks.Corrupt(0, "no family carries the keys of all rows, or the keys stand twice");
  }
  for (const SectionEntry& section : sections) {
    if (!IsOfFamily(section.kind)) continue;
    const bool has_cells = section.owner != kKeysOwner ||
                           section.kind == SectionKind::kBlockIndex ||
                           section.kind == SectionKind::kBlockIndexTop;
    const bool is_known =
        section.owner <= kKeysOwner && data.contains(FamilyId(static_cast<uint8_t>(section.owner)));
    const bool is_partial = section.kind != SectionKind::kPresence ||
                            (section.count > 0 && section.count < statistics.rows);
    if (!has_cells || !is_known || !is_partial) {
      return blocks.Corrupt(section.offset, "a section of a family is out of place");
    }
  }
  return {};
}

Result<std::shared_ptr<StoreFile>> StoreFile::Open(std::unique_ptr<base::File> file,
                                                   const ExpectedFile& expected, BlockCache* cache,
                                                   const KnownOfFile& known) {
  EndsRead read;
  FileEnds ends;
  if (known.ends != nullptr) {
    ends = *known.ends;
  } else {
    ASSIGN_OR_RETURN(ends, read.Read(file.get()));
  }
  ASSIGN_OR_RETURN(const StoreEnds checked, CheckStoreEnds(ends, expected, file->name()));
  const FileHeader& header = checked.header;
  const Footer& footer = checked.footer;

  auto impl = std::make_unique<Impl>(BlockFile(std::move(file), header.number, header.id, cache));
  impl->blocks.set_known({.offset = ends.size_bytes - ends.last.size(), .bytes = ends.last});
  impl->size_bytes = ends.size_bytes;
  impl->writable = header.writable();
  impl->footer = footer;
  impl->alignment = uint32_t{1} << header.alignment_log2;
  RETURN_IF_ERROR(CheckFooterPlaces(impl->blocks, footer, impl->alignment));
  Result<std::vector<SectionEntry>> sections =
      ReadTable(impl->blocks, footer, footer.table_offsets[0], impl->alignment);
  if (!sections && sections.error().code() == StatusCode::kCorruption) {
    sections = ReadTable(impl->blocks, footer, footer.table_offsets[1], impl->alignment);
  }
  if (!sections) return sections.error();
  impl->sections = *std::move(sections);
  RETURN_IF_ERROR(ReadSchema(impl.get(), known.tables));
  RETURN_IF_ERROR(ReadStatistics(impl.get()));
  if ((header.incompatible & kIncompatibleOneSequence) != 0) {
    impl->blocks.set_first_sequence(impl->statistics.min_sequence.value);
  }
  impl->blocks.set_known({});
  return std::make_shared<StoreFile>(Private(), std::move(impl));
}

}  // namespace tandem::format
