// ROOT: both slots, and what the valid ones bind.
#include "format/root.h"

#include "base/status_macros.h"
#include "tools/dump/dump.h"
#include "tools/dump/names.h"
#include "tools/tandem/format_text.h"

namespace tandem::tools {
namespace {

void DumpSlots(const std::array<std::optional<format::RootRecord>, 2>& slots, size_t current,
               RecordWriter* writer) {
  writer->Begin("slot",
                {"slot", "valid", "current", "generation", "state", "epoch", "next_file_number"});
  for (size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i].has_value()) {
      writer->Add({i, false, false, {}, {}, {}, {}});
      continue;
    }
    writer->Add({i, true, i == current, slots[i]->generation, slots[i]->closed ? "closed" : "open",
                 slots[i]->epoch, slots[i]->next_file_number});
  }
  writer->End();
}

void DumpBoundFile(size_t slot, const std::string& name, const format::BoundFile& file,
                   RecordWriter* writer) {
  writer->Add({slot, name, IdText(file.id), file.length_bytes, HashText(file.last_checksum)});
}

}  // namespace

Status DumpRoot(Dump& dump) {
  if (!dump.Wants("slots")) return {};
  ASSIGN_OR_RETURN(const format::RootFile root, format::ReadRoot(dump.probed.file.get()));
  ASSIGN_OR_RETURN(const auto slots, format::ReadRootSlots(dump.probed.file.get()));
  DumpSlots(slots, root.slot, &dump.writer);
  dump.writer.Begin("bound_file", {"slot", "file", "file_id", "bytes", "last_checksum"});
  for (size_t i = 0; i < slots.size(); ++i) {
    if (!slots[i].has_value()) continue;
    const format::BoundFile& manifest = slots[i]->manifest;
    DumpBoundFile(i, Format("manifest-{}", manifest.number.value), manifest, &dump.writer);
    for (const format::BoundFile& segment : slots[i]->segments) {
      DumpBoundFile(i, Format("log-{}", segment.number.value), segment, &dump.writer);
    }
  }
  dump.writer.End();
  return {};
}

}  // namespace tandem::tools
