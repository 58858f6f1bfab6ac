// Changing blocks and making checksums right again.
#include "test/support/damaged_file.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "format/block/footer.h"
#include "format/block/section_table.h"
#include "format/byte_reader.h"
#include "format/coding.h"
#include "format/file_header.h"
#include "format/hash.h"

namespace tandem::test {
namespace {

// Fields of a block header (format/block/block.h).
constexpr size_t kStoredAt = 8, kRawAt = 12, kKindAt = 16, kFlagsAt = 18;
// Fields of an entry of the section table (format/block/section_table.h).
constexpr size_t kOffsetAt = 16, kSizeAt = 24, kChecksumAt = 40;

constexpr size_t kEditBytes = 8;

// The payload ends `bytes` earlier than the block.
void CutPayload(uint8_t bytes, std::span<char> block) {
  const uint32_t payload = static_cast<uint32_t>(block.size() - format::kBlockHeaderBytes);
  const uint32_t shorter = payload - std::min<uint32_t>(payload, bytes);
  std::memcpy(block.data() + kStoredAt, &shorter, sizeof(shorter));
  std::memcpy(block.data() + kRawAt, &shorter, sizeof(shorter));
  std::fill(block.begin() + static_cast<ptrdiff_t>(format::kBlockHeaderBytes + shorter),
            block.end(), '\0');
}

// One change within `block`, a place's bytes on disk. Kind, codec and stored size of a block stay,
// so that it is still found; its fields from the flags on and its payload do not.
void Apply(std::string_view edit, bool is_block, std::span<char> block) {
  const size_t fixed = is_block ? kFlagsAt : 0;
  format::ByteReader reader(edit.substr(2));
  const uint16_t where = reader.U16();
  const uint8_t what = reader.U8();
  const uint8_t byte = reader.U8();
  const uint16_t number = reader.U16();
  const size_t at = fixed + where % (block.size() - fixed);
  const auto put = [&](auto value) {
    if (block.size() - at < sizeof(value)) return;
    std::memcpy(block.data() + at, &value, sizeof(value));
  };
  switch (what % 8) {
    case 0:
      block[at] = static_cast<char>(byte);
      return;
    case 1:
      block[at] = static_cast<char>(block[at] ^ (1 << byte % 8));
      return;
    case 2:
      block[at] = static_cast<char>(block[at] + static_cast<int8_t>(byte));
      return;
    case 3:
      return put(uint32_t{number});
    case 4:
      return put(~uint64_t{number});
    case 5:
      return put(uint64_t{number} << byte % 64);
    case 6: {  // Bytes move within the block.
      const size_t from = fixed + number % (block.size() - fixed);
      const size_t size = std::min({size_t{byte}, block.size() - at, block.size() - from});
      std::memmove(block.data() + at, block.data() + from, size);
      return;
    }
    default:
      if (is_block) CutPayload(byte, block);
  }
}

}  // namespace

DamageableFile::DamageableFile(std::string bytes, const format::FileId& id)
    : bytes_(std::move(bytes)), id_(id) {
  const size_t footer_at = bytes_.size() - format::kFooterBytes;
  const auto footer = format::DecodeFooter(std::string_view(bytes_).substr(footer_at), id_,
                                           bytes_.size(), "sample");
  CHECK(footer.has_value());
  places_.push_back({0, format::kFileHeaderBytes, kNoBlock});
  for (const size_t copy : {size_t{0}, format::kFooterBytes / 2}) {
    places_.push_back({footer_at + copy, format::kFooterBytes / 2, kNoBlock});
  }
  for (const uint64_t offset : footer->table_offsets) {
    tables_.push_back({offset, footer->table_bytes, format::BlockKind::kSectionTable});
    places_.push_back(tables_.back());
  }
  const std::string_view table =
      std::string_view(bytes_).substr(tables_[0].offset, tables_[0].stored_bytes);
  for (uint32_t i = 0; i < footer->sections; ++i) {
    const size_t entry = format::kBlockHeaderBytes + i * format::kSectionEntryBytes;
    const uint64_t offset = format::LoadAt<uint64_t>(table, entry + kOffsetAt);
    FindBlocks(offset, offset + format::LoadAt<uint64_t>(table, entry + kSizeAt));
  }
}

void DamageableFile::FindBlocks(uint64_t begin, uint64_t end) {
  while (begin < end) {
    Place block;
    block.offset = begin;
    block.stored_bytes = static_cast<uint32_t>(format::kBlockHeaderBytes) +
                         format::LoadAt<uint32_t>(bytes_, begin + kStoredAt);
    block.kind = static_cast<format::BlockKind>(bytes_[begin + kKindAt]);
    CHECK(bytes_[begin + kKindAt + 1] == 0);
    places_.push_back(block);
    begin = format::AlignUp(begin + block.stored_bytes, format::kBlockAlignment);
  }
}

std::vector<DamageableFile::Place> DamageableFile::Places(
    const std::set<format::BlockKind>& kinds) const {
  std::vector<Place> chosen;
  std::copy_if(places_.begin(), places_.end(), std::back_inserter(chosen),
               [&](const Place& place) { return kinds.contains(place.kind); });
  return chosen;
}

std::string DamageableFile::Change(std::span<const Place> places, std::string_view edits,
                                   Checksums checksums) const {
  std::string file = bytes_;
  if (places.empty()) return file;
  std::set<size_t> changed;
  for (; edits.size() >= kEditBytes; edits.remove_prefix(kEditBytes)) {
    const size_t chosen = format::LoadAt<uint16_t>(edits, 0) % places.size();
    const Place& place = places[chosen];
    Apply(edits.substr(0, kEditBytes), place.kind != kNoBlock,
          std::span(file).subspan(place.offset, place.stored_bytes));
    changed.insert(chosen);
  }
  if (checksums == Checksums::kLeft) return file;
  for (const size_t place : changed) Seal(places[place], &file);
  SealSections(&file);
  return file;
}

// The checksum of a block comes before what it covers, which is what the header now says the block
// is; those of the header and of a copy of the footer follow.
void DamageableFile::Seal(const Place& place, std::string* file) const {
  const uint64_t seed = place.offset == 0 ? 0 : format::ChecksumSeed(id_, place.offset);
  if (place.kind == kNoBlock) {
    const size_t covered = place.stored_bytes - sizeof(uint64_t);
    format::StoreAt(file, place.offset + covered,
                    format::Hash64(std::string_view(*file).substr(place.offset, covered), seed));
    return;
  }
  const uint32_t payload = format::LoadAt<uint32_t>(*file, place.offset + kStoredAt);
  const std::string_view covered = std::string_view(*file).substr(
      place.offset + sizeof(uint64_t), format::kBlockHeaderBytes - sizeof(uint64_t) + payload);
  format::StoreAt(file, place.offset, format::Hash64(covered, seed));
}

void DamageableFile::SealSections(std::string* file) const {
  for (const Place& table : tables_) {
    size_t entry = table.offset + format::kBlockHeaderBytes;
    const size_t end = table.offset + table.stored_bytes;
    for (; entry + format::kSectionEntryBytes <= end; entry += format::kSectionEntryBytes) {
      const uint64_t offset = format::LoadAt<uint64_t>(*file, entry + kOffsetAt);
      const uint64_t size = format::LoadAt<uint64_t>(*file, entry + kSizeAt);
      if (offset > file->size() || size > file->size() - offset) continue;
      format::StoreAt(file, entry + kChecksumAt,
                      format::Hash64(std::string_view(*file).substr(offset, size)));
    }
    Seal(table, file);
  }
}

}  // namespace tandem::test
