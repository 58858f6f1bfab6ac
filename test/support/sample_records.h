// Records of the catalog that are valid, for tests to start from.
#pragma once

#include <cstdint>
#include <string>

#include "engine/storage/catalog.h"
#include "format/schema.h"
#include "format/types.h"

namespace tandem::test {

/// Sixteen bytes counting up from `first`.
inline format::RandomId SampleId(uint8_t first) {
  format::RandomId id;
  for (size_t i = 0; i < id.bytes.size(); ++i) id.bytes[i] = static_cast<uint8_t>(first + i);
  return id;
}

/// One family "f", one index "by_n" on the column "n".
inline format::TableRecord SampleTable(uint32_t id = 1) {
  format::TableRecord table;
  table.id = format::TableId(id);
  table.name = "table-" + std::to_string(id);
  table.hash_secret.fill('s');
  format::FamilyRecord family;
  family.options.name = "f";
  table.families.push_back(family);
  format::IndexRecord index;
  index.id = format::IndexId(1);
  index.name = "by_n";
  format::IndexColumnRecord column;
  column.qualifier = "n";
  column.type = ColumnType::kInt64;
  index.columns.push_back(column);
  table.indexes.push_back(index);
  return table;
}

inline format::RegionRecord SampleRegion(uint64_t id, uint32_t table, std::string start = "",
                                         std::string end = "") {
  format::RegionRecord region;
  region.id = format::RegionId(id);
  region.table = format::TableId(table);
  region.start_key = std::move(start);
  region.end_key = std::move(end);
  return region;
}

inline format::FileRecord SampleFile(uint64_t number, uint32_t table = 1) {
  format::FileRecord file;
  file.number = format::FileNumber(number);
  file.id = SampleId(static_cast<uint8_t>(number));
  file.table = format::TableId(table);
  file.size_bytes = 4096;
  file.hash = {7, 8};
  file.rows = 100;
  file.cells = 250;
  file.deletes = 3;
  file.min_sequence = format::SequenceNumber(5);
  file.max_sequence = format::SequenceNumber(500);
  file.min_timestamp = -40;
  file.max_timestamp = 40;
  file.min_key = "a";
  file.max_key = "z";
  file.indexes.push_back({format::IndexId(1), 90, 10});
  return file;
}

/// Adds table `id` with one region of the same number. Counters cover ids up to 100.
inline format::CatalogEdit SampleTableEdit(uint32_t id = 1) {
  format::CatalogEdit edit;
  edit.counters.emplace();
  edit.counters->next_file_number = 100;
  edit.counters->next_table_id = 100;
  edit.counters->next_region_id = 100;
  edit.put_tables.push_back(SampleTable(id));
  edit.put_regions.push_back(SampleRegion(id, id));
  return edit;
}

}  // namespace tandem::test
