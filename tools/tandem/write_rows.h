// From a cursor to standard output or a file.
#pragma once

#include <string>

#include "tandem/database.h"
#include "tools/tandem/context.h"
#include "tools/tandem/progress.h"
#include "tools/tandem/row_output.h"

namespace tandem::tools {

struct RowCounts {
  uint64_t rows = 0, cells = 0;
  uint64_t bytes = 0;    ///< Of cells: keys, names and values.
  std::string last_key;  ///< Of the row that was written last, maybe in part.
};

struct RowSink {
  RowWriter* writer;
  std::FILE* out;  ///< Where the writer writes.
  const Context& context;
  Progress* progress = nullptr;
};

/// Writes every row that is left in `cursor`; `counts` is right whatever comes of it. Errors: the
/// cursor's, after the rows before it; kCancelled after Ctrl-C; kIoError as soon as `out` fails.
Status WriteRows(Cursor* cursor, const RowSink& sink, RowCounts* counts);
/// The same to standard output. Returns how many rows there were. `says_token`: the cursor's token
/// comes on standard error; after a budget stopped it, it is part of the error.
Result<uint64_t> PrintRows(Cursor* cursor, RowLayout layout, bool says_token,
                           const Context& context);

}  // namespace tandem::tools
