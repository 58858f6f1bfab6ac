// A loser tree. The rows of a batch are views of the batches of the sources, so a batch ends where
// a source has to read its next one. A source that knows where its next rows are has its place in
// the tree by that, and is read when nothing comes before them.
#include "engine/read/merged_rows.h"

#include <utility>

#include "base/status_macros.h"

namespace tandem::engine {

void MergedRows::Add(size_t lead_bytes, std::unique_ptr<RowSource> rows) {
  Part& part = *parts_.emplace_back(std::make_unique<Part>());
  part.lead_bytes = lead_bytes;
  part.source = std::move(rows);
}

void MergedRows::AddBounded(size_t lead_bytes, std::unique_ptr<BoundedRows> rows) {
  const BoundedRows* const bounded = rows.get();
  Add(lead_bytes, std::move(rows));
  parts_.back()->bounded = bounded;
}

// Of a part that has no row.
void MergedRows::Part::FindPlace() {
  if (bounded != nullptr && !has_ended) bound = bounded->bound();
}

Status MergedRows::Part::Fill() {
  ASSIGN_OR_RETURN(const bool more, source->NextBatch(&batch));
  has_ended = !more;
  rows = more ? batch.rows() : std::span<const RowView>();
  bound.reset();
  if (!has_row()) FindPlace();
  return {};
}

void MergedRows::Part::Pop() {
  rows = rows.subspan(1);
  if (!has_row()) FindPlace();
}

// No two parts have a key in common, so the whole keys decide between equal rests.
bool MergedRows::IsBefore(size_t a, size_t b) const {
  const Part &left = *parts_[a], &right = *parts_[b];
  if (left.has_ended || right.has_ended) return !left.has_ended || (right.has_ended && a < b);
  const int rests = left.rest().compare(right.rest());
  if (rests != 0) return (rests < 0) != reverse_;
  // A row may be at the bound itself, but none is there in a source that goes backward.
  if (left.has_row() != right.has_row()) return left.has_row() == reverse_;
  return (left.key() < right.key()) != reverse_;
}

// After an error it goes on where it was.
Status MergedRows::BeginParts() {
  for (; begun_ < parts_.size(); ++begun_) RETURN_IF_ERROR(parts_[begun_]->source->Begin());
  for (; filled_ < parts_.size(); ++filled_) {
    Part& part = *parts_[filled_];
    part.FindPlace();
    if (!part.has_place()) RETURN_IF_ERROR(part.Fill());
  }
  order_.emplace(parts_.size(), Before{this});
  return {};
}

Result<bool> MergedRows::NextBatch(format::RowBatch* batch) {
  batch->Clear();
  if (parts_.empty()) return false;
  if (!order_.has_value()) RETURN_IF_ERROR(BeginParts());
  while (left_ > 0 || continues_) {
    Part& part = *parts_[order_->top()];
    if (part.has_ended) break;
    if (!part.has_row()) {
      if (batch->size() > 0) break;  // Its rows are views of what Fill replaces.
      RETURN_IF_ERROR(part.Fill());
      order_->Replay();
      continue;
    }
    const RowView& row = part.rows.front();
    if (!continues_) passes_over_ = offset_ > 0 && offset_-- > 0;
    if (passes_over_) {
      if (!continues_ && passed_over_ != nullptr) ++*passed_over_;
      continues_ = row.continues();
      part.Pop();
      if (!continues_ && part.has_place()) order_->Replay();
      continue;
    }
    if (batch->is_full() || (batch->size() > 0 && (row.continues() || continues_))) break;
    batch->Add(row);
    if (!continues_ && limit_ > 0) --left_;  // A row in pieces counts with its first.
    continues_ = row.continues();
    part.Pop();
    if (continues_) break;  // A piece is a batch of its own.
    if (part.has_place()) order_->Replay();
  }
  return batch->size() > 0;
}

}  // namespace tandem::engine
