// The oracle over one view.
#pragma once

#include "engine/region/view.h"
#include "engine/source/read_resources.h"
#include "tandem/status.h"
#include "tandem/verify.h"

namespace tandem::engine {

/// Checks that regions tile the key space, and every file against its checksums, statistics and
/// rows; with `deep` also every index entry against the rows both ways, digests, forward = reverse
/// = point reads, and each index's answers against a scan. Findings are appended; memory is
/// bounded. Errors: what prevents the check (kOutOfMemory, kClosed).
Status VerifyView(const ReadResources& resources, const TableView& view, bool deep,
                  VerifyReport* report);
/// Checks one index: in each file its entries against the rows, both ways, and its digests; and its
/// answers against a scan. Errors: as VerifyView.
Status VerifyIndex(const ReadResources& resources, const TableView& view,
                   const format::IndexRecord& index, VerifyReport* report);

}  // namespace tandem::engine
