// Every block of a store file in the order of its bytes, and what one block holds.
#include <algorithm>

#include "base/status_macros.h"
#include "format/block/carver.h"
#include "format/byte_reader.h"
#include "format/cell/dictionary.h"
#include "format/row/block_index_table.h"
#include "format/row/chunk.h"
#include "format/row/wide_row.h"
#include "index/key.h"
#include "index/leaf.h"
#include "store_file/stored_schema.h"
#include "tools/dump/names.h"
#include "tools/dump/store_file.h"
#include "tools/tandem/format_text.h"

namespace tandem::tools {
namespace {

constexpr size_t kCodecOffset = 17;  // In a block's header.
constexpr std::string_view kDamaged = "no good block";

// Ends a walk over blocks that has seen what it wanted.
Status Enough() { return Status::Cancelled("enough"); }

Result<uint8_t> CodecOf(const format::StoreFile& file, uint64_t offset) {
  char codec = 0;
  ASSIGN_OR_RETURN(const size_t count,
                   file.blocks().file().Read(offset + kCodecOffset, {&codec, 1}));
  return count == 1 ? static_cast<uint8_t>(codec) : uint8_t{0};
}

void BeginBlocks(DumpRecords* writer) {
  writer->Begin("block", {"section", "owner", "offset", "kind", "codec", "raw_bytes",
                          "stored_bytes", "first", "count", "first_key", "damage"});
}

Result<format::RowBlockRef> RowsOf(const format::StoreFile& file, const WalkedBlock& walked,
                                   format::FamilyId family) {
  ASSIGN_OR_RETURN(const auto stored, file.blocks().ReadStored(walked.handle));
  return format::RowBlock::Decode(file.blocks().PlaceAt(walked.handle.offset), family,
                                  {stored.get(), walked.handle.stored_bytes});
}

bool HoldsRows(const WalkedBlock& walked) {
  return walked.block != nullptr && (walked.block->kind == format::BlockKind::kRows ||
                                     walked.block->kind == format::BlockKind::kWideHead);
}

Value OwnerOf(const format::StoreFile& file, const WalkedBlock& walked,
              const BlockOwners::Owner& owner) {
  if (walked.section.kind != format::SectionKind::kData) {
    return OwnerName(file.table(), walked.section);
  }
  if (owner.data == nullptr || owner.data->family().value == format::kKeysOwner) return Value();
  return FamilyName(file.table(), owner.data->family());
}

Status AddBlock(const format::StoreFile& file, const WalkedBlock& walked,
                const BlockOwners::Owner& owner, DumpRecords* writer) {
  const Value name = OwnerOf(file, walked, owner);
  if (walked.block == nullptr) {
    writer->Add({SectionName(walked.section.kind), name, walked.handle.offset, Value(), Value(),
                 Value(), walked.handle.stored_bytes, Value(), Value(), Value(), kDamaged});
    return {};
  }
  std::string key;
  if (owner.data != nullptr && HoldsRows(walked)) {
    ASSIGN_OR_RETURN(const auto rows, RowsOf(file, walked, owner.data->family()));
    RETURN_IF_ERROR(rows->Key(0, &key));
  }
  writer->Add({SectionName(walked.section.kind), name, walked.handle.offset,
               BlockKindName(walked.block->kind), CodecName(walked.codec), walked.block->raw_bytes,
               walked.handle.stored_bytes, walked.block->first, walked.block->count,
               key.empty() ? Value() : Value(key), Value()});
  return {};
}

Status NoteDamage(Dump& dump, const format::StoreFile& file, const WalkedBlock& walked) {
  return dump.Note(file.blocks().Corrupt(
      walked.handle.offset, Format("{} bytes are no good block", walked.handle.stored_bytes)));
}

void AddRawBytes(std::string_view raw, DumpRecords* writer) {
  writer->Begin("bytes", {"offset", "hex", "text"});
  for (size_t at = 0; at < raw.size() && !writer->is_full(); at += 16) {
    WriteHexRecord(at, raw.substr(at, 16), writer);
  }
  writer->End();
}

Status AddRows(const format::StoreFile& file, const WalkedBlock& walked,
               const BlockOwners::Owner& owner, DumpRecords* writer) {
  const format::DataSection& data = *owner.data;
  ASSIGN_OR_RETURN(const auto rows, RowsOf(file, walked, data.family()));
  if (rows->is_wide()) {
    const format::WideHead& head = rows->wide_head();
    const Property properties[] = {
        {"row", head.key()},
        {"ordinal", data.OrdinalOf(rows->first())},
        {"cells", head.totals().cells},
        {"bytes", head.totals().bytes},
        {"chunks", head.totals().chunks},
        {"first_chunk", head.totals().first_chunk},
        {"fences", head.fence_count()},
        {"markers", head.marker_count()},
    };
    writer->AddProperties("wide_row", properties);
    return {};
  }
  CellRecords records(file.table(), writer);
  records.Begin();
  std::string key;
  std::vector<format::Cell> cells;
  for (uint32_t slot = 0; slot < rows->row_count(); ++slot) {
    RETURN_IF_ERROR(rows->Key(slot, &key));
    cells.clear();
    RETURN_IF_ERROR(rows->Cells(slot, format::Projection(data.names(), &file.blocks()), &cells));
    const DumpedRow row{key, FamilyName(file.table(), data.family()),
                        data.OrdinalOf(rows->first() + slot)};
    RETURN_IF_ERROR(records.Add(row, cells));
  }
  writer->End();
  return {};
}

Status AddChunk(const format::StoreFile& file, const format::BlockRef& block, DumpRecords* writer) {
  ASSIGN_OR_RETURN(format::ChunkPlace place, format::StatedPlace(*block));
  place.file = &file.blocks();
  std::vector<format::Cell> cells;
  ASSIGN_OR_RETURN(const auto pin, format::DecodeChunk(block, place, &cells));
  // Neither the key of the row nor its family is in a chunk.
  CellRecords records(file.table(), writer);
  records.Begin();
  const Status status = records.Add({}, cells);
  writer->End();
  return status;
}

Status AddLeaf(const format::StoreFile& file, const WalkedBlock& walked, DumpRecords* writer) {
  const auto leaf = format::IndexLeaf::Parse(walked.block);
  if (!leaf.has_value()) return walked.block->Corrupt("a leaf that breaks its table");
  const format::IndexRecord* index = file.table().FindIndex(format::IndexId(walked.section.owner));
  writer->Begin("value", {"value", "entries", "entries_before", "reference"});
  std::string key;
  for (uint32_t i = 0; i < leaf->value_count(); ++i) {
    if (!leaf->Key(i, &key)) return walked.block->Corrupt("a key with malformed lengths");
    std::optional<std::string> value = key;
    if (index != nullptr) {
      ASSIGN_OR_RETURN(value, format::DecodeEntry(*index, key));
    }
    const uint32_t before = leaf->EntriesBefore(i);
    writer->Add({value.has_value() ? Value(*value) : Value(), leaf->EntriesBefore(i + 1) - before,
                 leaf->entries_before() + before, leaf->Reference(i)});
  }
  writer->End();
  return {};
}

Status AddIndexPiece(const format::Block& block, DumpRecords* writer) {
  const auto table = format::ParseIndexPiece(block);
  if (!table.has_value()) return block.Corrupt("a piece of a block index that breaks its table");
  writer->Begin("block_index_entry", {"block", "separator", "offset", "stored_bytes", "first"});
  std::string separator;
  for (uint32_t i = 0; i < table->count(); ++i) {
    table->Separator(i, &separator);
    const format::BlockHandle handle = table->HandleOf(i);
    writer->Add(
        {block.first + i, separator, handle.offset, handle.stored_bytes, table->FirstOf(i)});
  }
  writer->End();
  return {};
}

Status AddNames(const format::BlockRef& block, DumpRecords* writer) {
  ASSIGN_OR_RETURN(const format::Dictionary names, format::Dictionary::Decode(block));
  writer->Begin("column", {"id", "column"});
  for (uint32_t id = 1; id <= names.size(); ++id) writer->Add({id, names.Name(id)});
  writer->End();
  return {};
}

}  // namespace

BlockOwners::BlockOwners(const format::StoreFile& file) {
  std::vector<format::FamilyId> families = file.families();
  families.emplace_back(format::kKeysOwner);
  for (const format::FamilyId family : families) {
    const Result<format::DataSection*> data = file.Family(family);
    if (data && *data != nullptr) next_.push_back({*data, 0});
  }
}

BlockOwners::Owner BlockOwners::Of(uint64_t offset) {
  for (Owner& next : next_) {
    while (next.block < next.data->block_count()) {
      const Result<format::DataBlock> place = next.data->BlockAt(next.block);
      if (!place) {
        ++next.block;  // Its piece is damaged: the owner of these blocks is unknown.
        continue;
      }
      const uint64_t at = place->handle.offset;
      if (at == offset) return next;
      if (at > offset) break;
      ++next.block;
    }
  }
  return {};
}

Status WalkSection(const format::StoreFile& file, const format::SectionEntry& section,
                   const std::function<Result<bool>(const WalkedBlock&)>& visit) {
  const uint64_t end = section.offset + section.size_bytes;
  uint64_t at = section.offset;
  const auto visit_gap = [&](uint64_t until) -> Status {
    if (at >= until) return {};
    const format::BlockRef none;
    const format::BlockHandle gap{at, static_cast<uint32_t>(until - at)};
    ASSIGN_OR_RETURN(const bool goes_on, visit({section, gap, 0, none}));
    return goes_on ? Status() : Enough();
  };
  Status status = format::FindBlocks(
      file.blocks(), section.offset, end,
      [&](const format::BlockRef& block, format::BlockHandle handle) -> Status {
        RETURN_IF_ERROR(visit_gap(handle.offset));
        ASSIGN_OR_RETURN(const uint8_t codec, CodecOf(file, handle.offset));
        ASSIGN_OR_RETURN(const bool goes_on, visit({section, handle, codec, block}));
        at = format::BlockEnd(handle);
        return goes_on ? Status() : Enough();
      });
  if (status.ok()) status = visit_gap(end);
  return status.code() == StatusCode::kCancelled && status.message() == Enough().message()
             ? Status()
             : status;
}

Status DumpBlocks(Dump& dump, const format::StoreFile& file) {
  BlockOwners owners(file);
  BeginBlocks(&dump.writer);
  Status status;
  for (const format::SectionEntry& section : file.sections()) {
    if (!status.ok() || dump.writer.is_full()) break;
    status = WalkSection(file, section, [&](const WalkedBlock& walked) -> Result<bool> {
      if (dump.context.is_interrupted()) return Status::Cancelled("interrupted");
      if (walked.block == nullptr) RETURN_IF_ERROR(NoteDamage(dump, file, walked));
      const bool is_data = section.kind == format::SectionKind::kData;
      const auto owner = is_data ? owners.Of(walked.handle.offset) : BlockOwners::Owner();
      if (is_data && !dump.filter.family().empty() &&
          (owner.data == nullptr ||
           !dump.filter.WantsFamily(FamilyName(file.table(), owner.data->family())))) {
        return true;
      }
      RETURN_IF_ERROR(dump.Note(AddBlock(file, walked, owner, &dump.writer)));
      return !dump.writer.is_full();
    });
  }
  dump.writer.End();
  return status;
}

Status DumpBlockContent(Dump& dump, const format::StoreFile& file, const WalkedBlock& walked) {
  DumpRecords* const writer = &dump.writer;
  const bool is_data = walked.section.kind == format::SectionKind::kData;
  const auto owner = is_data ? BlockOwners(file).Of(walked.handle.offset) : BlockOwners::Owner();
  BeginBlocks(writer);
  const Status added = AddBlock(file, walked, owner, writer);
  writer->End();
  RETURN_IF_ERROR(added);
  if (walked.block == nullptr) {
    RETURN_IF_ERROR(NoteDamage(dump, file, walked));
    const uint64_t begin = walked.handle.offset;
    return DumpHex(dump, begin, begin + walked.handle.stored_bytes);
  }
  switch (walked.block->kind) {
    case format::BlockKind::kRows:
    case format::BlockKind::kWideHead:
      if (owner.data == nullptr) break;
      return AddRows(file, walked, owner, writer);
    case format::BlockKind::kChunk:
      return AddChunk(file, walked.block, writer);
    case format::BlockKind::kIndexLeaf:
      return AddLeaf(file, walked, writer);
    case format::BlockKind::kBlockIndex:
      return AddIndexPiece(*walked.block, writer);
    case format::BlockKind::kDictionary:
      return AddNames(walked.block, writer);
    default:
      break;
  }
  AddRawBytes(walked.block->raw(), writer);
  return {};
}

}  // namespace tandem::tools
