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
  // A settled row has a Put, perhaps of a column that was not decoded.
  if (!settled && row_.visible().empty()) {
    if (!job_->shape.every_row) return false;
    ASSIGN_OR_RETURN(const bool exists, existence_.Exists(places_));
    if (!exists) return false;
  }
  if (job_->shape.needs_cells && !row_.returns_cells()) return false;
  if (!job_->predicate.has_value() || (settled && decided)) return true;
  return job_->predicate->Matches(key_, row_.visible());
}

}  // namespace tandem::engine
