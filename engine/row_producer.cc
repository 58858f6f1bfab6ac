// What the producers share.
#include "engine/row_producer.h"

#include "base/status_macros.h"

namespace tandem::engine {

Result<bool> RowProducer::Accept(bool settled, bool decided) {
  if (settled) {
    row_.Settle();
  } else {
    row_.Merge();
  }
  // An unsettled row was decoded so that, if it exists and may match, some cell is visible. A
  // settled row has a Put, perhaps of a column that was not decoded.
  if (!settled && row_.visible().empty()) return false;
  if (job_->shape.needs_cells && !row_.returns_cells()) return false;
  if (!job_->predicate.has_value() || (settled && decided)) return true;
  return job_->predicate->Matches(key_, row_.visible());
}

void RowProducer::CountBlock(const FileSource& source, uint32_t block) {
  ++job_->figures.blocks;
  job_->figures.bytes += source.data->BlockAt(block).handle.stored_bytes;
}

}  // namespace tandem::engine
