// Chunks are searched for once, between the place where the head says that they begin and the head;
// each is decoded again when it is read, so that one is in memory at a time.
#include "engine/salvage/partial_row.h"

#include <utility>

#include "base/status_macros.h"
#include "format/block/carver.h"
#include "format/cell/overflow_value.h"
#include "format/cell/projection.h"
#include "format/row/chunk.h"
#include "format/row/wide_head.h"

namespace tandem::format {
namespace {

class PartialNarrowRow final : public PartialRow {
 public:
  static Result<std::unique_ptr<PartialRow>> Open(const BlockFile& file, const Dictionary& names,
                                                  const RowBlockRef& rows, uint32_t slot) {
    auto row = std::make_unique<PartialNarrowRow>();
    RETURN_IF_ERROR(rows->Cells(slot, Projection(names, &file), &row->cells_));
    row->pin_ = rows;
    return std::unique_ptr<PartialRow>(std::move(row));
  }

  Result<bool> Next() override {
    if (std::exchange(given_, true)) {
      cells_.clear();
      return false;
    }
    RETURN_IF_ERROR(DropBrokenValues());
    return true;
  }

 private:
  bool given_ = false;
};

class PartialWideRow final : public PartialRow {
 public:
  PartialWideRow(const BlockFile& file, RowBlockRef head) : file_(file), head_(std::move(head)) {}

  Status FindChunks();
  Result<bool> Next() override;

 private:
  struct Found {
    BlockHandle handle;
    uint32_t number = 0;
  };

  Result<bool> Take(const Found& chunk);
  bool Follows(const Found& chunk) const;
  void Lose(uint32_t end, uint64_t end_offset, std::optional<std::string> high);

  const BlockFile& file_;
  const RowBlockRef head_;
  std::vector<Found> chunks_;  // By number.
  size_t at_ = 0;
  bool started_ = false;
  uint32_t expected_ = 0;  // Number of the next chunk.
  uint64_t end_ = 0;       // Of the last chunk that was taken.
  std::optional<Cell> last_;
  std::string last_name_;
};

// In a row that this engine wrote, numbers ascend with offsets; what contradicts that is ignored.
Status PartialWideRow::FindChunks() {
  const WideRowTotals& totals = head_->wide_totals();
  end_ = totals.first_chunk;
  if (totals.chunks == 0) return {};
  return FindBlocks(file_, totals.first_chunk, head_->offset,
                    [&](const BlockRef& block, BlockHandle handle) {
                      if (block->kind != BlockKind::kChunk) return Status();
                      const Result<ChunkPlace> place = StatedPlace(*block);
                      const bool is_ours = place && place->position == head_->first() &&
                                           place->key_hash == head_->wide_head().key_hash() &&
                                           place->number < totals.chunks;
                      if (!is_ours) return Status();
                      if (!chunks_.empty() && place->number <= chunks_.back().number) {
                        return Status();
                      }
                      chunks_.push_back({handle, place->number});
                      return Status();
                    });
}

Result<bool> PartialWideRow::Next() {
  cells_.clear();
  if (!std::exchange(started_, true)) {
    RETURN_IF_ERROR(head_->AppendFamilyDeletes(&cells_));
    if (!cells_.empty()) return true;
  }
  while (at_ < chunks_.size()) {
    ASSIGN_OR_RETURN(const bool taken, Take(chunks_[at_++]));
    if (taken) return true;
  }
  const uint32_t chunks = head_->wide_totals().chunks;
  if (expected_ < chunks) Lose(chunks, head_->offset, std::nullopt);
  expected_ = chunks;
  return false;
}

// False: the chunk is as good as missing.
Result<bool> PartialWideRow::Take(const Found& chunk) {
  cells_.clear();
  ASSIGN_OR_RETURN(BlockRef block, file_.ReadUncached(chunk.handle, BlockKind::kChunk));
  const ChunkPlace place{&file_, head_->wide_head().family(), head_->first(),
                         head_->wide_head().key_hash(), chunk.number};
  auto pin = DecodeChunk(std::move(block), place, &cells_);
  if (!pin && pin.error().code() != StatusCode::kCorruption) return pin.error();
  if (!pin || !Follows(chunk)) return false;
  pin_ = *std::move(pin);
  if (chunk.number > expected_) {
    Lose(chunk.number, chunk.handle.offset, std::string(cells_.front().qualifier) + '\0');
  }
  expected_ = chunk.number + 1;
  end_ = BlockEnd(chunk.handle);
  last_ = cells_.back();
  last_name_ = last_->qualifier;
  last_->qualifier = last_name_;
  RETURN_IF_ERROR(DropBrokenValues());
  return true;
}

// Whether the chunk begins after the last one, and as its fence says if it has one.
bool PartialWideRow::Follows(const Found& chunk) const {
  const Cell& first = cells_.front();
  if (last_.has_value() && !CellLess(*last_, first)) return false;
  const WideHead& head = head_->wide_head();
  if ((chunk.number & ((1u << head.stride()) - 1)) != 0) return true;
  const Fence fence = head.FenceAt(chunk.number >> head.stride());
  return fence.chunk.offset == chunk.handle.offset && fence.qualifier == first.qualifier &&
         fence.timestamp == first.timestamp && fence.sequence == first.sequence;
}

// Records chunks expected_ up to `end` as lost.
void PartialWideRow::Lose(uint32_t end, uint64_t end_offset, std::optional<std::string> high) {
  const std::string of = " of the row's " + std::to_string(head_->wide_totals().chunks);
  LostColumns& lost = lost_.emplace_back();
  lost.low = last_name_;
  lost.high = std::move(high);
  lost.offset = end_;
  lost.bytes = end_offset - end_;
  lost.reason = end == expected_ + 1 ? "chunk " + std::to_string(expected_) + of + " cannot be read"
                                     : "chunks " + std::to_string(expected_) + " to " +
                                           std::to_string(end - 1) + of + " cannot be read";
}

}  // namespace

Status PartialRow::DropBrokenValues() {
  std::string value;
  size_t kept = 0;
  for (const Cell& cell : cells_) {
    if (cell.is_overflow()) {
      value.clear();
      const Status status = ReadOverflowValue(cell, &value);
      if (status.code() == StatusCode::kCorruption) {
        const std::string name(cell.qualifier);
        lost_.push_back({name, name + '\0', 0, 0, std::string(status.message())});
        continue;
      }
      RETURN_IF_ERROR(status);
    }
    cells_[kept++] = cell;
  }
  cells_.resize(kept);
  return {};
}

Result<std::unique_ptr<PartialRow>> OpenPartialRow(const BlockFile& file, const Dictionary& names,
                                                   const RowBlockRef& rows, uint32_t slot) {
  if (!rows->is_wide()) return PartialNarrowRow::Open(file, names, rows, slot);
  auto row = std::make_unique<PartialWideRow>(file, rows);
  RETURN_IF_ERROR(row->FindChunks());
  return std::unique_ptr<PartialRow>(std::move(row));
}

}  // namespace tandem::format
