// Merging leads (engine/source/lead_rows.h) that several threads read (docs/decisions/0071).
//
// Each lead is cut into parts. Of all leads, the part that begins first in the order of the merge
// is cut next: the merge needs it first. So what is read ahead is what the merge comes to, and the
// caller holds one part of each lead, besides those that are read ahead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/parallel/key_parts.h"
#include "engine/read/merged_rows.h"
#include "engine/source/read_context.h"
#include "engine/source/sources.h"

namespace tandem::engine {

/// The rows of one lead, as FindClusters found them.
struct LeadClusters {
  size_t lead_bytes = 0;
  std::span<const Cluster> clusters;
};

struct LeadRead {
  const ReadContext* context = nullptr;  ///< To be copied; unchanged.
  std::span<const LeadClusters> leads;
  bool reverse = false;
  uint64_t rows = 0;  ///< That the merge takes at most, limit and offset together; 0: all.
};

/// How many threads may read the leads, of those that were asked for.
uint32_t ThreadsFor(const LeadRead& read, uint32_t asked);

/// Adds a source for each lead to `*merged`. Lifetime: the context, and what the leads refer to,
/// outlive the sources.
void AddLeads(const LeadRead& read, uint32_t threads, MergedRows* merged);

}  // namespace tandem::engine
