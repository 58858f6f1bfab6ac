// What the iterators share: deciding whether a row is returned, and handing it out.
#include "engine/read/row_iterator.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "engine/read/visible_column.h"
#include "format/hash.h"
#include "tandem/limits.h"

namespace tandem::engine {

Result<bool> RowIterator::Next() {
  if (std::exchange(has_read_, false)) return true;
  while (true) {
    ASSIGN_OR_RETURN(const bool found, Find());
    if (!found) return false;
    ASSIGN_OR_RETURN(const bool is_row, Read());
    if (is_row) return true;
  }
}

Result<bool> RowIterator::NextBatch(size_t rows_max, format::RowBatch* batch) {
  RETURN_IF_ERROR(failure_);
  RETURN_IF_ERROR(context_->CheckGoOn());
  ReadMeter* const meter = context_->meter.get();
  if (meter != nullptr) rows_max = std::min<uint64_t>(rows_max, meter->rows_left());
  while (batch->size() < rows_max && !batch->is_full() && !has_read_) {
    const Result<bool> found = Find();
    failure_ = found.status();
    if (batch->size() == 0) RETURN_IF_ERROR(failure_);
    if (!failure_.ok() || !*found) return batch->size() > 0;
    // Each row that is taken is counted.
    if (Take(meter == nullptr ? rows_max : 0, batch)) {
      if (meter != nullptr) meter->CountRows(1);
      continue;
    }
    // A row that is left out would say that the read has come past those of the batch.
    if (meter != nullptr) break;
    const Result<bool> is_row = Read();
    failure_ = is_row.status();
    if (batch->size() == 0) RETURN_IF_ERROR(failure_);
    if (!failure_.ok()) return true;
    has_read_ = *is_row && !AddRead(batch);
  }
  if (batch->size() > 0) return true;
  ASSIGN_OR_RETURN(const bool is_row, Next());
  if (!is_row) return false;
  ASSIGN_OR_RETURN(const RowView row, View());
  batch->Add(row);
  return true;
}

// False: the row has to be returned by View, after those of the batch.
bool RowIterator::AddRead(format::RowBatch* batch) {
  return !row_.is_large() && row_.AddTo(key_, batch);
}

void RowIterator::GatherMemstores(const Cluster& cluster, const MemRow* known) {
  if (cluster.memstores.empty()) return;
  const bool is_at_hand = known != nullptr && cluster.memstores.size() == 1;
  if (is_at_hand) return Gather(known);
  const uint64_t hash = format::RowHash(key_, context_->view.table->hash_secret);
  for (const std::shared_ptr<const Memstore>& memstore : cluster.memstores) {
    const MemRow* row = memstore->Find(key_, hash);
    if (row != nullptr) Gather(row);
  }
}

void RowIterator::Gather(const MemRow* row) {
  row_.Append(row);
  locations_.memstores.push_back(row);
}

Result<bool> RowIterator::Accept(bool single_source, bool decided) {
  RETURN_IF_ERROR(context_->CheckGoOn());
  if (ReadMeter* const meter = context_->meter.get()) [[unlikely]] {
    RETURN_IF_ERROR(meter->CheckRows());
    meter->CountRows(1);
  }
  ASSIGN_OR_RETURN(const bool is_returned, Decide(single_source, decided));
  // A row that is returned says itself how far the read has come.
  if (!is_returned && context_->meter != nullptr) context_->meter->Pass(key_);
  return is_returned;
}

Result<bool> RowIterator::Decide(bool single_source, bool decided) {
  first_piece_.reset();
  if (single_source) {
    row_.KeepAll();
  } else {
    row_.Merge();
    ASSIGN_OR_RETURN(const bool exists, Exists());
    if (!exists) return false;
  }
  if (context_->predicate.has_value() && !decided) {
    if (row_.is_partial() && !whole_families_.empty()) RETURN_IF_ERROR(DecideFamilies());
    ASSIGN_OR_RETURN(const bool matches, context_->predicate->Matches(key_, row_.visible()));
    if (!matches) return false;
  }
  if (!context_->schema.needs_cells) return true;
  return ReturnsCells();
}

// Of a row whose columns need not fit in memory.
Status RowIterator::DecideFamilies() {
  BoundPredicate& predicate = *context_->predicate;
  const ReadSchema& schema = context_->schema;
  ASSIGN_OR_RETURN(RowColumns row, OpenColumns(schema, locations_, whole_families_, &blocks_));
  std::vector<format::Cell> scratch, visible;
  predicate.BeginColumns();
  while (true) {
    ASSIGN_OR_RETURN(const bool more, row.stream->Next());
    if (!more) return {};
    RETURN_IF_ERROR(context_->CheckGoOn());
    AssignVisible(*row.stream, schema, &scratch, &visible);
    ASSIGN_OR_RETURN(const bool goes_on, predicate.AddColumn(visible));
    if (!goes_on) return {};
  }
}

// Whether the row, which is not single-source, has a visible cell. Without every_row only decoded
// cells are checked: the predicate or the result needs one of them anyway. (A single-source row has
// a Put.)
Result<bool> RowIterator::Exists() {
  if (!context_->schema.every_row) return row_.is_partial() || !row_.visible().empty();
  if (row_.is_partial()) return existence_.Exists(locations_);
  if (!row_.visible().empty()) return true;
  return existence_.ExistsElsewhere(locations_);
}

Result<bool> RowIterator::ReturnsCells() {
  if (!row_.is_large()) return row_.returns_cells();
  RETURN_IF_ERROR(OpenPieces());
  return !first_piece_->cells().empty();
}

Status RowIterator::OpenPieces() {
  ASSIGN_OR_RETURN(std::unique_ptr<ReturnedCells> cells,
                   OpenReturned(context_->schema, locations_, &blocks_));
  pieces_.Begin(key_, std::move(cells));
  ASSIGN_OR_RETURN(first_piece_, pieces_.Next());
  return {};
}

std::optional<RowView> RowIterator::PlainView() {
  if (row_.is_large()) return std::nullopt;
  const RowView whole = row_.Project(key_);
  if (row_.has_overflow_values() || row_.returned_bytes() > kRowPieceBytes) return std::nullopt;
  return whole;
}

Result<RowView> RowIterator::View() {
  if (const std::optional<RowView> plain = PlainView(); plain.has_value()) return *plain;
  if (row_.is_large()) {
    if (!first_piece_.has_value()) RETURN_IF_ERROR(OpenPieces());
    return *first_piece_;
  }
  pieces_.Begin(key_, NewReturnedList(row_.ReturnedCells()));
  return pieces_.Next();
}

}  // namespace tandem::engine
