// Continues without broken derived sections. Their replacements are computed from the rows, so the
// answers are those that the sections would have given, or more conservative.
#include <utility>

#include "base/status_macros.h"
#include "format/hash.h"
#include "format/row/block_places.h"
#include "store_file/store_file_impl.h"

namespace tandem::format {
void StoreFile::GoOnWithout(BrokenSink tell) { impl_->tell_broken = std::move(tell); }

bool StoreFile::has_broken_section() const {
  return impl_->has_broken.load(std::memory_order_relaxed);
}

// Whether `why` is damage to a section that is not needed; if so, reports it.
bool StoreFile::GoesOnWithout(SectionKind kind, std::optional<IndexId> index,
                              const Status& why) const {
  if (impl_->tell_broken == nullptr || why.code() != StatusCode::kCorruption) return false;
  std::atomic<bool>& was_told = index.has_value()
                                    ? impl_->broken_indexes.at(*index)
                                    : impl_->broken_kinds.at(static_cast<size_t>(kind));
  if (was_told.load(std::memory_order_relaxed)) return true;
  // Made first: where there is no memory for it, the next reader reports the section.
  const BrokenSection broken{kind, index, std::string(why.message())};
  impl_->has_broken.store(true, std::memory_order_relaxed);
  if (!was_told.exchange(true, std::memory_order_relaxed)) impl_->tell_broken(*this, broken);
  return true;
}

void StoreFile::MarkIndexBroken(IndexId index, const Status& why) {
  if (!impl_->indexes.contains(index)) return;
  GoesOnWithout(SectionKind::kIndexLeaves, index, why);
}

Result<bool> StoreFile::FindBrokenIndexes() {
  bool any = false;
  for (const SectionEntry& section : impl_->sections) {
    const bool is_of_all = section.kind == SectionKind::kDigests;
    if (!IsIndexSection(section.kind) && !is_of_all) continue;
    ASSIGN_OR_RETURN(const bool is_sound, IsSectionSound(section));
    if (is_sound) continue;
    const Status why = impl_->blocks.Corrupt(section.offset, "checksum of a section of an index");
    for (const auto& [index, loaded] : impl_->indexes) {
      if (is_of_all || index.value == section.owner) any |= GoesOnWithout(section.kind, index, why);
    }
  }
  return any;
}

// Computes the key hashes from the key carrier.
Result<base::PageVector<uint64_t>> StoreFile::MakeKeyHashes() const {
  base::PageVector<uint64_t> hashes;
  hashes.reserve(row_count());
  ASSIGN_OR_RETURN(const DataSection* carrier, Carrier());
  BlockPlaces places(*carrier);
  std::string key;
  for (uint32_t block = 0; block < carrier->block_count(); ++block) {
    ASSIGN_OR_RETURN(const DataBlock place, places.MoveTo(block));
    ASSIGN_OR_RETURN(const RowBlockRef rows, carrier->ReadRowsUncached(place));
    for (uint32_t slot = 0; slot < rows->row_count(); ++slot) {
      RETURN_IF_ERROR(rows->Key(slot, &key));
      hashes.push_back(RowHash(key, table().hash_secret));
    }
  }
  return hashes;
}

Result<BloomFilter> StoreFile::MakeFilter() {
  ASSIGN_OR_RETURN(const std::span<const uint64_t> hashes, AllKeyHashes());
  BloomFilter filter(hashes.size());
  for (const uint64_t hash : hashes) filter.Add(hash);
  return filter;
}

}  // namespace tandem::format
