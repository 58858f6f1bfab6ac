// Versions are pinned before the directory is listed, so each file that a region refers to is in
// the list. A file that appears in between counts as one that is being written.
#include "engine/space_usage.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/engine_impl.h"
#include "engine/jobs/compaction_plan.h"
#include "engine/row_space.h"
#include "engine/storage/snapshot_files.h"

namespace tandem::engine {
namespace {

using format::FileNumber;
using format::SectionKind;
using Role = ListedFile::Role;

// The part of a store file that a region has.
struct Holder {
  const format::TableRecord* table = nullptr;
  const RegionVersion* region = nullptr;
  const FileSlice* slice = nullptr;
};
using Holders = std::map<FileNumber, std::vector<Holder>>;

SpaceKind KindOf(SectionKind kind) {
  switch (kind) {
    case SectionKind::kData:
      return SpaceKind::kRows;
    case SectionKind::kBlockIndex:
    case SectionKind::kBlockIndexTop:
      return SpaceKind::kBlockIndex;
    case SectionKind::kFilter:
      return SpaceKind::kFilter;
    case SectionKind::kKeyHashes:
      return SpaceKind::kKeyHashes;
    case SectionKind::kIndexLeaves:
    case SectionKind::kIndexPostings:
    case SectionKind::kIndexDirectory:
    case SectionKind::kIndexPresent:
    case SectionKind::kIndexTouched:
    case SectionKind::kIndexRecords:
    case SectionKind::kIndexRecordDirectory:
      return SpaceKind::kIndex;
    default:
      return SpaceKind::kRest;
  }
}

// The part of `bytes` that falls to rows [0, rows) of `all`; `bytes` for all of them.
uint64_t UpTo(uint64_t bytes, uint64_t rows, uint64_t all) {
  if (rows >= all) return bytes;
  return std::min(bytes,
                  static_cast<uint64_t>(static_cast<double>(bytes) * static_cast<double>(rows) /
                                        static_cast<double>(all)));
}

// Adds up bytes by what they are for.
class Sums {
 public:
  void Add(SpaceKind kind, uint64_t bytes, std::string table = {}, uint64_t region = 0,
           std::string name = {}) {
    if (bytes > 0) sums_[{kind, std::move(table), region, std::move(name)}] += bytes;
  }
  void AddStoreFile(const ListedFile& file, const std::vector<Holder>& holders);
  std::vector<SpacePart> Take();

 private:
  void AddSection(const std::vector<Holder>& holders, SpaceKind kind, uint64_t bytes,
                  const std::string& name);

