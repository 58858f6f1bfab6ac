// The codec of catalog edits. An edit is a list of fields (format/fields.h); each occurs once per
// element of its list, the counters at most once. Records inside are in catalog_records.cc, tables
// in schema.cc.
//
//   TAG  FIELD           BYTES
//     1  counters        counters record
//     3  put table       table record
//     5  remove table    varint u32
//     7  add file        file record
//     9  put region      region record
//    11  remove region   varint u64
//    13  remove file     varint u64
//    15  add segment     segment record
//    17  remove segment  varint u64
//    19  add snapshot    snapshot record (snapshot_record.cc)
//    21  remove snapshot its name
//    23  put sequence    sequence record (sequence_record.cc)
//    25  remove sequence its name
//
// Example: the edit that removes table 2 and file 300 is  05 01 02  0d 02 ac 02
#include "engine/storage/catalog.h"

#include <utility>

#include "base/status_macros.h"
#include "engine/storage/catalog_memory.h"
#include "engine/storage/catalog_records.h"
#include "format/coding.h"
#include "format/fields.h"

namespace tandem::format {
namespace {

enum EditTag : uint64_t {
  kCounters = 1,
  kPutTable = 3,
  kRemoveTable = 5,
  kAddFile = 7,
  kPutRegion = 9,
  kRemoveRegion = 11,
  kRemoveFile = 13,
  kAddSegment = 15,
  kRemoveSegment = 17,
  kAddSnapshot = 19,
  kRemoveSnapshot = 21,
  kPutSequence = 23,
  kRemoveSequence = 25
};

template <typename T>
void AppendIds(std::string* out, uint64_t tag, const std::vector<T>& ids) {
  for (T id : ids) AppendNumberField(out, tag, id.value);
}

// A field of a list of ids: one varint that fits the id's type.
template <typename T>
void AddId(FieldReader* fields, std::vector<T>* ids) {
  using Rep = typename T::rep;
  ByteReader reader(fields->Repeated());
  const uint64_t value = reader.VarintUpTo(static_cast<Rep>(~Rep{0}));
  if (!reader.done()) return fields->FailCorrupt("expected one id");
  ids->push_back(T(static_cast<Rep>(value)));
}

/// The edit being read, and the memory of its records.
struct EditInMemory {
  CatalogEdit edit;
  uint64_t bytes = 0;
};

template <typename T>
void AddRecord(FieldReader* fields, Result<T> record, std::vector<T>* records, uint64_t* bytes) {
  if (!record) return fields->Fail(record.error());
  *bytes += MemoryOf(*record);
  Status status = CheckCatalogMemory(*bytes);
  if (!status.ok()) return fields->Fail(std::move(status));
  records->push_back(std::move(*record));
}

void AddName(FieldReader* fields, std::vector<std::string>* names, uint64_t* bytes) {
  const std::string_view name = fields->Repeated();
  *bytes += sizeof(std::string) + name.size();
  Status status = CheckCatalogMemory(*bytes);
  if (!status.ok()) return fields->Fail(std::move(status));
  names->emplace_back(name);
}

void SetCounters(FieldReader* fields, CatalogEdit* edit) {
  Result<CatalogCounters> counters = DecodeCounters(fields->Bytes());
  if (!counters) return fields->Fail(counters.error());
  edit->counters = *counters;
}

void ReadEditField(FieldReader* fields, EditInMemory* read) {
  CatalogEdit* const edit = &read->edit;
  uint64_t* const bytes = &read->bytes;
  switch (fields->tag()) {
    case kCounters:
      return SetCounters(fields, edit);
    case kPutTable:
      return AddRecord(fields, DecodeTable(fields->Repeated()), &edit->put_tables, bytes);
    case kRemoveTable:
      return AddId(fields, &edit->remove_tables);
    case kAddFile:
      return AddRecord(fields, DecodeFile(fields->Repeated()), &edit->add_files, bytes);
    case kPutRegion:
      return AddRecord(fields, DecodeRegion(fields->Repeated()), &edit->put_regions, bytes);
    case kRemoveRegion:
      return AddId(fields, &edit->remove_regions);
    case kRemoveFile:
      return AddId(fields, &edit->remove_files);
    case kAddSegment:
      return AddRecord(fields, DecodeSegment(fields->Repeated()), &edit->add_segments, bytes);
    case kRemoveSegment:
      return AddId(fields, &edit->remove_segments);
    case kAddSnapshot:
      return AddRecord(fields, DecodeSnapshot(fields->Repeated()), &edit->add_snapshots, bytes);
    case kRemoveSnapshot:
      return AddName(fields, &edit->remove_snapshots, bytes);
    case kPutSequence:
      return AddRecord(fields, DecodeSequence(fields->Repeated()), &edit->put_sequences, bytes);
    case kRemoveSequence:
      return AddName(fields, &edit->remove_sequences, bytes);
    default:
      return fields->Unknown();
  }
}

}  // namespace

void EncodeEdit(const CatalogEdit& edit, std::string* out) {
  if (edit.counters) AppendField(out, kCounters, EncodeCounters(*edit.counters));
  for (const TableRecord& table : edit.put_tables) {
    std::string record;
    EncodeTable(table, &record);
    AppendField(out, kPutTable, record);
  }
  AppendIds(out, kRemoveTable, edit.remove_tables);
  for (const FileRecord& file : edit.add_files) AppendField(out, kAddFile, EncodeFile(file));
  for (const RegionRecord& region : edit.put_regions) {
    AppendField(out, kPutRegion, EncodeRegion(region));
  }
  AppendIds(out, kRemoveRegion, edit.remove_regions);
  AppendIds(out, kRemoveFile, edit.remove_files);
  for (const SegmentRecord& segment : edit.add_segments) {
    AppendField(out, kAddSegment, EncodeSegment(segment));
  }
  AppendIds(out, kRemoveSegment, edit.remove_segments);
  for (const SnapshotRecord& snapshot : edit.add_snapshots) {
    AppendField(out, kAddSnapshot, EncodeSnapshot(snapshot));
  }
  for (const std::string& name : edit.remove_snapshots) AppendField(out, kRemoveSnapshot, name);
  for (const SequenceRecord& sequence : edit.put_sequences) {
    AppendField(out, kPutSequence, EncodeSequence(sequence));
  }
  for (const std::string& name : edit.remove_sequences) AppendField(out, kRemoveSequence, name);
}

Result<CatalogEdit> DecodeEdit(std::string_view bytes) {
  FieldReader fields(bytes, "catalog edit");
  EditInMemory read;
  while (fields.Next()) ReadEditField(&fields, &read);
  RETURN_IF_ERROR(fields.Finish({}));
  return std::move(read.edit);
}

CatalogEdit FullEdit(const Catalog& catalog) {
  CatalogEdit edit;
  edit.counters = catalog.counters;
  for (const auto& [id, table] : catalog.tables) edit.put_tables.push_back(table);
  for (const auto& [number, file] : catalog.files) edit.add_files.push_back(file);
  for (const auto& [id, region] : catalog.regions) edit.put_regions.push_back(region);
  for (const auto& [name, snapshot] : catalog.snapshots) edit.add_snapshots.push_back(snapshot);
  for (const auto& [name, sequence] : catalog.sequences) edit.put_sequences.push_back(sequence);
  edit.add_segments = catalog.segments;
  return edit;
}

std::vector<RegionRecord> NewRegions(TableId table, const std::vector<std::string>& starts,
                                     CatalogCounters* counters) {
  std::vector<RegionRecord> regions;
  for (size_t i = 0; i < starts.size(); ++i) {
    RegionRecord& region = regions.emplace_back();
    region.id = RegionId(counters->next_region_id++);
    region.table = table;
    region.start_key = starts[i];
    if (i + 1 < starts.size()) region.end_key = starts[i + 1];
  }
  return regions;
}

}  // namespace tandem::format
