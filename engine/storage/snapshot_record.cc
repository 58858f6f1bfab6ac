// A list of fields (format/fields.h). Every field is required, those marked * once per element.
//
//   TAG  FIELD        BYTES
//     1  name         1 to 255 bytes
//     3  sequence     varint u64
//     5  time         zigzag varint, microseconds
//     7  created      zigzag varint, microseconds
//     9  table *      table record
//    11  region *     region record
//
// Example: the snapshot "a" of no table, of sequence 5, time 1, created at 2, is
//   01 01 61  03 01 05  05 01 02  07 01 04
#include "engine/storage/snapshot_record.h"

#include <utility>

#include "base/status_macros.h"
#include "engine/storage/catalog_memory.h"
#include "format/coding.h"
#include "format/fields.h"

namespace tandem::format {
namespace {

enum SnapshotTag : uint64_t {
  kName = 1,
  kSequence = 3,
  kTime = 5,
  kCreated = 7,
  kTable = 9,
  kRegion = 11
};

// Of a record in a list, without what an open region adds.
uint64_t MemoryOfRegion(const RegionRecord& region) {
  return sizeof(RegionRecord) + region.start_key.size() + region.end_key.size() +
         region.files.size() * (sizeof(FileReference) + kReferenceCountBytes);
}

template <typename T>
void AddTo(FieldReader* fields, Result<T> record, std::vector<T>* records) {
  if (!record) return fields->Fail(record.error());
  if (!records->empty() && records->back().id >= record->id) {
    return fields->FailCorrupt("ids of tables or regions do not ascend");
  }
  records->push_back(std::move(*record));
}

void ReadField(FieldReader* fields, SnapshotRecord* snapshot) {
  switch (fields->tag()) {
    case kName:
      snapshot->name = fields->Bytes();
      return;
    case kSequence:
      snapshot->sequence = SequenceNumber(fields->Number(UINT64_MAX));
      return;
    case kTime:
      snapshot->now_micros = UnZigZag(fields->Number(UINT64_MAX));
      return;
    case kCreated:
      snapshot->created_micros = UnZigZag(fields->Number(UINT64_MAX));
      return;
    case kTable:
      return AddTo(fields, DecodeTable(fields->Repeated()), &snapshot->tables);
    case kRegion:
      return AddTo(fields, DecodeRegion(fields->Repeated()), &snapshot->regions);
    default:
      return fields->Unknown();
  }
}

// The memory of the last table or region.
uint64_t MemoryOfField(uint64_t tag, const SnapshotRecord& snapshot) {
  if (tag == kTable && !snapshot.tables.empty()) return MemoryOf(snapshot.tables.back());
  if (tag == kRegion && !snapshot.regions.empty()) return MemoryOfRegion(snapshot.regions.back());
  return 0;
}

}  // namespace

uint64_t MemoryOf(const SnapshotRecord& snapshot) {
  uint64_t bytes = sizeof(SnapshotRecord) + snapshot.name.size();
  for (const TableRecord& table : snapshot.tables) bytes += MemoryOf(table);
  for (const RegionRecord& region : snapshot.regions) bytes += MemoryOfRegion(region);
  return bytes;
}

std::string EncodeSnapshot(const SnapshotRecord& snapshot) {
  std::string out;
  AppendField(&out, kName, snapshot.name);
  AppendNumberField(&out, kSequence, snapshot.sequence.value);
  AppendNumberField(&out, kTime, ZigZag(snapshot.now_micros));
  AppendNumberField(&out, kCreated, ZigZag(snapshot.created_micros));
  for (const TableRecord& table : snapshot.tables) {
    std::string record;
    EncodeTable(table, &record);
    AppendField(&out, kTable, record);
  }
  for (const RegionRecord& region : snapshot.regions) {
    AppendField(&out, kRegion, EncodeRegion(region));
  }
  return out;
}

Result<SnapshotRecord> DecodeSnapshot(std::string_view bytes) {
  FieldReader fields(bytes, "snapshot record");
  SnapshotRecord snapshot;
  uint64_t memory = 0;
  while (fields.Next()) {
    ReadField(&fields, &snapshot);
    memory += MemoryOfField(fields.tag(), snapshot);
    const Status status = CheckCatalogMemory(memory);
    if (!status.ok()) fields.Fail(status);
  }
  RETURN_IF_ERROR(fields.Finish({kName, kSequence, kTime, kCreated}));
  if (IsValidName(snapshot.name)) return snapshot;
  return Status::Corruption("snapshot record: its name is not valid");
}

}  // namespace tandem::format
