// Estimates: the memory of a record and of the map node that holds it.
#include "engine/storage/catalog_memory.h"

#include <string>

namespace tandem::format {
namespace {

constexpr uint64_t kNodeBytes = 48;
// An open region has a version, a memstore and locks in addition to its record.
constexpr uint64_t kOpenRegionBytes = 960;

}  // namespace

uint64_t MemoryOf(const TableRecord& table) {
  uint64_t bytes = kNodeBytes + sizeof(TableRecord) + table.name.size();
  for (const FamilyRecord& family : table.families) {
    bytes += sizeof(FamilyRecord) + family.options.name.size();
  }
  const auto add_index = [&bytes](const IndexRecord& index) {
    bytes += sizeof(GlobalIndexRecord) + index.name.size();
    index.ForEachColumn([&bytes](const IndexColumnRecord& column) {
      bytes += sizeof(IndexColumnRecord) + column.qualifier.size();
    });
  };
  for (const IndexRecord& index : table.indexes) add_index(index);
  for (const GlobalIndexRecord& global : table.global_indexes) add_index(global.index);
  for (const ColumnTypeRecord& column : table.columns) {
    bytes += sizeof(ColumnTypeRecord) + column.qualifier.size();
  }
  bytes += table.row_key.size();
  for (const std::string& former : table.former_row_keys) bytes += sizeof(former) + former.size();
  return bytes;
}

uint64_t MemoryOf(const RegionRecord& region) {
  return kNodeBytes + kOpenRegionBytes + sizeof(RegionRecord) + region.start_key.size() +
         region.end_key.size() + region.files.size() * sizeof(FileReference);
}

uint64_t MemoryOf(const FileRecord& file) {
  return kNodeBytes + sizeof(FileRecord) + file.min_key.size() + file.max_key.size() +
         file.indexes.size() * sizeof(IndexCounts);
}

uint64_t MemoryOf(const SegmentRecord&) { return sizeof(SegmentRecord); }

Status CheckCatalogMemory(uint64_t bytes) {
  if (bytes <= kCatalogMemoryMax) return {};
  return Status::Unsupported("catalog: its tables, regions, files and snapshots take more than " +
                             std::to_string(kCatalogMemoryMax >> 20) +
                             " MiB of memory, which is the limit");
}

}  // namespace tandem::format
