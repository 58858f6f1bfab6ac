// See the header for how files are told apart.
#include "engine/salvage/plan.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/passing.h"
#include "base/status_macros.h"
#include "engine/salvage/counters.h"
#include "engine/salvage/damaged_file.h"
#include "engine/storage/files.h"
#include "engine/storage/storage.h"
#include "engine/verify/blocks.h"
#include "engine/verify/findings.h"
#include "store_file/store_file.h"

namespace tandem::engine {
namespace {

// A file that the catalog does not name.
struct Orphan {
  LocalFile file;
  format::TableId table;
  std::string region_start;
  format::FileStatistics statistics;
};

bool Contains(const format::FileStatistics& outer, format::SequenceNumber min,
              format::SequenceNumber max) {
  return outer.min_sequence <= min && max <= outer.max_sequence;
}

template <typename OtherFile>  // Its statistics, or its record.
bool KeysOverlap(const format::FileStatistics& a, const OtherFile& b) {
  return a.min_key <= b.max_key && b.min_key <= a.max_key;
}

class SalvagePlanner {
 public:
  SalvagePlanner(base::Directory* directory, const SurvivingCatalog& surviving, OrphanRule rule,
                 SalvageReport* report)
      : directory_(*directory),
        catalog_(surviving.catalog),
        surviving_(surviving),
        rule_(rule),
        report_(*report) {}

  Result<std::vector<RegionPlan>> Run();

 private:
  Status ListFiles();
  Result<std::optional<Orphan>> Describe(const LocalFile& file);
  Result<bool> IsGood(const LocalFile& file);
  /// Of a table that no manifest has, every file is an orphan and is used.
  OrphanRule RuleFor(format::TableId table) const {
    return surviving_.described.contains(table) ? OrphanRule::kAll : rule_;
  }
  /// Another table's hash secret proves another database.
  bool IsForeign(const format::TableRecord& table) const {
    const auto found = catalog_.tables.find(table.id);
    return found != catalog_.tables.end() && found->second.hash_secret != table.hash_secret;
  }
  RegionPlan PlanOf(const format::RegionRecord& region) const;
  void PlaceAll(std::vector<const Orphan*> orphans, RegionPlan* plan);
  void Place(const Orphan& orphan, RegionPlan* plan);
  bool ReplaceMissing(const Orphan& orphan, RegionPlan* plan);
  void LeaveOut(const Orphan& orphan, const RegionPlan& plan);
  void Note(const Orphan& orphan, std::string what);

