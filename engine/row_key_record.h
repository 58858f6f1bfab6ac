// What a table's record says of its row keys.
#pragma once

#include <string_view>

#include "format/row_key/key_fields.h"
#include "format/schema.h"
#include "tandem/schema.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Declares what row keys are made of; empty: bytes. `has_cells`: the table does. Errors:
/// kInvalidArgument (the declaration), kUnsupported (the table has cells, and another one).
Status SetRowKeyIn(std::string_view declaration, bool has_cells, format::TableRecord* table);
/// The row key of a new table and the former ones. Errors: kInvalidArgument, kUnsupported.
Status SetRowKeysIn(const TableOptions& options, format::TableRecord* table);
/// See Database::ChangeRowKey. Errors: kInvalidArgument (the declaration; there are
/// kFormerRowKeysMax former ones), kUnsupported.
Status ChangeRowKeyIn(std::string_view declaration, bool has_cells, format::TableRecord* table);
using format::KeysOf;

}  // namespace tandem::engine
