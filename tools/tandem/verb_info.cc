// info: the shape of a database. A terminal gets its tables as drawings.
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "tools/tandem/clock_text.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/declarations.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/index_output.h"
#include "tools/tandem/observers_output.h"
#include "tools/tandem/progress.h"
#include "tools/tandem/snapshot_output.h"
#include "tools/tandem/table_picture.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

// A record of what the database as a whole has.
class Summary {
 public:
  /// `is_for_people`: sizes are shown in units.
  Summary(RecordWriter* writer, bool is_for_people)
      : writer_(writer), is_for_people_(is_for_people) {}

  void Add(std::string_view kind, std::span<const Property> properties) {
    std::vector<Property> shown(properties.begin(), properties.end());
    std::deque<std::string> sizes;  // Values are views.
    for (auto& [name, value] : shown) {
      const auto* bytes = std::get_if<uint64_t>(&value.variant());
      if (!is_for_people_ || bytes == nullptr || !name.ends_with("_bytes")) continue;
      value = Value(sizes.emplace_back(FormatSize(*bytes)));
    }
    writer_->AddProperties(kind, shown);
  }

 private:
  RecordWriter* writer_;
  bool is_for_people_;
};

void WriteDatabase(const DatabaseInfo& info, Summary* summary) {
  const Property properties[] = {
      {"path", info.path},
      {"io_backend", info.io_backend},
      {"tables", info.tables.size()},
      {"last_sequence", info.last_sequence},
      {"log_segments", info.log_segments},
      {"log_bytes", info.log_bytes},
      {"memstore_bytes", info.memstore_bytes},
      {"cache_bytes", info.cache_bytes},
      {"memory_budget_bytes", info.memory_budget_bytes},
      {"recovered_operations", info.recovered_operations},
      {"torn_bytes", info.torn_bytes},
      {"clock", ClockStateName(info.clock_state)},
  };
  summary->Add("database", properties);
}

void WriteScrub(const DatabaseInfo& info, Summary* summary) {
  if (info.scrub_bytes_per_second == 0) return;
  const Property properties[] = {
      {"bytes_per_second", info.scrub_bytes_per_second},
      {"scrubbed_bytes", info.scrubbed_bytes},
      {"findings", info.scrub_findings},
      {"oldest_unverified_micros", info.oldest_unverified_micros},
  };
  summary->Add("scrub", properties);
}

void WriteFiles(const DatabaseInfo& info, Summary* summary) {
  std::string readers;
  for (const int64_t process : info.readers) {
    readers += (readers.empty() ? "" : ",") + std::to_string(process);
  }
  const Property properties[] = {
      {"limit", info.open_files.limit},      {"open_files", info.open_files.files},
      {"rings", info.open_files.rings},      {"reopened_files", info.open_files.reopened},
      {"held_for_readers", info.held_files}, {"readers", readers},
  };
  summary->Add("descriptors", properties);
}

void WriteMemory(const MemoryInfo& memory, Summary* summary) {
  const Property properties[] = {
      {"block_cache_bytes", memory.block_cache_bytes},
      {"memstore_bytes", memory.memstore_bytes},
      {"append_buffer_bytes", memory.append_buffer_bytes},
      {"block_index_bytes", memory.block_index_bytes},
      {"key_hash_bytes", memory.key_hash_bytes},
      {"filter_bytes", memory.filter_bytes},
      {"bitmap_bytes", memory.bitmap_bytes},
      {"dictionary_bytes", memory.dictionary_bytes},
      {"index_directory_bytes", memory.index_directory_bytes},
      {"read_buffer_bytes", memory.read_buffer_bytes},
      {"overlap_bytes", memory.overlap_bytes},
      {"file_window_bytes", memory.file_window_bytes},
      {"file_writer_bytes", memory.file_writer_bytes},
      {"hit_bytes", memory.hit_bytes},
      {"log_bytes", memory.log_bytes},
      {"catalog_bytes", memory.catalog_bytes},
  };
  summary->Add("memory", properties);
}

/// The files of a region, added up.
FileInfo SumOf(const RegionInfo& region) {
  FileInfo sum;
  for (const FileInfo& file : region.files) {
    sum.rows += file.rows;
    sum.cells += file.cells;
    sum.deletes += file.deletes;
    sum.size_bytes += file.size_bytes;
    sum.data_bytes += file.data_bytes;
    sum.index_bytes += file.index_bytes;
  }
  return sum;
}

void WriteTables(const DatabaseInfo& info, RecordWriter* writer) {
  writer->Begin("table",
                {"table", "families", "indexes", "regions", "files", "rows_in_files", "cells",
                 "deletes", "file_bytes", "data_bytes", "index_bytes", "memstore_rows"});
  for (const TableInfo& table : info.tables) {
    RegionInfo all;
    for (const RegionInfo& region : table.regions) {
      all.memstore_rows += region.memstore_rows;
      all.files.insert(all.files.end(), region.files.begin(), region.files.end());
    }
    const FileInfo sum = SumOf(all);
    writer->Add({table.options.name, table.options.families.size(), table.indexes.size(),
                 table.regions.size(), all.files.size(), sum.rows, sum.cells, sum.deletes,
                 sum.size_bytes, sum.data_bytes, sum.index_bytes, all.memstore_rows});
  }
  writer->End();
}

