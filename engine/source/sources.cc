// Finding the sources of a read and grouping them: per region they are sorted by their first key; a
// source that starts after the last key of all earlier ones begins a new cluster. Then the overlaps
// of each file with the others of its cluster are looked up.
#include "engine/source/sources.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "engine/region/overlaps.h"

namespace tandem::engine {
namespace {

// A source with the keys that bound it, which are in the source.
struct Placed {
  std::string_view min_key, max_key;
  std::optional<FileSource> file;
  std::shared_ptr<const Memstore> memstore;
};

bool KeysOverlap(std::string_view min_key, std::string_view max_key, const format::KeyRange& rows) {
  return max_key >= rows.low && (!rows.high.has_value() || min_key < *rows.high);
}

// The rows of the region that the read asks for.
format::KeyRange RowsOf(const RegionVersion& region, const format::KeyRange& rows) {
  format::KeyRange own = rows;
  own.low = std::max(own.low, region.start_key);
  if (!region.end_key.empty() && (!own.high.has_value() || region.end_key < *own.high)) {
    own.high = region.end_key;
  }
  return own;
}

// Cuts the source to the rows; a bound outside the file's keys cuts nothing and costs no look-up.
Status CutTo(const format::KeyRange& rows, FileSource* source) {
  if (source->min_key() < rows.low) {
    ASSIGN_OR_RETURN(const uint32_t low, source->file->LowerBound(rows.low));
    source->low = std::max(source->low, low);
  }
  if (rows.high.has_value() && source->max_key() >= *rows.high) {
    ASSIGN_OR_RETURN(const uint32_t high, source->file->LowerBound(*rows.high));
    source->high = std::min(source->high, high);
  }
  return {};
}

Status AddFile(const TableView& view, const FileSlice& slice, const format::KeyRange& rows,
               std::vector<Placed>* placed) {
  format::StoreFile& file = slice.file->store();
  const format::FileStatistics& statistics = file.statistics();
  if (statistics.min_sequence > view.point.sequence ||
      !KeysOverlap(statistics.min_key, statistics.max_key, rows)) {
    return {};
  }
  FileSource source{.live = slice.file, .file = &file, .low = slice.low, .high = slice.high};
  source.high = std::min(source.high, file.row_count());
  RETURN_IF_ERROR(CutTo(rows, &source));
  if (source.low >= source.high) return {};
  source.visible = !view.point.is_bounded() &&
                   file.ShowsCurrentEntries(view.table->families, view.point.sequence);
  source.may_be_single_source =
      source.visible && !file.MayHaveExpired(view.table->families, view.point.now_micros);
  ASSIGN_OR_RETURN(source.carrier, file.Carrier());
  if (source.may_be_single_source && !file.all_clean()) {
    ASSIGN_OR_RETURN(source.clean, file.CleanRows());
  }
  placed->push_back({statistics.min_key, statistics.max_key, std::move(source), nullptr});
  return {};
}

void AddMemstore(const TableView& view, const std::shared_ptr<const Memstore>& memstore,
                 const format::KeyRange& rows, std::vector<Placed>* placed) {
  if (memstore->empty() || !format::IsSeenAt(memstore->min_sequence(), view.point.sequence)) return;
  Memstore::Iterator row(memstore.get());
  row.SeekToFirst();
  const std::string_view min_key = row.key();
  row.SeekToLast();
  const std::string_view max_key = row.key();
  if (!KeysOverlap(min_key, max_key, rows)) return;
  placed->push_back({min_key, max_key, std::nullopt, memstore});
}

void AddClusters(std::vector<Placed> placed, const format::KeyRange& rows,
                 std::vector<Cluster>* clusters) {
  if (placed.size() > 1) {
    std::stable_sort(placed.begin(), placed.end(),
                     [](const Placed& a, const Placed& b) { return a.min_key < b.min_key; });
  }
  std::optional<std::string_view> end;  // The largest key of the cluster being filled.
  for (Placed& source : placed) {
    if (!end.has_value() || source.min_key > *end) {
      clusters->emplace_back().rows = rows;
      end = source.max_key;
    }
    *end = std::max(*end, source.max_key);
    Cluster& cluster = clusters->back();
    if (source.file.has_value()) {
      cluster.files.push_back(*std::move(source.file));
    } else {
      cluster.memstores.push_back(std::move(source.memstore));
    }
  }
}

// The overlap of the file at `here` with the file at `other`.
FileOverlap FileOverlapOf(const Overlaps* overlaps, const Cluster& cluster, size_t here,
                          size_t other) {
  FileOverlap file_overlap{.other = other};
  if (overlaps == nullptr) return file_overlap;
  const format::FileNumber number = cluster.files[here].file->number();
  const format::FileNumber other_number = cluster.files[other].file->number();
  file_overlap.pair = overlaps->Find({.older = number, .newer = other_number});
  if (file_overlap.pair != nullptr) {
    file_overlap.here = file_overlap.pair->older_shared.get();
    file_overlap.there = file_overlap.pair->newer_shared.get();
    file_overlap.supersedes = cluster.files[other].visible;
    return file_overlap;
  }
  file_overlap.pair = overlaps->Find({.older = other_number, .newer = number});
  if (file_overlap.pair != nullptr) {
    file_overlap.here = file_overlap.pair->newer_shared.get();
    file_overlap.there = file_overlap.pair->older_shared.get();
  }
  return file_overlap;
}

// Records in each file of the cluster the others that may hold its rows, with their overlaps.
void FindFileOverlaps(const Overlaps* overlaps, Cluster* cluster) {
  for (size_t i = 0; i < cluster->files.size(); ++i) {
    FileSource& here = cluster->files[i];
    for (size_t j = 0; j < cluster->files.size(); ++j) {
      const FileSource& other = cluster->files[j];
      if (other.file == here.file || other.min_key() > here.max_key() ||
          other.max_key() < here.min_key()) {
        continue;
      }
      here.file_overlaps.push_back(FileOverlapOf(overlaps, *cluster, i, j));
    }
  }
}

// Adds the clusters of the rows in `rows` that are in the region.
Status AddClustersOf(const TableView& view, const RegionVersion& region,
                     const format::KeyRange& rows, std::vector<Cluster>* clusters) {
  const format::KeyRange own = RowsOf(region, rows);
  if (IsEmpty(own)) return {};
  std::vector<Placed> placed;
  for (const FileSlice& slice : region.files) {
    RETURN_IF_ERROR(AddFile(view, slice, own, &placed));
  }
  for (const std::shared_ptr<const Memstore>& memstore : region.memstores) {
    AddMemstore(view, memstore, own, &placed);
  }
  const size_t first = clusters->size();
  AddClusters(std::move(placed), own, clusters);
  for (size_t i = first; i < clusters->size(); ++i) {
    FindFileOverlaps(region.overlaps.get(), &(*clusters)[i]);
  }
  return {};
}

// Which of ascending, disjoint ranges hold keys of a region; regions are asked for in key order.
class RangesByRegion {
 public:
  explicit RangesByRegion(const KeyRanges& ranges) : first_(ranges.begin()), end_(ranges.end()) {}

