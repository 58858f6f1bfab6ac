// Scans in the order of keys without what leads them (engine/source/lead_rows.h). All leads are
// read through one context: one view, one queue of reads, one budget.
#pragma once

#include <memory>
#include <vector>

#include "engine/query/scan.h"
#include "engine/read/row_source.h"
#include "engine/region/view.h"
#include "engine/source/lead_rows.h"
#include "tandem/status.h"

namespace tandem::engine {

/// The scan of `leads` in the regions of `view`. Errors: as ScanView.
Result<std::unique_ptr<RowSource>> ScanMerged(const ScanRequest& request,
                                              const std::vector<LeadRows>& leads, TableView view);

}  // namespace tandem::engine
