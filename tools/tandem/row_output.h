// Rows on standard output, as get, scan, query and export print them.
//
//   jsonl            {"row":KEY,"cells":[{"family":F,"column":C,"timestamp":T,"value":V},...]},
//                    bytes that are no plain text as NAME_b64; a long row is several such objects,
//                    all but the last with "continues":true; an expression of a query is
//                    {"expression":TEXT,"value":V}
//   table, csv, tsv  columns chosen and one version: a line a row, `row` and a field a column;
//                    otherwise a line a cell: row, family, column, timestamp, value, where bytes
//                    that are no plain text, and backslashes, are \xNN
//   raw              columns chosen: each value and a line end; otherwise each row's key and a line
//                    end
//
// The fields of a typed row key: in a table instead of the key, in jsonl as "key":{FIELD:VALUE,...}
// beside it. The other forms have the key's bytes, and so have all of a key without fields.
//
// jsonl, and csv and tsv with a line a cell, lose nothing: import reads them back.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tandem/options.h"
#include "tandem/row.h"
#include "tools/tandem/declarations.h"
#include "tools/tandem/json.h"
#include "tools/tandem/key_fields.h"
#include "tools/tandem/output.h"

namespace tandem::tools {

struct RowLayout {
  OutputMode mode = OutputMode::kTable;
  std::vector<SelectedField> fields;  ///< Chosen by the user; with `families` empty: all.
  std::vector<std::string> families;  ///< Chosen as a whole.
  uint32_t versions = 1;
  std::string first_family;     ///< Of the table: what a column without a family means.
  OptionalRowKey row_key = {};  ///< Of the table: what table and jsonl show fields of.
};

/// Threads: one at a time.
class RowWriter {
 public:
  /// `out` outlives the writer.
  RowWriter(RowLayout layout, std::FILE* out);

  /// A row or a piece of one (RowView::continues).
  void Add(const RowView& row);
  /// Also when a row is not complete.
  void End();

 private:
  void AddJson(const RowView& row);
  void BeginJson(const RowView& row);
  void EndJson(bool continues);
  void AddRaw(const RowView& row);
  void AddChosen(const RowView& row);
  void WriteChosen(const RowView& row);
  void AddCells(const RowView& row);
  bool Names(const SelectedField& field, const Cell& cell) const;
  bool IsChosen(const Cell& cell) const;
  std::string ShownKey(const RowView& row) const;

  RowLayout layout_;
  std::FILE* out_;
  bool row_a_line_;
  std::unique_ptr<RecordWriter> records_;
  JsonWriter json_;
  bool json_open_ = false;
  std::vector<std::optional<std::string>> chosen_;  ///< Of the row so far, one for each field.
};

/// "family:qualifier", or "qualifier" where the family is empty.
std::string ColumnText(const ColumnName& column);
/// What an index is over, without its functions: a column, or _row.
std::string ColumnText(const IndexColumn& column);
/// Whether they are of all columns of a family, which its name stands for.
bool AreOfFamily(const Functions& functions);

}  // namespace tandem::tools
