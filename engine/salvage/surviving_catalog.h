// The catalog of a damaged database, as far as it survives.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "engine/storage/catalog.h"
#include "format/root.h"
#include "format/types.h"

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

}  // namespace tandem::engine
