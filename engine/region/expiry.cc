// The statistics are of the whole file, also where the region has a part of it: then a file may
// stay that could go, and no other one.
#include "engine/region/expiry.h"

#include <algorithm>
#include <limits>

#include "compaction/expired.h"

namespace tandem::engine {
namespace {

using compaction::AgingFile;

const format::FamilyRecord* FamilyOf(const format::TableRecord& table, format::FamilyId id) {
  const auto found = std::ranges::find(table.families, id, &format::FamilyRecord::id);
  return found == table.families.end() ? nullptr : &*found;
}

AgingFile Describe(const format::StoreFile& store, const format::TableRecord& table,
                   int64_t now_micros) {
  const format::FileStatistics& statistics = store.statistics();
  AgingFile file{.families = {},
                 .has_markers = statistics.deletes > 0,
                 .newest = statistics.max_timestamp,
                 .min_key = statistics.min_key,
                 .max_key = statistics.max_key};
  for (const format::FamilyId id : store.families()) {
    AgingFile::Family& family = file.families.emplace_back();
    const auto times = std::ranges::find(statistics.family_times, id, &format::ColumnTimes::family);
    if (times != statistics.family_times.end()) family.newest_put = times->max_timestamp;
    if (const format::FamilyRecord* record = FamilyOf(table, id)) {
      family.expired_through = record->ExpiredThrough(now_micros);
    }
  }
  return file;
}

// When everything in the file has expired; nullopt: never.
std::optional<int64_t> ExpiresAt(const format::StoreFile& store, const format::TableRecord& table) {
  const format::FileStatistics& statistics = store.statistics();
  int64_t at = std::numeric_limits<int64_t>::min();
  for (const format::FamilyId id : store.families()) {
    const format::FamilyRecord* family = FamilyOf(table, id);
    if (family == nullptr) return std::nullopt;
    if (family->dropped) continue;
    const int64_t ttl = family->options.ttl_micros;
    const auto times = std::ranges::find(statistics.family_times, id, &format::ColumnTimes::family);
    const bool has_puts = times != statistics.family_times.end();
    const int64_t newest =
        statistics.deletes > 0 || !has_puts ? statistics.max_timestamp : times->max_timestamp;
    int64_t expires = 0;
    if (ttl <= 0 || __builtin_add_overflow(newest, ttl, &expires)) return std::nullopt;
    at = std::max(at, expires);
  }
  return at;
}

}  // namespace

Expiry ExpiryOf(const RegionVersion& version, const format::TableRecord& table,
                int64_t now_micros) {
  Expiry expiry;
  const auto may_expire = [](const format::FamilyRecord& family) { return family.may_expire(); };
  if (std::ranges::none_of(table.families, may_expire)) return expiry;
  std::vector<AgingFile> files;
  for (const FileSlice& slice : version.files) {
    const format::StoreFile& store = slice.file->store();
    files.push_back(Describe(store, table, now_micros));
    const std::optional<int64_t> at = ExpiresAt(store, table);
    if (!at.has_value() || *at <= now_micros) continue;
    expiry.next_micros = std::min(expiry.next_micros.value_or(*at), *at);
  }
  expiry.files = compaction::PickExpired(files);
  return expiry;
}

std::vector<FileSlice> FilesAt(const RegionVersion& version, std::span<const size_t> places) {
  std::vector<FileSlice> files;
  for (const size_t place : places) files.push_back(version.files[place]);
  return files;
}

RegionVersion WithoutFiles(const RegionVersion& version, std::span<const size_t> places) {
  RegionVersion others = version;
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    others.files.erase(others.files.begin() + static_cast<ptrdiff_t>(*place));
  }
  return others;
}

}  // namespace tandem::engine
