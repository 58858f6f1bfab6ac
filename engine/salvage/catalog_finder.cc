// Sources in this order: the manifest that ROOT names; the newest of the other manifests that has a
// good first edit; the schemas of the store files.
#include "engine/salvage/catalog_finder.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/passing.h"
#include "base/status_macros.h"
#include "engine/salvage/counters.h"
#include "engine/salvage/damaged_file.h"
#include "engine/storage/files.h"
#include "engine/storage/manifest.h"
#include "engine/storage/storage.h"
#include "format/root.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

using format::Catalog;
using format::ManifestPrefix;

bool IsDamage(const Status& status) {
  return status.code() == StatusCode::kCorruption || status.code() == StatusCode::kNotFound;
}

class CatalogSearch {
 public:
  CatalogSearch(base::Directory* directory, SalvageReport* report)
      : directory_(*directory), report_(*report) {}

  Result<SurvivingCatalog> Run();

 private:
  Status ReadRoot();
  Status ReadNamedManifest();
  Status ReadOtherManifests();
  Status ReadStoreFiles();
  Status AddStoreFiles();
  Status AddStoreFile(const LocalFile& file);
  void MakeRegions();
  void Take(const std::string& name, ManifestPrefix prefix);

  base::Directory& directory_;
  SalvageReport& report_;
  std::vector<std::string> names_;
  SurvivingCatalog found_;
  bool has_one_ = false;
  std::map<format::TableId, std::set<std::string>> starts_;  // Of regions, by store files.
  std::map<format::TableId, format::SequenceNumber> newest_;
};

Result<SurvivingCatalog> CatalogSearch::Run() {
  ASSIGN_OR_RETURN(names_, directory_.List());
  std::sort(names_.begin(), names_.end());
  RETURN_IF_ERROR(ReadRoot());
  if (found_.root.has_value()) RETURN_IF_ERROR(ReadNamedManifest());
  if (!has_one_) RETURN_IF_ERROR(ReadOtherManifests());
  if (!has_one_) {
    RETURN_IF_ERROR(ReadStoreFiles());
  } else if (!report_.lost_edits.empty()) {
    // The lost edits may have created the tables of these files.
    RETURN_IF_ERROR(AddStoreFiles());
  }
  RETURN_IF_ERROR(RaiseCounters(&directory_, &found_, &report_));
  MakeRegions();
  return std::move(found_);
}

Status CatalogSearch::ReadRoot() {
  auto file = directory_.Open(kRootName, base::OpenMode::kReadOnly);
  const bool has_files = std::any_of(names_.begin(), names_.end(), [](const std::string& name) {
    return ParseFileName(name).has_value();
  });
  if (!file) {
    if (file.error().code() != StatusCode::kNotFound) return file.error();
    if (!has_files) return Status::NotFound("no database here: no file of one");
    report_.repaired.push_back({kRootName, "does not exist; the newest good manifest is believed"});
    return {};
  }
  Result<format::RootFile> root = format::ReadRoot(file->get());
  if (root) {
    if (root->record.manifest.number.value == 0) {
      return Status::NotFound("no database here: its creation was never finished");
    }
    found_.root = *std::move(root);
    return {};
  }
  if (root.error().code() != StatusCode::kCorruption) return root.error();
  if (!has_files) return Status::NotFound("no database here: ROOT is broken and stands alone");
  report_.repaired.push_back(
      {kRootName, std::string(root.error().message()) + "; the newest good manifest is believed"});
  return {};
}

void CatalogSearch::Take(const std::string& name, ManifestPrefix prefix) {
  found_.catalog = std::move(prefix.contents.catalog);
  found_.is_from_manifest = has_one_ = true;
  found_.durable_log_segment = prefix.contents.log.segment.value;
  found_.durable_log_bytes = prefix.contents.log.length_bytes;
  report_.catalog = name + ", edits 1 to " + std::to_string(prefix.contents.last_edit);
  if (!prefix.header_is_good) report_.repaired.push_back({name, "its header is broken"});
}

Status CatalogSearch::ReadNamedManifest() {
  const format::BoundFile& bound = found_.root->record.manifest;
  const std::string name = ManifestName(bound.number);
  auto file = directory_.Open(name, base::OpenMode::kReadOnly);
  Result<ManifestPrefix> prefix =
      file ? format::ReadManifestPrefix(file->get(), &bound, found_.root->database)
           : Result<ManifestPrefix>(file.error());
  if (!prefix) {
    if (!IsDamage(prefix.error())) return prefix.error();
    report_.lost_edits.push_back(name +
                                 ", which ROOT names: " + std::string(prefix.error().message()));
    return {};
  }
  const uint64_t end = prefix->contents.end.length_bytes;
  if (prefix->contents.last_edit == 0) {
    report_.lost_edits.push_back(name + ", which ROOT names, has no good edit: " + prefix->reason);
    return {};
  }
  found_.is_whole = end >= bound.length_bytes && !prefix->is_torn;
  if (!found_.is_whole) {
    report_.lost_edits.push_back(name + ": offset " + std::to_string(end) + ": it ends here, " +
                                 std::to_string(bound.length_bytes) + " bytes were good, " +
                                 std::to_string(prefix->edits_after) +
                                 " edits after it: " + prefix->reason);
  }
  Take(name, *std::move(prefix));
  return {};
}

