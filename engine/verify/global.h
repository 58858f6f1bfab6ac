// A global index against the rows of its table, both ways.
#pragma once

#include "engine/region/view.h"
#include "engine/source/read_resources.h"
#include "format/schema.h"
#include "tandem/status.h"
#include "tandem/verify.h"

namespace tandem::engine {

/// Looks for the entry of each row, and for the row of each entry, some at a time. Where cells of
/// the first column expire, entries without a row are no findings: one expires by the timestamp
/// that its cell had when it was made. Requires: `rows` and `entries` are whole and of one point,
/// at which the index serves. Errors: kCorruption, kIoError.
Status VerifyGlobal(const ReadResources& resources, const TableView& rows, const TableView& entries,
                    const format::GlobalIndexRecord& global, VerifyReport* report);

}  // namespace tandem::engine
