// A line each; tables by name, as they were named then.
#include "tools/tandem/snapshot_output.h"

#include <string>
#include <vector>

#include "tools/tandem/format_text.h"

namespace tandem::tools {

void WriteSnapshots(std::span<const NamedSnapshotInfo> snapshots, RecordWriter* writer) {
  if (snapshots.empty()) return;
  writer->Begin("snapshot", {"snapshot", "created", "age_micros", "sequence", "tables", "regions",
                             "files", "bytes", "kept_bytes", "own_bytes"});
  for (const NamedSnapshotInfo& snapshot : snapshots) {
    std::vector<std::string> tables;
    for (const TableOptions& table : snapshot.tables) tables.push_back(table.name);
    writer->Add({snapshot.name, FormatTime(snapshot.created_micros), snapshot.age_micros,
                 snapshot.sequence, tables, snapshot.regions, snapshot.files.size(), snapshot.bytes,
                 snapshot.kept_bytes, snapshot.own_bytes});
  }
  writer->End();
}

}  // namespace tandem::tools