  std::span<const format::KeyRange> In(const RegionVersion& region) {
    const auto ends_before = [&](const format::KeyRange& range) {
      return range.high.has_value() && *range.high <= region.start_key;
    };
    const auto begins_within = [&](const format::KeyRange& range) {
      return region.end_key.empty() || range.low < region.end_key;
    };
    first_ = std::find_if_not(first_, end_, ends_before);
    return {first_, std::find_if_not(first_, end_, begins_within)};
  }

 private:
  KeyRanges::const_iterator first_;
  const KeyRanges::const_iterator end_;
};

}  // namespace

Result<std::vector<Cluster>> FindClusters(const TableView& view, const format::KeyRange& rows) {
  std::vector<Cluster> clusters;
  for (const std::shared_ptr<const RegionVersion>& region : view.regions) {
    RETURN_IF_ERROR(AddClustersOf(view, *region, rows, &clusters));
  }
  return clusters;
}

Result<std::vector<Cluster>> FindClusters(const TableView& view, const KeyRanges& rows) {
  std::vector<Cluster> clusters;
  RangesByRegion ranges(rows);
  for (const std::shared_ptr<const RegionVersion>& region : view.regions) {
    for (const format::KeyRange& range : ranges.In(*region)) {
      RETURN_IF_ERROR(AddClustersOf(view, *region, range, &clusters));
    }
  }
  return clusters;
}

Result<std::vector<Cluster>> FindClusters(const TableView& view, const format::KeyRange& within,
                                          const KeyRanges& rows) {
  std::vector<Cluster> clusters;
  RangesByRegion ranges(rows);
  for (const std::shared_ptr<const RegionVersion>& region : view.regions) {
    if (ranges.In(*region).empty()) continue;
    RETURN_IF_ERROR(AddClustersOf(view, *region, within, &clusters));
  }
  return clusters;
}

Status LoadFamilies(const ColumnSet& columns, std::vector<Cluster>* clusters) {
  for (Cluster& cluster : *clusters) {
    for (FileSource& source : cluster.files) {
      source.families.clear();
      for (const ColumnSet::Family& family : columns.families()) {
        ASSIGN_OR_RETURN(const format::DataSection* data, source.file->Family(family.id));
        if (data != nullptr) source.families.push_back(data);
      }
    }
  }
  return {};
}

}  // namespace tandem::engine
