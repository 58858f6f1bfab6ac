// Looking up and revising pairs, counting their memory.
#include "engine/region/overlaps.h"

#include <algorithm>
#include <set>

namespace tandem::engine {

bool OverlapMemory::Reserve(uint64_t bytes) {
  uint64_t used = used_bytes_.load(std::memory_order_relaxed);
  do {
    if (bytes > limit_bytes_ || used > limit_bytes_ - bytes) return false;
  } while (!used_bytes_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  if (whole_ != nullptr && !whole_->Reserve(bytes)) {
    used_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    return false;
  }
  if (account_ != nullptr) account_->Add(base::MemoryPart::kOverlaps, bytes);
  return true;
}

void OverlapMemory::Release(uint64_t bytes) {
  used_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  if (account_ != nullptr) account_->Subtract(base::MemoryPart::kOverlaps, bytes);
  if (whole_ != nullptr) whole_->Release(bytes);
}

bool OverlapCharge::GrowTo(uint64_t bytes) {
  if (bytes <= bytes_) return true;
  if (!memory_->Reserve(bytes - bytes_)) return false;
  bytes_ = bytes;
  return true;
}

void OverlapCharge::ShrinkTo(uint64_t bytes) {
  if (bytes >= bytes_) return;
  memory_->Release(bytes_ - bytes);
  bytes_ = bytes;
}

const RowSet* PairOverlap::Dead(format::IndexId index) const {
  for (const auto& [id, set] : dead) {
    if (id == index) return set.get();
  }
  return nullptr;
}

uint64_t PairOverlap::size_bytes() const {
  std::set<const RowSet*> sets{older_shared.get(), newer_shared.get()};
  for (const auto& [id, set] : dead) sets.insert(set.get());
  uint64_t bytes = sizeof(PairOverlap) + dead.capacity() * sizeof(dead[0]);
  for (const RowSet* set : sets) {
    if (set != nullptr) bytes += set->size_bytes();
  }
  return bytes;
}

const PairOverlap* Overlaps::Find(const Key& key) const {
  const auto found = pairs_.find(key);
  return found == pairs_.end() ? nullptr : found->second.get();
}

std::shared_ptr<const Overlaps> WithPairs(const std::shared_ptr<const Overlaps>& overlaps,
                                          Overlaps::Pairs added) {
  if (overlaps != nullptr) added.insert(overlaps->pairs().begin(), overlaps->pairs().end());
  return std::make_shared<const Overlaps>(std::move(added));
}

std::shared_ptr<const Overlaps> WithoutOthers(const std::shared_ptr<const Overlaps>& overlaps,
                                              std::span<const format::FileNumber> files) {
  if (overlaps == nullptr) return overlaps;
  const auto has_vanished = [files](const Overlaps::Pairs::value_type& pair) {
    return !std::binary_search(files.begin(), files.end(), pair.first.older) ||
           !std::binary_search(files.begin(), files.end(), pair.first.newer);
  };
  const Overlaps::Pairs& pairs = overlaps->pairs();
  if (std::none_of(pairs.begin(), pairs.end(), has_vanished)) return overlaps;
  Overlaps::Pairs kept = pairs;
  std::erase_if(kept, has_vanished);
  return std::make_shared<const Overlaps>(std::move(kept));
}

}  // namespace tandem::engine
