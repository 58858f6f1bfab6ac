// Whether all ways of reading one view agree.
#pragma once

#include "engine/query/reader.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Compares reverse scans, point reads and index queries with forward scans of the same view.
/// Differences become findings; memory is bounded whatever the table's size. Errors: as VerifyView.
Status VerifyReads(const ReadResources& resources, const TableView& view, VerifyReport* report);
/// Compares the queries of one index with a forward scan. Errors: as VerifyView.
Status VerifyReadsBy(const ReadResources& resources, const TableView& view,
                     const format::IndexRecord& index, VerifyReport* report);

}  // namespace tandem::engine
