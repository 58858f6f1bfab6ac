// Batches are views of the rows of the current part.
#include "engine/parallel/parted_rows.h"

#include <utility>

#include "base/status_macros.h"
#include "engine/parallel/part_rows.h"

namespace tandem::engine {
namespace {

class PartedRows final : public RowSource {
 public:
  PartedRows(PartReaders::Work work, uint64_t limit, uint64_t offset, uint64_t* passed)
      : readers_(std::move(work)),
        part_(&readers_),
        left_(limit == 0 ? UINT64_MAX : limit),
        offset_(offset),
        passed_(passed) {}

  Result<bool> NextBatch(format::RowBatch* batch) override {
    RETURN_IF_ERROR(failure_);
    Result<bool> more = Fill(batch);
    if (!more.has_value()) failure_ = more.error();
    return more;
  }
  std::string_view entry() const override { return part_.entry(); }

 private:
  Result<bool> Fill(format::RowBatch* batch);
  Result<bool> NextRows();
  void Move(format::RowBatch* batch);
  void CountPassed();

  PartReaders readers_;
  PartRows part_;    // Ends before the readers.
  uint64_t left_;    // Of the limit,
  uint64_t offset_;  // and of the rows to pass over.
  uint64_t* const passed_;
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
  part_.CountPassed();
  if (passed_ != nullptr) ++*passed_;
}

Result<bool> PartedRows::NextRows() {
  while (true) {
    if (!part_.has_part()) {
      ASSIGN_OR_RETURN(std::unique_ptr<PartInWork> part, readers_.Take());
      if (part == nullptr) return false;
      part_.Begin(std::move(part));
    }
    ASSIGN_OR_RETURN(const bool more, part_.Next(&rows_));
    if (more) return true;
    part_.End();
  }
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
