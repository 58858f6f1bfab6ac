// Cutting rows into views. The bytes of a view are copied, so that it outlives the blocks that its
// cells come from.
#include "engine/read/row_pieces.h"

#include <algorithm>
#include <utility>

#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/read/visible_column.h"
#include "format/cell/overflow_value.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

class ReturnedList final : public ReturnedCells {
 public:
  explicit ReturnedList(std::vector<format::Cell> cells) : cells_(std::move(cells)) {}
  Result<const format::Cell*> Next() override {
    return at_ < cells_.size() ? &cells_[at_++] : nullptr;
  }
  Result<uint64_t> StoredBytes() const override { return BytesOf(cells_); }

 private:
  const std::vector<format::Cell> cells_;
  size_t at_ = 0;
};

class ReturnedStream final : public ReturnedCells {
 public:
  ReturnedStream(const ReadSchema& schema, RowColumns row)
      : schema_(schema), row_(std::move(row)) {}

  Result<const format::Cell*> Next() override {
    while (at_ == visible_.size()) {
      ASSIGN_OR_RETURN(const bool more, row_.stream->Next());
      if (!more) return static_cast<const format::Cell*>(nullptr);
      AssignVisible(*row_.stream, schema_, &scratch_, &visible_);
      if (visible_.size() > schema_.versions) visible_.resize(schema_.versions);
      at_ = 0;
    }
    return &visible_[at_++];
  }
  Result<uint64_t> StoredBytes() const override { return row_.StoredBytes(); }

 private:
  const ReadSchema& schema_;
  RowColumns row_;
  std::vector<format::Cell> scratch_, visible_;
  size_t at_ = 0;  // In visible_.
};

}  // namespace

std::unique_ptr<ReturnedCells> NewReturnedList(std::vector<format::Cell> cells) {
  return std::make_unique<ReturnedList>(std::move(cells));
}

Result<std::unique_ptr<ReturnedCells>> OpenReturned(const ReadSchema& schema,
                                                    const RowLocations& locations,
                                                    BlockMemo* blocks) {
  ASSIGN_OR_RETURN(RowColumns row, OpenColumns(schema, locations, schema.returned, blocks));
  return std::unique_ptr<ReturnedCells>(std::make_unique<ReturnedStream>(schema, std::move(row)));
}

void RowPieces::Begin(std::string_view key, std::unique_ptr<ReturnedCells> cells) {
  key_ = key;
  source_ = std::move(cells);
  pending_ = nullptr;
}

Result<RowView> RowPieces::Next() {
  cells_.clear();
  overflow_values_.clear();
  bytes_.emplace();
  uint64_t bytes = 0;
  while (true) {
    if (pending_ == nullptr) {
      ASSIGN_OR_RETURN(pending_, source_->Next());
      if (pending_ == nullptr) return RowView(key_, cells_);
    }
    ASSIGN_OR_RETURN(const uint64_t more, BytesOf({pending_, 1}));
    if (schema_.pieces && !cells_.empty() && bytes + more > kRowPieceBytes) {
      return RowView(key_, cells_, /*continues=*/true);
    }
    bytes += more;
    if (!schema_.pieces && bytes > kWholeRowBytesMax) return TooLarge();
    RETURN_IF_ERROR(Take(*std::exchange(pending_, nullptr)));
  }
}

Status RowPieces::Take(const format::Cell& cell) {
  std::string_view value;
  if (cell.is_overflow()) {
    RETURN_IF_ERROR(format::ReadOverflowValue(cell, &overflow_values_.emplace_back()));
    value = overflow_values_.back();
  } else {
    value = bytes_->Copy(cell.value);
  }
  const std::string_view family = schema_.FamilyName(cell.family);
  const bool same_column = !cells_.empty() && cells_.back().family == family &&
                           cells_.back().qualifier == cell.qualifier;
  const std::string_view qualifier =
      same_column ? cells_.back().qualifier : bytes_->Copy(cell.qualifier);
  cells_.push_back({family, qualifier, cell.timestamp, value});
  return {};
}

Status RowPieces::TooLarge() const {
  ASSIGN_OR_RETURN(const uint64_t bytes, source_->StoredBytes());
  return Status::OverBudget("row " + base::Quote(key_) + " holds " + std::to_string(bytes) +
                            " bytes, more than " + std::to_string(kWholeRowBytesMax) +
                            " in one view: ReadOptions::pieces reads it in pieces");
}

}  // namespace tandem::engine