void WriteFamilies(const TableInfo& table, RecordWriter* writer) {
  writer->Begin("family",
                {"table", "family", "versions", "ttl_micros", "compression", "block_size_bytes"});
  for (const FamilyOptions& family : table.options.families) {
    writer->Add({table.options.name, family.name, family.max_versions,
                 family.ttl_micros == 0 ? Value() : Value(family.ttl_micros),
                 CompressionName(family.compression), family.block_size_bytes});
  }
  writer->End();
}

// What raised limits still hide.
void WriteFormerLimits(const TableInfo& table, RecordWriter* writer) {
  if (table.former_limits.empty()) return;
  writer->Begin("former_limits",
                {"table", "family", "before_sequence", "versions", "expired_through_micros"});
  for (const FormerLimits& limits : table.former_limits) {
    writer->Add({table.options.name, limits.family, limits.sequence,
                 limits.max_versions.has_value() ? Value(*limits.max_versions) : Value(),
                 limits.expired_through.has_value() ? Value(*limits.expired_through) : Value()});
  }
  writer->End();
}

// As `index create` reads them.
void WriteDefinitions(const TableInfo& table, RecordWriter* writer) {
  if (table.indexes.empty()) return;
  writer->Begin("index_definition", {"table", "index", "definition"});
  for (const IndexInfo& index : table.indexes) {
    const bool is_global = index.options.placement == IndexPlacement::kGlobal;
    const std::string_view kind = is_global ? "global " : index.options.unique ? "unique " : "";
    writer->Add({table.options.name, index.options.name,
                 Format("{}{}={}", kind, index.options.name, index.options.ToString())});
  }
  writer->End();
}

// Types that do not follow from an index.
void WriteColumns(const TableInfo& table, RecordWriter* writer) {
  if (table.options.columns.empty()) return;
  writer->Begin("column", {"table", "family", "column", "type"});
  for (const ColumnOptions& column : table.options.columns) {
    writer->Add({table.options.name, column.family, column.qualifier, ColumnTypeName(column.type)});
  }
  writer->End();
}

void WriteRowKey(const TableInfo& table, RecordWriter* writer) {
  if (table.options.row_key.empty()) return;
  writer->Begin("row_key", {"table", "row_key"});
  writer->Add({table.options.name, table.options.row_key});
  writer->End();
  if (table.options.former_row_keys.empty()) return;
  writer->Begin("former_row_key", {"table", "row_key"});
  for (const std::string& former : table.options.former_row_keys) {
    writer->Add({table.options.name, former});
  }
  writer->End();
}

void WriteRegions(const TableInfo& table, RecordWriter* writer) {
  writer->Begin("region", {"table", "region", "start", "end", "files", "rows_in_files", "cells",
                           "file_bytes", "memstores", "memstore_rows", "memstore_bytes"});
  for (const RegionInfo& region : table.regions) {
    const FileInfo sum = SumOf(region);
    writer->Add({table.options.name, region.id,
                 region.start_key.empty() ? Value() : Value(region.start_key),
                 region.end_key.empty() ? Value() : Value(region.end_key), region.files.size(),
                 sum.rows, sum.cells, sum.size_bytes, region.memstores, region.memstore_rows,
                 region.memstore_bytes});
  }
  writer->End();
}

void WriteFiles(const TableInfo& table, RecordWriter* writer) {
  writer->Begin("file",
                {"table", "region", "file", "rows", "cells", "deletes", "bytes", "data_bytes",
                 "index_bytes", "min_sequence", "max_sequence", "min_key", "max_key"});
  for (const RegionInfo& region : table.regions) {
    for (const FileInfo& file : region.files) {
      writer->Add({table.options.name, region.id, Format("store-{}", file.number), file.rows,
                   file.cells, file.deletes, file.size_bytes, file.data_bytes, file.index_bytes,
                   file.min_sequence, file.max_sequence, file.min_key, file.max_key});
    }
  }
  writer->End();
}

}  // namespace

Result<ExitCode> RunVerb(const InfoOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  const bool is_for_people = options.output == OutputMode::kTable && IsTerminal(context.out);
  if (is_for_people) {
    // Dead entries are known once it has been found out which rows are in several files.
    database->GetSpaceUsage({.cancelled = context.interrupted})
        .status()
        .Ignore("what is not known is not drawn");
  }
  ASSIGN_OR_RETURN(const DatabaseInfo info, database->Info());
  const std::unique_ptr<RecordWriter> writer = NewRecordWriter(options.output, context.out);
  Summary summary(writer.get(), is_for_people);
  WriteDatabase(info, &summary);
  WriteFiles(info, &summary);
  WriteMemory(info.memory, &summary);
  WriteScrub(info, &summary);
  WriteSnapshots(info.named_snapshots, writer.get());
  if (info.tables.empty()) return ExitCode::kDone;
  if (is_for_people) {
    WriteBytes(context.out, DrawTables(info));
    return ExitCode::kDone;
  }
  WriteTables(info, writer.get());
  for (const TableInfo& table : info.tables) {
    WriteFamilies(table, writer.get());
    WriteFormerLimits(table, writer.get());
    WriteIndexes(table, writer.get());
    WriteDefinitions(table, writer.get());
    WriteColumns(table, writer.get());
    WriteRowKey(table, writer.get());
    WriteObservers(table, writer.get());
    WriteRegions(table, writer.get());
    WriteFiles(table, writer.get());
  }
  return ExitCode::kDone;
}

}  // namespace tandem::tools
