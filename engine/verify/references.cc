// Values are kept in a map until the cell that refers to them is read; chunks are kept only for the
// current row.
#include "engine/verify/references.h"

#include <string>
#include <utility>

#include "base/status_macros.h"
#include "format/corruption.h"
#include "format/row/chunk.h"
#include "format/row/row_block.h"

namespace tandem::format {

void ReferenceVerifier::AddValueBlock(const Block& block, uint32_t stored_bytes) {
  const bool goes_on = open_value_.has_value() && block.first == open_value_->blocks &&
                       block.offset == open_value_->end;
  if (!goes_on) {
    CloseValue();
    open_value_.emplace(block.offset);
    if (block.first != 0) {
      findings_.AddAt(block.offset, Mismatch("number of value block", 0, block.first));
    }
  }
  if (block.raw_bytes != block.count || block.raw_bytes > kValueBlockBytes) {
    findings_.AddAt(block.offset, Mismatch("bytes of value block", block.count, block.raw_bytes));
  }
  open_value_->length += block.raw_bytes;
  open_value_->blocks = block.first + 1;
  open_value_->end = BlockEnd({block.offset, stored_bytes});
  open_value_->hash.Add(block.raw());
}

void ReferenceVerifier::CloseValue() {
  if (!open_value_.has_value()) return;
  values_[open_value_->offset] = {open_value_->length, open_value_->hash.Finish()};
  open_value_.reset();
}

Status ReferenceVerifier::AddChunk(const BlockRef& block) {
  CloseValue();
  Result<ChunkPlace> stated = StatedPlace(*block);
  if (!stated.has_value()) return findings_.AddError(stated.error());
  stated->file = &file_;
  if (stated->number == 0) {
    if (open_row_.has_value()) {
      findings_.AddAt(open_row_->first_chunk, "chunks of a wide row without a head");
    }
    open_row_ = {block->offset, stated->key_hash, stated->position, 0};
  }
  if (!open_row_.has_value() || stated->number != open_row_->chunks ||
      stated->key_hash != open_row_->key_hash || stated->position != open_row_->position) {
    findings_.AddAt(block->offset, "a chunk does not follow the one before it in its row");
    return {};
  }
  ++open_row_->chunks;
  cells_.clear();
  const auto pin = DecodeChunk(block, *stated, &cells_);
  if (!pin.has_value()) return findings_.AddError(pin.error());
  for (const Cell& cell : cells_) {
    if (cell.is_overflow()) Refer(block->offset, cell);
  }
  return {};
}

Status ReferenceVerifier::AddRows(uint64_t offset, std::string_view stored,
                                  const DataSection& data) {
  CloseValue();
  const Result<RowBlockRef> decoded =
      RowBlock::Decode(file_.PlaceAt(offset), data.family(), stored);
  if (!decoded.has_value()) return findings_.AddError(decoded.error());
  const RowBlock& rows = **decoded;
  if (rows.is_wide()) {
    CheckHead(rows);
    return {};
  }
  if (open_row_.has_value()) {
    findings_.AddAt(open_row_->first_chunk, "chunks of a wide row without a head");
    open_row_.reset();
  }
  const Projection all(data.names(), &file_);
  for (uint32_t slot = 0; slot < rows.row_count(); ++slot) {
    cells_.clear();
    const Status status = rows.Cells(slot, all, &cells_);
    if (!status.ok()) return findings_.AddError(status);
    for (const Cell& cell : cells_) {
      if (cell.is_overflow()) Refer(offset, cell);
    }
  }
  return {};
}

void ReferenceVerifier::CheckHead(const RowBlock& head) {
  const WideRowTotals& totals = head.wide_totals();
  const OpenRow row = std::exchange(open_row_, {}).value_or(OpenRow());
  const bool same_row = row.chunks == 0 || (row.key_hash == head.wide_head().key_hash() &&
                                            row.position == head.first());
  if (totals.chunks != row.chunks || totals.first_chunk != row.first_chunk || !same_row) {
    findings_.AddAt(head.offset, "the head of a wide row does not follow its chunks");
  }
}

void ReferenceVerifier::Refer(uint64_t at, const Cell& cell) {
  const std::optional<OverflowReference> reference = DecodeOverflowReference(cell.value);
  if (!reference.has_value()) {
    findings_.AddAt(at, "a reference to an overflow value is malformed");
    return;
  }
  const auto value = values_.find(reference->offset);
  if (value == values_.end()) {
    findings_.AddAt(at, "a cell refers to offset " + std::to_string(reference->offset) +
                            ", where no overflow value waits for a cell");
    return;
  }
  if (value->second.length != reference->length) {
    findings_.AddAt(at,
                    Mismatch("bytes of overflow value", reference->length, value->second.length));
  } else if (value->second.hash != reference->hash) {
    findings_.AddAt(at,
                    HashMismatch("hash of overflow value", reference->hash, value->second.hash));
  }
  values_.erase(value);
}

void ReferenceVerifier::Finish() {
  CloseValue();
  if (open_row_.has_value()) {
    findings_.AddAt(open_row_->first_chunk, "chunks of a wide row without a head");
  }
  for (const auto& [offset, value] : values_) {
    findings_.AddAt(offset, "an overflow value that no cell refers to");
  }
}

}  // namespace tandem::format
