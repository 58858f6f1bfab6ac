// Two catalogs compared: each becomes a sorted list of properties, and the lists are merged.
#include <map>
#include <tuple>

#include "base/status_macros.h"
#include "engine/storage/files.h"
#include "engine/storage/storage.h"
#include "format/root.h"
#include "tools/dump/catalog.h"
#include "tools/dump/names.h"
#include "tools/tandem/declarations.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

// What it is about, which one, and which property of it.
using PropertyKey = std::tuple<std::string, std::string, std::string>;
using Properties = std::map<PropertyKey, std::string>;

template <typename T>
std::string Text(const T& value) {
  return Format("{}", value);
}

void AddTable(const format::TableRecord& table, Properties* out) {
  Properties& properties = *out;
  properties[{"table", Text(table.id.value), "name"}] = table.name;
  std::string observers;
  for (const std::string& observer : table.observers) {
    observers += (observers.empty() ? "" : ", ") + observer;
  }
  if (!observers.empty()) properties[{"table", Text(table.id.value), "observers"}] = observers;
  if (!table.row_key.empty()) {
    properties[{"table", Text(table.id.value), "row_key"}] = table.row_key;
  }
  std::string former;
  for (const std::string& row_key : table.former_row_keys) {
    former += (former.empty() ? "" : "; ") + row_key;
  }
  if (!former.empty()) properties[{"table", Text(table.id.value), "former_row_keys"}] = former;
  for (const format::FamilyRecord& family : table.families) {
    const FamilyOptions& options = family.options;
    const std::string dropped =
        family.dropped ? Format(" (dropped, id {})", family.id.value) : std::string();
    properties[{"family", Format("{}:{}{}", table.name, options.name, dropped), "options"}] =
        Format("id {}, versions {}, ttl {}, compression {}, block size {}", family.id.value,
               options.max_versions, options.ttl_micros, CompressionName(options.compression),
               options.block_size_bytes);
    for (const format::FormerLimits& limits : family.former_limits) {
      properties[{"family", Format("{}:{}{}", table.name, options.name, dropped),
                  Format("limits before {}", limits.changed_at.value)}] =
          (limits.max_versions.has_value() ? Format("versions {} ", *limits.max_versions)
                                           : std::string()) +
          (limits.expired_through.has_value()
               ? Format("expired through {}", *limits.expired_through)
               : std::string());
    }
  }
  for (const format::GlobalIndexRecord& global : table.global_indexes) {
    properties[{"index", Format("{}.{}", table.name, global.index.name), "entries"}] =
        Format("table {}", global.entries.value);
    properties[{"index", Format("{}.{}", table.name, global.index.name), "since"}] =
        global.since.has_value() ? Text(global.since->value) : "building";
  }
  for (const format::IndexRecord& index : table.indexes) {
    std::string columns;
    for (const format::IndexColumnRecord& column : index.columns) {
      columns +=
          Format("{}{}:{}{}", columns.empty() ? "" : ", ",
                 TextOf(column.functions,
                        column.is_of_row_key() ? std::string(column.name())
                        : column.is_of_family()
                            ? std::string(FamilyName(table, column.family))
                            : Format("{}:{}", FamilyName(table, column.family), column.qualifier)),
                 ColumnTypeName(column.type), column.descending ? ":desc" : "");
    }
    properties[{"index", Format("{}.{}", table.name, index.name), "columns"}] = columns;
    properties[{"index", Format("{}.{}", table.name, index.name), "state"}] =
        Text(static_cast<int>(index.state));
    std::string included;
    for (const format::IncludedColumnRecord& column : index.included) {
      if (!included.empty()) included += ", ";
      included += Format("{}:{}", FamilyName(table, column.family), column.qualifier);
    }
    if (!included.empty())
      properties[{"index", Format("{}.{}", table.name, index.name), "included"}] = included;
    if (index.unique)
      properties[{"index", Format("{}.{}", table.name, index.name), "unique"}] = "1";
    if (index.where.has_value())
      properties[{"index", Format("{}.{}", table.name, index.name), "where"}] = index.where->text;
  }
}

void AddRegion(const format::RegionRecord& region, Properties* out) {
  Properties& properties = *out;
  const std::string id = Text(region.id.value);
  properties[{"region", id, "table_id"}] = Text(region.table.value);
  properties[{"region", id, "start"}] = region.start_key;
  properties[{"region", id, "end"}] = region.end_key;
  properties[{"region", id, "flushed_through"}] = Text(region.flushed_through.value);
  if (region.start_by_size) properties[{"region", id, "start_by_size"}] = "1";
  std::string files;
  for (const std::string& file : ReferenceTexts(region)) {
    files += (files.empty() ? "" : "; ") + file;
  }
  properties[{"region", id, "files"}] = files;
}

void AddFile(const format::FileRecord& file, Properties* out) {
  (*out)[{"file", engine::StoreFileName(file.number), "content"}] =
      Format("table {}, {} rows, {} cells, {} bytes, sequences {}..{}, id {}", file.table.value,
             file.rows, file.cells, file.size_bytes, file.min_sequence.value,
             file.max_sequence.value, IdText(file.id));
}

