// The catalog of a damaged database, from the best source that survives.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "engine/salvage/salvage.h"
#include "engine/storage/catalog.h"
#include "format/root.h"
#include "tandem/status.h"

namespace tandem::engine {

struct SurvivingCatalog {
  format::Catalog catalog;
  std::optional<format::RootFile> root;  ///< nullopt: missing or broken.
  bool is_from_manifest = false;
  /// The manifest is whole up to where ROOT says, so a file that it does not name is not needed.
  bool is_whole = false;
  /// Tables that store files have, but no manifest: nothing else is known of them.
  std::set<format::TableId> described;
  uint64_t durable_log_segment = 0, durable_log_bytes = 0;

  /// nullptr: unknown.
  const format::DatabaseId* database() const {
    if (is_from_manifest) return &catalog.database;
    return root.has_value() ? &root->database : nullptr;
  }
};

/// Its counters are at least what every file and frame shows. Says in `report` where the catalog
/// comes from and what it may lack. Errors: kNotFound (no database), kCorruption (neither a
/// manifest nor a store file that says what its table is), kUnsupported, kIoError.
Result<SurvivingCatalog> FindCatalog(base::Directory* directory, SalvageReport* report);

}  // namespace tandem::engine
