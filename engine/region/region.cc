// The version is replaced under the mutex. The old one, which may hold the last reference to a
// memstore or file, is released after the mutex.
#include "engine/region/region.h"

#include <algorithm>
#include <span>
#include <utility>

namespace tandem::engine {

Status Gone(const Region& region) {
  return Status::NotFound(region.Describe() + " is gone already");
}

std::vector<format::FileNumber> FileNumbers(const RegionVersion& version) {
  std::vector<format::FileNumber> numbers;
  for (const FileSlice& slice : version.files) numbers.push_back(slice.file->store().number());
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

namespace {

// A pair of a neighbour tells which file is older for the rows there; where both files have rows
// here, their order in the list says the same.
bool AreInOrder(std::span<const FileSlice> files, const Overlaps::Key& pair) {
  const auto place = [&files](format::FileNumber number) {
    return std::find_if(files.begin(), files.end(), [number](const FileSlice& slice) {
      return slice.file->store().number() == number;
    });
  };
  return place(pair.older) < place(pair.newer);
}

}  // namespace

Region::Region(const format::RegionRecord& record, std::shared_ptr<const format::TableRecord> table,
               base::MemoryAccount* account, uint32_t chain_cells_max)
    : id_(record.id),
      table_id_(table->id),
      start_key_(record.start_key),
      end_key_(record.end_key),
      start_by_size_(record.start_by_size),
      account_(account),
      chain_cells_max_(chain_cells_max),
      active_(std::make_shared<Memstore>(table, account_, 0, chain_cells_max_)),
      table_(std::move(table)),
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
  std::shared_ptr<const RegionVersion> old, current;
  std::vector<format::FileNumber> files;
  {
    base::MutexLock lock(mutex_);
    auto next = std::make_shared<RegionVersion>(*version_);
    change(next.get());
    files = FileNumbers(*next);
    next->overlaps = WithoutOthers(next->overlaps, files);
    current = next;
    old = std::exchange(version_, std::move(next));
  }
  for (const auto& memstore : current->memstores) memstore->DropDerivedOfOthers(files);
}

bool Region::SwitchMemstore() {
  if (shares_memstore_) return false;
  const std::shared_ptr<const format::TableRecord> table = this->table();
  const bool is_empty = active_->empty();
  if (is_empty && &active_->table() == table.get()) return false;
  SwitchTo(std::make_shared<Memstore>(table, account_, active_->row_count(), chain_cells_max_));
  return !is_empty;
}

// An empty memstore has nothing to wait for.
void Region::SwitchTo(std::shared_ptr<Memstore> next) {
  Update([&](RegionVersion* version) {
    if (active_->empty()) version->memstores.pop_back();
    version->memstores.push_back(next);
  });
  active_ = std::move(next);
  unlogged_.Switched(flushed_through());
}

void Region::ShareMemstore(Region& other) {
  auto shared = std::make_shared<Memstore>(table(), account_, 0, chain_cells_max_);
  SwitchTo(shared);
  other.SwitchTo(std::move(shared));
  shares_memstore_ = other.shares_memstore_ = true;
}

// Both leave the shared memstore, since each will flush its part of it alone.
void Region::EndSharing(Region& other) {
  auto own = std::make_shared<Memstore>(table(), account_, 0, chain_cells_max_);
  auto others = std::make_shared<Memstore>(table(), account_, 0, chain_cells_max_);
  SwitchTo(std::move(own));
  other.SwitchTo(std::move(others));
  shares_memstore_ = other.shares_memstore_ = false;
}

void Region::Unite(const Region& left, const Region& right, std::vector<FileSlice> files) {
  Overlaps::Pairs pairs;
  format::SequenceNumber changed_through;
  for (const Region* part : {&left, &right}) {
    const std::shared_ptr<const RegionVersion> former = part->version();
    changed_through = std::max(changed_through, former->changed_through);
    if (former->overlaps == nullptr) continue;
    pairs.insert(former->overlaps->pairs().begin(), former->overlaps->pairs().end());
  }
  std::erase_if(pairs, [&files](const auto& pair) { return !AreInOrder(files, pair.first); });
  Update([&](RegionVersion* version) {
    version->files = std::move(files);
    if (!pairs.empty()) version->overlaps = WithPairs(nullptr, std::move(pairs));
    version->memstores.assign(1, left.active_);
    version->changed_through = changed_through;
  });
  active_ = left.active_;
}

void Region::Inherit(const RegionVersion& former, std::vector<FileSlice> files) {
  Update([&](RegionVersion* version) {
    version->files = std::move(files);
    version->overlaps = former.overlaps;
    version->changed_through = former.changed_through;
    version->memstores.clear();
    for (const auto& memstore : former.memstores) {
      if (!memstore->empty()) version->memstores.push_back(memstore);
    }
    version->memstores.push_back(active_);
  });
}

Region::Retirement Region::PrepareRetirement() const {
  Retirement prepared;
  prepared.memstore = std::make_shared<Memstore>(table(), account_, 0, chain_cells_max_);
  RegionVersion version;
  version.id = id_;
  version.start_key = start_key_;
  version.end_key = end_key_;
  version.is_retired = true;
  version.memstores.push_back(prepared.memstore);
  prepared.version = std::make_shared<const RegionVersion>(std::move(version));
  return prepared;
}

void Region::Retire(Retirement prepared) {
  {
    base::MutexLock lock(mutex_);
    version_.swap(prepared.version);
  }
  active_ = std::move(prepared.memstore);
  shares_memstore_ = false;
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
  return "region " + std::to_string(id_.value) + " of table '" + table()->name + "'";
}

void Region::Begin(Work work) {
  base::MutexLock lock(mutex_);
  ++waiting_[static_cast<size_t>(work)];
  while (busy(work)) turn_.Wait(mutex_);
  --waiting_[static_cast<size_t>(work)];
  busy(work) = true;
}

bool Region::IsAwaited(Work work) const {
  base::MutexLock lock(mutex_);
  return waiting_[static_cast<size_t>(work)] > 0;
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
  record.table = region.table_id();
  record.start_key = region.start_key();
  record.end_key = region.end_key();
  record.flushed_through = flushed_through;
  record.start_by_size = region.start_by_size();
  for (const FileSlice& slice : version.files) {
    record.files.push_back({.file = slice.file->store().number(),
                            .run = slice.run,
                            .ordinal_low = slice.low,
                            .ordinal_high = slice.high});
  }
  return record;
}

}  // namespace tandem::engine
