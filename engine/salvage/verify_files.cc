// 1. Files are found by their headers, and the catalog by the best witness, as salvage does it.
// 2. What the catalog lacks, and what it names that is not there, is found.
// 3. Every store file is checked, then every segment.
#include "engine/salvage/verify_files.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/salvage/catalog_finder.h"
#include "engine/salvage/damaged_file.h"
#include "engine/salvage/family_scan.h"
#include "engine/salvage/file_names.h"
#include "engine/salvage/report.h"
#include "engine/salvage/verify_log.h"
#include "engine/storage/files.h"
#include "engine/storage/storage.h"
#include "engine/verify/blocks.h"
#include "engine/verify/file_hash.h"
#include "engine/verify/findings.h"
#include "engine/verify/indexes.h"
#include "engine/verify/rows.h"
#include "store_file/store_file.h"

namespace tandem::engine {
namespace {

using format::Findings;

void AddFindings(const std::vector<FileNote>& notes, VerifyReport* report) {
  for (const FileNote& note : notes) {
    Finding finding = format::NewFinding(Status::Corruption(note.file + ": " + note.what));
    finding.effect = FindingEffect::kAccess;
    report->findings.push_back(std::move(finding));
  }
}

// Checks a file that cannot be opened, block by block.
Status ScanStoreFile(const NamedStoreFile& file, Findings* findings) {
  ASSIGN_OR_RETURN(auto bytes, file.directory->Open(file.name, base::OpenMode::kReadOnly));
  const auto damaged = format::DamagedFile::Open(std::move(bytes), file.known);
  if (!damaged) {
    findings->set_topic({"file", FindingEffect::kRows});
    return findings->AddError(damaged.error());
  }
  findings->set_sections((*damaged)->sections());
  ASSIGN_OR_RETURN(const std::vector<format::FamilyScan> families, format::ScanFamilies(**damaged));
  for (const format::FamilyScan& family : families) {
    for (const format::ScannedBlock& block : family.blocks) {
      format::FindingTopic topic{"rows", FindingEffect::kRows, {}};
      if (!block.is_gap()) topic.offset = block.handle.offset;
      if (!block.is_good) {
        findings->AddOn(topic, std::to_string(block.count) + " rows: " + block.reason);
      }
      for (const format::BrokenRow& row : block.broken) {
        findings->AddOn(topic, "row " + base::Quote(row.key) + ": " + row.reason);
      }
    }
  }
  return {};
}

class FilesVerifier {
 public:
  FilesVerifier(base::Directory* directory, bool deep, VerifyReport* report)
      : directory_(*directory), deep_(deep), report_(*report) {}

  Status Run();

 private:
  Status FindTheCatalog();
  Status VerifyStoreFiles();

