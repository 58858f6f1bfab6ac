// Scans in the order of keys without what leads them (RowRange::leading_bytes), such as a salt.
//
// The keys of a scan are divided by the bytes that lead them. Keys with the same ones lie together,
// in the order that is asked for; so each part is a scan of its own, and the parts are merged. All
// are read through one context: one view, one queue of reads, one budget.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/predicate/key_ranges.h"
#include "engine/query/scan.h"
#include "engine/read/row_source.h"
#include "engine/region/view.h"
#include "engine/source/position.h"
#include "tandem/options.h"
#include "tandem/status.h"

namespace tandem::engine {

/// The keys that the same bytes lead.
struct LeadRows {
  std::string lead;
  KeyRanges rows;
};

/// Whether a range of the scan has leading bytes.
bool IsMerged(const ScanOptions& scan);
/// What it asks for, by what leads the keys. Errors: kInvalidArgument (a range whose keys begin
/// with different bytes; keys in two ranges that leave out different ones; more than
/// kScanLeadsMax).
Result<std::vector<LeadRows>> LeadsOf(const ScanOptions& scan);
/// Leaves the rows after the position, or before it. Errors: kInvalidArgument (no key of the scan
/// is there).
Status CutLeads(const ReadFrom& from, bool reverse, std::vector<LeadRows>* leads);
/// The keys of all.
KeyRanges RowsOf(const std::vector<LeadRows>& leads);

/// The scan of `leads` in the regions of `view`. Errors: as ScanView.
Result<std::unique_ptr<RowSource>> ScanMerged(const ScanRequest& request,
                                              const std::vector<LeadRows>& leads, TableView view);

}  // namespace tandem::engine
