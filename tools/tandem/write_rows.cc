// The loop that every verb which prints rows runs.
#include "tools/tandem/write_rows.h"

#include <utility>

#include "base/status_macros.h"

namespace tandem::tools {

Result<ExitCode> WriteRows(Cursor* cursor, RowLayout layout, const Context& context) {
  RowWriter writer(std::move(layout), context.out);
  while (cursor->Next()) {
    writer.Add(cursor->row());
    if (context.is_interrupted()) return Status::Cancelled("interrupted before the last row");
    if (std::ferror(context.out) != 0) return Status::IoError("standard output: write failed");
  }
  writer.End();
  RETURN_IF_ERROR(cursor->status());
  return ExitCode::kDone;
}

}  // namespace tandem::tools
