// The oracle over one view.
#pragma once

#include <set>

#include "engine/region/view.h"
#include "engine/source/read_resources.h"
#include "tandem/status.h"
#include "tandem/verify.h"

namespace tandem::engine {

/// A check of the database, view by view. Each file is checked once.
struct VerifyRun {
  bool deep = false;
  VerifyReport* report = nullptr;
  const format::FunctionRegistry* functions = nullptr;  ///< That indexes call; null: none.
  std::set<format::FileNumber> compared = {};           ///< With the catalog.
  std::set<format::FileNumber> verified = {};
};

/// Checks that regions tile the key space, and every file that was not checked yet against its
/// checksums, statistics and rows; with `deep` also every index entry against the rows both ways,
/// and digests. Indexes that cannot be computed here are left out
/// (format/registry/registered.h). What reads return is for VerifyReads. Findings are appended;
/// memory is bounded. Errors: what prevents the check (kOutOfMemory, kClosed).
Status VerifyView(const TableView& view, VerifyRun* run);
/// Checks one index: in each file its entries against the rows, both ways, and its digests; and its
/// answers against a scan. Errors: as VerifyView.
Status VerifyIndex(const ReadResources& resources, const TableView& view,
                   const format::IndexRecord& index, VerifyReport* report);

}  // namespace tandem::engine
