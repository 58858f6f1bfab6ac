// See global.h.
#include "engine/verify/global.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/predicate/bound.h"
#include "engine/query/global_access.h"
#include "engine/query/reader.h"
#include "engine/verify/findings.h"
#include "index/entries.h"

namespace tandem::engine {
namespace {

using format::Findings;

constexpr size_t kLookedUpTogether = 1024;

class GlobalVerifier {
 public:
  GlobalVerifier(const ReadResources& resources, const TableView& rows, const TableView& entries,
                 const format::GlobalIndexRecord& global, VerifyReport* report)
      : resources_(resources),
        rows_(rows),
        entries_(entries),
        index_(global.index),
        report_(report),
        findings_("table " + base::Quote(rows.table->name) + ", global index " +
                      base::Quote(global.index.name),
                  report) {
    findings_.set_topic({"index", FindingEffect::kDerived});
    for (const format::IndexColumnRecord& column : index_.columns) {
      columns_.columns.push_back({.family = rows.table->FindFamily(column.family)->options.name,
                                  .qualifier = column.qualifier});
    }
  }

  Status Run() {
    RETURN_IF_ERROR(ForEachRow(rows_, columns_, [this](RowView row) { return AddRow(row); }));
    RETURN_IF_ERROR(FindEntries());
    const format::FamilyId first = index_.columns.front().family;
    if (rows_.table->FindFamily(first)->may_expire()) return {};
    RETURN_IF_ERROR(ForEachRow(entries_, {}, [this](RowView entry) { return AddEntry(entry); }));
    return FindRows();
  }

 private:
  template <typename Use>
  Status ForEachRow(const TableView& view, const ReadOptions& options, Use&& use) {
    ASSIGN_OR_RETURN(std::unique_ptr<RowSource> source, ScanRows(resources_, view, options, {}));
    RowReader reader(std::move(source));
    RowView row;
    while (true) {
      ASSIGN_OR_RETURN(const bool is_row, reader.Next(&row));
      if (!is_row) return {};
      RETURN_IF_ERROR(use(row));
    }
  }

  // Empty: the row has no entry.
  std::string EntryOf(RowView row) const {
    std::vector<const format::Cell*> puts;
    std::vector<format::Cell> cells;
    cells.reserve(index_.columns.size());
    for (const format::IndexColumnRecord& column : index_.columns) {
      const std::string& family = rows_.table->FindFamily(column.family)->options.name;
      const tandem::Cell* found = nullptr;
      for (const tandem::Cell& cell : row.cells()) {
        if (cell.family == family && cell.qualifier == column.qualifier) found = &cell;
      }
      puts.push_back(nullptr);
      if (found == nullptr) continue;
      format::Cell& cell = cells.emplace_back();
      cell.kind = format::CellKind::kPut;
      cell.family = column.family;
      cell.qualifier = column.qualifier;
      cell.timestamp = found->timestamp;
      cell.value = found->value;
      puts.back() = &cell;
    }
    std::string key;
    format::AppendEntry(index_, puts, &key);
    if (format::StartsAbsent(index_.columns.front(), key)) return {};
    return key.append(row.key());
  }

  Status AddRow(RowView row) {
    ++report_->rows;
    std::string entry = EntryOf(row);
    if (entry.empty()) return {};
    keys_.push_back(std::move(entry));
    return keys_.size() < kLookedUpTogether ? Status() : FindEntries();
  }

  Status AddEntry(RowView entry) {
    ++report_->index_entries;
    keys_.emplace_back(entry.key());
    return keys_.size() < kLookedUpTogether ? Status() : FindRows();
  }

  Status FindEntries() {
    const std::vector<std::string> keys = std::exchange(keys_, {});
    const std::vector<std::string_view> wanted(keys.begin(), keys.end());
    ASSIGN_OR_RETURN(const auto found, GetRows(resources_, entries_, {}, wanted));
    for (size_t i = 0; i < keys.size(); ++i) {
      if (found[i].has_value()) continue;
      ASSIGN_OR_RETURN(const std::string_view row, RowOfEntry(index_, keys[i]));
      findings_.Add("row " + base::Quote(row) + " has no entry of its value");
    }
    return {};
  }

  Status FindRows() {
    const std::vector<std::string> keys = std::exchange(keys_, {});
    std::vector<std::string_view> wanted;
    for (const std::string& key : keys) {
      ASSIGN_OR_RETURN(const std::string_view row, RowOfEntry(index_, key));
      wanted.push_back(row);
    }
    ASSIGN_OR_RETURN(const auto found, GetRows(resources_, rows_, columns_, wanted));
    for (size_t i = 0; i < keys.size(); ++i) {
      if (found[i].has_value() && EntryOf(found[i]->view()) == keys[i]) continue;
      findings_.Add("an entry of row " + base::Quote(wanted[i]) + " is of a value it has not");
    }
    return {};
  }

  const ReadResources& resources_;
  const TableView& rows_;
  const TableView& entries_;
  const format::IndexRecord& index_;
  VerifyReport* report_;
  Findings findings_;
  ReadOptions columns_;
  std::vector<std::string> keys_;  ///< Of entries, to be looked up.
};

}  // namespace

Status VerifyGlobal(const ReadResources& resources, const TableView& rows, const TableView& entries,
                    const format::GlobalIndexRecord& global, VerifyReport* report) {
  return GlobalVerifier(resources, rows, entries, global, report).Run();
}

}  // namespace tandem::engine
