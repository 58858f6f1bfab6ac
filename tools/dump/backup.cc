// The record of a backup: what it is made of, and the catalog that joins it.
#include "base/status_macros.h"
#include "engine/backup/record.h"
#include "tools/dump/catalog.h"
#include "tools/dump/dump.h"
#include "tools/dump/names.h"
#include "tools/tandem/format_text.h"

namespace tandem::tools {

Status DumpBackup(Dump& dump) {
  if (!dump.Wants("record") && !dump.Wants("state")) return {};
  ASSIGN_OR_RETURN(
      const format::BackupRecord record,
      format::ReadBackupRecord(dump.probed.file.get(), dump.probed.header.number.value));
  if (dump.Wants("record")) {
    const Property properties[] = {
        {"backup", record.number},
        {"created_micros", record.created_micros},
        {"epoch", record.catalog.epoch},
        {"files", uint64_t{record.catalog.files.size()}},
        {"segments", uint64_t{record.segments.size()}},
    };
    dump.writer.AddProperties("backup", properties);
    dump.writer.Begin("backup_segment", {"segment", "file_id", "bytes", "last_checksum", "hash"});
    for (const format::BackupSegment& segment : record.segments) {
      dump.writer.Add({segment.end.number.value, IdText(segment.end.id), segment.end.length_bytes,
                       HashText(segment.end.last_checksum),
                       HashText(segment.hash.high) + HashText(segment.hash.low)});
    }
    dump.writer.End();
  }
  if (dump.Wants("state")) DumpCatalog(record.catalog, &dump.writer);
  return {};
}

}  // namespace tandem::tools
