// See the header for the steps.
#include "engine/salvage/salvage.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/guarded.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/create_table.h"
#include "engine/engine.h"
#include "engine/salvage/catalog_finder.h"
#include "engine/salvage/counters.h"
#include "engine/salvage/file_copier.h"
#include "engine/salvage/file_names.h"
#include "engine/salvage/log_copier.h"
#include "engine/salvage/plan.h"
#include "engine/storage/storage.h"
#include "engine/verify/findings.h"
#include "store_file/store_file.h"

namespace tandem::engine {
namespace {

class Salvager {
 public:
  Salvager(const SalvageOptions& options, const Tuning& tuning, const Environment& environment,
           const std::atomic<bool>* cancelled)
      : options_(options), tuning_(tuning), environment_(environment), cancelled_(cancelled) {}

  Result<SalvageReport> Run();

 private:
  /// A copied file, in the order of age.
  struct Copied {
    format::FileRecord record;
    std::string source;
  };

  Status OpenSource();
  Status CreateTarget();
  void AddEntries(format::CatalogEdit* edit) const;
  Status CopyRegions();
  Status CopyRegion(const RegionPlan& plan);
  Status FindUncertain(const RegionPlan& plan, const std::vector<Copied>& copies,
                       size_t first_lost);
  Result<bool> HoldsKeys(const Copied& copy, const format::KeyRange& keys);
  void CheckCopy();