Status CatalogSearch::ReadOtherManifests() {
  std::optional<ManifestPrefix> best;
  std::string best_name;
  for (const std::string& name : names_) {
    const auto file = directory_.Open(name, base::OpenMode::kReadOnly);
    if (!file && base::MayPass(file.error())) return file.error();
    if (!file) continue;
    Result<ManifestPrefix> prefix = format::ReadManifestPrefix(file->get(), nullptr, {});
    if (!prefix) {
      if (base::IsOfSystem(prefix.error())) return prefix.error();
      continue;
    }
    const bool is_ours = !found_.root.has_value() || prefix->database == found_.root->database;
    if (!is_ours || prefix->contents.last_edit == 0) continue;
    if (best.has_value() && best->contents.end.number > prefix->contents.end.number) continue;
    best = *std::move(prefix);
    best_name = name;
  }
  if (!best.has_value()) return {};
  if (best->is_torn) {
    report_.lost_edits.push_back(best_name + ": " + std::to_string(best->edits_after) +
                                 " edits after its end: " + best->reason);
  }
  Take(best_name, *std::move(best));
  return {};
}

Status CatalogSearch::AddStoreFiles() {
  for (const std::string& name : names_) {
    const std::optional<LocalFile> file = ParseFileName(name);
    if (file.has_value() && file->kind == LocalFileKind::kStore) {
      RETURN_IF_ERROR(AddStoreFile(*file));
    }
  }
  return {};
}

// Every table that a store file describes, as its newest file describes it.
Status CatalogSearch::ReadStoreFiles() {
  RETURN_IF_ERROR(AddStoreFiles());
  if (found_.catalog.tables.empty()) {
    return Status::Corruption(
        "no manifest can be read, and no store file says what its table is: nothing can be proved");
  }
  report_.catalog = "no manifest survives; tables and regions are those that store files describe";
  report_.lost_edits.push_back(report_.catalog);
  return {};
}

// One that only a snapshot has says nothing of the tables of now.
Status CatalogSearch::AddStoreFile(const LocalFile& file) {
  if (found_.catalog.snapshot_files.contains(file.number)) return {};
  ASSIGN_OR_RETURN(auto opened, directory_.Open(file.name, base::OpenMode::kReadOnly));
  format::KnownFile known;
  known.number = file.number;
  if (const format::DatabaseId* database = found_.database()) known.database = *database;
  const auto store = format::DamagedFile::Open(std::move(opened), known);
  if (!store) {
    if (!IsDamage(store.error())) return store.error();
    return {};  // It is reported when files are gathered.
  }
  if (!(*store)->region_start().has_value()) return {};
  const format::TableRecord& table = (*store)->table();
  Catalog& catalog = found_.catalog;
  const bool is_known = catalog.tables.contains(table.id);
  if (is_known && !found_.described.contains(table.id)) return {};
  found_.described.insert(table.id);
  starts_[table.id].insert(*(*store)->region_start());
  const auto& statistics = (*store)->statistics();
  const format::SequenceNumber newest =
      statistics.has_value() ? statistics->max_sequence : format::SequenceNumber();
  if (!is_known || newest >= newest_[table.id]) {
    catalog.tables.Put(table.id, table);
    newest_[table.id] = newest;
  }
  return {};
}

// `name`, or if it is taken, as much of it as fits, followed by the table's number.
std::string FreeName(const std::string& name, format::TableId id,
                     const std::set<std::string>& taken) {
  std::string free = name;
  std::string tail = "-" + std::to_string(id.value);
  while (taken.contains(free)) {
    free = name.substr(0, kNameBytesMax - tail.size()) + tail;
    tail += "-";
  }
  return free;
}

// A region from each start key to the next; the first begins with the first key.
void CatalogSearch::MakeRegions() {
  Catalog& catalog = found_.catalog;
  std::set<std::string> names;
  for (const auto& [id, table] : catalog.tables) {
    if (!found_.described.contains(id)) names.insert(table.name);
  }
  for (const format::TableId id : found_.described) {
    format::TableRecord table = catalog.tables.at(id);
    table.name = FreeName(table.name, id, names);
    names.insert(table.name);
    catalog.tables.Put(id, std::move(table));
    std::set<std::string>& starts = starts_[id];
    starts.insert("");
    for (auto start = starts.begin(); start != starts.end(); ++start) {
      format::RegionRecord region;
      region.id = format::RegionId(catalog.counters.next_region_id++);
      region.table = id;
      region.start_key = *start;
      if (std::next(start) != starts.end()) region.end_key = *std::next(start);
      catalog.regions.Put(region.id, region);
    }
  }
}

}  // namespace

Result<SurvivingCatalog> FindCatalog(base::Directory* directory, SalvageReport* report) {
  return CatalogSearch(directory, report).Run();
}

}  // namespace tandem::engine
