// Reads the chunks of a wide row, through the fences of its head or in order from the first one.
#include "format/row/wide_row.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "format/block/sequential_reader.h"
#include "format/cell/overflow_value.h"
#include "format/corruption.h"
#include "format/row/chunk.h"

namespace tandem::format {
namespace {

bool IsAtFence(const Cell& cell, const Fence& fence) {
  return cell.qualifier == fence.qualifier && cell.timestamp == fence.timestamp &&
         cell.sequence == fence.sequence;
}

ChunkPlace PlaceOf(const BlockFile& file, const RowBlock& head, uint32_t number) {
  return {&file, head.wide_head().family(), head.first(), head.wide_head().key_hash(), number};
}

// Skips value blocks up to the next chunk, which must be in `run`. Errors: kCorruption for any
// other block.
Result<BlockRef> NextChunkBlock(SequentialReader* run) {
  while (true) {
    ASSIGN_OR_RETURN(const BlockKind kind, run->NextKind());
    if (kind != BlockKind::kValue) return run->Next(BlockKind::kChunk);
    RETURN_IF_ERROR(run->Skip());
  }
}

// A cursor over the chunks of the row; the current one is decoded.
class ChunkCursor {
 public:
  ChunkCursor(const BlockFile& file, const RowBlock& block)
      : file_(file), block_(block), head_(block.wide_head()) {}

  bool valid() const { return number_.has_value(); }
  uint32_t number() const { return *number_; }
  const std::vector<Cell>& cells() const { return cells_; }
  const std::shared_ptr<const void>& pin() const { return pin_; }

  // Moves to the chunk of fence i.
  Status MoveToFence(uint32_t i);
  // Moves to the next chunk. Requires: there is one.
  Status MoveToNext();

 private:
  Status Decode(BlockRef block, uint32_t number);

  const BlockFile& file_;
  const RowBlock& block_;
  const WideHead& head_;
  std::optional<uint32_t> number_;
  std::vector<Cell> cells_;
  std::shared_ptr<const void> pin_;
  std::optional<SequentialReader> run_;  // Positioned after the current chunk.
};

Status ChunkCursor::MoveToFence(uint32_t i) {
  const Fence fence = head_.FenceAt(i);
  ASSIGN_OR_RETURN(BlockRef block, file_.Read(fence.chunk, BlockKind::kChunk));
  RETURN_IF_ERROR(Decode(std::move(block), i << head_.stride()));
  if (!IsAtFence(cells_.front(), fence)) {
    return file_.Corrupt(fence.chunk.offset, "a chunk does not begin with the cell of its fence");
  }
  run_.emplace(file_, BlockEnd(fence.chunk), block_.offset);
  return {};
}

Status ChunkCursor::MoveToNext() {
  const uint32_t next = *number_ + 1;
  if ((next & ((1u << head_.stride()) - 1)) == 0) return MoveToFence(next >> head_.stride());
  ASSIGN_OR_RETURN(BlockRef block, NextChunkBlock(&*run_));
  return Decode(std::move(block), next);
}

Status ChunkCursor::Decode(BlockRef block, uint32_t number) {
  number_.reset();
  cells_.clear();
  ASSIGN_OR_RETURN(pin_, DecodeChunk(std::move(block), PlaceOf(file_, block_, number), &cells_));
  number_ = number;
  return {};
}

// Finds columns of one row, in the order of their names.
class ColumnFinder {
 public:
  ColumnFinder(const BlockFile& file, const RowBlock& block, std::vector<Cell>* out,
               std::vector<std::shared_ptr<const void>>* pins)
      : head_(block.wide_head()), chunks_(file, block), out_(out), pins_(pins) {}

  Status Append(std::string_view column);

 private:
  uint32_t FirstFenceAtOrAfter(std::string_view column) const;
  Status MoveTo(std::string_view column, uint32_t fence);
  bool NextMayHold(std::string_view column) const;
  void AppendFromChunk(std::string_view column);

