// See the header.
#include "tools/tandem/index_output.h"

namespace tandem::tools {

void WriteIndexes(const TableInfo& table, RecordWriter* writer) {
  if (table.indexes.empty()) return;
  writer->Begin("index", {"table", "index", "column", "type", "order", "entries_in_files", "values",
                          "bytes", "files", "files_without"});
  for (const IndexInfo& index : table.indexes) {
    for (const IndexColumn& column : index.options.columns) {
      writer->Add(
          {table.options.name, index.options.name,
           column.family.empty() ? column.qualifier : column.family + ":" + column.qualifier,
           ColumnTypeName(column.type), column.descending ? "desc" : "asc", index.entries,
           index.values, index.size_bytes, index.files, index.files_without});
    }
  }
  writer->End();
}

}  // namespace tandem::tools
