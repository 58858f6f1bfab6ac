// Sources of changed rows, merged by key.
#include "engine/scan/changed_rows.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "engine/region/store_files.h"
#include "format/cell/cell_stream.h"
#include "memstore/memstore.h"
#include "store_file/scanner.h"

namespace tandem::engine {
namespace {

// Rows that are looked at between two looks at the cancellation.
constexpr uint64_t kRowsPerCheck = 1024;

bool AnyAfter(format::SequenceNumber since, std::span<const format::Cell> cells) {
  return std::ranges::any_of(cells,
                             [since](const format::Cell& cell) { return cell.sequence > since; });
}

}  // namespace

class ChangedRows::Source {
 public:
  explicit Source(const base::Cancellation* cancellation) : cancellation_(*cancellation) {}
  virtual ~Source() = default;

  /// Moves to the next changed row, or the first.
  Status Next() {
    while (true) {
      ASSIGN_OR_RETURN(is_valid_, Step());
      if (!is_valid_) return {};
      if (++rows_examined_ % kRowsPerCheck == 0) RETURN_IF_ERROR(cancellation_.Check());
      ASSIGN_OR_RETURN(const bool has_changed, HasChanged());
      if (has_changed) return {};
    }
  }
  bool valid() const { return is_valid_; }
  virtual std::string_view key() const = 0;
  uint64_t rows_examined() const { return rows_examined_; }

 private:
  /// Moves to the next row of any kind; false: there is none.
  virtual Result<bool> Step() = 0;
  virtual Result<bool> HasChanged() = 0;

  const base::Cancellation& cancellation_;
  bool is_valid_ = false;
  uint64_t rows_examined_ = 0;
};

class ChangedRows::RowsOfMemstore final : public Source {
 public:
  RowsOfMemstore(const RegionView& view, const Memstore* memstore, format::SequenceNumber since,
                 const base::Cancellation* cancellation)
      : Source(cancellation), view_(view), since_(since), row_(memstore) {}

  std::string_view key() const override { return row_.key(); }

 private:
  Result<bool> Step() override {
    if (std::exchange(is_started_, true)) {
      row_.Next();
    } else {
      row_.Seek(view_.region->start_key);
    }
    return row_.valid() && view_.region->MayHold(row_.key());
  }
  // Others write meanwhile: a row may have no cell yet, or one that is newer than the view.
  Result<bool> HasChanged() override {
    return Memstore::HasCells(row_.row(), view_.point.sequence) &&
           Memstore::NewestSequence(row_.row()) > since_;
  }

  const RegionView& view_;
  const format::SequenceNumber since_;
  Memstore::Iterator row_;
  bool is_started_ = false;
};

class ChangedRows::RowsOfFile final : public Source {
 public:
  RowsOfFile(const FileSlice& slice, format::SequenceNumber since,
             const base::Cancellation* cancellation)
      : Source(cancellation),
        since_(since),
        is_all_new_(slice.file->store().statistics().min_sequence > since),
        rows_(&slice.file->store(), slice.low, slice.high) {}

  std::string_view key() const override { return rows_.key(); }

 private:
  Result<bool> Step() override {
    RETURN_IF_ERROR(rows_.Next());
    return rows_.valid();
  }
  Result<bool> HasChanged() override {
    if (is_all_new_) return true;
    if (rows_.is_wide()) return HasChangedInPieces();
    cells_.clear();
    RETURN_IF_ERROR(rows_.Cells(&cells_));
    return AnyAfter(since_, cells_);
  }
  Result<bool> HasChangedInPieces() {
    ASSIGN_OR_RETURN(const std::unique_ptr<format::CellStream> pieces, rows_.Stream());
    while (true) {
      ASSIGN_OR_RETURN(const bool has_piece, pieces->Next());
      if (!has_piece) return false;
      if (AnyAfter(since_, pieces->cells())) return true;
    }
  }

  const format::SequenceNumber since_;
  const bool is_all_new_;
  format::RowStream rows_;
  std::vector<format::Cell> cells_;
};

bool ChangedRows::Before::operator()(size_t a, size_t b) const {
  const Source& left = *(*sources)[a];
  const Source& right = *(*sources)[b];
  if (!left.valid() || !right.valid()) return left.valid() || (!right.valid() && a < b);
  const int order = left.key().compare(right.key());
  return order < 0 || (order == 0 && a < b);
}

ChangedRows::ChangedRows(RegionView view, format::SequenceNumber since,
                         const base::Cancellation& cancellation)
    : view_(std::move(view)) {
  for (const FileSlice& slice : view_.region->files) {
    if (slice.file->store().statistics().max_sequence <= since) continue;
    sources_.push_back(std::make_unique<RowsOfFile>(slice, since, &cancellation));
  }
  for (const std::shared_ptr<const Memstore>& memstore : view_.region->memstores) {
    if (memstore->empty() || memstore->max_sequence() <= since) continue;
    sources_.push_back(
        std::make_unique<RowsOfMemstore>(view_, memstore.get(), since, &cancellation));
  }
}
ChangedRows::~ChangedRows() = default;

Status ChangedRows::Start() {
  for (const std::unique_ptr<Source>& source : sources_) RETURN_IF_ERROR(source->Next());
  tree_.emplace(sources_.size(), Before{&sources_});
  return {};
}

Result<bool> ChangedRows::Next() {
  if (sources_.empty()) return false;
  const bool is_first = !tree_.has_value();
  if (is_first) RETURN_IF_ERROR(Start());
  while (true) {
    Source& source = *sources_[tree_->top()];
    if (!source.valid()) return false;
    const bool is_repeated = !is_first && source.key() == key_;
    if (!is_repeated) key_.assign(source.key());
    RETURN_IF_ERROR(source.Next());
    tree_->Replay();
    if (!is_repeated) return true;
  }
}

uint64_t ChangedRows::rows_examined() const {
  uint64_t sum = 0;
  for (const std::unique_ptr<Source>& source : sources_) sum += source->rows_examined();
  return sum;
}

}  // namespace tandem::engine
