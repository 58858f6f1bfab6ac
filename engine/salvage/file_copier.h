// Copies the good rows of one store file of a damaged database, and reports which are lost.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "engine/salvage/family_scan.h"
#include "engine/salvage/plan.h"
#include "engine/salvage/report.h"
#include "engine/storage/catalog.h"
#include "engine/storage/storage.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Where copies go; all outlive the work.
struct SalvageTarget {
  Storage* storage = nullptr;
  format::DatabaseId database;
  uint32_t section_alignment = 4096;
  const std::atomic<bool>* cancelled = nullptr;
};

/// What to copy; all outlive the work.
struct SalvageSource {
  base::Directory* directory = nullptr;
  const format::DatabaseId* database = nullptr;  ///< nullptr: unknown.
  const format::TableRecord* table = nullptr;    ///< Of the catalog.
  uint64_t sequence_limit = 0;                   ///< A cell with a sequence above it is lost.
};

/// Copies the rows of `planned` that lie in `region` into a new file of the target and returns its
/// record; nullopt when no row is good. What is lost or was repaired goes to `report`. Errors:
/// kUnsupported, kIoError, kNoSpace, kCancelled.
class FileSalvage {
 public:
  FileSalvage(const SalvageSource& source, const SalvageTarget& target, SalvageReport* report)
      : source_(source), target_(target), report_(*report) {}

  Result<std::optional<format::FileRecord>> Copy(const PlannedFile& planned,
                                                 const format::RegionRecord& region);

 private:
  struct Work;
  Status Scan(Work* work);
  void LoseWhole(const Work& work, const Status& why);
  Status FindLost(Work* work);
  void FindLostOf(const Work& work, const format::FamilyScan& scan,
                  std::vector<LostRange>* lost) const;
  Status Describe(Work* work, std::vector<LostRange>* lost);
  Status CopyRows(Work* work, std::vector<format::IntactRows>* families);
  Status BeginFile(Work* work);
  Status WriteRow(Work* work, const std::string& key, std::vector<format::IntactRows*>* holders);
  Status WritePieces(Work* work, const std::string& key, std::vector<format::IntactRows*>* holders);
  void KeepFitting(Work* work, const format::IntactRows& rows, std::vector<format::Cell>* cells);
  Result<std::optional<format::FileRecord>> Finish(Work* work);
  void NoteRepaired(const std::string& file, const std::string& what);

  const SalvageSource source_;
  const SalvageTarget target_;
  SalvageReport& report_;
};

}  // namespace tandem::engine
