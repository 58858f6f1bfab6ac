// See table_lint.h.
#include "tools/row_keys/table_lint.h"

#include <algorithm>

#include "tandem/row_key.h"
#include "tools/row_keys/skew.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"

namespace tandem::row_keys {
namespace {

using tools::Format;
using Level = LintFinding::Level;

constexpr size_t kLongNameBytes = 24;
constexpr double kTogetherShare = 0.95;
constexpr double kSmallFamilyBytes = 1024;
constexpr double kUnevenShare = 0.5;
constexpr uint64_t kTimestampBytes = 8;

double Ratio(uint64_t a, uint64_t b) {
  return b == 0 ? 0 : static_cast<double>(a) / static_cast<double>(b);
}

void FindFirstField(const TableInfo& table, std::vector<LintFinding>* findings) {
  if (table.options.row_key.empty()) return;
  const auto schema = RowKeySchema::Parse(table.options.row_key);
  if (!schema.has_value()) return;
  const RowKeyPart& first = schema->parts().front();
  if (first.kind != RowKeyPart::Kind::kField || first.type != RowKeyType::kTimestamp ||
      first.reversed) {
    return;
  }
  findings->push_back({Level::kWarning, "time-first", "row key '" + table.options.row_key + "'",
                       "it begins with a time, so rows of now go to one region: put salt(N) or "
                       "another field before it"});
}

void FindRegions(const TableInfo& table, std::vector<LintFinding>* findings) {
  if (table.regions.size() < 2) return;
  std::vector<double> rows;
  double sum = 0;
  for (const RegionInfo& region : table.regions) {
    rows.push_back(static_cast<double>(region.rows + region.memstore_rows));
    sum += rows.back();
  }
  const Skew skew = SkewOf(rows);
  if (sum == 0 || skew.hottest_share <= kUnevenShare) return;
  findings->push_back(
      {Level::kWarning, "uneven-regions", Format("region {}", skew.hottest + 1),
       Format("it has {:.0f} % of the rows, from '{}' on: split it, or cut the table by "
              "split-keys auto:N --database",
              skew.hottest_share * 100,
              tools::EscapeBytes(table.regions[skew.hottest].start_key))});
}

}  // namespace

void TableLint::Add(const RowView& row) {
  if (!continues_) {
    row_families_.clear();
    time_ = row.cells().empty() ? 0 : row.cells()[0].timestamp;
  }
  for (const Cell& cell : row.cells()) {
    time_ = std::min(time_, cell.timestamp);
    const uint64_t bytes = cell.qualifier.size() + cell.value.size();
    raw_bytes_ += row.key().size() + cell.family.size() + kTimestampBytes + bytes;
    families_[std::string(cell.family)].bytes += bytes;
    if (row_families_.empty() || row_families_.back() != cell.family) {
      row_families_.emplace_back(cell.family);
    }
    std::pair name(std::string(cell.family), std::string(cell.qualifier));
    if (columns_.size() == kLintColumns && !columns_.contains(name)) continue;
    Column& column = columns_[std::move(name)];
    ++column.cells;
    column.value_bytes += cell.value.size();
  }
  continues_ = row.continues();
  if (continues_) return;
  ++rows_;
  keys_.Add(row.key(), time_);
  TakeRow();
}

// Cells come by family, so each family of the row is there once.
void TableLint::TakeRow() {
  for (size_t i = 0; i < row_families_.size(); ++i) {
    ++families_[row_families_[i]].rows;
    for (size_t j = i + 1; j < row_families_.size(); ++j) {
      ++together_[{row_families_[i], row_families_[j]}];
    }
  }
}

void TableLint::FindNames(std::vector<LintFinding>* findings) const {
  for (const auto& [name, column] : columns_) {
    const double value_bytes = Ratio(column.value_bytes, column.cells);
    if (name.second.size() < kLongNameBytes ||
        static_cast<double>(name.second.size()) <= value_bytes) {
      continue;
    }
    findings->push_back(
        {Level::kHint, "long-name", "column " + tools::EscapeBytes(name.first + ":" + name.second),
         Format("its name has {} bytes, its values {:.1f} on average: files have a name once, but "
                "the log has it with each put",
                name.second.size(), value_bytes)});
  }
}

void TableLint::FindFamilies(std::vector<LintFinding>* findings) const {
  for (const auto& [names, rows] : together_) {
    const Family& a = families_.at(names.first);
    const Family& b = families_.at(names.second);
    const double a_bytes = Ratio(a.bytes, a.rows), b_bytes = Ratio(b.bytes, b.rows);
    if (Ratio(rows, rows_) < kTogetherShare || std::max(a_bytes, b_bytes) > kSmallFamilyBytes) {
      continue;
    }
    findings->push_back(
        {Level::kHint, "same-rows", "families " + names.first + " and " + names.second,
         Format(
             "{:.0f} % of the rows have both, with {:.0f} and {:.0f} bytes on average: who reads "
             "whole rows looks up two blocks where one family would have one",
             Ratio(rows, rows_) * 100, a_bytes, b_bytes)});
  }
}

std::vector<LintFinding> TableLint::FindingsOn(const TableInfo& table) const {
  std::vector<LintFinding> findings;
  FindFirstField(table, &findings);
  FindRegions(table, &findings);
  FindNames(&findings);
  FindFamilies(&findings);
  return findings;
}

}  // namespace tandem::row_keys
