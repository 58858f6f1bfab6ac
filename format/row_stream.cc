// Rows of a file one after the other, past the cache, with large reads.
#include "format/row_stream.h"

#include <utility>

#include "base/status_macros.h"

namespace tandem::format {

RowStream::RowStream(StoreFile* file, uint32_t low, uint32_t high)
    : file_(file), next_(low), end_(high) {}

Status RowStream::Next() {
  valid_ = false;
  if (next_ >= end_) return Status();
  if (!started_) {
    RETURN_IF_ERROR(Start());
    RETURN_IF_ERROR(LoadBlock());
  } else if (next_ - block_->first() >= block_->row_count()) {
    ++block_number_;
    RETURN_IF_ERROR(LoadBlock());
  }
  std::swap(key_, previous_key_);
  RETURN_IF_ERROR(block_->Key(next_ - block_->first(), &key_));
  if (started_ && key_ <= previous_key_) {
    return file_->blocks().Corrupt(data_->BlockAt(block_number_).handle.offset,
                                   "row keys do not rise at ordinal " + std::to_string(next_));
  }
  started_ = valid_ = true;
  ++next_;
  return Status();
}

Status RowStream::Cells(std::vector<Cell>* out) const {
  return block_->Cells(ordinal() - block_->first(),
                       Projection(data_->names(), &file_->blocks()), out);
}

Status RowStream::Start() {
  ASSIGN_OR_RETURN(data_, file_->Carrier());
  block_number_ = data_->BlockOf(next_);
  const BlockHandle last = data_->BlockAt(data_->BlockOf(end_ - 1, block_number_)).handle;
  window_.emplace(&file_->blocks().file(), last.offset + last.stored_bytes);
  return Status();
}

Status RowStream::LoadBlock() {
  const DataBlock place = data_->BlockAt(block_number_);
  const uint64_t offset = place.handle.offset;
  ASSIGN_OR_RETURN(const std::string_view stored, window_->Read(offset, place.handle.stored_bytes));
  previous_block_ = std::move(block_);
  ASSIGN_OR_RETURN(block_, data_->DecodeRows(block_number_, stored));
  ++blocks_read_;
  return Status();
}

}  // namespace tandem::format
