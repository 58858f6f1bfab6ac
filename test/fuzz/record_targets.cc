// Records by themselves: catalog edits, operations, blocks of every kind, lists of postings, index
// keys and typed values.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "format/block_codec.h"
#include "format/block_file.h"
#include "format/block_index_table.h"
#include "format/catalog.h"
#include "format/chunk.h"
#include "format/coding.h"
#include "format/dictionary.h"
#include "format/file_statistics.h"
#include "format/hash.h"
#include "format/index_directory.h"
#include "format/index_key.h"
#include "format/index_leaf.h"
#include "format/postings.h"
#include "format/projection.h"
#include "format/row_block.h"
#include "format/schema.h"
#include "format/section_table.h"
#include "format/stored_schema.h"
#include "format/value_text.h"
#include "test/fuzz/target.h"
#include "test/support/damaged_file.h"
#include "test/support/memory_file.h"
#include "test/support/sample_records.h"
#include "test/support/sample_store_files.h"
#include "wal/operation.h"

namespace tandem::fuzz {
namespace {

// Decoding what was encoded gives the same bytes again.
void RunTable(std::string_view input) {
  const auto table = format::DecodeTable(input);
  if (!table) return;
  std::string first, second;
  format::EncodeTable(*table, &first);
  const auto again = format::DecodeTable(first);
  Expect(again.has_value(), "an encoded table decodes");
  format::EncodeTable(*again, &second);
  Expect(first == second, "a decoded table encodes as before");
}

// An edit of the catalog, or a table, which is a part of edits.
void RunEdit(std::string_view input) {
  RunTable(input);
  const auto edit = format::DecodeEdit(input);
  if (!edit) return;
  std::string encoded;
  format::EncodeEdit(*edit, &encoded);
  Expect(format::DecodeEdit(encoded).has_value(), "an encoded edit decodes");
  format::Catalog catalog;
  catalog.database = test::SampleId(1);
  const bool applied = format::ApplyEdit(*edit, &catalog).ok();
  Expect(!applied || format::CheckCatalog(catalog).ok(), "an edit leaves a sound catalog");
}

std::vector<std::string> EditSeeds() {
  format::CatalogEdit edit = test::SampleTableEdit();
  std::string plain, full, table;
  format::EncodeEdit(edit, &plain);
  edit.add_files.push_back(test::SampleFile(7));
  edit.put_regions[0].files.push_back({format::FileNumber(7), 1, 0, 100});
  edit.add_segments.push_back({format::FileNumber(9), test::SampleId(9)});
  format::EncodeEdit(edit, &full);
  format::EncodeTable(test::SampleTable(), &table);
  return {plain, full, table};
}

// The payload of a group of operations.
void RunOperations(std::string_view input) {
  wal::GroupReader reader(input, format::SequenceNumber(5), -3);
  wal::Operation operation;
  uint32_t count = 0;
  while (reader.Next(&operation)) ++count;
  Expect(!reader.status().ok() || count == reader.sequences(), "every operation is counted");
}

std::vector<std::string> OperationSeeds() {
  wal::BatchEncoder batch;
  batch.BeginOperation(format::TableId(1), "row");
  format::Cell cell;
  cell.qualifier = "column";
  cell.value = "value";
  batch.AddCell(cell, std::nullopt);
  batch.AddCell(cell, -7);
  batch.BeginOperation(format::TableId(2), "other");
  cell = {};
  cell.kind = format::CellKind::kDeleteFamily;
  batch.AddCell(cell, 9);
  std::string payload;
  wal::AppendBatch(batch, &payload);
  wal::AppendBatch(batch, &payload);
  return {payload};
}

constexpr uint64_t kBlockOffset = 4096;
constexpr format::FamilyId kFamily(0);

// A file without bytes, for what blocks say of others, and names for their cells.
const format::BlockFile& EmptyFile() {
  static const format::BlockFile kFile(std::make_unique<test::MemoryFile>(), format::FileNumber(4),
                                       test::kSampleId, nullptr);
  return kFile;
}

void ReadRows(const format::BlockPlace& place, std::string_view stored) {
  const auto rows = format::RowBlock::Decode(place, kFamily, stored);
  if (!rows) return;
  static const format::Dictionary kNoNames;
  const format::Projection all(kNoNames, &EmptyFile());
  std::vector<format::Cell> cells;
  std::string key;
  for (uint32_t slot = 0; slot < std::min<uint32_t>((*rows)->row_count(), 1000); ++slot) {
    (void)(*rows)->Key(slot, &key);
    (void)(*rows)->KeyEquals(slot, key);
    cells.clear();
    (void)(*rows)->Cells(slot, all, &cells);
  }
  Expect((*rows)->LowerBound("k0007") <= (*rows)->row_count(), "a bound is a slot or the end");
  if ((*rows)->is_wide()) (void)(*rows)->AppendFamilyDeletes(&cells);
}

void ReadLeaf(const format::BlockRef& block) {
  const auto leaf = format::IndexLeaf::Parse(block);
  if (!leaf) return;
  std::string key;
  for (uint32_t i = 0; i < std::min<uint32_t>(leaf->value_count(), 1000); ++i) {
    if (!leaf->Key(i, &key)) continue;
    Expect(leaf->LowerBound(key) <= leaf->value_count(), "a bound is a position or the end");
    (void)leaf->EntriesBefore(i);
    format::ByteReader list = leaf->ListAt(leaf->Reference(i));
    (void)list.Varint();
  }
}

void ReadDirectory(std::string_view bytes) {
  const auto directory = format::IndexDirectory::Decode(std::string(bytes));
  if (!directory) return;
  for (const std::string_view key : {"", "k0007", "zz"}) {
    Expect(directory->LeafOf(key) < directory->leaf_count(), "a key belongs to a leaf");
  }
}

void ReadStatistics(const format::Block& block) {
  const auto statistics = format::DecodeStatistics(block);
  if (!statistics) return;
  std::string bytes;
  format::AppendStatistics(*statistics, &bytes);
  Expect(bytes == block.raw(), "decoded statistics encode as before");
}

void ReadPiece(const format::Block& block) {
  const auto piece = format::ParseIndexPiece(block);
  if (!piece) return;
  std::string separator;
  for (uint32_t i = 0; i < std::min<uint32_t>(piece->count(), 1000); ++i) {
    piece->Separator(i, &separator);
    Expect(piece->UpperBound(separator) > i || i == 0, "a separator is at most itself");
  }
}

// What can be read of a block by itself.
void ReadContent(const format::BlockRef& block) {
  using enum format::BlockKind;
  std::vector<format::Cell> cells;
  switch (block->kind) {
    case kChunk:
      if (auto place = format::StatedPlace(*block); place) {
        place->file = &EmptyFile();
        (void)format::DecodeChunk(block, *place, &cells);
      }
      return;
    case kBlockIndex:
      return ReadPiece(*block);
    case kDictionary:
      return (void)format::Dictionary::Decode(block);
    case kIndexLeaf:
      return ReadLeaf(block);
    case kIndexDirectory:
      return ReadDirectory(block->raw());
    case kSchema:
      return (void)format::DecodeStoredSchema(*block);
    case kStatistics:
      return ReadStatistics(*block);
    case kSectionTable:
      return (void)format::DecodeSectionTable(*block, 64, uint64_t{1} << 20);
    default:
      return;
  }
}

// One block, its size made right with its checksum.
void RunBlock(std::string_view input) {
  const Flagged flagged = FlagsOf(input);
  std::string stored(flagged.bytes);
  if (flagged.is_sealed() && stored.size() >= format::kBlockHeaderBytes) {
    format::StoreAt(&stored, 8, static_cast<uint32_t>(stored.size() - format::kBlockHeaderBytes));
    format::StoreAt(&stored, 0,
                    format::Hash64(std::string_view(stored).substr(sizeof(uint64_t)),
                                   format::ChecksumSeed(test::kSampleId, kBlockOffset)));
  }
  static const auto kName = std::make_shared<const std::string>("input");
  const format::BlockPlace place{kName, test::kSampleId, kBlockOffset};
  const format::BlockKind kind = format::ClaimedKind(stored);
  (void)format::CheckPlainBlock(place, kind, stored);
  const auto block = format::DecodeBlock(place, kind, stored);
  if (!block) return;
  if (kind == format::BlockKind::kRows || kind == format::BlockKind::kWideHead) {
    return ReadRows(place, stored);
  }
  ReadContent(*block);
}

// Each kind of block of the sample files, as it is and compressed.
std::vector<std::string> BlockSeeds() {
  constexpr size_t kSeedBytesMax = 4000;
  std::vector<std::string> seeds;
  std::set<format::BlockKind> seen;
  std::vector<std::string> files = test::SmallStoreFiles();
  files.push_back(test::SmallWideRow());
  std::set<format::BlockKind> kinds;
  for (uint8_t kind = 1; kind <= static_cast<uint8_t>(format::BlockKind::kSectionTable); ++kind) {
    kinds.insert(format::BlockKind(kind));
  }
  for (const std::string& bytes : files) {
    for (const auto& place : test::DamageableFile(bytes, test::kSampleId).Places(kinds)) {
      if (place.stored_bytes > kSeedBytesMax || !seen.insert(place.kind).second) continue;
      const std::string stored = bytes.substr(place.offset, place.stored_bytes);
      seeds.push_back(std::string(1, kChecksumsRight) + stored);
      std::string scratch, compressed(1, kChecksumsRight);
      const std::string_view raw = std::string_view(stored).substr(format::kBlockHeaderBytes);
      (void)format::AppendBlock({.kind = place.kind, .raw = raw, .compression = Compression::kZstd},
                                0, &scratch, &compressed);
      seeds.push_back(compressed);
    }
  }
  return seeds;
}

// A list of postings: its form, its count, the rows of the file, and its bytes.
void RunPostingsList(std::string_view input) {
  constexpr uint32_t kRowsMax = 300'000;  // Several containers of a Roaring list.
  format::ByteReader reader(input);
  const uint8_t form = reader.U8();
  format::ListBounds bounds;
  bounds.count = reader.U32() % kRowsMax;
  bounds.row_count = reader.U32() % kRowsMax;
  bounds.wanted.low = reader.U16();
  if (!reader.ok()) return;
  const std::string_view bytes = input.substr(reader.offset());
  std::vector<uint32_t> all, wanted;
  const auto read = [&](format::ListBounds within, std::vector<uint32_t>* out) {
    format::ByteReader small(bytes);
    format::ListPlace place;
    switch (form % 4) {
      case 0:
        return format::ReadSmallList(within, &small, out);
      case 1:
        return format::ReadBlockedList(within, bytes, out);
      case 2:
        return format::ReadRoaringList(within, bytes, out);
      default:
        return format::ReadListPlace(within, &small, &place) && false;
    }
  };
  const bool found_wanted = read(bounds, &wanted);
  bounds.wanted = {};
  if (!read(bounds, &all)) return;
  Expect(all.size() == bounds.count, "a list has as many ordinals as it should");
  for (size_t i = 0; i < all.size(); ++i) {
    Expect(all[i] < bounds.row_count && (i == 0 || all[i - 1] < all[i]), "ordinals rise");
  }
  std::erase_if(all,
                [&](uint32_t ordinal) { return ordinal < format::LoadAt<uint16_t>(input, 9); });
  Expect(found_wanted && wanted == all, "the wanted ordinals are those of the list");
}

std::vector<std::string> PostingsListSeeds() {
  std::vector<std::string> seeds;
  for (const uint32_t step : {1u, 3u, 700u}) {
    for (uint8_t form = 0; form < 3; ++form) {
      std::vector<uint32_t> ordinals;
      for (uint32_t i = 0; i < 140; ++i) ordinals.push_back(i * step);
      std::string seed(1, static_cast<char>(form));
      format::AppendU32(&seed, static_cast<uint32_t>(ordinals.size()));
      format::AppendU32(&seed, ordinals.back() + 1);
      format::AppendU16(&seed, 5);
      if (form == 0) format::AppendSmallList(ordinals, &seed);
      if (form == 1) format::AppendBlockedList(ordinals, &seed);
      if (form == 2) format::AppendRoaringList(ordinals, &seed);
      seeds.push_back(std::move(seed));
    }
  }
  return seeds;
}

constexpr ColumnType kTypes[] = {
    ColumnType::kBytes,    ColumnType::kText,     ColumnType::kInt64,     ColumnType::kUint64,
    ColumnType::kDouble,   ColumnType::kBool,     ColumnType::kTimestamp, ColumnType::kInt64Be,
    ColumnType::kUint64Be, ColumnType::kDoubleBe, ColumnType::kBoolBe,    ColumnType::kTimestampBe};
constexpr size_t kPlainTypes = 7;  // Whose stored values are their text.

void ReadValueText(std::string_view text) {
  (void)format::ParseInt64(text);
  (void)format::ParseUint64(text);
  (void)format::ParseBool(text);
  (void)format::ParseTimestamp(text);
  (void)format::IsUtf8(text);
  if (const auto number = format::ParseDouble(text); number) {
    Expect(format::ParseDouble(format::DoubleText(*number)) == number, "a double is read back");
  }
}

// A byte of type and direction; then an encoded key, and the same bytes as a value.
void RunIndexKey(std::string_view input) {
  if (input.empty()) return;
  const auto choice = static_cast<uint8_t>(input[0]);
  input.remove_prefix(1);
  ReadValueText(input);
  format::IndexColumnRecord column;
  const size_t type = choice / 2 % std::size(kTypes);
  column.type = kTypes[type];
  column.descending = choice % 2 == 1;
  std::string_view rest = input;
  const auto value = format::DecodeIndexKey(column, &rest);
  std::string encoded;
  if (value && type < kPlainTypes) {
    const std::string_view read = input.substr(0, input.size() - rest.size());
    const bool fits = format::AppendIndexKey(column, *value, &encoded).ok();
    Expect(!fits || encoded == read, "a decoded key encodes as before");
  }
  encoded.clear();
  if (!format::AppendIndexKey(column, input, &encoded).ok()) return;
  std::string_view key = encoded;
  Expect(format::DecodeIndexKey(column, &key).has_value() && key.empty(), "an encoded key decodes");
  Expect(format::PresentRange(column).Contains(encoded), "an encoded key is that of a value");
}

std::vector<std::string> IndexKeySeeds() {
  std::vector<std::string> seeds;
  for (uint8_t choice = 0; choice < 2 * kPlainTypes; ++choice) {
    format::IndexColumnRecord column;
    column.type = kTypes[choice / 2];
    column.descending = choice % 2 == 1;
    for (const char* value : {"a", "-17", "1.5e3", "true", "2026-02-28T23:59:59.25+01:00"}) {
      std::string seed(1, static_cast<char>(choice));
      if (format::AppendIndexKey(column, value, &seed).ok()) seeds.push_back(std::move(seed));
    }
  }
  return seeds;
}

}  // namespace

std::span<const Target> RecordTargets() {
  static const Target kTargets[] = {{"catalog_edit", RunEdit, EditSeeds, Shape::kPlain, 2048},
                                    {"operations", RunOperations, OperationSeeds},
                                    {"block", RunBlock, BlockSeeds, Shape::kSealed, 2048},
                                    {"postings_list", RunPostingsList, PostingsListSeeds},
                                    {"index_key", RunIndexKey, IndexKeySeeds}};
  return kTargets;
}

}  // namespace tandem::fuzz
