// What the rows of a table, and its declaration, say about its design beside its keys: names that
// are longer than values, families that every row has together, regions of unlike sizes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tandem/database.h"
#include "tandem/row.h"
#include "tools/row_keys/key_lint.h"

namespace tandem::row_keys {

/// Columns that are told apart; of further ones the cells count, but not their names.
inline constexpr size_t kLintColumns = 4096;

/// Threads: one at a time.
class TableLint {
 public:
  explicit TableLint(uint64_t seed) : keys_(seed) {}
  /// All views of a row in pieces, one after the other. Rows count as of the time of their oldest
  /// cell that is still there.
  void Add(const RowView& row);
  KeyFigures Finish() { return keys_.Finish(); }

  uint64_t rows() const { return rows_; }
  /// Of keys, names, timestamps and values of all cells, a key and names with each cell: what a log
  /// of single puts has.
  uint64_t raw_bytes() const { return raw_bytes_; }
  std::vector<LintFinding> FindingsOn(const TableInfo& table) const;

 private:
  struct Column {
    uint64_t cells = 0, value_bytes = 0;
  };
  struct Family {
    uint64_t rows = 0, bytes = 0;
  };
  void TakeRow();
  void FindNames(std::vector<LintFinding>* findings) const;
  void FindFamilies(std::vector<LintFinding>* findings) const;

  KeyLint keys_;
  uint64_t rows_ = 0, raw_bytes_ = 0;
  std::map<std::pair<std::string, std::string>, Column> columns_;
  std::map<std::string, Family> families_;
  std::map<std::pair<std::string, std::string>, uint64_t> together_;  // Rows that have both.
  // Of the row whose pieces come.
  int64_t time_ = 0;
  std::vector<std::string> row_families_;
  bool continues_ = false;
};

}  // namespace tandem::row_keys
