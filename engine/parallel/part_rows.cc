// Rows are views of what the part holds, or of a batch that the part's source has filled.
#include "engine/parallel/part_rows.h"

#include <utility>

#include "base/status_macros.h"

namespace tandem::engine {

void PartRows::Begin(std::unique_ptr<PartInWork> part) {
  part_ = std::move(part);
  at_ = 0;
}

Result<bool> PartRows::Next(std::span<const RowView>* rows) {
  if (at_ < part_->held.size()) {
    HeldRows& held = part_->held[at_++];
    if (held.batch != nullptr) {
      *rows = held.batch->rows();
    } else {
      held_row_ = RowView(held.row->key(), held.row->cells(), held.continues);
      *rows = {&held_row_, 1};
    }
    return true;
  }
  at_ = SIZE_MAX;
  RETURN_IF_ERROR(part_->status);
  if (part_->is_opened && part_->source == nullptr) return false;
  RETURN_IF_ERROR(readers_->Open(part_.get()));
  ASSIGN_OR_RETURN(const bool more, part_->source->NextBatch(&streamed_));
  if (more) *rows = streamed_.rows();
  return more;
}

bool PartRows::is_at_end() const {
  return at_ >= part_->held.size() && part_->status.ok() && part_->is_opened &&
         part_->source == nullptr;
}

void PartRows::End() {
  streamed_.Clear();
  readers_->Return(std::move(part_));
}

std::string_view PartRows::entry() const {
  if (part_ == nullptr) return {};
  if (at_ > 0 && at_ <= part_->held.size()) return part_->held[at_ - 1].entry;
  return part_->source == nullptr ? std::string_view() : part_->source->entry();
}

}  // namespace tandem::engine
