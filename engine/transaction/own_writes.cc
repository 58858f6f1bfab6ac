// Own writes are applied to memstores as the commit leader applies those of all.
#include "engine/transaction/own_writes.h"

#include <algorithm>

#include "base/check.h"
#include "wal/operation.h"

namespace tandem::engine {
namespace {

bool HasRowsOf(const Memstore& memstore, const RegionVersion& region) {
  Memstore::Iterator row(&memstore);
  row.Seek(region.start_key);
  return row.valid() && region.MayHold(row.key());
}

}  // namespace

// A count above 1 may be out of date, which costs a memstore; a count of 1 is not, since nobody
// else can copy the pointer.
Memstore* OwnWrites::Active(const std::shared_ptr<const format::TableRecord>& table) {
  Memstores& memstores = tables_[table->id];
  if (memstores.empty() || memstores.back().use_count() > 1) {
    memstores.push_back(std::make_shared<Memstore>(table));
  }
  return memstores.back().get();
}

void OwnWrites::Add(const WritePlan& plan, int64_t timestamp) {
  CHECK(!plan.reads());
  const format::SequenceNumber first(next_sequence_);
  wal::GroupReader reader = wal::GroupReader::OfBatch(plan.batch, first, timestamp);
  wal::Operation operation;
  while (reader.Next(&operation)) {
    const auto table = std::find_if(
        plan.tables.begin(), plan.tables.end(),
        [&operation](const auto& found) { return found->record->id == operation.table; });
    Active((*table)->record)->Apply(operation.row, operation.cells);
    ++next_sequence_;
  }
}

void OwnWrites::Apply(const std::shared_ptr<const format::TableRecord>& table, std::string_view row,
                      std::vector<format::Cell> cells) {
  for (format::Cell& cell : cells) cell.sequence = format::SequenceNumber(next_sequence_);
  Active(table)->Apply(row, cells);
  ++next_sequence_;
}

void OwnWrites::AddTo(const format::TableRecord& table,
                      std::shared_ptr<const RegionVersion>* region) const {
  const auto found = tables_.find(table.id);
  if (found == tables_.end()) return;
  std::shared_ptr<RegionVersion> changed;
  for (const std::shared_ptr<Memstore>& memstore : found->second) {
    if (!HasRowsOf(*memstore, **region)) continue;
    if (changed == nullptr) changed = std::make_shared<RegionVersion>(**region);
    changed->memstores.push_back(memstore);
  }
  if (changed != nullptr) *region = std::move(changed);
}

void OwnWrites::AddTo(TableView* view) const {
  for (auto& region : view->regions) AddTo(*view->table, &region);
}

size_t OwnWrites::memstores() const {
  size_t most = 0;
  for (const auto& [id, memstores] : tables_) most = std::max(most, memstores.size());
  return most;
}

}  // namespace tandem::engine
