// Those that nobody holds any more go when as many have come as there were.
#include "store_file/table_records.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"

namespace tandem::format {

Result<std::shared_ptr<const TableRecord>> TableRecords::Decode(std::string_view bytes) {
  {
    base::MutexLock lock(mutex_);
    const auto known = records_.find(bytes);
    std::shared_ptr<const TableRecord> record;
    if (known != records_.end()) record = known->second.lock();
    if (record != nullptr) return record;
  }
  ASSIGN_OR_RETURN(TableRecord decoded, DecodeTable(bytes));
  auto record = std::make_shared<const TableRecord>(std::move(decoded));
  base::MutexLock lock(mutex_);
  if (records_.size() >= sweep_at_) ForgetUnused();
  std::weak_ptr<const TableRecord>& place = records_[std::string(bytes)];
  std::shared_ptr<const TableRecord> other = place.lock();
  if (other != nullptr) return other;
  place = record;
  return record;
}

size_t TableRecords::size() const {
  base::MutexLock lock(mutex_);
  return records_.size();
}

void TableRecords::ForgetUnused() {
  std::erase_if(records_, [](const auto& record) { return record.second.expired(); });
  sweep_at_ = std::max<size_t>(16, 2 * records_.size());
}

}  // namespace tandem::format
