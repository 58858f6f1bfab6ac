// From a cursor to standard output.
#pragma once

#include "tandem/database.h"
#include "tools/tandem/context.h"
#include "tools/tandem/row_output.h"

namespace tandem::tools {

/// Writes every row that is left in `cursor`. Errors: the cursor's, after the rows before it;
/// kCancelled after Ctrl-C; kIoError as soon as standard output fails.
Result<ExitCode> WriteRows(Cursor* cursor, RowLayout layout, const Context& context);

}  // namespace tandem::tools
