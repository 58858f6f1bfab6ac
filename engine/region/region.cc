// The version is replaced under the mutex. The old one, which may hold the last reference to a
// memstore or file, is released after the mutex.
#include "engine/region/region.h"

#include <algorithm>
#include <utility>

namespace tandem::engine {

std::vector<format::FileNumber> FileNumbers(const RegionVersion& version) {
  std::vector<format::FileNumber> numbers;
  for (const FileSlice& slice : version.files) numbers.push_back(slice.file->store().number());
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

Region::Region(const format::RegionRecord& record, std::shared_ptr<const format::TableRecord> table,
               base::MemoryAccount* account, uint32_t chain_cells_max)
    : id_(record.id),
      table_(std::move(table)),
      start_key_(record.start_key),
      end_key_(record.end_key),
      account_(account),
      chain_cells_max_(chain_cells_max),
      active_(std::make_shared<Memstore>(table_, account_, 0, chain_cells_max_)),
      flushed_through_(record.flushed_through) {
  RegionVersion version;
  version.id = id_;
  version.start_key = start_key_;
  version.end_key = end_key_;
  version.memstores.push_back(active_);
  version_ = std::make_shared<const RegionVersion>(std::move(version));
}

std::shared_ptr<const RegionVersion> Region::version() const {
  base::MutexLock lock(mutex_);
  return version_;
}

void Region::Update(const std::function<void(RegionVersion*)>& change) {
  std::shared_ptr<const RegionVersion> old;
  {
    base::MutexLock lock(mutex_);
    auto next = std::make_shared<RegionVersion>(*version_);
    change(next.get());
    next->overlaps = WithoutOthers(next->overlaps, FileNumbers(*next));
    old = std::exchange(version_, std::move(next));
  }
}

bool Region::SwitchMemstore() {
  if (active_->empty()) return false;
  auto fresh = std::make_shared<Memstore>(table_, account_, active_->row_count(), chain_cells_max_);
  Update([&fresh](RegionVersion* version) { version->memstores.push_back(fresh); });
  active_ = std::move(fresh);
  unlogged_.Switched(flushed_through());
  return true;
}

void Region::Inherit(const RegionVersion& former, std::vector<FileSlice> files) {
  Update([&](RegionVersion* version) {
    version->files = std::move(files);
    version->overlaps = former.overlaps;
    version->memstores.clear();
    for (const auto& memstore : former.memstores) {
      if (!memstore->empty()) version->memstores.push_back(memstore);
    }
    version->memstores.push_back(active_);
  });
}

void Region::Retire() {
  auto empty = std::make_shared<Memstore>(table_, account_, 0, chain_cells_max_);
  Update([&empty](RegionVersion* version) {
    version->is_retired = true;
    version->files.clear();
    version->memstores.assign(1, empty);
  });
  active_ = std::move(empty);
}

int64_t Region::TakeGrowth() {
  const uint64_t bytes = active_->size_bytes();
  return static_cast<int64_t>(bytes - std::exchange(counted_bytes_, bytes));
}

size_t Region::waiting_memstores() const {
  base::MutexLock lock(mutex_);
  return version_->memstores.size() - 1;
}

format::SequenceNumber Region::oldest_unflushed() const {
  const std::shared_ptr<const RegionVersion> pinned = version();
  for (const auto& memstore : pinned->memstores) {
    if (!memstore->empty()) return memstore->min_sequence();
  }
  return format::kSequenceMax;
}

format::SequenceNumber Region::flushed_through() const {
  base::MutexLock lock(mutex_);
  return flushed_through_;
}

void Region::RaiseFlushedThrough(format::SequenceNumber sequence) {
  base::MutexLock lock(mutex_);
  flushed_through_ = std::max(flushed_through_, sequence);
}

std::string Region::Describe() const {
  return "region " + std::to_string(id_.value) + " of table '" + table_->name + "'";
}

void Region::Begin(Work work) {
  base::MutexLock lock(mutex_);
  while (busy(work)) turn_.Wait(mutex_);
  busy(work) = true;
}

bool Region::TryBegin(Work work) {
  base::MutexLock lock(mutex_);
  if (busy(work)) return false;
  return busy(work) = true;
}

void Region::End(Work work) {
  base::MutexLock lock(mutex_);
  busy(work) = false;
  turn_.NotifyAll();
}

format::RegionRecord RecordOf(const Region& region, const RegionVersion& version,
                              format::SequenceNumber flushed_through) {
  format::RegionRecord record;
  record.id = region.id();
  record.table = region.table().id;
  record.start_key = region.start_key();
  record.end_key = region.end_key();
  record.flushed_through = flushed_through;
  for (const FileSlice& slice : version.files) {
    record.files.push_back({.file = slice.file->store().number(),
                            .run = slice.run,
                            .ordinal_low = slice.low,
                            .ordinal_high = slice.high});
  }
  return record;
}

}  // namespace tandem::engine