  const WideHead& head_;
  ChunkCursor chunks_;
  std::vector<Cell>* out_;
  std::vector<std::shared_ptr<const void>>* pins_;
};

Status ColumnFinder::Append(std::string_view column) {
  const uint32_t fence = FirstFenceAtOrAfter(column);
  const bool before_first =
      fence == 0 && (head_.fence_count() == 0 || head_.FenceAt(0).qualifier > column);
  if (before_first) return {};
  RETURN_IF_ERROR(MoveTo(column, fence == 0 ? 0 : fence - 1));
  AppendFromChunk(column);
  while (NextMayHold(column)) {
    RETURN_IF_ERROR(chunks_.MoveToNext());
    AppendFromChunk(column);
  }
  return {};
}

// The first fence whose chunk begins with `column` or a later one.
uint32_t ColumnFinder::FirstFenceAtOrAfter(std::string_view column) const {
  uint32_t begin = 0, end = head_.fence_count();
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    if (head_.FenceAt(middle).qualifier < column) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

// Moves to the chunk of the fence, unless the current chunk is a better start: at or after the
// fence, and beginning before the column.
Status ColumnFinder::MoveTo(std::string_view column, uint32_t fence) {
  if (chunks_.valid() && chunks_.number() >> head_.stride() >= fence &&
      chunks_.cells().front().qualifier < column) {
    return {};
  }
  return chunks_.MoveToFence(fence);
}

bool ColumnFinder::NextMayHold(std::string_view column) const {
  const uint32_t next = chunks_.number() + 1;
  if (next >= head_.totals().chunks || chunks_.cells().back().qualifier > column) return false;
  if ((next & ((1u << head_.stride()) - 1)) != 0) return true;
  return head_.FenceAt(next >> head_.stride()).qualifier <= column;
}

void ColumnFinder::AppendFromChunk(std::string_view column) {
  const std::vector<Cell>& cells = chunks_.cells();
  auto cell = std::partition_point(cells.begin(), cells.end(),
                                   [&](const Cell& at) { return at.qualifier < column; });
  if (cell == cells.end() || cell->qualifier != column) return;
  if (pins_->empty() || pins_->back() != chunks_.pin()) pins_->push_back(chunks_.pin());
  for (; cell != cells.end() && cell->qualifier == column; ++cell) out_->push_back(*cell);
}

// Every cell, front to back.
class WideRowStream final : public CellStream {
 public:
  WideRowStream(const BlockFile& file, RowBlockRef head)
      : file_(file),
        head_(std::move(head)),
        run_(file, head_->wide_totals().first_chunk, head_->offset) {}

  Result<bool> Next() override;

 private:
  Status NextChunk();
  Status CheckTotals() const;

  const BlockFile& file_;
  const RowBlockRef head_;
  SequentialReader run_;
  bool started_ = false;
  uint32_t chunks_ = 0;  // Given so far.
  uint64_t cell_count_ = 0, bytes_ = 0;
  Cell last_;  // Of the previous chunk; its name is in last_name_.
  std::string last_name_;
};

Result<bool> WideRowStream::Next() {
  cells_.clear();
  if (!std::exchange(started_, true)) {
    RETURN_IF_ERROR(head_->AppendFamilyDeletes(&cells_));
    if (!cells_.empty()) return true;
  }
  if (chunks_ == head_->wide_totals().chunks) {
    RETURN_IF_ERROR(CheckTotals());
    return false;
  }
  RETURN_IF_ERROR(NextChunk());
  return true;
}

Status WideRowStream::NextChunk() {
  ASSIGN_OR_RETURN(BlockRef block, NextChunkBlock(&run_));
  const uint64_t offset = block->offset;
  ASSIGN_OR_RETURN(pin_, DecodeChunk(std::move(block), PlaceOf(file_, *head_, chunks_), &cells_));
  if (chunks_ > 0 && !CellLess(last_, cells_.front())) {
    return file_.Corrupt(offset, "a chunk begins before the end of the one before it");
  }
  const WideHead& head = head_->wide_head();
  if ((chunks_ & ((1u << head.stride()) - 1)) == 0) {
    const Fence fence = head.FenceAt(chunks_ >> head.stride());
    if (fence.chunk.offset != offset || !IsAtFence(cells_.front(), fence)) {
      return file_.Corrupt(head_->offset, "a fence does not lead to chunk " +
                                              std::to_string(chunks_) + " of its row");
    }
  }
  last_ = cells_.back();
  last_name_ = last_.qualifier;
  last_.qualifier = last_name_;
  ++chunks_;
  cell_count_ += cells_.size();
  for (const Cell& cell : cells_) {
    ASSIGN_OR_RETURN(const uint64_t value_bytes, ValueBytes(cell));
    bytes_ += cell.qualifier.size() + value_bytes;
  }
  return {};
}

Status WideRowStream::CheckTotals() const {
  const WideRowTotals& totals = head_->wide_totals();
  if (chunks_ > 0 && run_.offset() != head_->offset) {
    return file_.Corrupt(head_->offset, Mismatch("end of the last chunk of a wide row",
                                                 head_->offset, run_.offset()));
  }
  if (cell_count_ != totals.cells) {
    return file_.Corrupt(head_->offset, Mismatch("cells of a wide row", totals.cells, cell_count_));
  }
  if (bytes_ != totals.bytes) {
    return file_.Corrupt(head_->offset, Mismatch("bytes of a wide row", totals.bytes, bytes_));
  }
  return {};
}

}  // namespace

Status AppendWideColumns(const BlockFile& file, const RowBlockRef& head,
                         std::span<const std::string> columns, std::vector<Cell>* out,
                         std::vector<std::shared_ptr<const void>>* pins) {
  RETURN_IF_ERROR(head->AppendFamilyDeletes(out));
  ColumnFinder finder(file, *head, out, pins);
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i > 0 && columns[i] == columns[i - 1]) continue;
    RETURN_IF_ERROR(finder.Append(columns[i]));
  }
  return {};
}

std::unique_ptr<CellStream> NewWideRowStream(const BlockFile& file, RowBlockRef head) {
  return std::make_unique<WideRowStream>(file, std::move(head));
}

}  // namespace tandem::format
