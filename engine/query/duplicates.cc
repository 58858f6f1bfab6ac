// An entry is compared with the one before it, as the index has it: a row without one is passed
// over.
#include "engine/query/duplicates.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "engine/query/reader.h"
#include "index/entries.h"
#include "index/key.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

const std::string& FamilyName(const format::TableRecord& table, format::FamilyId id) {
  return table.FindFamily(id)->options.name;
}

// nullptr: the row has no such cell.
const Cell* Newest(const RowView& row, std::string_view family, std::string_view qualifier) {
  const auto found = std::ranges::find_if(row.cells(), [&](const Cell& cell) {
    return cell.family == family && cell.qualifier == qualifier;
  });
  return found == row.cells().end() ? nullptr : &*found;
}

// False: the row has no entry.
bool EntryOf(const format::TableRecord& table, const format::IndexRecord& index, const RowView& row,
             std::string* key) {
  key->clear();
  return std::ranges::all_of(index.columns, [&](const format::IndexColumnRecord& column) {
    const Cell* cell = Newest(row, FamilyName(table, column.family), column.qualifier);
    return cell != nullptr && format::AppendPutKey(column, cell->value, cell->timestamp, key);
  });
}

class Comparison {
 public:
  Comparison(const format::TableRecord& table, const format::IndexRecord& index)
      : table_(table), index_(index) {}

  Status Add(const RowView& row) {
    if (!EntryOf(table_, index_, row, &key_)) return {};
    ++report_.rows;
    if (report_.rows > 1 && key_ == last_key_) RETURN_IF_ERROR(AddDuplicate(row.key()));
    last_key_.swap(key_);
    last_row_ = row.key();
    return {};
  }
  UniqueReport Take() { return std::move(report_); }

 private:
  Status AddDuplicate(std::string_view row) {
    ++report_.duplicates;
    if (report_.listed.size() == kDuplicatesListedMax) return {};
    ASSIGN_OR_RETURN(std::optional<std::string> value, format::DecodeEntry(index_, key_));
    report_.listed.push_back({.value = std::move(value).value_or(std::string()),
                              .row = std::min(last_row_, std::string(row)),
                              .other = std::max(last_row_, std::string(row))});
    return {};
  }

  const format::TableRecord& table_;
  const format::IndexRecord& index_;
  UniqueReport report_;
  std::string key_, last_key_, last_row_;
};

}  // namespace

Result<UniqueReport> FindDuplicates(const ReadResources& resources, TableView view,
                                    const format::IndexRecord& index,
                                    const std::atomic<bool>* cancelled) {
  const std::shared_ptr<const format::TableRecord> table = view.table;
  ReadOptions options;
  options.cancelled = cancelled;
  for (const format::IndexColumnRecord& column : index.columns) {
    options.columns.push_back(
        {.family = FamilyName(*table, column.family), .qualifier = column.qualifier});
  }
  QueryOptions query;
  query.order_by = index.name;
  query.use_index = index.name;
  query.descending = index.columns.front().descending;
  ASSIGN_OR_RETURN(std::unique_ptr<RowSource> rows,
                   QueryRows(resources, std::move(view), options, Predicate(), query));
  RowReader reader(std::move(rows));
  Comparison comparison(*table, index);
  RowView row;
  while (true) {
    ASSIGN_OR_RETURN(const bool more, reader.Next(&row));
    if (!more) return comparison.Take();
    RETURN_IF_ERROR(comparison.Add(row));
  }
}

}  // namespace tandem::engine
