// Tables are immutable values behind shared pointers; the mutex guards only the two maps.
#include "engine/region/region_set.h"

#include <algorithm>
#include <utility>

#include "base/quote.h"

namespace tandem::engine {
namespace {

// The places [first, second) of the regions that hold keys of the range: one that begins where it
// ends holds none.
std::pair<size_t, size_t> PlacesOf(const Table& table, const format::KeyRange& range) {
  size_t end = table.regions.size();
  if (range.high.has_value()) {
    end = table.PlaceOf(*range.high);
    if (table.regions[end]->start_key() < *range.high) ++end;
  }
  return {table.PlaceOf(range.low), end};
}

}  // namespace

size_t Table::PlaceOf(std::string_view row) const {
  const auto after = std::upper_bound(
      regions.begin(), regions.end(), row,
      [](std::string_view key, const std::shared_ptr<Region>& r) { return key < r->start_key(); });
  return static_cast<size_t>(after - regions.begin()) - 1;
}

std::span<const std::shared_ptr<Region>> Table::RegionsOf(
    std::string_view first, std::optional<std::string_view> last) const {
  const size_t begin = PlaceOf(first);
  const size_t end = last.has_value() ? PlaceOf(*last) + 1 : regions.size();
  return std::span(regions).subspan(begin, std::max(end, begin + 1) - begin);
}

std::vector<std::shared_ptr<Region>> Table::RegionsOf(std::span<const format::KeyRange> ranges,
                                                      size_t count, bool from_end) const {
  std::vector<std::shared_ptr<Region>> found;
  // Those outside are in `found`, or hold no key of the ranges that come next.
  size_t first = 0, last = regions.size();
  for (size_t i = 0; i < ranges.size() && found.size() < count; ++i) {
    const auto [begin, end] = PlacesOf(*this, ranges[from_end ? ranges.size() - 1 - i : i]);
    first = from_end ? begin : std::max(first, begin);
    last = from_end ? std::min(last, end) : end;
    while (first < last && found.size() < count) {
      found.push_back(regions[from_end ? --last : first++]);
    }
  }
  if (found.empty()) found.push_back(regions.front());
  if (from_end) std::reverse(found.begin(), found.end());
  return found;
}

std::vector<std::shared_ptr<Region>> Table::RegionsOfEach(
    std::span<const std::string_view> rows) const {
  std::vector<size_t> places;
  places.reserve(rows.size());
  for (const std::string_view row : rows) places.push_back(PlaceOf(row));
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::vector<std::shared_ptr<Region>> found;
  found.reserve(places.size());
  for (const size_t place : places) found.push_back(regions[place]);
  return found;
}

void MemstoreSum::Add(const RegionVersion& region) {
  for (const auto& memstore : region.memstores) {
    const bool is_waiting = memstore != region.memstores.back();
    if (is_waiting && !waiting_.insert(memstore.get()).second) continue;
    if (!is_waiting && std::exchange(active_, memstore.get()) == memstore.get()) continue;
    bytes_ += memstore->size_bytes();
  }
}

RegionSet::RegionSet(base::MemoryAccount* account, uint32_t chain_cells_max,
                     const format::FunctionRegistry* functions)
    : account_(account),
      chain_cells_max_(chain_cells_max),
      functions_(functions == nullptr ? format::kNoFunctions : *functions) {}

RegionSet::Addition RegionSet::Prepare(const format::TableRecord& record,
                                       std::vector<format::RegionRecord> regions) const {
  std::sort(regions.begin(), regions.end(),
            [](const auto& a, const auto& b) { return a.start_key < b.start_key; });
  auto table = std::make_shared<Table>();
  auto resolved = std::make_shared<format::TableRecord>(record);
  format::Resolve(functions_, resolved.get());
  table->record = std::move(resolved);
  for (const format::RegionRecord& region : regions) {
    table->regions.push_back(NewRegion(region, table->record));
  }
  Addition addition;
  addition.by_name[record.name] = table;
  addition.by_id[record.id] = std::move(table);
  return addition;
}

void RegionSet::Add(Addition addition) {
  base::MutexLock lock(mutex_);
  by_name_.merge(addition.by_name);
  by_id_.merge(addition.by_id);
}

std::shared_ptr<Region> RegionSet::NewRegion(
    const format::RegionRecord& record, std::shared_ptr<const format::TableRecord> table) const {
  return std::make_shared<Region>(record, std::move(table), account_, chain_cells_max_);
}

std::shared_ptr<const Table> RegionSet::With(const Table& table,
                                             std::span<const std::shared_ptr<Region>> before,
                                             std::span<const std::shared_ptr<Region>> after) {
  auto changed = std::make_shared<Table>(table);
  // The record may have changed since they were made.
  for (const auto& region : after) region->SetTable(table.record);
  std::vector<std::shared_ptr<Region>>& regions = changed->regions;
  const auto first = std::find(regions.begin(), regions.end(), before.front());
  const auto place = regions.erase(first, first + static_cast<ptrdiff_t>(before.size()));
  regions.insert(place, after.begin(), after.end());
  changed->retired.insert(changed->retired.end(), before.begin(), before.end());
  return changed;
}

void RegionSet::Replace(std::shared_ptr<const Table> table) {
  std::shared_ptr<const Table> old;  // Released after the mutex.
  base::MutexLock lock(mutex_);
  old = std::exchange(by_id_.find(table->record->id)->second, table);
  by_name_.find(table->record->name)->second = std::move(table);
}

// Each record that goes is released after the mutex.
void RegionSet::Exchange(format::TableId removed, Addition addition) {
  std::shared_ptr<const Table> old;
  base::MutexLock lock(mutex_);
  const auto place = by_id_.find(removed);
  old = std::move(place->second);
  by_id_.erase(place);
  by_name_.erase(by_name_.find(old->record->name));
  by_name_.merge(addition.by_name);
  by_id_.merge(addition.by_id);
  changes_.fetch_add(1, std::memory_order_release);
}

void RegionSet::Change(Addition changed) {
  std::shared_ptr<const Table> old;
  base::MutexLock lock(mutex_);
  auto& [id, table] = *changed.by_id.begin();
  old = std::exchange(by_id_.find(id)->second, std::move(table));
  by_name_.erase(by_name_.find(old->record->name));
  by_name_.merge(changed.by_name);
  changes_.fetch_add(1, std::memory_order_release);
}

std::shared_ptr<const Table> RegionSet::Find(std::string_view name) const {
  if (format::IsEntriesName(name)) return nullptr;
  base::MutexLock lock(mutex_);
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

std::shared_ptr<const Table> RegionSet::Find(format::TableId id) const {
  base::MutexLock lock(mutex_);
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<const Table>> RegionSet::tables() const {
  base::MutexLock lock(mutex_);
  std::vector<std::shared_ptr<const Table>> all;
  for (const auto& [id, table] : by_id_) all.push_back(table);
  return all;
}

std::vector<std::shared_ptr<Region>> RegionSet::regions() const {
  std::vector<std::shared_ptr<Region>> all;
  for (const auto& table : tables()) {
    all.insert(all.end(), table->regions.begin(), table->regions.end());
  }
  return all;
}

uint64_t RegionSet::memstore_bytes() const {
  MemstoreSum sum;
  for (const auto& region : regions()) sum.Add(*region->version());
  return sum.bytes();
}

format::SequenceNumber RegionSet::oldest_unflushed() const {
  format::SequenceNumber oldest = format::kSequenceMax;
  for (const auto& region : regions()) oldest = std::min(oldest, region->oldest_unflushed());
  return oldest;
}

Status TableNotFound(std::string_view name) {
  return Status::NotFound("table " + base::Quote(name) + " does not exist");
}

Status TableExists(std::string_view name) {
  return Status::AlreadyExists("table " + base::Quote(name) + " exists already");
}

}  // namespace tandem::engine
