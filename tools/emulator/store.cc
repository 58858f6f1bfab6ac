// See store.h.
#include "tools/emulator/store.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "compaction/pick.h"
#include "engine/region/size_rules.h"
#include "tandem/limits.h"

namespace tandem::emulator {
namespace {

// A merge of so much takes a tenth of a second; before a split the region is flushed.
constexpr uint64_t kSmallMergeBytes = 8 << 20;

uint64_t Whole(double number) { return static_cast<uint64_t>(number); }

}  // namespace

double State::written_per_flushed() const {
  if (counters.flushed_bytes == 0) return 0;
  return (counters.flushed_bytes + counters.merged_bytes) / counters.flushed_bytes;
}

Store::Store(const engine::Tuning& sizes, const RowCosts& costs,
             std::span<const std::string> split_keys)
    : sizes_(sizes),
      costs_(costs),
      router_(split_keys),
      log_(sizes.memstore_bytes, sizes.log_segment_bytes) {
  regions_.push_back(std::make_unique<Region>());
  for (const std::string& key : split_keys) {
    regions_.push_back(std::make_unique<Region>(Region{.start = key}));
  }
}

void Store::Put(std::string_view key, double rows) {
  const size_t place = router_.RegionOf(key);
  ActiveMemstore* const memstore = &regions_[place]->memstore;
  active_bytes_ -= memstore->bytes;
  Remember(key, rows, memstore);
  active_bytes_ += memstore->bytes;
  const bool looks_at_log = log_.Append(rows * costs_.log);
  if (engine::IsMemstoreFull(Whole(memstore->bytes), sizes_.memstore_bytes)) FlushRegion(place);
  RelieveMemory();
  if (looks_at_log) RelieveLog();
  if (sampled_keys_ > kSampledKeysMax) ThinSamples();
}

void Store::Remember(std::string_view key, double rows, ActiveMemstore* memstore) {
  if (memstore->puts == 0) {
    memstore->min_key = memstore->max_key = key;
    memstore->log_begin = log_.end();
    memstore->age.oldest = Whole(counters_.puts);
  } else if (key < memstore->min_key) {
    memstore->min_key = key;
  } else if (key > memstore->max_key) {
    memstore->max_key = key;
  }
  memstore->age.newest = Whole(counters_.puts);
  counters_.puts += rows;
  memstore->puts += rows;
  if (sampling_.Keeps(key)) {
    memstore->sampled_puts += 1;
    if (memstore->keys.emplace(key).second) ++sampled_keys_;
  }
  const double new_rows = memstore->rows();
  memstore->bytes = costs_.memstore.BytesOf(new_rows) + (memstore->puts - new_rows) * costs_.again;
}

// Many small memstores can exceed the common budget though none is full.
void Store::RelieveMemory() {
  const auto limit = static_cast<double>(engine::ActiveBytesMax(sizes_.memstores_total_bytes));
  if (active_bytes_ <= limit) return;
  std::vector<uint64_t> sizes;
  for (const auto& region : regions_) sizes.push_back(Whole(region->memstore.bytes));
  engine::LargestFirst largest(sizes);
  std::vector<const Region*> full;
  for (double left = active_bytes_; left > limit && !largest.empty();) {
    full.push_back(regions_[largest.Next()].get());
    left -= full.back()->memstore.bytes;
  }
  // A flush may split regions, which moves others.
  for (const Region* region : full) {
    const auto found = std::ranges::find(regions_, region, &std::unique_ptr<Region>::get);
    if (found != regions_.end()) FlushRegion(static_cast<size_t>(found - regions_.begin()));
  }
}

void Store::RelieveLog() {
  log_.RollIfDue();
  const auto drop = [this] {
    double needed = log_.end();
    for (const auto& region : regions_) {
      if (region->memstore.puts > 0) needed = std::min(needed, region->memstore.log_begin);
    }
    log_.DropBefore(needed);
  };
  drop();
  if (log_.FlushBefore() == 0) return;
  SwitchBefore(log_.FlushBefore());
  drop();
}

void Store::SwitchBefore(double log_position) {
  for (size_t place = 0; place < regions_.size();) {
    const ActiveMemstore& memstore = regions_[place]->memstore;
    const bool is_due = memstore.puts > 0 && memstore.log_begin < log_position;
    if (is_due) FlushRegion(place);
    // After a split the same place has a region without a memstore.
    if (!is_due) ++place;
  }
}

void Store::FlushRegion(size_t place) {
  if (regions_[place]->memstore.puts == 0) return;
  FlushMemstore(regions_[place].get());
  Settle(place);
}

void Store::FlushMemstore(Region* region) {
  if (region->memstore.puts == 0) return;
  ActiveMemstore memstore = std::exchange(region->memstore, {});
  active_bytes_ -= memstore.bytes;
  Contents contents{.rows = memstore.rows(),
                    .age = memstore.age,
                    .min_key = std::move(memstore.min_key),
                    .max_key = std::move(memstore.max_key)};
  contents.keys.assign(memstore.keys.begin(), memstore.keys.end());
  std::ranges::sort(contents.keys);
  std::vector<FilePart> files = Write(contents, costs_.flushed);
  ++counters_.flushes;
  CountWritten(files, &counters_.flushed_bytes);
  InsertRun(std::move(files), sizes_.join_bytes, region->files.size(), region);
}

Store::Contents Store::ContentsOf(std::span<const FilePart> files) {
  Contents all{.age = {.oldest = UINT64_MAX},
               .min_key = files.front().file->min_key,
               .max_key = files.front().file->max_key};
  std::vector<const std::vector<std::string>*> samples;
  double sampled = 0;
  for (const FilePart& part : files) {
    samples.push_back(&part.keys);
    sampled += static_cast<double>(part.keys.size());
    all.rows += part.rows;
    all.age.oldest = std::min(all.age.oldest, part.age.oldest);
    all.age.newest = std::max(all.age.newest, part.age.newest);
    all.min_key = std::min(all.min_key, part.file->min_key);
    all.max_key = std::max(all.max_key, part.file->max_key);
  }
  all.keys = Union(samples);
  // Of a row that several files have the newest version stays.
  if (sampled > 0) all.rows *= static_cast<double>(all.keys.size()) / sampled;
  return all;
}

// A region may have parts of files whose other rows are in the regions around it.
void Store::BoundByNext(size_t place, std::span<const FilePart> files, Contents* contents) const {
  contents->min_key = std::max(contents->min_key, regions_[place]->start);
  if (place + 1 == regions_.size() || contents->max_key < regions_[place + 1]->start) return;
  contents->max_key = contents->min_key;
  for (const FilePart& part : files) {
    if (!part.keys.empty()) contents->max_key = std::max(contents->max_key, part.keys.back());
  }
}

// Files of disjoint keys: all but the last have as many rows as a file may.
std::vector<FilePart> Store::Write(const Contents& contents, const FileCosts& costs) {
  double rows_max = sizes_.file_rows;
  if (costs_.entry > 0) {
    rows_max = std::min(rows_max, static_cast<double>(sizes_.merge_entry_bytes) / costs_.entry);
  }
  rows_max = std::min(rows_max, static_cast<double>(sizes_.file_bytes) / costs.row);
  std::vector<FilePart> files;
  size_t begin = 0;
  for (double written = 0; written < contents.rows;) {
    const double rows = std::min(rows_max, contents.rows - written);
    const bool is_first = written == 0;
    written += rows;
    const bool is_last = written >= contents.rows;
    const double through = static_cast<double>(contents.keys.size()) * written / contents.rows;
    const size_t end = is_last ? contents.keys.size() : Whole(through);
    FilePart part;
    part.rows = rows;
    part.bytes = costs_.file + costs.BytesOf(rows);
    part.age = contents.age;
    part.keys.assign(contents.keys.begin() + static_cast<std::ptrdiff_t>(begin),
                     contents.keys.begin() + static_cast<std::ptrdiff_t>(end));
    begin = end;
    const bool is_known = !part.keys.empty();
    part.file = std::make_shared<StoredFile>(
        Disk{part.bytes, costs_.index.BytesOf(rows)},
        is_first || !is_known ? contents.min_key : part.keys.front(),
        is_last || !is_known ? contents.max_key : part.keys.back(), &disk_);
    files.push_back(std::move(part));
  }
  return files;
}

void Store::CountWritten(std::span<const FilePart> files, double* counter) {
  for (const FilePart& part : files) *counter += part.bytes;
  counters_.peak_disk_bytes = std::max(counters_.peak_disk_bytes, disk_.bytes);
}

// What the engine does after a flush or a merge. A split ends a merge that is under way, but a
// small one is over before.
void Store::Settle(size_t place) {
  while (true) {
    counters_.runs_max = std::max<uint64_t>(counters_.runs_max, RunCount(*regions_[place]));
    if (MergeRuns(place, kSmallMergeBytes)) continue;
    if (SplitIfTooLarge(place)) {
      Settle(place + 1);
      continue;
    }
    if (MergeRuns(place, UINT64_MAX)) continue;
    if (JoinIfSmall(place)) {
      place = std::min(place, regions_.size() - 1);
      continue;
    }
    return;
  }
}

bool Store::SplitIfTooLarge(size_t place) {
  Region* const region = regions_[place].get();
  if (!engine::IsRegionTooLarge(Whole(region->bytes()), sizes_.region_bytes_max)) return false;
  if (regions_.size() >= kRegionsMax) return false;
  const std::string middle = MiddleOf(*region);
  if (middle.empty() || middle <= region->start) return false;
  // A region is flushed before it is split: what it got since its last flush goes with it.
  Halves halves = SplitAt(middle, std::move(*region));
  *region = std::move(halves.left);
  const auto after = regions_.begin() + static_cast<std::ptrdiff_t>(place) + 1;
  regions_.insert(after, std::make_unique<Region>(std::move(halves.right)));
  ++counters_.splits;
  RebuildRouter();
  return true;
}

bool Store::MergeRuns(size_t place, uint64_t bytes_max) {
  Region* const region = regions_[place].get();
  const Runs runs = RunsOf(*region);
  const auto picked = compaction::PickMerge(runs.described, {.runs_max = sizes_.compaction_runs});
  if (!picked.has_value()) return false;
  const compaction::RunRange range = compaction::WidenToWhole(runs.ages, *picked);
  const size_t begin = runs.firsts[range.first], end = runs.firsts[range.end];
  const std::span<const FilePart> inputs = std::span(region->files).subspan(begin, end - begin);
  double bytes = 0;
  for (const FilePart& part : inputs) bytes += part.bytes;
  if (Whole(bytes) > bytes_max) return false;
  Contents contents = ContentsOf(inputs);
  BoundByNext(place, inputs, &contents);
  for (const FilePart& part : inputs) sampled_keys_ -= part.keys.size();
  sampled_keys_ += contents.keys.size();
  std::vector<FilePart> files = Write(contents, begin == 0 ? costs_.merged : costs_.flushed);
  ++counters_.merges;
  CountWritten(files, &counters_.merged_bytes);
  region->files.erase(region->files.begin() + static_cast<std::ptrdiff_t>(begin),
                      region->files.begin() + static_cast<std::ptrdiff_t>(end));
  InsertRun(std::move(files), sizes_.join_bytes, begin, region);
  return true;
}

bool Store::JoinIfSmall(size_t place) {
  const size_t first = place == 0 ? 0 : place - 1;
  for (size_t left = first; left <= place && left + 1 < regions_.size(); ++left) {
    Region &one = *regions_[left], &other = *regions_[left + 1];
    if (!other.start_by_size) continue;
    const double bytes = one.bytes() + one.memstore.bytes + other.bytes() + other.memstore.bytes;
    if (!engine::AreRegionsTooSmall(Whole(bytes), sizes_.region_bytes_max)) continue;
    FlushMemstore(&one);
    FlushMemstore(&other);
    one = Join(std::move(one), std::move(other));
    regions_.erase(regions_.begin() + static_cast<std::ptrdiff_t>(left) + 1);
    ++counters_.joins;
    RebuildRouter();
    return true;
  }
  return false;
}

void Store::Flush() {
  std::vector<const Region*> all;
  for (const auto& region : regions_) all.push_back(region.get());
  for (const Region* region : all) {
    const auto found = std::ranges::find(regions_, region, &std::unique_ptr<Region>::get);
    if (found != regions_.end()) FlushRegion(static_cast<size_t>(found - regions_.begin()));
  }
}

void Store::RebuildRouter() {
  std::vector<std::string> keys;
  for (size_t i = 1; i < regions_.size(); ++i) keys.push_back(regions_[i]->start);
  router_ = row_keys::Router(keys);
}

void Store::ThinSamples() {
  sampling_.Halve();
  sampled_keys_ = 0;
  for (const auto& region : regions_) {
    ActiveMemstore* const memstore = &region->memstore;
    const double share = memstore->NewShare();
    sampling_.Thin(&memstore->keys);
    // The share of new rows stays what it was.
    memstore->sampled_puts = static_cast<double>(memstore->keys.size()) / share;
    sampled_keys_ += memstore->keys.size();
    for (FilePart& part : region->files) {
      sampling_.Thin(&part.keys);
      part.keys.shrink_to_fit();
      sampled_keys_ += part.keys.size();
    }
  }
}

Spread SpreadOf(std::vector<double> sizes) {
  if (sizes.empty()) return {};
  std::ranges::sort(sizes);
  return {.least = sizes.front(), .median = sizes[sizes.size() / 2], .most = sizes.back()};
}

State Store::Describe() const {
  State state{.counters = counters_, .regions = regions_.size(), .disk_bytes = disk_.bytes};
  std::vector<double> sizes;
  std::unordered_set<const StoredFile*> files;
  for (const auto& region : regions_) {
    const uint64_t runs = RunCount(*region);
    state.runs += runs;
    state.runs_max = std::max(state.runs_max, runs);
    for (const FilePart& part : region->files) files.insert(part.file.get());
    state.rows += region->rows();
    sizes.push_back(region->bytes());
  }
  state.index_bytes = disk_.index_bytes;
  state.region_gini = row_keys::SkewOf(sizes).gini;
  state.region_bytes = SpreadOf(std::move(sizes));
  std::vector<double> file_sizes;
  for (const StoredFile* file : files) file_sizes.push_back(file->bytes());
  state.files = file_sizes.size();
  state.file_bytes = SpreadOf(std::move(file_sizes));
  return state;
}

double Store::FilesWithHits(double hits) const {
  std::unordered_map<const StoredFile*, double> rows_of;
  double rows = 0, files = 0;
  for (const auto& region : regions_) {
    rows += region->rows();
    for (const FilePart& part : region->files) rows_of[part.file.get()] += part.rows;
  }
  for (const auto& [file, its_rows] : rows_of) files += 1 - std::pow(1 - its_rows / rows, hits);
  return files;
}

}  // namespace tandem::emulator
