// See region.h.
#include "tools/emulator/region.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "engine/region/size_rules.h"

namespace tandem::emulator {
namespace {

using compaction::RunAge;

uint64_t Whole(double number) { return static_cast<uint64_t>(number); }

bool BeginsRun(const Region& region, size_t file) {
  return file == 0 || region.files[file].run != region.files[file - 1].run;
}

// The keys [begin, end) of a part, and that share of its rows.
FilePart Cut(const FilePart& part, size_t begin, size_t end, double share) {
  FilePart cut{.file = part.file,
               .rows = part.rows * share,
               .bytes = part.bytes * share,
               .run = part.run,
               .age = part.age};
  cut.keys.assign(part.keys.begin() + static_cast<std::ptrdiff_t>(begin),
                  part.keys.begin() + static_cast<std::ptrdiff_t>(end));
  return cut;
}

bool IsAfterRun(const Region& region, size_t end, const std::string& key) {
  for (size_t i = end; i > 0 && region.files[i - 1].run == region.files[end - 1].run; --i) {
    if (region.files[i - 1].file->max_key >= key) return false;
  }
  return end > 0;
}

// The samples of a region's sources. Each key counts as the rows that it stands for.
class Sources {
 public:
  explicit Sources(const Region& region)
      : in_memory_(region.memstore.keys.begin(), region.memstore.keys.end()) {
    std::ranges::sort(in_memory_);
    sources_.push_back({&in_memory_, region.memstore.rows()});
    for (const FilePart& part : region.files) sources_.push_back({&part.keys, part.rows});
  }
  Sources(const Sources&) = delete;
  Sources& operator=(const Sources&) = delete;

  size_t count() const { return sources_.size(); }
  uint64_t RowsOf(size_t source) const {
    return sources_[source].keys->empty() ? 0 : Whole(sources_[source].rows);
  }
  Result<std::string> KeyOf(size_t source, uint64_t place) const {
    const Source& of = sources_[source];
    const double share = static_cast<double>(place) / of.rows;
    const auto key = Whole(share * static_cast<double>(of.keys->size()));
    return (*of.keys)[std::min<size_t>(key, of.keys->size() - 1)];
  }
  Result<uint64_t> PlaceOf(size_t source, std::string_view key) const {
    const Source& of = sources_[source];
    if (of.keys->empty()) return uint64_t{0};
    const auto before = std::ranges::lower_bound(*of.keys, key) - of.keys->begin();
    return Whole(of.rows * static_cast<double>(before) / static_cast<double>(of.keys->size()));
  }

 private:
  struct Source {
    const std::vector<std::string>* keys;
    double rows;
  };
  std::vector<std::string> in_memory_;
  std::vector<Source> sources_;
};

}  // namespace

double FileCosts::BytesOf(double rows) const {
  // The fall levels off: an entry of 8 random digits takes 8.2 bytes among 16,384 rows, 7.5 among
  // 65,536 and among 524,288.
  const double doublings = std::clamp(std::log2(std::max(1.0, rows) / kRows), -6.0, 0.0);
  return rows * std::max(row / 2, row + per_doubling * doublings);
}

double MemstoreSizes::BytesOf(double rows) const {
  double times = 1;
  for (; rows > points_.back().first; rows /= 2) times *= 2;
  const auto after = std::ranges::lower_bound(points_, rows, {}, &std::pair<double, double>::first);
  const auto before = after == points_.begin() ? std::pair(0.0, 0.0) : *(after - 1);
  const double part = (rows - before.first) / (after->first - before.first);
  return times * (before.second + part * (after->second - before.second));
}

double ActiveMemstore::NewShare() const {
  return sampled_puts == 0 ? 1 : static_cast<double>(keys.size()) / sampled_puts;
}

double Region::bytes() const {
  double bytes = 0;
  for (const FilePart& part : files) bytes += part.bytes;
  return bytes;
}

double Region::rows() const {
  double rows = 0;
  for (const FilePart& part : files) rows += part.rows;
  return rows;
}

Runs RunsOf(const Region& region) {
  Runs runs;
  std::vector<double> rows, bytes;
  for (size_t i = 0; i < region.files.size(); ++i) {
    const FilePart& part = region.files[i];
    if (BeginsRun(region, i)) {
      runs.firsts.push_back(i);
      runs.ages.push_back(part.age);
      rows.push_back(0);
      bytes.push_back(0);
    }
    rows.back() += part.rows;
    bytes.back() += part.bytes;
    RunAge& age = runs.ages.back();
    age.oldest = std::min(age.oldest, part.age.oldest);
    age.newest = std::max(age.newest, part.age.newest);
  }
  runs.firsts.push_back(region.files.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    runs.described.push_back({.bytes = Whole(bytes[i]), .rows = Whole(rows[i])});
  }
  return runs;
}

size_t RunCount(const Region& region) {
  size_t count = 0;
  for (size_t i = 0; i < region.files.size(); ++i) count += BeginsRun(region, i);
  return count;
}

void InsertRun(std::vector<FilePart> files, uint64_t join_bytes, size_t at, Region* region) {
  if (files.empty()) return;
  std::vector<uint64_t> sizes;
  for (const FilePart& part : files) sizes.push_back(Whole(part.bytes));
  const bool is_after_run =
      IsAfterRun(*region, at, std::max(files.front().file->min_key, region->start));
  uint32_t run = 0;
  if (engine::JoinsRun(is_after_run, sizes, join_bytes)) {
    run = region->files[at - 1].run;
  } else {
    for (const FilePart& part : region->files) run = std::max(run, part.run);
    ++run;
  }
  for (FilePart& part : files) part.run = run;
  region->files.insert(region->files.begin() + static_cast<std::ptrdiff_t>(at),
                       std::make_move_iterator(files.begin()),
                       std::make_move_iterator(files.end()));
}

std::string MiddleOf(const Region& region) {
  const Result<std::string> middle = engine::MiddleKey(Sources(region));
  return middle.has_value() ? *middle : std::string();
}

Halves SplitAt(const std::string& key, Region region) {
  Halves halves{.left = {.start = region.start, .start_by_size = region.start_by_size},
                .right = {.start = key, .start_by_size = true}};
  for (const FilePart& part : region.files) {
    const auto cut =
        static_cast<size_t>(std::ranges::lower_bound(part.keys, key) - part.keys.begin());
    const double share = part.keys.empty()
                             ? (part.file->max_key < key ? 1 : 0)
                             : static_cast<double>(cut) / static_cast<double>(part.keys.size());
    if (share > 0) halves.left.files.push_back(Cut(part, 0, cut, share));
    if (share < 1) halves.right.files.push_back(Cut(part, cut, part.keys.size(), 1 - share));
  }
  return halves;
}

Region Join(Region left, Region right) {
  Region both{.start = left.start, .start_by_size = left.start_by_size};
  const Runs runs[] = {RunsOf(left), RunsOf(right)};
  const size_t count = std::max(runs[0].described.size(), runs[1].described.size());
  for (size_t run = 0; run < count; ++run) {
    for (const auto& [side, region] : {std::pair(0, &left), std::pair(1, &right)}) {
      if (run >= runs[side].described.size()) continue;
      for (size_t i = runs[side].firsts[run]; i < runs[side].firsts[run + 1]; ++i) {
        region->files[i].run = static_cast<uint32_t>(run + 1);
        both.files.push_back(std::move(region->files[i]));
      }
    }
  }
  return both;
}

}  // namespace tandem::emulator
