// Each part of an edit becomes records of its own kind, with the number of the edit in front.
#include "base/status_macros.h"
#include "engine/storage/catalog.h"
#include "engine/storage/manifest.h"
#include "format/byte_reader.h"
#include "tools/dump/catalog.h"
#include "tools/dump/chain.h"
#include "tools/dump/names.h"
#include "tools/tandem/format_text.h"

namespace tandem::tools {
namespace {

class EditDump {
 public:
  EditDump(uint64_t number, RecordWriter* writer) : number_(number), writer_(*writer) {}

  void Frame(uint64_t epoch, uint64_t log_segment, uint64_t log_length);
  void Counters(const format::CatalogCounters& counters);
  void Tables(const format::CatalogEdit& edit);
  void Files(const std::vector<format::FileRecord>& files);
  void Regions(const std::vector<format::RegionRecord>& regions);
  void Segments(const std::vector<format::SegmentRecord>& segments);
  void RemovedNames(const char* what, const std::vector<std::string>& names);
  template <typename Id>
  void Removed(const char* what, const std::vector<Id>& ids);

 private:
  uint64_t number_;
  RecordWriter& writer_;
};

void EditDump::Frame(uint64_t epoch, uint64_t log_segment, uint64_t log_length) {
  const Property properties[] = {
      {"edit", number_},
      {"epoch", epoch},
      {"log_segment", log_segment},
      {"log_durable_bytes", log_length},
  };
  writer_.AddProperties("edit", properties);
}

void EditDump::Counters(const format::CatalogCounters& counters) {
  const Property properties[] = {
      {"edit", number_},
      {"next_file_number", counters.next_file_number},
      {"next_table_id", counters.next_table_id},
      {"next_region_id", counters.next_region_id},
      {"last_timestamp", counters.last_timestamp},
      {"clock_high_micros", counters.clock_high_micros},
      {"last_sequence", counters.last_sequence},
  };
  writer_.AddProperties("counters", properties);
}

void EditDump::Tables(const format::CatalogEdit& edit) {
  for (const format::TableRecord& table : edit.put_tables) DumpTable(table, &writer_);
}

void EditDump::Files(const std::vector<format::FileRecord>& files) {
  if (files.empty()) return;
  writer_.Begin("add_file",
                {"edit", "file", "table_id", "bytes", "hash", "rows", "cells", "deletes",
                 "min_sequence", "max_sequence", "min_key", "max_key", "file_id"});
  for (const format::FileRecord& file : files) {
    writer_.Add({number_, file.number.value, file.table.value, file.size_bytes,
                 HashText(file.hash.high) + HashText(file.hash.low), file.rows, file.cells,
                 file.deletes, file.min_sequence.value, file.max_sequence.value, file.min_key,
                 file.max_key, IdText(file.id)});
  }
  writer_.End();
}

void EditDump::Regions(const std::vector<format::RegionRecord>& regions) {
  if (regions.empty()) return;
  writer_.Begin("put_region",
                {"edit", "region", "table_id", "start", "end", "flushed_through", "files"});
  for (const format::RegionRecord& region : regions) {
    const std::vector<std::string> files = ReferenceTexts(region);
    writer_.Add({number_, region.id.value, region.table.value, region.start_key,
                 region.end_key.empty() ? Value() : Value(region.end_key),
                 region.flushed_through.value, files});
  }
  writer_.End();
}

void EditDump::Segments(const std::vector<format::SegmentRecord>& segments) {
  if (segments.empty()) return;
  writer_.Begin("add_segment", {"edit", "segment", "file_id"});
  for (const format::SegmentRecord& segment : segments) {
    writer_.Add({number_, segment.number.value, IdText(segment.id)});
  }
  writer_.End();
}

void EditDump::RemovedNames(const char* what, const std::vector<std::string>& names) {
  if (names.empty()) return;
  writer_.Begin(std::string("remove_") + what, {"edit", what});
  for (const std::string& name : names) writer_.Add({number_, name});
  writer_.End();
}

template <typename Id>
void EditDump::Removed(const char* what, const std::vector<Id>& ids) {
  if (ids.empty()) return;
  writer_.Begin(std::string("remove_") + what, {"edit", what});
  for (const Id& id : ids) writer_.Add({number_, id.value});
  writer_.End();
}

}  // namespace

Status DumpManifestFrame(Dump& dump, const format::DecodedFrame& frame) {
  format::ByteReader reader(frame.frame.payload);
  const uint64_t epoch = reader.U64(), log_segment = reader.U64(), log_length = reader.U64();
  if (!reader.ok()) {
    return Status::Corruption(Format("{}: offset {}: expected 24 bytes or more, found {}",
                                     dump.options.file, frame.offset, frame.frame.payload.size()));
  }
  ASSIGN_OR_RETURN(const format::CatalogEdit edit,
                   format::DecodeEdit(reader.Bytes(reader.remaining())));
  EditDump out(frame.frame.first_sequence, &dump.writer);
  out.Frame(epoch, log_segment, log_length);
  if (edit.counters.has_value()) out.Counters(*edit.counters);
  out.Tables(edit);
  out.Removed("table", edit.remove_tables);
  out.Files(edit.add_files);
  out.Regions(edit.put_regions);
  out.Removed("region", edit.remove_regions);
  out.Removed("file", edit.remove_files);
  out.Segments(edit.add_segments);
  out.Removed("segment", edit.remove_segments);
  std::vector<const format::SnapshotRecord*> snapshots;
  for (const format::SnapshotRecord& snapshot : edit.add_snapshots) snapshots.push_back(&snapshot);
  DumpSnapshots(snapshots, frame.frame.first_sequence, &dump.writer);
  out.RemovedNames("snapshot", edit.remove_snapshots);
  std::vector<const format::SequenceRecord*> sequences;
  for (const format::SequenceRecord& sequence : edit.put_sequences) sequences.push_back(&sequence);
  DumpSequences(sequences, frame.frame.first_sequence, &dump.writer);
  out.RemovedNames("sequence", edit.remove_sequences);
  return {};
}

}  // namespace tandem::tools
