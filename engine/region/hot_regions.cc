// See hot_regions.h.
#include "engine/region/hot_regions.h"

#include <memory>
#include <utility>
#include <vector>

namespace tandem::engine {
namespace {

constexpr int64_t kSecondMicros = 1'000'000;
constexpr uint32_t kSeconds = 10;
// Fewer in a second say nothing about how keys are spread.
constexpr uint64_t kCountMin = 100;

}  // namespace

void HotRegions::Look(int64_t now_micros) {
  {
    base::MutexLock lock(mutex_);
    if (is_looking_ || now_micros < next_micros_.load(std::memory_order_relaxed)) return;
    is_looking_ = true;
  }
  const bool is_new = now_micros - last_micros_ > 2 * kSecondMicros;
  std::vector<HotRegionEvent> events;
  const std::vector<std::shared_ptr<const Table>> tables = regions_->tables();
  std::map<format::TableId, Seen> seen;
  for (const auto& table : tables) {
    if (table->regions.size() < 2) continue;
    Seen of_table = std::move(seen_[table->record->id]);
    if (is_new) of_table.hottest = {};
    LookAt(*table, &of_table, &events);
    seen[table->record->id] = std::move(of_table);
  }
  seen_ = std::move(seen);
  last_micros_ = now_micros;
  {
    base::MutexLock lock(mutex_);
    next_micros_.store(now_micros + kSecondMicros, std::memory_order_relaxed);
    is_looking_ = false;
  }
  for (const HotRegionEvent& event : events) monitor_->FoundHot(event);
}

// A region that was not there a second ago, and what it took, is left out.
void HotRegions::LookAt(const Table& table, Seen* seen, std::vector<HotRegionEvent>* events) const {
  std::map<format::RegionId, Counts> counts;
  Counts all = {}, most = {};
  std::array<format::RegionId, 2> of_most;
  for (const std::shared_ptr<Region>& region : table.regions) {
    const Counts now = {region->writes(), region->reads()};
    counts[region->id()] = now;
    const auto before = seen->counts.find(region->id());
    if (before == seen->counts.end()) continue;
    for (size_t i = 0; i < now.size(); ++i) {
      const uint64_t taken = now[i] - before->second[i];
      all[i] += taken;
      if (taken <= most[i]) continue;
      most[i] = taken;
      of_most[i] = region->id();
    }
  }
  seen->counts = std::move(counts);
  for (size_t i = 0; i < all.size(); ++i) {
    Hottest& hottest = seen->hottest[i];
    const bool is_hot = most[i] >= kCountMin && 2 * most[i] > all[i];
    if (!is_hot || hottest.region != of_most[i]) hottest = {of_most[i], 0};
    if (!is_hot || ++hottest.seconds != kSeconds) continue;
    events->push_back({.table = table.record->name,
                       .region_id = of_most[i].value,
                       .is_read = i == 1,
                       .count = most[i],
                       .of = all[i]});
  }
}

}  // namespace tandem::engine
