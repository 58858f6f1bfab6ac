// The middle is found by bisection (engine/region/size_rules.h): a row's ordinal in each other file
// that may have its neighbours takes one search of its block index. So a few dozen blocks are read,
// however large the region is.
#include "engine/jobs/split_point.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/status_macros.h"
#include "engine/region/region_runs.h"
#include "engine/region/size_rules.h"
#include "engine/region/slice_keys.h"

namespace tandem::engine {
namespace {

// The keys of a memstore that lie in the region, ascending. Views: as long as the memstore.
std::vector<std::string_view> KeysOf(const RegionVersion& version, const Memstore& memstore) {
  std::vector<std::string_view> keys;
  Memstore::Iterator row(&memstore);
  for (row.Seek(version.start_key); row.valid() && version.MayHold(row.key()); row.Next()) {
    keys.push_back(row.key());
  }
  return keys;
}

uint64_t CountBelow(std::span<const std::string_view> keys, std::string_view key) {
  return static_cast<uint64_t>(std::lower_bound(keys.begin(), keys.end(), key) - keys.begin());
}

// The first ordinal of the slice whose key is `key` or above; its end if there is none.
Result<uint32_t> CutOf(const FileSlice& slice, std::string_view key) {
  const format::FileStatistics& statistics = slice.file->store().statistics();
  if (key <= statistics.min_key) return slice.low;
  if (key > statistics.max_key) return slice.high;
  ASSIGN_OR_RETURN(const uint32_t at, slice.file->store().LowerBound(key));
  return std::clamp(at, slice.low, slice.high);
}

// Of sections that `counts`.
template <typename Counts>
uint64_t SectionBytes(const FileSlice& slice, const Counts& counts) {
  uint64_t bytes = 0;
  for (const format::SectionEntry& section : slice.file->store().sections()) {
    if (counts(section)) bytes += section.size_bytes;
  }
  return ShareOf(slice, bytes);
}

RegionHalf SizeOf(std::span<const FileSlice> files, const format::TableRecord& table) {
  RegionHalf size{.region_id = 0, .rows = 0, .bytes = BytesOf(files), .data_bytes = 0};
  for (const FileSlice& slice : files) {
    size.rows += slice.high - slice.low;
    size.data_bytes += SectionBytes(slice, [](const format::SectionEntry& section) {
      return section.kind == format::SectionKind::kData;
    });
  }
  for (const format::IndexRecord& index : table.indexes) {
    if (index.state == format::IndexState::kDropping) continue;
    IndexPart& part = size.indexes.emplace_back(IndexPart{.name = index.name, .bytes = 0});
    for (const FileSlice& slice : files) {
      part.bytes += SectionBytes(slice, [&index](const format::SectionEntry& section) {
        return IsIndexSection(section.kind) && section.owner == index.id.value;
      });
    }
  }
  return size;
}

// The rows of a region's sources, each in key order: files, then memstores.
class Sources {
 public:
  explicit Sources(const RegionVersion& version) : files_(version.files) {
    for (const auto& memstore : version.memstores) keys_.push_back(KeysOf(version, *memstore));
  }

  size_t count() const { return files_.size() + keys_.size(); }
  uint64_t RowsOf(size_t source) const {
    if (source >= files_.size()) return keys_[source - files_.size()].size();
    return files_[source].high - files_[source].low;
  }
  Result<std::string> KeyOf(size_t source, uint64_t place) const;
  Result<uint64_t> PlaceOf(size_t source, std::string_view key) const;

 private:
  std::span<const FileSlice> files_;
  std::vector<std::vector<std::string_view>> keys_;  // Of each memstore.
};

Result<std::string> Sources::KeyOf(size_t source, uint64_t place) const {
  if (source >= files_.size()) return std::string(keys_[source - files_.size()][place]);
  const FileSlice& slice = files_[source];
  if (slice.low + place == 0) return slice.file->store().statistics().min_key;
  return KeyAt(slice.file->store(), slice.low + static_cast<uint32_t>(place));
}

Result<uint64_t> Sources::PlaceOf(size_t source, std::string_view key) const {
  if (source >= files_.size()) return CountBelow(keys_[source - files_.size()], key);
  ASSIGN_OR_RETURN(const uint32_t cut, CutOf(files_[source], key));
  return cut - files_[source].low;
}

}  // namespace

Result<std::string> FindMiddle(const RegionVersion& version) {
  ASSIGN_OR_RETURN(std::string key, MiddleKey(Sources(version)));
  if (!key.empty()) return key;
  return Status::InvalidArgument("it has fewer than two rows: there is no row to split it at");
}

Result<CutFiles> CutFilesAt(const RegionVersion& version, std::string_view key) {
  CutFiles files;
  for (const FileSlice& slice : version.files) {
    ASSIGN_OR_RETURN(const uint32_t cut, CutOf(slice, key));
    FileSlice left = slice, right = slice;
    left.high = right.low = cut;
    if (left.low < left.high) files.left.push_back(std::move(left));
    if (right.low < right.high) files.right.push_back(std::move(right));
  }
  return files;
}

Result<Sides> SidesOf(const RegionVersion& version, const format::TableRecord& table,
                      std::string_view key) {
  ASSIGN_OR_RETURN(const CutFiles files, CutFilesAt(version, key));
  Sides sides{.left = SizeOf(files.left, table), .right = SizeOf(files.right, table)};
  for (const auto& memstore : version.memstores) {
    const std::vector<std::string_view> keys = KeysOf(version, *memstore);
    if (keys.empty()) continue;
    const uint64_t left = CountBelow(keys, key);
    const uint64_t left_bytes = memstore->size_bytes() * left / keys.size();
    sides.left.rows += left;
    sides.right.rows += keys.size() - left;
    sides.left.bytes += left_bytes;
    sides.right.bytes += memstore->size_bytes() - left_bytes;
  }
  return sides;
}

RegionHalf SizeOf(const RegionVersion& version, const format::TableRecord& table) {
  RegionHalf size = SizeOf(std::span(version.files), table);
  for (const auto& memstore : version.memstores) {
    size.rows += KeysOf(version, *memstore).size();
    size.bytes += memstore->size_bytes();
  }
  return size;
}

}  // namespace tandem::engine
