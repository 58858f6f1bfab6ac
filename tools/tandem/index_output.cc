// See the header.
#include "tools/tandem/index_output.h"

#include <cmath>
#include <utility>

#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/row_output.h"

namespace tandem::tools {

// Empty: nothing says how fast it goes.
Value SecondsToBuild(const IndexInfo& index) {
  if (index.bytes_older == 0) return uint64_t{0};
  if (index.build_bytes_per_second == 0) return {};
  return index.bytes_older / index.build_bytes_per_second + 1;
}

std::string_view UniqueName(UniqueState state) {
  switch (state) {
    case UniqueState::kNone:
      return "no";
    case UniqueState::kBuilding:
      return "building";
    case UniqueState::kChecking:
      return "checking";
    case UniqueState::kReady:
      break;
  }
  return "yes";
}

void WriteIndexes(const TableInfo& table, RecordWriter* writer) {
  if (table.indexes.empty()) return;
  writer->Begin("index", {"table", "index", "column", "type", "order", "unique", "entries_in_files",
                          "values", "bytes", "files", "files_without", "rows_without_entry",
                          "bytes_to_build", "seconds_to_build"});
  for (const IndexInfo& index : table.indexes) {
    for (const IndexColumn& column : index.options.columns) {
      writer->Add({table.options.name, index.options.name,
                   TextOf(column.functions, ColumnText(column)), ColumnTypeName(column.type),
                   column.descending ? "desc" : "asc", UniqueName(index.unique), index.entries,
                   index.values, index.size_bytes, index.files, index.files_without,
                   index.rows_without_entry, index.bytes_older, SecondsToBuild(index)});
    }
    for (const ColumnName& column : index.options.include) {
      writer->Add({table.options.name, index.options.name, ColumnText(column), Value(), "included",
                   UniqueName(index.unique), index.entries, index.values, index.size_bytes,
                   index.files, index.files_without, index.rows_without_entry, index.bytes_older,
                   SecondsToBuild(index)});
    }
  }
  writer->End();
  bool has_begun = false;
  for (const IndexInfo& index : table.indexes) {
    if (index.options.where.empty()) continue;
    if (!std::exchange(has_begun, true)) {
      writer->Begin("partial_index", {"table", "index", "where"});
    }
    writer->Add({table.options.name, index.options.name, index.options.where});
  }
  if (has_begun) writer->End();
  has_begun = false;
  for (const IndexInfo& index : table.indexes) {
    if (index.options.placement != IndexPlacement::kGlobal) continue;
    if (!std::exchange(has_begun, true)) writer->Begin("global_index", {"table", "index", "state"});
    writer->Add({table.options.name, index.options.name,
                 std::string_view(index.is_building ? "building" : "ready")});
  }
  if (has_begun) writer->End();
  has_begun = false;
  for (const IndexInfo& index : table.indexes) {
    if (index.unusable.empty()) continue;
    if (!std::exchange(has_begun, true)) writer->Begin("unusable_index", {"table", "index", "why"});
    writer->Add({table.options.name, index.options.name, index.unusable});
  }
  if (has_begun) writer->End();
}

void TellIfUnusable(const std::string& table, const IndexInfo& index, const Context& context) {
  if (index.unusable.empty()) return;
  WriteBytes(context.err,
             Format("tandem: table '{}': index '{}' is not checked: {}\n", EscapeBytes(table),
                    EscapeBytes(index.options.name), EscapeBytes(index.unusable)));
}

void WriteStatistics(const std::string& table, const std::vector<NamedStatistics>& indexes,
                     RecordWriter* writer) {
  if (indexes.empty()) return;
  writer->Begin("statistics",
                {"table", "index", "entries", "older_entries", "values", "bytes", "included_bytes",
                 "blocks", "block_changes", "files", "files_without", "reads"});
  for (const auto& [name, found] : indexes) {
    writer->Add({table, name, found.entries, found.older_entries, found.values, found.size_bytes,
                 found.included_bytes, found.blocks, found.block_changes, found.files,
                 found.files_without, found.reads});
  }
  writer->End();
}

void WriteCosts(const std::string& table, const std::vector<NamedStatistics>& indexes,
                RecordWriter* writer) {
  if (indexes.empty()) return;
  const auto shown = [](double number) { return std::round(number * 100) / 100; };
  writer->Begin("cost", {"table", "index", "rows_indexed", "bytes_per_row", "us_per_row",
                         "first_column_bytes_per_row", "first_column_us_per_row"});
  for (const auto& [name, found] : indexes) {
    writer->Add({table, name, found.rows_indexed, shown(found.row_bytes), shown(found.row_micros),
                 shown(found.first_column_bytes), shown(found.first_column_micros)});
  }
  writer->End();
}

}  // namespace tandem::tools
