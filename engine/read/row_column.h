// A column of rows that a read returns, whose value is turned into something else.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/cell/cell.h"
#include "format/schema.h"
#include "tandem/row.h"

namespace tandem::engine {

/// Threads: any. Lifetime: the record, and the table it is of, outlive it.
class RowColumn {
 public:
  RowColumn(const format::IndexColumnRecord& record, const format::TableRecord& table);

  const format::IndexColumnRecord& record() const { return *record_; }
  /// The Put that the row has of the column, or is taken to have of its key; nullopt: none.
  /// Requires: it is not of a family. Lifetime: of the row.
  std::optional<format::Cell> PutIn(const RowView& row) const;
  /// Replaces `*puts` by those of the columns that it joins. False: the row lacks one.
  bool JoinedPutsIn(const RowView& row, std::vector<format::Cell>* puts) const;
  /// Appends the index key of the column in the row. Bytes have one at any length. False: it is
  /// absent. Requires: it has one value in a row.
  bool AppendKeyIn(const RowView& row, std::string* key) const;
  /// Calls `use(put)` for the newest Put of each column of its family. Requires: it is of one.
  template <typename Use>
  void ForEachPutIn(const RowView& row, const Use& use) const {
    std::optional<std::string_view> last;
    for (const Cell& cell : row.cells()) {
      if (cell.family != family_ || last == cell.qualifier) continue;
      last = cell.qualifier;
      use(PutOf(cell));
    }
  }

 private:
  static format::Cell PutOf(const Cell& cell);

  const format::IndexColumnRecord* record_;
  std::string_view family_;  // Empty: it is of the row key.
  std::vector<RowColumn> joined_;
};

}  // namespace tandem::engine
