// A window ends at the first key, of any source, that is about a given number of its rows away from
// where the window begins: in files at the border of a block, which its index knows. It never
// crosses the border of a region.
#include "engine/source/row_windows.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "engine/predicate/key_ranges.h"
#include "engine/source/column_order.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

// The files of the cluster in the order of a walk.
std::vector<const FileSource*> FilesInOrder(const Cluster& cluster, bool backward) {
  std::vector<const FileSource*> files;
  for (const FileSource& file : cluster.files) files.push_back(&file);
  std::ranges::sort(files, [backward](const FileSource* a, const FileSource* b) {
    return backward ? a->max_key() > b->max_key() : a->min_key() < b->min_key();
  });
  return files;
}

// No row of the cluster has a smaller key.
std::string FirstKeyOf(const Cluster& cluster) {
  std::optional<std::string_view> first;
  for (const FileSource& file : cluster.files) {
    if (!first.has_value() || file.min_key() < *first) first = file.min_key();
  }
  for (const std::shared_ptr<const Memstore>& memstore : cluster.memstores) {
    Memstore::Iterator row(memstore.get());
    row.SeekToFirst();
    if (!first.has_value() || row.key() < *first) first = row.key();
  }
  return std::string(*first);
}

// No row of the cluster has a larger key.
std::string LastKeyOf(const Cluster& cluster) {
  std::string_view last;
  for (const FileSource& file : cluster.files) last = std::max(last, file.max_key());
  for (const std::shared_ptr<const Memstore>& memstore : cluster.memstores) {
    Memstore::Iterator row(memstore.get());
    row.SeekToLast();
    last = std::max(last, row.key());
  }
  return std::string(last);
}

format::KeyRange RowsOf(const RegionVersion& region) {
  format::KeyRange rows{region.start_key, std::nullopt};
  if (!region.end_key.empty()) rows.high = region.end_key;
  return rows;
}

}  // namespace

RowWindows RowWindows::OfCluster(const TableView& view, const ColumnSet& columns,
                                 const Cluster& cluster, Sizes sizes) {
  const format::KeyRange sources{FirstKeyOf(cluster), LastKeyOf(cluster) + '\0'};
  return RowWindows(view, columns, Intersect(cluster.rows, sources), /*backward=*/false, sizes);
}

// The region where the rest begins, in the direction of the walk; nullptr: none has rows of it.
const std::shared_ptr<const RegionVersion>* RowWindows::NextRegion() const {
  const auto& regions = view_.regions;
  if (IsEmpty(rows_)) return nullptr;
  if (backward_) {
    const auto after =
        std::partition_point(regions.begin(), regions.end(), [this](const auto& region) {
          return !rows_.high.has_value() || region->start_key < *rows_.high;
        });
    return after == regions.begin() ? nullptr : &*(after - 1);
  }
  const auto found =
      std::partition_point(regions.begin(), regions.end(), [this](const auto& region) {
        return !region->end_key.empty() && region->end_key <= rows_.low;
      });
  return found == regions.end() ? nullptr : &*found;
}

Result<bool> RowWindows::Next(std::vector<Cluster>* clusters) {
  clusters->clear();
  TableView view{.table = view_.table, .regions = {}, .point = view_.point, .registration = {}};
  while (const std::shared_ptr<const RegionVersion>* region = NextRegion()) {
    view.regions.assign(1, *region);
    format::KeyRange window = Intersect(rows_, RowsOf(**region));
    if (!IsEmpty(window)) {
      ASSIGN_OR_RETURN(*clusters, FindClusters(view, window));
      ASSIGN_OR_RETURN(std::optional<std::string> border, BorderOf(*clusters, window));
      if (border.has_value()) {
        (backward_ ? window.low : window.high.emplace()) = *std::move(border);
        ASSIGN_OR_RETURN(*clusters, FindClusters(view, window));
      }
    }
    Skip(std::move(window));
    if (clusters->empty()) continue;
    FindColumnOrder(view, clusters);
    RETURN_IF_ERROR(LoadFamilies(columns_, clusters));
    window_rows_ = window_rows_ > sizes_.most / kGrowth ? sizes_.most : window_rows_ * kGrowth;
    return true;
  }
  return false;
}

// The key where a window of these rows ends at the latest, in any source of the cluster where it
// begins, or between that and the next one; nullopt: there is none, and no source has so many rows.
Result<std::optional<std::string>> RowWindows::BorderOf(const std::vector<Cluster>& clusters,
                                                        const format::KeyRange& rows) const {
  std::optional<std::string> nearest;
  // False: it does not lie within the rows. A memstore may have got rows since, before those that
  // it had.
  const auto add = [&](std::string key) {
    if (!rows.Contains(key) || key == rows.low) return false;
    const bool is_nearer = !nearest.has_value() || (backward_ ? key > *nearest : key < *nearest);
    if (is_nearer) nearest = std::move(key);
    return true;
  };
  if (clusters.empty()) return nearest;
  if (clusters.size() > 1) add(FirstKeyOf(backward_ ? clusters.back() : clusters[1]));
  const Cluster& cluster = backward_ ? clusters.back() : clusters.front();
  // Of a file that begins after the border no block index is looked at. Where a block ends on
  // either side of the row will do.
  for (const FileSource* const file : FilesInOrder(cluster, backward_)) {
    const bool is_after = nearest.has_value() &&
                          (backward_ ? file->max_key() < *nearest : file->min_key() >= *nearest);
    if (is_after) break;
    if (file->high - file->low <= window_rows_) continue;
    const uint32_t at = backward_ ? file->high - window_rows_ : file->low + window_rows_;
    ASSIGN_OR_RETURN(const uint32_t block, file->carrier->BlockOf(at));
    std::array<uint32_t, 2> ends = {block, block + 1};
    if (backward_) std::swap(ends[0], ends[1]);
    for (const uint32_t end : ends) {
      if (end == 0 || end >= file->carrier->block_count()) continue;
      std::string key;
      RETURN_IF_ERROR(file->carrier->SeparatorOf(end, &key));
      if (add(std::move(key))) break;
    }
  }
  for (const std::shared_ptr<const Memstore>& memstore : cluster.memstores) {
    if (memstore->row_count() <= window_rows_) continue;
    const auto key = memstore->KeyAfter(rows, window_rows_, backward_);
    if (key.has_value()) add(std::string(*key));
  }
  return nearest;
}

// Takes the window, and what lies before it, out of the rest.
void RowWindows::Skip(format::KeyRange window) {
  if (backward_) {
    rows_.high = std::move(window.low);
  } else if (window.high.has_value()) {
    rows_.low = *std::move(window.high);
  } else {
    rows_ = {{}, std::string()};
  }
}

void RowWindows::Shrink() { window_rows_ = std::max(window_rows_ / kShrink, kRowsMin); }

}  // namespace tandem::engine