  const SalvageOptions& options_;
  const Tuning& tuning_;
  const Environment& environment_;
  const std::atomic<bool>* const cancelled_;
  SalvageReport report_;
  std::unique_ptr<base::Directory> source_;
  SurvivingCatalog surviving_;
  std::unique_ptr<Storage> target_;
};

Result<SalvageReport> Salvager::Run() {
  RETURN_IF_ERROR(OpenSource());
  ASSIGN_OR_RETURN(surviving_, FindCatalog(source_.get(), &report_));
  for (const auto& [id, table] : surviving_.catalog.tables) {
    report_.tables += table.entries_of.has_value() ? 0 : 1;
  }
  report_.regions = surviving_.catalog.regions.size();
  for (const auto& [name, snapshot] : surviving_.catalog.snapshots) {
    report_.snapshots.push_back(name);
  }
  RETURN_IF_ERROR(CreateTarget());
  RETURN_IF_ERROR(CopyRegions());
  RETURN_IF_ERROR(
      SalvageLog(source_.get(), surviving_, options_.past_holes, target_.get(), &report_));
  if (!report_.lost_edits.empty()) {
    for (const auto& [name, sequence] : surviving_.catalog.sequences) {
      report_.uncertain.push_back({.table = {},
                                   .region = 0,
                                   .family = {},
                                   .keys = {},
                                   .because = "sequence " + base::Quote(name) + " may have given " +
                                              "out ids from " + std::to_string(sequence.next) +
                                              " on"});
    }
    report_.uncertain.push_back({.table = {},
                                 .region = 0,
                                 .family = {},
                                 .keys = {},
                                 .because = "the catalog may lack newer files"});
  }
  for (const LogHole& hole : report_.holes) {
    report_.uncertain.push_back({.table = {},
                                 .region = 0,
                                 .family = {},
                                 .keys = {},
                                 .because = hole.segment + ", operations after sequence " +
                                            std::to_string(hole.after_sequence)});
  }
  CheckCopy();
  return std::move(report_);
}

// Checks the destination before any long read.
Status Salvager::OpenSource() {
  ASSIGN_OR_RETURN(auto directory, environment_.file_system->OpenDirectory(options_.source, false));
  ASSIGN_OR_RETURN(source_, NamedByHeaders(std::move(directory), &report_));
  const auto existing = environment_.file_system->OpenDirectory(options_.destination, false);
  if (!existing) {
    const bool is_absent = existing.error().code() == StatusCode::kNotFound;
    return is_absent ? Status() : existing.error();
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> names, (*existing)->List());
  if (names.empty()) return {};
  return Status::AlreadyExists(options_.destination +
                               " holds files already; name a directory that does not exist");
}

// The catalog without files.
Status Salvager::CreateTarget() {
  OpenStorageOptions options;
  options.file_system = environment_.file_system;
  options.random = environment_.random;
  options.path = options_.destination;
  options.create_if_missing = true;
  options.segment_bytes = tuning_.log_segment_bytes;
  ASSIGN_OR_RETURN(OpenedStorage opened,
                   OpenLocalStorage(
                       options, [](const format::Catalog&) { return Status(); },
                       [](const format::Frame&) { return Status(); }));
  target_ = std::move(opened.storage);
  RETURN_IF_ERROR(target_->Start({}));
  const format::Catalog& catalog = surviving_.catalog;
  format::CatalogEdit edit;
  edit.counters = catalog.counters;
  for (const auto& [id, table] : catalog.tables) {
    if (table.entries_of.has_value()) continue;
    edit.put_tables.push_back(table);
    // What is lost may have kept rows apart: whoever wants it so again checks them first.
    for (format::IndexRecord& index : edit.put_tables.back().indexes) {
      if (index.unique) index.state = format::IndexState::kBuilding;
    }
    AddEntries(&edit);
  }
  for (const auto& [id, region] : catalog.regions) {
    if (catalog.tables.at(region.table).entries_of.has_value()) continue;
    format::RegionRecord& empty = edit.put_regions.emplace_back(region);
    empty.files.clear();
    empty.flushed_through = {};
  }
  for (const auto& [name, sequence] : catalog.sequences) edit.put_sequences.push_back(sequence);
  return target_->CommitEdits(target_->catalog().epoch, edit);
}

// Entries of global indexes are built again when the copy is opened: rows may be lost, and entries.
void Salvager::AddEntries(format::CatalogEdit* edit) const {
  std::vector<format::TableRecord> added;
  format::TableRecord& table = edit->put_tables.back();
  for (format::GlobalIndexRecord& global : table.global_indexes) {
    global.since.reset();
    global.entries = format::TableId(edit->counters->next_table_id++);
    added.push_back(EntriesRecord(table, global, environment_.random));
    const std::vector<format::RegionRecord> regions =
        format::NewRegions(global.entries, {std::string()}, &*edit->counters);
    edit->put_regions.insert(edit->put_regions.end(), regions.begin(), regions.end());
  }
  edit->put_tables.insert(edit->put_tables.end(), added.begin(), added.end());
}

Status Salvager::CopyRegions() {
  OrphanRule rule = options_.include_orphans ? OrphanRule::kInclude : OrphanRule::kList;
  if (!surviving_.is_from_manifest) rule = OrphanRule::kAll;
  ASSIGN_OR_RETURN(const std::vector<RegionPlan> plans,
                   PlanRegions(source_.get(), surviving_, rule, &report_));
  for (const RegionPlan& plan : plans) {
    if (surviving_.catalog.tables.at(plan.region.table).entries_of.has_value()) continue;
    RETURN_IF_ERROR(CopyRegion(plan));
  }
  return {};
}

Status Salvager::CopyRegion(const RegionPlan& plan) {
  const SalvageSource source{.directory = source_.get(),
                             .database = surviving_.database(),
                             .table = &surviving_.catalog.tables.at(plan.region.table),
                             .sequence_limit = SequenceLimit(surviving_.catalog)};
  const SalvageTarget target{.storage = target_.get(),
                             .database = target_->catalog().database,
                             .section_alignment = tuning_.section_alignment,
                             .cancelled = cancelled_};
  FileSalvage salvage(source, target, &report_);
  format::CatalogEdit edit;
  format::RegionRecord region = plan.region;
  region.files.clear();
  region.flushed_through = plan.flushed_through;
  std::vector<Copied> copies;
  for (const PlannedFile& planned : plan.files) {
    const size_t first_lost = report_.lost.size();
    ASSIGN_OR_RETURN(const std::optional<format::FileRecord> record,
                     salvage.Copy(planned, plan.region));
    RETURN_IF_ERROR(FindUncertain(plan, copies, first_lost));
    if (!record.has_value()) continue;
    copies.push_back({*record, planned.name});
    edit.add_files.push_back(*record);
    region.files.push_back({.file = record->number,
                            .run = planned.run,
                            .ordinal_low = 0,
                            .ordinal_high = record->rows});
  }
  // No sequence number of a file may be assigned again: a write with it would not be the newest.
  format::CatalogCounters& counters = edit.counters.emplace(target_->catalog().counters);
  for (const Copied& copy : copies) {
    counters.last_sequence = std::max(counters.last_sequence, copy.record.max_sequence.value);
  }
  counters.last_sequence = std::max(counters.last_sequence, region.flushed_through.value);
  edit.put_regions.push_back(std::move(region));
  return target_->CommitEdits(target_->catalog().epoch, edit);
}

// Where the file copied last lost rows, older files show what these rows may have hidden.
Status Salvager::FindUncertain(const RegionPlan& plan, const std::vector<Copied>& copies,
                               size_t first_lost) {
  for (size_t i = first_lost; i < report_.lost.size(); ++i) {
    const LostRange& lost = report_.lost[i];
    // What is left of a row may be what the lost cells hid.
    bool holds = lost.columns.has_value();
    for (size_t at = 0; at < copies.size() && !holds; ++at) {
      ASSIGN_OR_RETURN(holds, HoldsKeys(copies[at], lost.keys));
    }
    if (holds) {
      report_.uncertain.push_back({.table = lost.table,
                                   .region = plan.region.id.value,
                                   .family = lost.family,
                                   .keys = lost.keys,
                                   .because = lost.file});
    }
  }
  return {};
}

Result<bool> Salvager::HoldsKeys(const Copied& copy, const format::KeyRange& keys) {
  const format::FileRecord& record = copy.record;
  if (record.max_key < keys.low || (keys.high.has_value() && record.min_key >= *keys.high)) {
    return false;
  }
  ASSIGN_OR_RETURN(auto file, target_->OpenFile(record.number));
  ASSIGN_OR_RETURN(const auto store,
                   format::StoreFile::Open(std::move(file), {.number = record.number}, nullptr));
  ASSIGN_OR_RETURN(const uint32_t low, store->LowerBound(keys.low));
  uint32_t high = store->row_count();
  if (keys.high.has_value()) {
    ASSIGN_OR_RETURN(high, store->LowerBound(*keys.high));
  }
  return low < high;
}

// Damage of the copy is a finding, not an error: the list of what is lost is needed all the same.
void Salvager::CheckCopy() {
  target_.reset();
  const auto engine = Engine::Open(options_.destination, Options(), tuning_, environment_);
  Status status = engine.status();
  if (status.ok()) {
    Result<VerifyReport> verified = (*engine)->Verify(/*deep=*/true);
    status = verified.status();
    if (verified) report_.verified = *std::move(verified);
    const Status closed = (*engine)->Close();
    if (status.ok()) status = closed;
  }
  if (!status.ok()) report_.verified.findings.push_back(format::NewFinding(status));
}

}  // namespace

Result<SalvageReport> Salvage(const SalvageOptions& options, const Tuning& tuning,
                              const Environment& environment, const std::atomic<bool>* cancelled) {
  return Guarded([&] { return Salvager(options, tuning, environment, cancelled).Run(); });
}

}  // namespace tandem::engine