  base::Directory& directory_;
  const bool deep_;
  VerifyReport& report_;
  SurvivingCatalog surviving_;
};

Status FilesVerifier::Run() {
  RETURN_IF_ERROR(FindTheCatalog());
  RETURN_IF_ERROR(VerifyStoreFiles());
  return VerifyLog(&directory_, surviving_, &report_);
}

Status FilesVerifier::FindTheCatalog() {
  SalvageReport found;
  Result<SurvivingCatalog> surviving = FindCatalog(&directory_, &found);
  if (surviving) {
    surviving_ = *std::move(surviving);
  } else if (surviving.error().code() == StatusCode::kCorruption) {
    report_.findings.push_back(format::NewFinding(surviving.error()));
  } else {
    return surviving.error();
  }
  AddFindings(found.repaired, &report_);
  for (const std::string& lost : found.lost_edits) {
    report_.findings.push_back(format::NewFinding({"manifest", FindingEffect::kAccess}, lost));
  }
  return {};
}

Status FilesVerifier::VerifyStoreFiles() {
  ASSIGN_OR_RETURN(std::vector<LocalFile> files, ListLocalFiles(&directory_));
  std::erase_if(files, [](const LocalFile& file) { return file.kind != LocalFileKind::kStore; });
  std::sort(files.begin(), files.end(),
            [](const LocalFile& a, const LocalFile& b) { return a.number < b.number; });
  std::set<format::FileNumber> there;
  for (const LocalFile& file : files) {
    there.insert(file.number);
    const auto record = surviving_.catalog.files.find(file.number);
    const bool is_named = record != surviving_.catalog.files.end();
    if (!is_named && surviving_.is_whole) continue;  // Nothing needs it.
    NamedStoreFile store{.directory = &directory_, .name = file.name, .known = {}};
    store.known.number = file.number;
    if (const format::DatabaseId* database = surviving_.database()) {
      store.known.database = *database;
    }
    if (is_named) {
      ASSIGN_OR_RETURN(const auto bytes, directory_.Open(file.name, base::OpenMode::kReadOnly));
      const format::FileRecord& stated = record->second;
      RETURN_IF_ERROR(
          format::VerifyFileHash(bytes.get(), stated.size_bytes, stated.hash, &report_));
      store.known.id = stated.id;
      const auto table = surviving_.catalog.tables.find(stated.table);
      if (table != surviving_.catalog.tables.end()) store.known.table = &table->second;
    }
    RETURN_IF_ERROR(VerifyStoreFile(store, deep_, &report_));
  }
  for (const auto& [number, record] : surviving_.catalog.files) {
    if (there.contains(number)) continue;
    Findings findings(StoreFileName(number), &report_);
    // An old manifest may name files that a merge has removed since.
    if (!surviving_.is_whole) findings.set_topic({"file", FindingEffect::kAccess});
    findings.Add("the manifest names this file of " + std::to_string(record.rows) +
                 " rows, but it does not exist");
  }
  return {};
}

// nullptr, and a finding: it cannot be opened.
Result<std::shared_ptr<format::StoreFile>> OpenForCheck(const NamedStoreFile& file,
                                                        Findings* findings) {
  ASSIGN_OR_RETURN(auto bytes, file.directory->Open(file.name, base::OpenMode::kReadOnly));
  ++findings->report()->files;
  ASSIGN_OR_RETURN(const uint64_t size, bytes->Size());
  findings->report()->bytes += size;
  auto opened = format::StoreFile::Open(std::move(bytes), {}, nullptr);
  if (opened) return *std::move(opened);
  findings->set_topic({"file", FindingEffect::kAccess});
  RETURN_IF_ERROR(findings->AddError(opened.error()));
  return std::shared_ptr<format::StoreFile>();
}

}  // namespace

Status VerifyStoreFile(const NamedStoreFile& file, bool deep, VerifyReport* report) {
  Findings findings(file.name, report);
  ASSIGN_OR_RETURN(const auto opened, OpenForCheck(file, &findings));
  // Rows may be whole: the scan says which are not.
  if (opened == nullptr) return ScanStoreFile(file, &findings);
  RETURN_IF_ERROR(format::VerifyBlocks(*opened, &findings));
  return format::VerifyRows(opened.get(), {.deep = deep}, &findings);
}

Status VerifyIndexesOf(const NamedStoreFile& file, std::optional<std::string_view> index,
                       VerifyReport* report) {
  Findings findings(file.name, report);
  ASSIGN_OR_RETURN(const auto opened, OpenForCheck(file, &findings));
  if (opened == nullptr) return {};
  std::optional<format::IndexId> only;
  if (index.has_value()) {
    const format::IndexRecord* const record = opened->table().FindIndex(*index);
    if (record == nullptr) {
      return Status::NotFound(file.name + ": no index " + base::Quote(*index) +
                              " when it was written");
    }
    if (format::IsUnusable(*record)) {
      return Status::Unsupported(file.name + ": index " + base::Quote(*index) +
                                 " cannot be checked: " + format::WhyUnusable(*record));
    }
    only = record->id;
  }
  return format::VerifyIndexes(opened.get(), {.only = only}, &findings);
}

Status VerifyFiles(std::unique_ptr<base::Directory> directory, bool deep, VerifyReport* report) {
  return Guarded([&]() -> Status {
    SalvageReport names;
    ASSIGN_OR_RETURN(const auto named, NamedByHeaders(std::move(directory), &names));
    AddFindings(names.repaired, report);
    return FilesVerifier(named.get(), deep, report).Run();
  });
}

}  // namespace tandem::engine