  std::map<std::tuple<SpaceKind, std::string, uint64_t, std::string>, uint64_t> sums_;
};

std::vector<SpacePart> Sums::Take() {
  std::vector<SpacePart> parts;
  for (const auto& [key, bytes] : sums_) {
    const auto& [kind, table, region, name] = key;
    parts.push_back(
        {.kind = kind, .table = table, .region_id = region, .name = name, .bytes = bytes});
  }
  return parts;
}

// Each holder gets the bytes by its rows; kOutside what is between and after them.
void Sums::AddSection(const std::vector<Holder>& holders, SpaceKind kind, uint64_t bytes,
                      const std::string& name) {
  const uint64_t rows = holders.front().slice->file->store().row_count();
  uint64_t outside = bytes;
  for (const Holder& holder : holders) {
    const uint64_t share =
        UpTo(bytes, holder.slice->high, rows) - UpTo(bytes, holder.slice->low, rows);
    outside -= share;
    Add(kind, share, holder.table->name, holder.region->id.value, name);
  }
  Add(SpaceKind::kOutside, outside, holders.front().table->name);
}

void Sums::AddStoreFile(const ListedFile& file, const std::vector<Holder>& holders) {
  const format::StoreFile& store = holders.front().slice->file->store();
  uint64_t rest = file.size_bytes;
  for (const format::SectionEntry& section : store.sections()) {
    SpaceKind kind = KindOf(section.kind);
    const uint64_t bytes = std::min(rest, section.size_bytes);
    if (kind == SpaceKind::kRest) continue;
    std::string name;
    if (kind == SpaceKind::kIndex) {
      const format::IndexRecord* const index =
          holders.front().table->FindIndex(format::IndexId(section.owner));
      if (index == nullptr) kind = SpaceKind::kDroppedIndex;
      if (index != nullptr) name = index->name;
    }
    AddSection(holders, kind, bytes, name);
    rest -= bytes;
  }
  AddSection(holders, SpaceKind::kRest, rest, "");
}

Holders HoldersOf(std::span<const TableView> tables) {
  Holders holders;
  for (const TableView& table : tables) {
    for (const auto& region : table.regions) {
      for (const FileSlice& slice : region->files) {
        holders[slice.file->store().number()].push_back(
            {.table = table.table.get(), .region = region.get(), .slice = &slice});
      }
    }
  }
  return holders;
}

// The region whose oldest operation in memory is the oldest.
struct Waiting {
  std::string table;
  uint64_t region = 0;
  format::SequenceNumber oldest = format::kSequenceMax;
};

Waiting LongestWaiting(std::span<const TableView> tables) {
  Waiting waiting;
  for (const TableView& table : tables) {
    for (const auto& region : table.regions) {
      for (const auto& memstore : region->memstores) {
        if (memstore->empty()) continue;
        if (memstore->min_sequence() >= waiting.oldest) break;
        waiting = {table.table->name, region->id.value, memstore->min_sequence()};
        break;
      }
    }
  }
  return waiting;
}

void AddSegment(const ListedFile& file, const SpaceContext& context, const Waiting& waiting,
                Sums* sums) {
  format::SequenceNumber last = context.last_sequence;
  for (const SegmentTracker::Sealed& sealed : context.sealed) {
    if (sealed.number == file.number) last = sealed.last;
  }
  const bool is_needed = waiting.oldest <= last;
  sums->Add(is_needed ? SpaceKind::kLog : SpaceKind::kFlushedLog, file.used_bytes,
            is_needed ? waiting.table : "", is_needed ? waiting.region : 0);
  sums->Add(SpaceKind::kLogReserve, file.size_bytes - file.used_bytes);
}

}  // namespace

std::vector<SpacePart> ExplainFiles(std::span<const ListedFile> files,
                                    const SpaceContext& context) {
  const Holders holders = HoldersOf(context.tables);
  const Waiting waiting = LongestWaiting(context.tables);
  Sums sums;
  for (const ListedFile& file : files) {
    const auto held = holders.find(file.number);
    const bool is_store =
        file.role == Role::kStore || file.role == Role::kUnnamed || file.role == Role::kHeld;
    if (is_store && held != holders.end()) {
      sums.AddStoreFile(file, held->second);
    } else if (is_store && context.retired.contains(file.number)) {
      sums.Add(SpaceKind::kInUse, file.size_bytes, {}, 0, file.name);
    } else if (const auto kept = context.of_snapshots.find(file.number);
               is_store && kept != context.of_snapshots.end()) {
      sums.Add(SpaceKind::kSnapshot, file.size_bytes, kept->second.table, 0, kept->second.snapshot);
    } else if (file.role == Role::kSegment) {
      AddSegment(file, context, waiting, &sums);
    } else if (file.role == Role::kHeld) {
      sums.Add(SpaceKind::kHeld, file.size_bytes, {}, 0, file.name);
    } else if (file.role == Role::kRoot || file.role == Role::kManifest) {
      sums.Add(file.role == Role::kRoot ? SpaceKind::kRoot : SpaceKind::kManifest, file.size_bytes);
    } else if (file.role == Role::kPrepared) {
      sums.Add(SpaceKind::kLogReserve, file.size_bytes);
    } else {
      sums.Add(file.role == Role::kForeign ? SpaceKind::kForeign : SpaceKind::kUnnamed,
               file.size_bytes, {}, 0, file.name);
    }
  }
  return sums.Take();
}

std::map<FileNumber, SnapshotFile> FilesOfSnapshots(const format::Catalog& catalog) {
  std::map<FileNumber, SnapshotFile> files;
  for (const auto& [name, snapshot] : catalog.snapshots) {
    std::map<format::TableId, std::string> tables;
    for (const format::TableRecord& table : snapshot.tables) tables[table.id] = table.name;
    for (const FileNumber number : FilesOf(snapshot)) {
      const auto [file, is_first] = files.try_emplace(
          number, SnapshotFile{.table = tables[catalog.files.at(number).table], .snapshot = name});
      if (!is_first) file->second.snapshot.clear();
    }
  }
  return files;
}

// Entries of a global index are reported as those of its table.
std::shared_ptr<const format::TableRecord> EngineImpl::NamedByIndex(
    const format::TableRecord& entries) const {
  auto named = std::make_shared<format::TableRecord>(entries);
  const std::shared_ptr<const Table> of = database_.regions->Find(entries.entries_of->table);
  const format::GlobalIndexRecord* const global =
      of == nullptr ? nullptr : of->record->FindGlobal(entries.entries_of->index);
  named->name = global == nullptr ? "entries of a dropped index"
                                  : of->record->name + ", index " + global->index.name;
  return named;
}

Result<std::vector<TableView>> EngineImpl::PinTables() {
  std::vector<TableView> views;
  for (const auto& table : database_.regions->tables()) {
    ASSIGN_OR_RETURN(std::optional<TableView> view, ViewOf(table->record->id));
    if (!view.has_value()) continue;
    if (table->record->entries_of.has_value()) view->table = NamedByIndex(*table->record);
    views.push_back(*std::move(view));
  }
  return views;
}

// What the open and each flush begin in the background: which rows are in several files.
Status EngineImpl::FinishOverlaps(const SpaceOptions& options) {
  const base::Cancellation cancellation(options.cancelled);
  ASSIGN_OR_RETURN(const auto regions, RegionsOf(options.table));
  for (const auto& region : regions) {
    RETURN_IF_ERROR(cancellation.Check());
    if (region->version()->files.size() < 2) continue;
    overlaps_->BuildMissing(*region, nullptr).Ignore("what is not known counts as live");
    const RegionJobLock wait(*region, Region::Work::kOverlaps);
  }
  return {};
}

Status EngineImpl::MeasureRegions(const std::vector<TableView>& tables, const SpaceOptions& options,
                                  SpaceUsage* usage) {
  const SpaceReader reader{.now_micros = time_.Now(),
                           .retained = snapshots_->TakeRetentionPoint(),
                           .cancellation = base::Cancellation(options.cancelled)};
  std::map<uint64_t, uint64_t> data_bytes;  // By region.
  for (const SpacePart& part : usage->parts) {
    if (part.kind == SpaceKind::kRows) data_bytes[part.region_id] = part.bytes;
  }
  for (const TableView& table : tables) {
    if (!options.table.empty() && table.table->name != options.table) continue;
    for (const auto& region : table.regions) {
      RETURN_IF_ERROR(reader.cancellation.Check());
      RegionSpace space;
      if (options.exact) {
        ASSIGN_OR_RETURN(space, MeasureSpace(*table.table, *region, reader));
      } else {
        space = EstimateSpace(*table.table, *region, reader.now_micros);
      }
      space.table = table.table->name;
      space.region_id = region->id.value;
      ShareOut(data_bytes[region->id.value], &space);
      usage->regions.push_back(std::move(space));
    }
  }
  return {};
}

Result<SpaceUsage> EngineImpl::GetSpaceUsage(const SpaceOptions& options) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  RETURN_IF_ERROR(observers_.CheckOutsideHooks());
  RETURN_IF_ERROR(FinishOverlaps(options));
  SpaceUsage usage;
  const int64_t now = time_.Now();
  for (const auto& [sequence, taken] : handles_->snapshots()) {
    usage.snapshots.push_back({.sequence = sequence, .age_micros = now - taken});
  }
  usage.cursors = handles_->cursors();
  usage.named_snapshots = DescribeSnapshots();
  ASSIGN_OR_RETURN(const std::vector<TableView> tables, PinTables());
  const std::vector<SegmentTracker::Sealed> sealed = segments_.sealed();
  SpaceContext context{.tables = tables,
                       .sealed = sealed,
                       .last_sequence = snapshots_->visible(),
                       .retired = database_.files->Retired(),
                       .of_snapshots = FilesOfSnapshots(database_.opened.storage->catalog())};
  ASSIGN_OR_RETURN(const std::vector<ListedFile> files, database_.opened.storage->ListFiles());
  usage.parts = ExplainFiles(files, context);
  for (const ListedFile& file : files) usage.directory_bytes += file.size_bytes;
  RETURN_IF_ERROR(MeasureRegions(tables, options, &usage));
  return usage;
}

Result<std::vector<CompactionPlan>> EngineImpl::PlanCompaction(std::string_view name) {
  GatePass pass(calls_);
  if (!pass.inside()) return Closed();
  if (!name.empty() && database_.regions->Find(name) == nullptr) return TableNotFound(name);
  ASSIGN_OR_RETURN(const std::vector<TableView> tables, PinTables());
  const format::Catalog catalog = database_.opened.storage->catalog();
  const PlanPoint point{.runs_max = tuning_.compaction_runs,
                        .now_micros = snapshots_->TakeRetentionPoint().now_micros};
  std::vector<CompactionPlan> plans;
  for (const TableView& table : tables) {
    if (!name.empty() && table.table->name != name) continue;
    for (const auto& region : table.regions) {
      if (!catalog.tables.contains(table.table->id)) continue;  // It was dropped meanwhile.
      plans.push_back(PlanOf(*region, table.table->id, catalog, point));
      plans.back().table = table.table->name;
    }
  }
  return plans;
}

}  // namespace tandem::engine
