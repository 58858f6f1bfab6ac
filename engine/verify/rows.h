// The second half of verifying a store file: its rows against everything that is derived from them.
#pragma once

#include "engine/verify/findings.h"
#include "format/registry/registered.h"
#include "store_file/store_file.h"
#include "tandem/status.h"

namespace tandem::format {

struct RowChecks {
  bool deep = false;
  const FunctionRegistry* functions = nullptr;  ///< That indexes call; null: none.
};

/// Reads every row once and compares statistics, clean bits, key hashes and the filter with what
/// the rows say. With `deep` also: each row is found by its key and by its hash, and the index
/// sections equal the rows, both ways. Damage becomes findings; what was read is counted in the
/// report. Memory is bounded whatever the file's size. Errors: kOutOfMemory.
Status VerifyRows(StoreFile* file, const RowChecks& checks, Findings* findings);

}  // namespace tandem::format
