// du: what every byte of the directory is for, and what would free it.
#include <array>
#include <map>
#include <tuple>

#include "base/status_macros.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/output.h"
#include "tools/tandem/snapshot_output.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

struct KindText {
  SpaceKind kind;
  const char* name;
  const char* freed_by;  ///< Empty: nothing, it is needed.
};
constexpr KindText kKinds[] = {
    {SpaceKind::kRoot, "root", ""},
    {SpaceKind::kManifest, "manifest", ""},
    {SpaceKind::kLog, "log", "flush"},
    {SpaceKind::kFlushedLog, "flushed-log", "the next flush, or a close"},
    {SpaceKind::kLogReserve, "log-reserve", "a close"},
    {SpaceKind::kRows, "rows", ""},
    {SpaceKind::kIndex, "index", ""},
    {SpaceKind::kDroppedIndex, "dropped-index", "compact"},
    {SpaceKind::kBlockIndex, "block-index", ""},
    {SpaceKind::kFilter, "filter", ""},
    {SpaceKind::kKeyHashes, "key-hashes", ""},
    {SpaceKind::kRest, "rest", ""},
    {SpaceKind::kOutside, "outside", "compact"},
    {SpaceKind::kSnapshot, "snapshot", "snapshot drop"},
    {SpaceKind::kInUse, "in-use", "closing cursors"},
    {SpaceKind::kHeld, "held", "the end of a copy, or of a reader"},
    {SpaceKind::kUnnamed, "unnamed", "its writer, or the next open for writing"},
    {SpaceKind::kForeign, "foreign", "its owner"},
};

const KindText& TextOf(SpaceKind kind) {
  for (const KindText& text : kKinds) {
    if (text.kind == kind) return text;
  }
  return kKinds[0];
}

// `text` is a constant or outlives the record.
Value OrAbsent(std::string_view text) { return text.empty() ? Value() : Value(text); }

// Over all regions, unless they are asked for by their table.
void WriteParts(const SpaceUsage& usage, const DuVerbOptions& options, RecordWriter* writer) {
  using Key = std::tuple<std::string, SpaceKind, std::string, uint64_t>;
  std::map<Key, uint64_t> sums;
  for (const SpacePart& part : usage.parts) {
    if (!options.table.empty() && part.table != options.table) continue;
    const uint64_t region = options.table.empty() ? 0 : part.region_id;
    sums[{part.table, part.kind, part.name, region}] += part.bytes;
  }
  writer->Begin("part", {"table", "region", "part", "name", "bytes", "share", "freed_by"});
  for (const auto& [key, bytes] : sums) {
    const auto& [table, kind, name, region] = key;
    const KindText& text = TextOf(kind);
    writer->Add({OrAbsent(table), region == 0 ? Value() : Value(region), text.name, OrAbsent(name),
                 bytes, FormatShare(bytes, usage.directory_bytes), OrAbsent(text.freed_by)});
  }
  writer->End();
}

void Add(const CellSpace& from, CellSpace* to) {
  to->cells += from.cells;
  to->bytes += from.bytes;
}

void Add(const RegionSpace& from, RegionSpace* to) {
  to->table = from.table;
  to->rows += from.rows;
  Add(from.live, &to->live);
  Add(from.older, &to->older);
  Add(from.pinned, &to->pinned);
  Add(from.expired, &to->expired);
  Add(from.deletes, &to->deletes);
  to->index_entries += from.index_entries;
  to->dead_index_entries += from.dead_index_entries;
}

std::vector<RegionSpace> SumsOfTables(const std::vector<RegionSpace>& regions) {
  std::vector<RegionSpace> tables;
  for (const RegionSpace& region : regions) {
    if (tables.empty() || tables.back().table != region.table) tables.emplace_back();
    Add(region, &tables.back());
  }
  return tables;
}

void WriteCells(const RegionSpace& space, bool exact, RecordWriter* writer) {
  const Value region = space.region_id == 0 ? Value() : Value(space.region_id);
  const struct {
    const char* state;
    const CellSpace& part;
    const char* freed_by;
    bool only_exact;
  } kStates[] = {
      {exact ? "live" : "live-or-older", space.live, "", false},
      {"older", space.older, "compact", true},
      {"pinned", space.pinned, "closing snapshots, then compact", true},
      {"expired", space.expired, "compact", false},
      {"deletes", space.deletes, "compact", false},
  };
  for (const auto& [state, part, freed_by, only_exact] : kStates) {
    if (only_exact && !exact) continue;
    writer->Add({space.table, region, state, part.cells, part.bytes,
                 part.cells == 0 ? Value() : OrAbsent(freed_by)});
  }
  if (space.index_entries == 0) return;
  const uint64_t live = space.index_entries - space.dead_index_entries;
  writer->Add({space.table, region, "index-entries", live, Value(), Value()});
  writer->Add(
      {space.table, region, "dead-index-entries", space.dead_index_entries, Value(), "compact"});
}

}  // namespace

Result<ExitCode> RunVerb(const DuVerbOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  const auto usage = database->GetSpaceUsage(
      {.table = options.table, .exact = options.exact, .cancelled = context.interrupted});
  if (!usage) return WithSuggestion(*database, options.table, usage.error());
  const std::unique_ptr<RecordWriter> writer = NewRecordWriter(options.output, context.out);
  const Property properties[] = {{"path", options.path},
                                 {"directory_bytes", usage->directory_bytes},
                                 {"exact", options.exact}};
  writer->AddProperties("directory", properties);
  WriteParts(*usage, options, writer.get());
  WriteSnapshots(usage->named_snapshots, writer.get());
  writer->Begin("cells", {"table", "region", "state", "count", "bytes", "freed_by"});
  const std::vector<RegionSpace> spaces =
      options.table.empty() ? SumsOfTables(usage->regions) : usage->regions;
  for (const RegionSpace& space : spaces) WriteCells(space, options.exact, writer.get());
  writer->End();
  return ExitCode::kDone;
}

}  // namespace tandem::tools
