// Batches are views of what the part holds, or of a batch that the part's source has filled.
#include "engine/parallel/parted_rows.h"

#include <utility>

#include "base/status_macros.h"

namespace tandem::engine {
namespace {

class PartedRows final : public RowSource {
 public:
  PartedRows(PartReaders::Work work, uint64_t limit, uint64_t offset, uint64_t* passed)
      : readers_(std::move(work)),
        left_(limit == 0 ? UINT64_MAX : limit),
        offset_(offset),
        passed_(passed) {}

  Result<bool> NextBatch(format::RowBatch* batch) override {
    RETURN_IF_ERROR(failure_);
    Result<bool> more = Fill(batch);
    if (!more.has_value()) failure_ = more.error();
    return more;
  }
  std::string_view entry() const override {
    if (at_ > 0 && part_ != nullptr && at_ <= part_->held.size()) return part_->held[at_ - 1].entry;
    return part_ == nullptr || part_->source == nullptr ? std::string_view()
                                                        : part_->source->entry();
  }

 private:
  Result<bool> Fill(format::RowBatch* batch);
  Result<bool> NextRows();
  Result<bool> NextRowsOfPart();
  void Move(format::RowBatch* batch);
  void CountPassed();

  PartReaders readers_;
  uint64_t left_;    // Of the limit,
  uint64_t offset_;  // and of the rows to pass over.
  uint64_t* const passed_;
  std::unique_ptr<PartInWork> part_;  // Ends before the readers.
  size_t at_ = 0;                     // In what it holds; beyond that, its source has the rows.
  format::RowBatch streamed_;         // By the source.
  RowView held_row_;
  std::span<const RowView> rows_;  // That were read and not given.
  bool continues_ = false;         // The row before has more pieces,
  bool passes_over_ = false;       // and is passed over.
  Status failure_;
};

Result<bool> PartedRows::Fill(format::RowBatch* batch) {
  batch->Clear();
  while (batch->size() == 0) {
    if (left_ == 0 && !continues_) return false;
    if (rows_.empty()) {
      ASSIGN_OR_RETURN(const bool more, NextRows());
      if (!more) return false;
    }
    Move(batch);
  }
  return true;
}

// Adds the rows to the batch, but for those that are passed over. A row in pieces counts with its
// first one.
void PartedRows::Move(format::RowBatch* batch) {
  while (!rows_.empty() && !batch->is_full()) {
    const RowView& row = rows_.front();
    if (!continues_) {
      if (left_ == 0) return;
      passes_over_ = offset_ > 0;
      if (passes_over_) CountPassed();
      if (!passes_over_) --left_;
    }
    if (!passes_over_) batch->Add(row);
    continues_ = row.continues();
    rows_ = rows_.subspan(1);
  }
}

void PartedRows::CountPassed() {
  --offset_;
  ++part_->context->counters.passed_over;
  if (passed_ != nullptr) ++*passed_;
}

Result<bool> PartedRows::NextRows() {
  while (true) {
    if (part_ == nullptr) {
      at_ = 0;
      ASSIGN_OR_RETURN(part_, readers_.Take());
      if (part_ == nullptr) return false;
    }
    ASSIGN_OR_RETURN(const bool more, NextRowsOfPart());
    if (more) return true;
    streamed_.Clear();
    readers_.Return(std::move(part_));
  }
}

Result<bool> PartedRows::NextRowsOfPart() {
  if (at_ < part_->held.size()) {
    HeldRows& held = part_->held[at_++];
    if (held.batch != nullptr) {
      rows_ = held.batch->rows();
    } else {
      held_row_ = RowView(held.row->key(), held.row->cells(), held.continues);
      rows_ = {&held_row_, 1};
    }
    return true;
  }
  at_ = SIZE_MAX;
  RETURN_IF_ERROR(part_->status);
  if (part_->is_opened && part_->source == nullptr) return false;
  RETURN_IF_ERROR(readers_.Open(part_.get()));
  ASSIGN_OR_RETURN(const bool more, part_->source->NextBatch(&streamed_));
  if (more) rows_ = streamed_.rows();
  return more;
}

}  // namespace

std::unique_ptr<RowSource> NewPartedRows(PartReaders::Work work, uint64_t limit, uint64_t offset,
                                         uint64_t* passed) {
  return std::make_unique<PartedRows>(std::move(work), limit, offset, passed);
}

Result<uint64_t> CountParted(PartReaders::Work work, uint64_t enough) {
  work.counts = true;
  PartReaders readers(std::move(work));
  uint64_t count = 0;
  while (count < enough) {
    ASSIGN_OR_RETURN(std::unique_ptr<PartInWork> part, readers.Take());
    if (part == nullptr) break;
    ASSIGN_OR_RETURN(const uint64_t here, readers.Count(part.get()));
    count += here;
    readers.Return(std::move(part));
  }
  return count;
}

Status FoldParted(PartReaders::Work work, PartFold* fold) {
  work.fold = fold;
  PartReaders readers(std::move(work));
  while (true) {
    ASSIGN_OR_RETURN(std::unique_ptr<PartInWork> part, readers.Take());
    if (part == nullptr) return {};
    RETURN_IF_ERROR(readers.Fold(part.get()));
    readers.Return(std::move(part));
  }
}

}  // namespace tandem::engine
