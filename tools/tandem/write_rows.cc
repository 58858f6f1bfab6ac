// The loop that every verb which prints rows runs.
#include "tools/tandem/write_rows.h"

#include <utility>

#include "base/status_macros.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/output.h"

namespace tandem::tools {
namespace {

void Count(const RowView& row, RowCounts* counts) {
  if (!row.continues()) ++counts->rows;
  counts->cells += row.cells().size();
  for (const Cell& cell : row.cells()) {
    counts->bytes += cell.qualifier.size() + cell.value.size();
  }
  counts->last_key.assign(row.key());
}

}  // namespace

Status WriteRows(Cursor* cursor, const RowSink& sink, RowCounts* counts) {
  Status status;
  while (status.ok() && cursor->Next()) {
    sink.writer->Add(cursor->row());
    Count(cursor->row(), counts);
    if (sink.progress != nullptr) sink.progress->Update(counts->rows, counts->bytes, 0);
    if (sink.context.is_interrupted())
      status = Status::Cancelled("interrupted before the last row");
    if (std::ferror(sink.out) != 0) status = Status::IoError("write failed");
  }
  sink.writer->End();
  return status.ok() ? cursor->status() : status;
}

Result<uint64_t> PrintRows(Cursor* cursor, RowLayout layout, bool says_token,
                           const Context& context) {
  RowWriter writer(std::move(layout), context.out);
  RowCounts counts;
  Status status = WriteRows(cursor, {&writer, context.out, context}, &counts);
  if (status.code() == StatusCode::kIoError && std::ferror(context.out) != 0) {
    status = Status::IoError("standard output: write failed");
  }
  const Result<std::string> token = cursor->Token();
  if (status.code() == StatusCode::kOverBudget && token.has_value() && !token->empty()) {
    return Status::OverBudget(Format("{} (--after {})", status.message(), *token));
  }
  RETURN_IF_ERROR(status);
  RETURN_IF_ERROR(token.status());
  if (says_token) WriteBytes(context.err, Format("token: {}\n", *token));
  return counts.rows;
}

}  // namespace tandem::tools
