// The families of a store file, and rows by key: searches go through the key carrier, whose
// positions are the ordinals.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/status_macros.h"
#include "format/block/section_table.h"
#include "store_file/store_file.h"
#include "store_file/store_file_impl.h"

namespace tandem::format {
namespace {

// Prefetches the first hashes.
void Prefetch(std::span<const uint64_t> hashes) {
  constexpr size_t kHashesOfLine = 8, kHashesMax = 64;
  for (size_t i = 0; i < std::min(hashes.size(), kHashesMax); i += kHashesOfLine) {
    __builtin_prefetch(&hashes[i]);
  }
}

// The rows of a block whose hashes have the tag of `hash`, in order; usually one or none.
class Tagged {
 public:
  static constexpr size_t kMax = 4;

  /// Finds up to kMax of them from row `from` of the block on. Requires: from <= block.count.
  Tagged(const TaggedHashes& all, const DataBlock& block, uint64_t hash, uint32_t from) {
    constexpr uint64_t kOnes = 0x0101010101010101, kTops = kOnes << 7;
    const uint8_t* const tags = all.tags.data() + block.first;
    const uint64_t pattern = kOnes * TaggedHashes::TagOf(hash);
    next_ = from;
    while (next_ < block.count) {
      uint64_t word = 0;
      std::memcpy(&word, tags + next_, sizeof(word));
      word ^= pattern;
      // The top bit of each byte that is zero, and perhaps of some that is 1 and after such a one.
      uint64_t zeros = (word - kOnes) & ~word & kTops;
      for (; zeros != 0; zeros &= zeros - 1) {
        const auto slot = next_ + static_cast<uint32_t>(__builtin_ctzll(zeros)) / 8;
        if (slot >= block.count) break;
        slots_[count_++] = slot;
        if (count_ < kMax) continue;
        next_ = slot + 1;
        return;
      }
      next_ += sizeof(word);
    }
  }
  std::span<const uint32_t> slots() const { return {slots_.data(), count_}; }
  /// The row to go on with. At least block.count: there are no more.
  uint32_t next() const { return next_; }

