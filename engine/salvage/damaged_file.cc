// Opening follows store_file/open.cc, but where a step fails it looks elsewhere.
#include "engine/salvage/damaged_file.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "format/block/carver.h"
#include "format/block/footer.h"
#include "format/block/section_table.h"
#include "format/corruption.h"
#include "format/file_header.h"
#include "format/row/data_section.h"
#include "store_file/stored_schema.h"
#include "tandem/limits.h"

namespace tandem::format {
namespace {

constexpr uint8_t kAlignmentLog2Min = 3, kAlignmentLog2Max = 20;

struct Identity {
  FileNumber number;
  FileId id;
  std::optional<uint32_t> alignment;  // nullopt: the header is broken.
  bool one_sequence = false;          // As far as the header says.
};

// The identity of the file, from its header or, if that is broken, from what is known of it.
Result<Identity> Identify(base::File& file, const KnownFile& known, Status* broken) {
  char bytes[kFileHeaderBytes];
  ASSIGN_OR_RETURN(const size_t count, file.Read(0, bytes));
  const Result<FileHeader> header = DecodeFileHeader({bytes, count}, FileKind::kStore, file.name());
  if (!header) {
    const bool is_replaced =
        header.error().code() == StatusCode::kCorruption && known.id.has_value();
    if (!is_replaced) return header.error();
    *broken = header.error();
    return Identity{known.number, *known.id, std::nullopt};
  }
  if (known.id.has_value() && header->id != *known.id) {
    return CorruptionAt(file.name(), 64, "file id is not the one that the manifest names");
  }
  if (known.number.value != 0 && header->number != known.number) {
    return CorruptionAt(file.name(), 56,
                        Mismatch("file number", known.number.value, header->number.value));
  }
  if (known.database.has_value() && header->database != *known.database) {
    return CorruptionAt(file.name(), 40, "database id is that of another database");
  }
  return Identity{header->number, header->id, uint32_t{1} << header->alignment_log2,
                  (header->incompatible & kIncompatibleOneSequence) != 0};
}

// The sections of a good table block, with the alignment of the header or any that fits.
Result<std::vector<SectionEntry>> DecodeTable(const Block& block,
                                              std::optional<uint32_t> alignment) {
  if (alignment.has_value()) return DecodeSectionTable(block, *alignment, block.offset);
  for (uint8_t log2 = kAlignmentLog2Max; log2 > kAlignmentLog2Min; --log2) {
    Result<std::vector<SectionEntry>> sections =
        DecodeSectionTable(block, uint32_t{1} << log2, block.offset);
    if (sections) return sections;
  }
  return DecodeSectionTable(block, uint32_t{1} << kAlignmentLog2Min, block.offset);
}

}  // namespace

Result<std::unique_ptr<DamagedFile>> DamagedFile::Open(std::unique_ptr<base::File> file,
                                                       const KnownFile& known) {
  ASSIGN_OR_RETURN(const uint64_t size, file->Size());
  Status broken_header;
  ASSIGN_OR_RETURN(const Identity identity, Identify(*file, known, &broken_header));
  std::unique_ptr<DamagedFile> opened(
      new DamagedFile(BlockFile(std::move(file), identity.number, identity.id, nullptr)));
  opened->size_bytes_ = size;
  if (!broken_header.ok()) RETURN_IF_ERROR(opened->Damage(broken_header));
  RETURN_IF_ERROR(opened->FindSections(identity.alignment));
  RETURN_IF_ERROR(opened->ReadSchema(known.table));
  RETURN_IF_ERROR(opened->ReadStatistics());
  if (identity.one_sequence) {
    opened->blocks_.set_first_sequence(
        opened->statistics_.has_value() ? opened->statistics_->min_sequence.value : 0);
  }
  RETURN_IF_ERROR(opened->FindOwners());
  return opened;
}

// Records corruption; other errors are returned.
Status DamagedFile::Damage(const Status& status) {
  if (status.code() != StatusCode::kCorruption) return status;
  damage_.emplace_back(status.message());
  return {};
}

Result<BlockRef> DamagedFile::GoodBlock(const SectionEntry& section, BlockKind kind) const {
  BlockRef found;
  const auto keep = [&](const BlockRef& block, BlockHandle) {
    if (block->kind == kind && found == nullptr) found = block;
    return Status();
  };
  RETURN_IF_ERROR(FindBlocks(blocks_, section.offset, section.offset + section.size_bytes, keep));
  return found;
}

Status DamagedFile::FindSections(std::optional<uint32_t> alignment) {
  Result<std::vector<SectionEntry>> sections = ReadTables(alignment);
  if (!sections) {
    RETURN_IF_ERROR(Damage(sections.error()));
    sections = SearchTables(alignment);
  }
  ASSIGN_OR_RETURN(sections_, std::move(sections));
  const SectionEntry* data = FindSection(sections_, SectionKind::kData);
  if (data == nullptr || data->count == 0 || data->count > kRowsPerFileMax) {
    return blocks_.Corrupt(0, "the section table has no data section");
  }
  row_count_ = static_cast<uint32_t>(data->count);
  return {};
}

// By the footer.
Result<std::vector<SectionEntry>> DamagedFile::ReadTables(std::optional<uint32_t> alignment) {
  if (size_bytes_ < kFileHeaderBytes + kFooterBytes) {
    return blocks_.Corrupt(
        0, Mismatch("file size, at least", kFileHeaderBytes + kFooterBytes, size_bytes_));
  }
  char bytes[kFooterBytes];
  ASSIGN_OR_RETURN(const size_t count, blocks_.file().Read(size_bytes_ - kFooterBytes, bytes));
  ASSIGN_OR_RETURN(const Footer footer,
                   DecodeFooter({bytes, count}, blocks_.id(), size_bytes_, name()));
  Status first;
  for (const uint64_t offset : footer.table_offsets) {
    const Result<BlockRef> block =
        blocks_.ReadUncached({offset, footer.table_bytes}, BlockKind::kSectionTable);
    if (block) {
      if (!first.ok()) RETURN_IF_ERROR(Damage(first));
      return DecodeTable(**block, alignment);
    }
    if (block.error().code() != StatusCode::kCorruption) return block.error();
    if (first.ok()) first = block.error();
  }
  return first;
}

// The last good table anywhere in the file.
Result<std::vector<SectionEntry>> DamagedFile::SearchTables(std::optional<uint32_t> alignment) {
  std::optional<std::vector<SectionEntry>> found;
  const auto keep = [&](const BlockRef& block, BlockHandle) {
    if (block->kind != BlockKind::kSectionTable) return Status();
    Result<std::vector<SectionEntry>> sections = DecodeTable(*block, alignment);
    if (sections) found = *std::move(sections);
    return Status();
  };
  RETURN_IF_ERROR(FindBlocks(blocks_, kFileHeaderBytes, size_bytes_, keep));
  if (!found.has_value()) {
    return blocks_.Corrupt(size_bytes_, "neither footer nor section table can be read");
  }
  return *std::move(found);
}

Status DamagedFile::ReadSchema(const TableRecord* known) {
  const SectionEntry* section = FindSection(sections_, SectionKind::kSchema);
  BlockRef block;
  if (section != nullptr) {
    ASSIGN_OR_RETURN(block, GoodBlock(*section, BlockKind::kSchema));
  }
  if (block != nullptr) {
    ASSIGN_OR_RETURN(StoredSchema schema, DecodeStoredSchema(*block));
    table_ = *schema.table;
    region_start_ = std::move(schema.region_start);
    return {};
  }
  const Status broken = blocks_.Corrupt(section == nullptr ? 0 : section->offset,
                                        "the schema section cannot be read");
  if (known == nullptr) return broken;
  table_ = *known;
  return Damage(broken);
}

Status DamagedFile::ReadStatistics() {
  const SectionEntry* section = FindSection(sections_, SectionKind::kStatistics);
  BlockRef block;
  if (section != nullptr) {
    ASSIGN_OR_RETURN(block, GoodBlock(*section, BlockKind::kStatistics));
  }
  if (block != nullptr) {
    Result<FileStatistics> statistics = DecodeStatistics(*block);
    if (statistics) {
      statistics_ = *std::move(statistics);
      return {};
    }
  }
  return Damage(
      blocks_.Corrupt(section == nullptr ? 0 : section->offset, "the statistics cannot be read"));
}

Status DamagedFile::FindOwners() {
  for (const FamilyRecord& family : table_.families) {
    if (FindSection(sections_, SectionKind::kBlockIndex, family.id.value) != nullptr) {
      owners_.push_back(family.id);
    }
  }
  std::sort(owners_.begin(), owners_.end());
  if (owners_.empty()) return blocks_.Corrupt(0, "the section table has no family of the table");
  if (FindSection(sections_, SectionKind::kBlockIndex, kKeysOwner) != nullptr) {
    owners_.push_back(FamilyId(kKeysOwner));
  }
  return {};
}

}  // namespace tandem::format
