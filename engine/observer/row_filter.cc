// Batches of filtered rows are views of the rows that were read.
#include "engine/observer/row_filter.h"

#include <utility>

#include "base/status_macros.h"
#include "engine/source/read_schema.h"

namespace tandem::engine {
namespace {

class FilteredRows final : public RowSource {
 public:
  FilteredRows(std::unique_ptr<RowSource> source, RowFilter filter, uint64_t limit, uint64_t offset)
      : source_(std::move(source)),
        filter_(std::move(filter)),
        left_(limit == 0 ? UINT64_MAX : limit),
        offset_(offset) {}

  Result<bool> NextBatch(format::RowBatch* batch) override;
  // Batches of rows with an entry have one row, so it is that of the row that was read last.
  std::string_view entry() const override { return source_->entry(); }

 private:
  Status FilterInto(format::RowBatch* batch);

  const std::unique_ptr<RowSource> source_;
  RowFilter filter_;
  uint64_t left_;    // Of the limit.
  uint64_t offset_;  // Rows to pass over.
  Status failure_;   // Comes after the rows that were filtered before it.
  const std::unique_ptr<format::RowBatch> stored_ = std::make_unique<format::RowBatch>();
  std::array<std::vector<Cell>, format::RowBatch::kRowsMax> cells_;
};

Result<bool> FilteredRows::NextBatch(format::RowBatch* batch) {
  batch->Clear();
  while (batch->size() == 0) {
    RETURN_IF_ERROR(failure_);
    if (left_ == 0) return false;
    ASSIGN_OR_RETURN(const bool more, source_->NextBatch(stored_.get()));
    if (!more) return false;
    failure_ = FilterInto(batch);
  }
  return true;
}

Status FilteredRows::FilterInto(format::RowBatch* batch) {
  for (const RowView& row : stored_->rows()) {
    std::vector<Cell>& cells = cells_[batch->size()];
    ASSIGN_OR_RETURN(const bool is_returned, filter_.Apply(row, &cells));
    if (!is_returned) continue;
    if (offset_ > 0) {
      --offset_;
      continue;
    }
    batch->Add(RowView(row.key(), cells));
    if (--left_ == 0) break;
  }
  return {};
}

}  // namespace

RowFilter::RowFilter(const ObserverList& observers, const format::TableRecord& table,
                     const ReadOptions& options, bool needs_cells)
    : observers_(observers),
      returns_all_(options.columns.empty() && options.families.empty()),
      needs_cells_(needs_cells),
      whole_rows_(options) {
  const std::string& first = table.first_family().options.name;
  const auto name_of = [&first](const std::string& family) {
    return family.empty() ? first : family;
  };
  for (const ColumnName& column : options.columns) {
    columns_[name_of(column.family)].insert(column.qualifier);
  }
  for (const std::string& family : options.families) families_.insert(name_of(family));
  whole_rows_.columns.clear();
  whole_rows_.families.clear();
  whole_rows_.pieces = false;
}

Result<std::optional<RowFilter>> RowFilter::Make(
    const ObserverList& observers, const std::shared_ptr<const format::TableRecord>& table,
    const ReadOptions& options, bool needs_cells) {
  std::vector<size_t> places;
  for (size_t i = 0; i < observers.size(); ++i) {
    RETURN_IF_ERROR(observers.Ask(i, "has_filter", [&](const Observer& observer) {
      if (observer.has_filter()) places.push_back(i);
      return Status();
    }));
  }
  if (places.empty()) return std::optional<RowFilter>();
  RETURN_IF_ERROR(ReadSchema::OfOneRow(table, {}, options).status());
  RowFilter filter(observers, *table, options, needs_cells);
  filter.places_ = std::move(places);
  return std::optional(std::move(filter));
}

bool RowFilter::IsAskedFor(const Cell& cell) const {
  if (returns_all_) return true;
  if (families_.contains(cell.family)) return true;
  const auto of_family = columns_.find(cell.family);
  return of_family != columns_.end() && of_family->second.contains(cell.qualifier);
}

Result<bool> RowFilter::Apply(const RowView& row, std::vector<Cell>* cells) {
  cells->clear();
  hidden_.assign(row.cells().size(), false);
  StoredRow stored(row.key(), row.cells(), &hidden_);
  for (const size_t place : places_) {
    RETURN_IF_ERROR(observers_.Ask(
        place, "FilterRow", [&stored](Observer& observer) { return observer.FilterRow(&stored); }));
  }
  bool is_hidden = true;
  for (size_t i = 0; i < row.cells().size(); ++i) {
    if (hidden_[i]) continue;
    is_hidden = false;
    if (IsAskedFor(row.cells()[i])) cells->push_back(row.cells()[i]);
  }
  return !is_hidden && (!needs_cells_ || !cells->empty());
}

Result<std::optional<Row>> RowFilter::Apply(const std::optional<Row>& row) {
  if (!row.has_value()) return std::optional<Row>();
  std::vector<Cell> cells;
  ASSIGN_OR_RETURN(const bool is_returned, Apply(row->view(), &cells));
  if (!is_returned) return std::optional<Row>();
  return std::optional<Row>(Row(RowView(row->key(), cells)));
}

std::unique_ptr<RowSource> NewFilteredRows(std::unique_ptr<RowSource> source, RowFilter filter,
                                           uint64_t limit, uint64_t offset) {
  return std::make_unique<FilteredRows>(std::move(source), std::move(filter), limit, offset);
}

}  // namespace tandem::engine
