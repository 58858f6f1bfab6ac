// The catalog of a damaged database, from the best witness that survives.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "engine/salvage.h"
#include "format/catalog.h"
#include "tandem/status.h"

namespace tandem::engine {

struct SurvivingCatalog {
  format::Catalog catalog;
  bool is_from_manifest = false;
  /// The manifest is whole up to where ROOT says, so a file that it does not name is not needed.
  bool is_whole = false;
  /// Tables that no manifest has, but store files: of them nothing else is known.
  std::set<format::TableId> described;
  uint64_t durable_log_segment = 0, durable_log_bytes = 0;
};

/// Tells in `report` where the catalog comes from and what it may lack. Errors: kNotFound (no
/// database), kCorruption (neither a manifest nor a store file that says what its table is),
/// kUnsupported, kIoError.
Result<SurvivingCatalog> FindCatalog(base::Directory* directory, SalvageReport* report);

}  // namespace tandem::engine
