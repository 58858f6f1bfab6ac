// Taking batches apart.
#include "engine/read/row_source.h"

#include "base/status_macros.h"

namespace tandem::engine {

Result<bool> RowReader::Next(RowView* row) {
  if (left_.empty()) {
    ASSIGN_OR_RETURN(const bool more, source_->NextBatch(batch_.get()));
    if (!more) return false;
    left_ = batch_->rows();
  }
  *row = left_.front();
  left_ = left_.subspan(1);
  return true;
}

}  // namespace tandem::engine