  base::Directory& directory_;
  const format::Catalog& catalog_;
  const SurvivingCatalog& surviving_;
  const OrphanRule rule_;
  SalvageReport& report_;
  std::set<std::string> names_;
  std::vector<Orphan> orphans_;
};

Result<std::vector<RegionPlan>> SalvagePlanner::Run() {
  RETURN_IF_ERROR(ListFiles());
  std::vector<RegionPlan> plans;
  std::set<const Orphan*> placed;
  for (const auto& [id, region] : catalog_.regions) {
    RegionPlan& plan = plans.emplace_back(PlanOf(region));
    std::vector<const Orphan*> mine;
    for (const Orphan& orphan : orphans_) {
      if (orphan.table != region.table || orphan.region_start != region.start_key) continue;
      mine.push_back(&orphan);
      placed.insert(&orphan);
    }
    PlaceAll(std::move(mine), &plan);
  }
  for (const Orphan& orphan : orphans_) {
    if (!placed.contains(&orphan)) Note(orphan, "of a table or region that the catalog lacks");
  }
  return plans;
}

void SalvagePlanner::Note(const Orphan& orphan, std::string what) {
  const std::string rows = std::to_string(orphan.statistics.rows);
  report_.orphans.push_back(
      {orphan.file.name, "not in the catalog, " + rows + " rows, sequences " +
                             std::to_string(orphan.statistics.min_sequence.value) + " to " +
                             std::to_string(orphan.statistics.max_sequence.value) + ": " +
                             std::move(what)});
}

Status SalvagePlanner::ListFiles() {
  ASSIGN_OR_RETURN(const std::vector<LocalFile> files, ListLocalFiles(&directory_));
  for (const LocalFile& file : files) {
    names_.insert(file.name);
    if (file.kind != LocalFileKind::kStore || catalog_.files.contains(file.number)) continue;
    ASSIGN_OR_RETURN(std::optional<Orphan> orphan, Describe(file));
    if (orphan.has_value()) orphans_.push_back(*std::move(orphan));
  }
  std::sort(orphans_.begin(), orphans_.end(), [](const Orphan& a, const Orphan& b) {
    const auto range = [](const Orphan& orphan) {  // The widest of those that begin alike first.
      return std::pair(orphan.statistics.min_sequence.value, ~orphan.statistics.max_sequence.value);
    };
    return range(a) != range(b) ? range(a) < range(b) : a.file.number > b.file.number;
  });
  return {};
}

// What the file says of itself; nullopt when that cannot be proved.
Result<std::optional<Orphan>> SalvagePlanner::Describe(const LocalFile& file) {
  format::KnownFile known;
  known.number = file.number;
  if (const format::DatabaseId* database = surviving_.database()) known.database = *database;
  ASSIGN_OR_RETURN(auto opened, directory_.Open(file.name, base::OpenMode::kReadOnly));
  const auto store = format::DamagedFile::Open(std::move(opened), known);
  Status status = store.status();
  if (base::IsOfSystem(status)) return status;
  if (status.ok() &&
      !((*store)->statistics().has_value() && (*store)->region_start().has_value())) {
    status = Status::Corruption("it does not say where its rows belong");
  }
  if (status.ok() && (*store)->statistics()->max_sequence.value > SequenceLimit(catalog_)) {
    status = Status::Corruption("it says sequence " +
                                std::to_string((*store)->statistics()->max_sequence.value) +
                                ", which no database reaches");
  }
  if (status.ok() && IsForeign((*store)->table())) {
    status = Status::Corruption("it is of another database");
  }
  bool is_good = status.ok();
  if (is_good && RuleFor((*store)->table().id) != OrphanRule::kAll) {
    ASSIGN_OR_RETURN(is_good, IsGood(file));
    if (!is_good) status = Status::Corruption("it is damaged");
  }
  if (!is_good) {
    report_.orphans.push_back(
        {file.name, "not in the catalog, not copied: " + std::string(status.message())});
    // It is unknown whose rows it has.
    if (!surviving_.is_whole) {
      LostRange& lost = report_.lost.emplace_back();
      lost.file = file.name;
      lost.reason = "not in what is left of the catalog: " + std::string(status.message());
      report_.uncertain.push_back(
          {.table = {}, .region = 0, .family = {}, .keys = {}, .because = lost.file});
    }
    return std::optional<Orphan>();
  }
  return std::optional<Orphan>(Orphan{.file = file,
                                      .table = (*store)->table().id,
                                      .region_start = *(*store)->region_start(),
                                      .statistics = *(*store)->statistics()});
}

Result<bool> SalvagePlanner::IsGood(const LocalFile& file) {
  ASSIGN_OR_RETURN(auto opened, directory_.Open(file.name, base::OpenMode::kReadOnly));
  const auto store = format::StoreFile::Open(std::move(opened), {.number = file.number}, nullptr);
  if (!store) return base::IsOfSystem(store.error()) ? Result<bool>(store.error()) : false;
  VerifyReport found;
  format::Findings findings(file.name, &found);
  RETURN_IF_ERROR(format::VerifyBlocks(**store, &findings));
  return findings.count() == 0;
}

RegionPlan SalvagePlanner::PlanOf(const format::RegionRecord& region) const {
  RegionPlan plan{.region = region, .files = {}, .flushed_through = region.flushed_through};
  for (const format::FileReference& reference : region.files) {
    plan.files.push_back({.number = reference.file,
                          .name = StoreFileName(reference.file),
                          .run = reference.run,
                          .record = &catalog_.files.at(reference.file)});
  }
  return plan;
}

void SalvagePlanner::PlaceAll(std::vector<const Orphan*> orphans, RegionPlan* plan) {
  std::vector<const Orphan*> taken;  // Ascending; disjoint in sequences or keys.
  for (const Orphan* orphan : orphans) {
    const format::FileStatistics& own = orphan->statistics;
    const auto overlaps = [&](const Orphan* other) {
      const format::FileStatistics& before = other->statistics;
      return before.max_sequence >= own.min_sequence && KeysOverlap(before, own);
    };
    const auto other = std::find_if(taken.begin(), taken.end(), overlaps);
    if (other == taken.end()) {
      taken.push_back(orphan);
    } else {
      const bool within = Contains((*other)->statistics, own.min_sequence, own.max_sequence);
      Note(*orphan, "not copied: " + (*other)->file.name +
                        (within ? " holds what became of its rows" : " overlaps it"));
    }
  }
  for (const Orphan* orphan : taken) Place(*orphan, plan);
}

void SalvagePlanner::Place(const Orphan& orphan, RegionPlan* plan) {
  const format::FileStatistics& own = orphan.statistics;
  const OrphanRule rule = RuleFor(orphan.table);
  if (ReplaceMissing(orphan, plan)) return;
  for (const PlannedFile& file : plan->files) {
    const format::FileRecord* const record = file.record;
    if (record == nullptr || record->max_sequence < own.min_sequence ||
        own.max_sequence < record->min_sequence || !KeysOverlap(own, *record)) {
      continue;
    }
    return Note(orphan, "not copied: " + file.name + " of the catalog holds the same rows");
  }
  if (rule != OrphanRule::kAll && own.min_sequence <= plan->flushed_through) {
    return Note(orphan, "not copied: a merge took its rows and left none of them");
  }
  if (rule == OrphanRule::kList) return LeaveOut(orphan, *plan);
  const bool joins = !plan->files.empty() && plan->files.back().record == nullptr &&
                     own.max_sequence == plan->flushed_through;
  const uint32_t last_run = plan->files.empty() ? 0 : plan->files.back().run;
  plan->files.push_back({.number = orphan.file.number,
                         .name = orphan.file.name,
                         .run = joins ? last_run : last_run + 1,
                         .record = nullptr});
  plan->flushed_through = std::max(plan->flushed_through, own.max_sequence);
  if (rule != OrphanRule::kAll) Note(orphan, "copied");
}

// An orphan that only --include-orphans would copy.
void SalvagePlanner::LeaveOut(const Orphan& orphan, const RegionPlan& plan) {
  Note(orphan, "not copied without --include-orphans");
  if (surviving_.is_whole) return;
  LostRange& lost = report_.lost.emplace_back();
  lost.file = orphan.file.name;
  lost.table = catalog_.tables.at(plan.region.table).name;
  lost.region = plan.region.id.value;
  lost.rows = orphan.statistics.rows;
  lost.keys = {orphan.statistics.min_key, orphan.statistics.max_key + '\0'};
  lost.reason = "not in what is left of the catalog; --include-orphans copies it";
  report_.uncertain.push_back({.table = lost.table,
                               .region = lost.region,
                               .family = {},
                               .keys = lost.keys,
                               .because = lost.file});
}

// A merge whose edit is lost: its inputs, which the catalog names, are gone. The output, whose
// sequences span theirs, takes their place.
bool SalvagePlanner::ReplaceMissing(const Orphan& orphan, RegionPlan* plan) {
  const format::FileStatistics& own = orphan.statistics;
  const auto is_input = [&](const PlannedFile& file) {
    return file.record != nullptr &&
           Contains(own, file.record->min_sequence, file.record->max_sequence);
  };
  const auto first = std::find_if(plan->files.begin(), plan->files.end(), is_input);
  if (first == plan->files.end()) return false;
  const auto last = std::find_if_not(first, plan->files.end(), is_input);
  const bool all_there = std::all_of(
      first, last, [this](const PlannedFile& file) { return names_.contains(file.name); });
  if (all_there) return false;
  if (rule_ == OrphanRule::kList) {
    LeaveOut(orphan, *plan);
    return true;
  }
  const PlannedFile output{
      .number = orphan.file.number, .name = orphan.file.name, .run = first->run, .record = nullptr};
  plan->files.insert(plan->files.erase(first, last), output);
  plan->flushed_through = std::max(plan->flushed_through, own.max_sequence);
  Note(orphan, "copied in place of files that it was merged from");
  return true;
}

}  // namespace

Result<std::vector<RegionPlan>> PlanRegions(base::Directory* directory,
                                            const SurvivingCatalog& surviving, OrphanRule rule,
                                            SalvageReport* report) {
  return SalvagePlanner(directory, surviving, rule, report).Run();
}

}  // namespace tandem::engine
