// The keys of a read that are ordered without the bytes that lead them (RowRange::leading_bytes),
// such as a salt. Keys with the same leading bytes lie together, in the order that is asked for; so
// each lead is a read of its own, and these are merged.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/predicate/key_ranges.h"
#include "engine/source/position.h"
#include "tandem/options.h"
#include "tandem/status.h"

namespace tandem::engine {

/// The keys that the same bytes lead.
struct LeadRows {
  std::string lead;
  KeyRanges rows;
};

/// Whether one of the ranges has leading bytes.
bool HaveLeads(std::span<const RowRange> ranges);
/// The keys of the ranges that are `within`, by what leads them; those without leading bytes have
/// an empty lead. Errors: kInvalidArgument (a range whose keys begin with different bytes; keys in
/// two ranges that leave out different ones; more than kScanLeadsMax).
Result<std::vector<LeadRows>> LeadsOf(std::span<const RowRange> ranges, const KeyRanges& within);
/// Leaves the rows after the position, or before it. Errors: kInvalidArgument (no key of the read
/// is there).
Status CutLeads(const ReadFrom& from, bool reverse, std::vector<LeadRows>* leads);
/// The keys of all.
KeyRanges RowsOf(const std::vector<LeadRows>& leads);
/// The keys of the ranges, which may overlap.
KeyRanges RowsOf(std::span<const RowRange> ranges);

}  // namespace tandem::engine