 private:
  std::array<uint32_t, kMax> slots_;
  size_t count_ = 0;
  uint32_t next_ = 0;
};

// The first position of `hash`, or hashes.size().
size_t FindHash(std::span<const uint64_t> hashes, uint64_t hash) {
  constexpr size_t kStep = 16;  // Compared without a branch between them.
  size_t at = 0;
  for (; at + kStep <= hashes.size(); at += kStep) {
    bool any = false;
    for (size_t i = 0; i < kStep; ++i) any |= hashes[at + i] == hash;
    if (any) break;
  }
  return static_cast<size_t>(std::find(hashes.begin() + at, hashes.end(), hash) - hashes.begin());
}

}  // namespace

TaggedHashes::TaggedHashes(base::PageVector<uint64_t> of_rows) : hashes(std::move(of_rows)) {
  const size_t size = hashes.size() + sizeof(uint64_t) - 1;
  base::ReserveAtOnce(size, &tags);
  tags.resize(size);
  std::transform(hashes.begin(), hashes.end(), tags.begin(), TagOf);
}

Result<DataSection> StoreFile::Impl::LoadData(FamilyId owner, bool with_top) const {
  DataPlaces places;
  places.data = &Section(SectionKind::kData);
  places.index = &Section(SectionKind::kBlockIndex, owner.value);
  if (with_top) places.top = FindSection(sections, SectionKind::kBlockIndexTop, owner.value);
  places.names = FindSection(sections, SectionKind::kDictionary, owner.value);
  places.presence = FindSection(sections, SectionKind::kPresence, owner.value);
  return DataSection::Load(blocks, places, owner, statistics.rows);
}

// Loads a family without the top of its block index when that is broken: the top adds nothing to
// the pieces.
Result<DataSection> StoreFile::LoadBesideDamage(FamilyId owner) const {
  Result<DataSection> loaded = impl_->LoadData(owner, /*with_top=*/true);
  const SectionEntry* top = FindSection(impl_->sections, SectionKind::kBlockIndexTop, owner.value);
  if (loaded || top == nullptr || loaded.error().code() != StatusCode::kCorruption) return loaded;
  ASSIGN_OR_RETURN(const bool is_sound, IsSectionSound(*top));
  if (is_sound || !GoesOnWithout(SectionKind::kBlockIndexTop, {}, loaded.error())) return loaded;
  return impl_->LoadData(owner, /*with_top=*/false);
}

Result<DataSection*> StoreFile::LoadFamily(FamilyId owner) const {
  const auto found = impl_->data.find(owner);
  if (found == impl_->data.end()) return static_cast<DataSection*>(nullptr);
  return found->second.Get([&] { return LoadBesideDamage(owner); });
}

Result<DataSection*> StoreFile::Family(FamilyId family) const { return LoadFamily(family); }

Result<DataSection*> StoreFile::Carrier() const { return LoadFamily(impl_->carrier); }

Result<uint32_t> StoreFile::LowerBound(std::string_view key) {
  ASSIGN_OR_RETURN(const DataSection* carrier, Carrier());
  ASSIGN_OR_RETURN(const uint32_t block, carrier->BlockOfKey(key));
  ASSIGN_OR_RETURN(const RowBlockRef rows, carrier->ReadRows(block));
  return rows->first() + rows->LowerBound(key);
}

// As FindByHash, by the keys of the only block that may hold the row.
Result<std::optional<StoreFile::FoundRow>> StoreFile::FindByKey(const DataSection& carrier,
                                                                uint32_t block,
                                                                std::string_view key) {
  ASSIGN_OR_RETURN(RowBlockRef rows, carrier.ReadRows(block));
  const uint32_t slot = rows->LowerBound(key);
  if (slot == rows->row_count()) return std::optional<FoundRow>();
  ASSIGN_OR_RETURN(const bool is_there, rows->KeyEquals(slot, key));
  if (!is_there) return std::optional<FoundRow>();
  return std::optional(FoundRow{Ordinal(rows->first() + slot), block, std::move(rows)});
}

// The first searches of a file read a block each. All hashes are loaded when blocks that were read
// in vain have about as many bytes: before, a cold get would read megabytes for one row; after, a
// search for a row that is not here is spared a block. One that is here is only found faster.
Result<std::optional<StoreFile::FoundRow>> StoreFile::FindByHash(std::string_view key,
                                                                 uint64_t hash) {
  constexpr uint64_t kBytesInVain = 4096, kBytesOfFound = 1024;
  ASSIGN_OR_RETURN(const DataSection* carrier, Carrier());
  std::span<const uint64_t> hashes = LoadedKeyHashes();
  std::atomic<uint64_t>& searched_bytes = impl_->searched_bytes;
  if (hashes.empty() &&
      searched_bytes.load(std::memory_order_relaxed) >= row_count() * sizeof(uint64_t)) {
    ASSIGN_OR_RETURN(hashes, KeyHashes());
  }
  ASSIGN_OR_RETURN(const uint32_t place, carrier->BlockOfKey(key));
  if (hashes.empty()) {
    auto found = FindByKey(*carrier, place, key);
    const bool is_found = found.has_value() && found->has_value();
    searched_bytes.fetch_add(is_found ? kBytesOfFound : kBytesInVain, std::memory_order_relaxed);
    return found;
  }
  const TaggedHashes& tagged = impl_->key_hashes.loaded()->value;
  ASSIGN_OR_RETURN(const DataBlock block, carrier->BlockAt(place));
  __builtin_prefetch(tagged.tags.data() + block.first);
  carrier->PrefetchRows(place);
  for (uint32_t from = 0; from < block.count;) {
    const Tagged found(tagged, block, hash, from);
    // A row that is found is usually read next: prefetching lets the cache misses of all overlap.
    for (const uint32_t slot : found.slots()) {
      __builtin_prefetch(&hashes[block.first + slot]);
      carrier->PrefetchSlot(place, block.count, slot);
    }
    for (const uint32_t slot : found.slots()) {
      if (hashes[block.first + slot] != hash) continue;
      RowBlockRef rows = carrier->RememberedRows(place);
      if (rows != nullptr && slot < rows->row_count()) rows->PrefetchRow(slot);
      return std::optional(FoundRow{Ordinal(block.first + slot), place, std::move(rows)});
    }
    from = found.next();
  }
  return std::optional<FoundRow>();
}

// As FindEachByHash, by FindByKey. The filter spares most keys that are not here a block.
Status StoreFile::FindEachByKey(const DataSection& carrier, std::span<const HashedKey> keys,
                                std::vector<uint32_t>* ordinals) {
  uint32_t place = 0;
  for (const HashedKey& key : keys) {
    ASSIGN_OR_RETURN(const bool may_be_here, MayContain(key.hash));
    if (!may_be_here) continue;
    ASSIGN_OR_RETURN(place, carrier.BlockOfKey(key.bytes, place));
    ASSIGN_OR_RETURN(const auto found, FindByKey(carrier, place, key.bytes));
    if (found.has_value()) ordinals->push_back(found->ordinal.value);
  }
  return {};
}

// In batches: finds the blocks and prefetches their hashes, then searches them.
Status StoreFile::FindEachByHash(std::span<const HashedKey> keys, std::vector<uint32_t>* ordinals) {
  constexpr size_t kTogether = 16;
  if (keys.empty()) return {};
  ASSIGN_OR_RETURN(const DataSection* carrier, Carrier());
  ASSIGN_OR_RETURN(const std::span<const uint64_t> hashes, KeyHashes());
  if (hashes.empty()) return FindEachByKey(*carrier, keys, ordinals);
  std::array<DataBlock, kTogether> blocks;
  uint32_t place = 0;
  for (; !keys.empty(); keys = keys.subspan(std::min(keys.size(), kTogether))) {
    const size_t count = std::min(keys.size(), kTogether);
    for (size_t i = 0; i < count; ++i) {
      ASSIGN_OR_RETURN(place, carrier->BlockOfKey(keys[i].bytes, place));
      ASSIGN_OR_RETURN(blocks[i], carrier->BlockAt(place));
      Prefetch(hashes.subspan(blocks[i].first, blocks[i].count));
    }
    for (size_t i = 0; i < count; ++i) {
      const std::span<const uint64_t> here = hashes.subspan(blocks[i].first, blocks[i].count);
      const size_t at = FindHash(here, keys[i].hash);
      if (at < here.size()) ordinals->push_back(blocks[i].first + static_cast<uint32_t>(at));
    }
  }
  return {};
}

}  // namespace tandem::format
