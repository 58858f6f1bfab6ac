// The parts of an open store file, each loaded when first used and checked while it is loaded.
#include "store_file/store_file.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "format/block/bitmap_section.h"
#include "format/block/sequential_reader.h"
#include "format/byte_reader.h"
#include "format/corruption.h"
#include "store_file/store_file_impl.h"

namespace tandem::format {
namespace {

Result<base::PageVector<uint64_t>> ReadKeyHashes(const BlockFile& file,
                                                 const SectionEntry& section) {
  base::PageVector<uint64_t> hashes;
  base::ReserveAtOnce(section.count, &hashes);
  SequentialReader reader(file, section);
  while (hashes.size() < section.count) {
    ASSIGN_OR_RETURN(const BlockRef block, reader.Next(BlockKind::kKeyHashes));
    const uint64_t count = std::min<uint64_t>(kKeyHashesPerBlock, section.count - hashes.size());
    if (block->first != hashes.size() || block->count != count ||
        block->raw_bytes != count * sizeof(uint64_t)) {
      return block->Corrupt("block of key hashes breaks its layout");
    }
    for (uint64_t i = 0; i < count; ++i) {
      hashes.push_back(LoadAt<uint64_t>(block->raw(), i * sizeof(uint64_t)));
    }
  }
  if (!reader.done()) return file.Corrupt(reader.offset(), "key hashes have bytes left");
  return hashes;
}

}  // namespace

StoreFile::StoreFile(Private, std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
StoreFile::~StoreFile() = default;

FileNumber StoreFile::number() const { return impl_->blocks.number(); }
const FileId& StoreFile::id() const { return impl_->blocks.id(); }
uint64_t StoreFile::size_bytes() const { return impl_->size_bytes; }
bool StoreFile::writable() const { return impl_->writable; }
const TableRecord& StoreFile::table() const { return *impl_->table; }
const std::string& StoreFile::region_start() const { return impl_->region_start; }
const FileStatistics& StoreFile::statistics() const { return impl_->statistics; }
const std::vector<SectionEntry>& StoreFile::sections() const { return impl_->sections; }
uint32_t StoreFile::row_count() const { return impl_->statistics.rows; }
bool StoreFile::all_clean() const { return impl_->statistics.clean_rows == impl_->statistics.rows; }
const BlockFile& StoreFile::blocks() const { return impl_->blocks; }
const std::vector<FamilyId>& StoreFile::families() const { return impl_->families; }

Result<bool> StoreFile::MayContain(uint64_t hash) {
  ASSIGN_OR_RETURN(const BloomFilter* filter, Filter());
  return filter == nullptr || filter->MayContain(hash);
}

Result<BloomFilter> StoreFile::ReadFilter() const {
  return BloomFilter::Read(impl_->blocks, impl_->Section(SectionKind::kFilter));
}

Result<const BloomFilter*> StoreFile::Filter() {
  using Loaded = base::Charged<BloomFilter>;
  if (const Loaded* loaded = impl_->filter.loaded(); loaded != nullptr) return &loaded->value;
  const BlockFile& blocks = impl_->blocks;
  const uint64_t stored_bytes = impl_->Section(SectionKind::kFilter).size_bytes;
  if (!blocks.Fits(base::MemoryPart::kFilters, stored_bytes)) {
    return static_cast<const BloomFilter*>(nullptr);
  }
  ASSIGN_OR_RETURN(const Loaded* loaded, impl_->filter.Get([&]() -> Result<Loaded> {
    Result<BloomFilter> filter = ReadFilter();
    if (!filter && GoesOnWithout(SectionKind::kFilter, {}, filter.error())) filter = MakeFilter();
    if (!filter) return filter.error();
    const uint64_t bytes = filter->size_bytes();
    return Loaded{*std::move(filter), blocks.Charge(base::MemoryPart::kFilters, bytes)};
  }));
  return &loaded->value;
}

Result<std::span<const uint64_t>> StoreFile::KeyHashes() {
  if (const std::span<const uint64_t> loaded = LoadedKeyHashes(); !loaded.empty()) return loaded;
  BlockCache* const cache = impl_->blocks.cache();
  if (cache == nullptr) return AllKeyHashes();
  const uint64_t bytes = row_count() * TaggedHashes::kBytesOfRow;
  if (!cache->Fits(base::MemoryPart::kKeyHashes, bytes)) return std::span<const uint64_t>();
  return AllKeyHashes();
}

Result<std::span<const uint64_t>> StoreFile::AllKeyHashes() {
  using Loaded = base::Charged<TaggedHashes>;
  const BlockFile& blocks = impl_->blocks;
  ASSIGN_OR_RETURN(const Loaded* loaded, impl_->key_hashes.Get([&]() -> Result<Loaded> {
    base::MemoryCharge charge =
        blocks.Charge(base::MemoryPart::kKeyHashes, row_count() * TaggedHashes::kBytesOfRow);
    Result<base::PageVector<uint64_t>> hashes =
        ReadKeyHashes(blocks, impl_->Section(SectionKind::kKeyHashes));
    if (!hashes && GoesOnWithout(SectionKind::kKeyHashes, {}, hashes.error())) {
      hashes = MakeKeyHashes();
    }
    if (!hashes) return hashes.error();
    return Loaded{TaggedHashes(*std::move(hashes)), std::move(charge)};
  }));
  return std::span<const uint64_t>(loaded->value.hashes);
}

std::span<const uint64_t> StoreFile::LoadedKeyHashes() const {
  const base::Charged<TaggedHashes>* loaded = impl_->key_hashes.loaded();
  return loaded == nullptr ? std::span<const uint64_t>() : loaded->value.hashes;
}

Result<const Bitmap*> StoreFile::CleanRows() {
  using Loaded = base::Charged<Bitmap>;
  const BlockFile& blocks = impl_->blocks;
  ASSIGN_OR_RETURN(const Loaded* loaded, impl_->clean_rows.Get([&]() -> Result<Loaded> {
    Result<Bitmap> clean =
        ReadBitmapSection(blocks, impl_->Section(SectionKind::kCleanRows), row_count());
    if (!clean && GoesOnWithout(SectionKind::kCleanRows, {}, clean.error())) {
      clean = Bitmap(row_count());
    }
    if (!clean) return clean.error();
    const uint64_t bytes = clean->memory_bytes();
    return Loaded{*std::move(clean), blocks.Charge(base::MemoryPart::kBitmaps, bytes)};
  }));
  return &loaded->value;
}

Result<IndexSection*> StoreFile::Index(IndexId index) {
  const auto found = impl_->indexes.find(index);
  if (found == impl_->indexes.end() ||
      impl_->broken_indexes.at(index).load(std::memory_order_relaxed)) {
    return static_cast<IndexSection*>(nullptr);
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<IndexSection>* section, found->second.Get([&] {
    return IndexSection::Open(impl_->blocks, impl_->sections, index, impl_->statistics.rows);
  }));
  return section->get();
}

bool StoreFile::MayHaveExpired(std::span<const FamilyRecord> families, int64_t now_micros) const {
  for (const FamilyRecord& family : families) {
    const std::optional<int64_t> expired =
        family.ExpiredThrough(now_micros, impl_->statistics.min_sequence);
    if (!expired.has_value()) continue;
    for (const ColumnTimes& times : impl_->statistics.family_times) {
      if (times.family == family.id && times.min_timestamp <= *expired) return true;
    }
  }
  return false;
}

bool StoreFile::ShowsCurrentEntries(std::span<const FamilyRecord> families,
                                    SequenceNumber sequence) const {
  const SequenceNumber min = impl_->statistics.min_sequence, max = impl_->statistics.max_sequence;
  return max <= sequence && std::ranges::none_of(families, [&](const FamilyRecord& family) {
           return family.ChangedWithin(min, max);
         });
}

}  // namespace tandem::format
