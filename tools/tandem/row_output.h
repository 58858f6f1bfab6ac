// Rows on standard output, as get, scan and query print them.
//
//   jsonl            {"row":KEY,"cells":[{"family":F,"column":C,"timestamp":T,"value":V},...]},
//   each of
//                    row, column and value as NAME_b64 where it is no plain text
//   table, csv, tsv  columns chosen and one version: a line a row, `row` and a field a column;
//                    otherwise a line a cell: row, family, column, timestamp, value
//   raw              columns chosen: each value and a line end; otherwise each row's key and a line
//   end
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>

#include "tandem/options.h"
#include "tandem/row.h"
#include "tools/tandem/json.h"
#include "tools/tandem/output.h"

namespace tandem::tools {

struct RowLayout {
  OutputMode mode = OutputMode::kTable;
  std::vector<ColumnName> columns;  ///< Chosen by the user; empty: all.
  uint32_t versions = 1;
};

/// Threads: one at a time.
class RowWriter {
 public:
  /// `out` outlives the writer.
  RowWriter(RowLayout layout, std::FILE* out);

  void Add(const RowView& row);
  void End();

 private:
  void AddJson(const RowView& row);
  void AddRaw(const RowView& row);
  void AddChosen(const RowView& row);
  void AddCells(const RowView& row);

  RowLayout layout_;
  std::FILE* out_;
  bool row_a_line_;
  std::unique_ptr<RecordWriter> records_;
  JsonWriter json_;
  std::vector<Value> values_;
};

/// "family:qualifier", or "qualifier" where the family is empty.
std::string ColumnText(const ColumnName& column);

}  // namespace tandem::tools