void AddSnapshot(const format::SnapshotRecord& snapshot, Properties* out) {
  std::string tables;
  for (const format::TableRecord& table : snapshot.tables) {
    tables += (tables.empty() ? "" : ", ") + table.name;
  }
  (*out)[{"snapshot", snapshot.name, "content"}] =
      Format("sequence {}, time {}, {} regions of {}", snapshot.sequence.value, snapshot.now_micros,
             snapshot.regions.size(), tables);
}

Properties PropertiesOf(const format::Catalog& catalog) {
  Properties properties;
  const format::CatalogCounters& counters = catalog.counters;
  const std::pair<const char*, std::string> numbers[] = {
      {"database_id", IdText(catalog.database)},
      {"epoch", Text(catalog.epoch)},
      {"next_file_number", Text(counters.next_file_number)},
      {"next_table_id", Text(counters.next_table_id)},
      {"next_region_id", Text(counters.next_region_id)},
      {"last_timestamp", Text(counters.last_timestamp)},
      {"clock_high_micros", Text(counters.clock_high_micros)},
      {"last_sequence", Text(counters.last_sequence)}};
  for (const auto& [name, value] : numbers) properties[{"database", "", name}] = value;
  for (const auto& [id, table] : catalog.tables) AddTable(table, &properties);
  for (const auto& [id, region] : catalog.regions) AddRegion(region, &properties);
  for (const auto& [number, file] : catalog.files) AddFile(file, &properties);
  for (const format::SegmentRecord& segment : catalog.segments) {
    properties[{"segment", engine::SegmentName(segment.number), "file_id"}] = IdText(segment.id);
  }
  for (const auto& [name, snapshot] : catalog.snapshots) AddSnapshot(snapshot, &properties);
  for (const auto& [name, sequence] : catalog.sequences) {
    properties[{"sequence", name, "next"}] = Text(sequence.next);
    properties[{"sequence", name, "ids"}] =
        Format("{} to {}", sequence.options.first, sequence.options.last);
  }
  return properties;
}

void AddDifference(const PropertyKey& key, Value before, Value after, RecordWriter* writer) {
  const auto& [what, which, property] = key;
  const char* change = before.absent() ? "added" : after.absent() ? "removed" : "changed";
  writer->Add({change, what, which, property, before, after});
}

// A manifest, or that of the database in a directory.
Result<format::Catalog> CatalogAt(const std::string& path, const Context& context) {
  std::string file = path;
  if (IsDirectory(path)) {
    ASSIGN_OR_RETURN(const ProbedFile root, ProbeFile(path + "/" + engine::kRootName));
    ASSIGN_OR_RETURN(const format::RootFile slots, format::ReadRoot(root.file.get()));
    file = path + "/" + engine::ManifestName(slots.record.manifest.number);
  }
  ASSIGN_OR_RETURN(ProbedFile probed, ProbeFile(file));
  if (probed.header.kind != format::FileKind::kManifest) {
    return Status::InvalidArgument(Format("{}: expected a manifest or a database, found a {}", path,
                                          FileKindName(probed.header.kind)));
  }
  ASSIGN_OR_RETURN(ManifestState state, ReadManifestState(&probed));
  if (!state.damage.empty()) {
    WriteBytes(context.err, Format("tandem: manifest: {}: {}\n", file, state.damage));
  }
  return std::move(state.contents.catalog);
}

}  // namespace

void DumpDifferences(const format::Catalog& before, const format::Catalog& after,
                     RecordWriter* writer) {
  const Properties old_ones = PropertiesOf(before), new_ones = PropertiesOf(after);
  writer->Begin("difference", {"change", "what", "which", "property", "before", "after"});
  auto old_one = old_ones.begin();
  auto new_one = new_ones.begin();
  while (old_one != old_ones.end() || new_one != new_ones.end()) {
    const bool only_old =
        new_one == new_ones.end() || (old_one != old_ones.end() && old_one->first < new_one->first);
    const bool only_new =
        old_one == old_ones.end() || (new_one != new_ones.end() && new_one->first < old_one->first);
    if (only_old) {
      AddDifference(old_one->first, old_one->second, Value(), writer);
    } else if (only_new) {
      AddDifference(new_one->first, Value(), new_one->second, writer);
    } else if (old_one->second != new_one->second) {
      AddDifference(old_one->first, old_one->second, new_one->second, writer);
    }
    if (!only_new) ++old_one;
    if (!only_old) ++new_one;
  }
  writer->End();
}

Result<ExitCode> RunVerb(const ManifestOptions& options, const Context& context) {
  if (options.action != "diff") {
    return Status::InvalidArgument(
        Format("manifest '{}': expected diff, as in manifest diff BEFORE AFTER", options.action));
  }
  ASSIGN_OR_RETURN(const format::Catalog before, CatalogAt(options.before, context));
  ASSIGN_OR_RETURN(const format::Catalog after, CatalogAt(options.after, context));
  DumpDifferences(before, after, NewRecordWriter(options.output, context.out).get());
  return ExitCode::kDone;
}

}  // namespace tandem::tools
