// Which store files make up a region, in the order of their age, when the catalog may be old, or
// files may be missing.
//
// A file that the catalog does not name can be what a merge left, what a merge was writing, or data
// whose catalog edit is lost. Sequence numbers decide: a merge's output spans those of its inputs;
// of all other files of a region, those that share keys are disjoint.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "engine/salvage/report.h"
#include "engine/salvage/surviving_catalog.h"
#include "engine/storage/catalog.h"
#include "tandem/status.h"

namespace tandem::engine {

/// A file to copy from.
struct PlannedFile {
  format::FileNumber number;
  std::string name;
  uint32_t run = 0;
  const format::FileRecord* record = nullptr;  ///< nullptr: the catalog does not name it.
};

struct RegionPlan {
  format::RegionRecord region;     ///< Its references are the source's.
  std::vector<PlannedFile> files;  ///< The oldest run first.
  format::SequenceNumber flushed_through;
};

enum class OrphanRule : uint8_t {
  kList,     ///< Files that the catalog does not name are only reported.
  kInclude,  ///< Good ones are planned where they add something.
  kAll,      ///< There is no manifest: all files are such, damaged ones too.
};

/// Plans every region of the catalog. Files that it does not name are reported; if the catalog lost
/// edits that may have added them, their rows are reported as lost. Lifetime: `surviving` outlives
/// the plans. Errors: kUnsupported, kIoError.
Result<std::vector<RegionPlan>> PlanRegions(base::Directory* directory,
                                            const SurvivingCatalog& surviving, OrphanRule rule,
                                            SalvageReport* report);

}  // namespace tandem::engine
