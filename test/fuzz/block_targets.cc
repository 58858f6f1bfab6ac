// Single blocks of every kind, compressed or not, and what can be read of each by itself.
#include <algorithm>
#include <memory>
#include <set>

#include "format/block/block_codec.h"
#include "format/block/block_file.h"
#include "format/block/section_table.h"
#include "format/byte_reader.h"
#include "format/cell/dictionary.h"
#include "format/cell/projection.h"
#include "format/coding.h"
#include "format/hash.h"
#include "format/row/block_index_table.h"
#include "format/row/chunk.h"
#include "format/row/row_block.h"
#include "index/directory.h"
#include "index/leaf.h"
#include "store_file/file_statistics.h"
#include "store_file/stored_schema.h"
#include "test/fuzz/target.h"
#include "test/support/damaged_file.h"
#include "test/support/sample_store_files.h"
#include "tools/simulation/memory_file.h"

namespace tandem::fuzz {
namespace {

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
  for (uint8_t kind = 1; kind <= static_cast<uint8_t>(format::BlockKind::kIndexRecordDirectory);
       ++kind) {
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

}  // namespace

std::span<const Target> BlockTargets() {
  static const Target kTargets[] = {{"block", RunBlock, BlockSeeds, Shape::kSealed, 2048}};
  return kTargets;
}

}  // namespace tandem::fuzz
