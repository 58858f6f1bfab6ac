// Byte tables of the records inside a catalog edit. Every field is required, those marked * once
// per element; timestamps are zigzag varints, all other numbers plain ones.
//
//   RECORD        TAG  FIELD                     RECORD     TAG  FIELD
//   counters        1  next file number          region       1  id
//                   3  next table id                          3  table
//                   5  next region id                         5  start key, 0 to 65,535 bytes
//                   7  last timestamp                         7  end key, 0 to 65,535 bytes
//                   9  clock high                             9  flushed through
//                  11  last sequence                         11  reference *
//   file            1  number                    reference    1  file number
//                   3  id, 16 bytes                           3  run
//                   5  table                                  5  low ordinal
//                   7  size                                   7  high ordinal
//                   9  hash, u64 low, u64 high   segment      1  number
//                  11  rows                                   3  id, 16 bytes
//                  13  cells                     counts       1  index
//                  15  deletes                                3  current entries
//                  17  smallest sequence                      5  older entries
//                  19  largest sequence
//                  21  smallest timestamp
//                  23  largest timestamp
//                  25  smallest key, 0 to 65,535 bytes
//                  27  largest key
//                  29  counts *
#include "engine/storage/catalog_records.h"

#include <algorithm>

#include "base/status_macros.h"
#include "format/coding.h"
#include "format/fields.h"
#include "tandem/limits.h"

namespace tandem::format {
namespace {

// The tags of the table above.
struct CountersTag {
  enum : uint64_t {
    kNextFileNumber = 1,
    kNextTableId = 3,
    kNextRegionId = 5,
    kLastTimestamp = 7,
    kClockHigh = 9,
    kLastSequence = 11
  };
};
struct FileTag {
  enum : uint64_t {
    kNumber = 1,
    kId = 3,
    kTable = 5,
    kSize = 7,
    kHash = 9,
    kRows = 11,
    kCells = 13,
    kDeletes = 15,
    kMinSequence = 17,
    kMaxSequence = 19,
    kMinTimestamp = 21,
    kMaxTimestamp = 23,
    kMinKey = 25,
    kMaxKey = 27,
    kCounts = 29
  };
};
struct RegionTag {
  enum : uint64_t {
    kId = 1,
    kTable = 3,
    kStartKey = 5,
    kEndKey = 7,
    kFlushedThrough = 9,
    kReference = 11,
    kStartBySize = 12
  };
};
struct ReferenceTag {
  enum : uint64_t { kFile = 1, kRun = 3, kOrdinalLow = 5, kOrdinalHigh = 7 };
};
struct SegmentTag {
  enum : uint64_t { kNumber = 1, kId = 3 };
};
struct CountsTag {
  enum : uint64_t { kIndex = 1, kCurrentEntries = 3, kOlderEntries = 5 };
};

template <typename T>
T IdField(FieldReader* fields) {
  using Rep = typename T::rep;
  return T(static_cast<Rep>(fields->Number(static_cast<Rep>(~Rep{0}))));
}

uint64_t NumberField(FieldReader* fields) { return fields->Number(UINT64_MAX); }

int64_t TimestampField(FieldReader* fields) { return UnZigZag(fields->Number(UINT64_MAX)); }

std::string KeyField(FieldReader* fields) {
  const std::string_view key = fields->Bytes();
  if (key.size() > kRowKeyBytesMax) {
    fields->FailCorrupt("a key is longer than 65,535 bytes");
    return {};
  }
  return std::string(key);
}

RandomId RandomIdField(FieldReader* fields) {
  RandomId id;
  const std::string_view bytes = fields->FixedBytes(id.bytes.size());
  std::copy(bytes.begin(), bytes.end(), id.bytes.begin());
  return id;
}

void AppendRandomIdField(std::string* out, uint64_t tag, const RandomId& id) {
  AppendField(out, tag, {reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size()});
}

Hash128 HashField(FieldReader* fields) {
  ByteReader reader(fields->FixedBytes(16));
  Hash128 hash;
  hash.low = reader.U64();
  hash.high = reader.U64();
  return hash;
}

std::string EncodeCounts(const IndexCounts& counts) {
  std::string out;
  AppendNumberField(&out, CountsTag::kIndex, counts.index.value);
  AppendNumberField(&out, CountsTag::kCurrentEntries, counts.current_entries);
  AppendNumberField(&out, CountsTag::kOlderEntries, counts.older_entries);
  return out;
}

Result<IndexCounts> DecodeCounts(std::string_view bytes) {
  FieldReader fields(bytes, "index counts");
  IndexCounts counts;
  while (fields.Next()) {
    switch (fields.tag()) {
      case CountsTag::kIndex:
        counts.index = IdField<IndexId>(&fields);
        break;
      case CountsTag::kCurrentEntries:
        counts.current_entries = NumberField(&fields);
        break;
      case CountsTag::kOlderEntries:
        counts.older_entries = NumberField(&fields);
        break;
      default:
        fields.Unknown();
    }
  }
  RETURN_IF_ERROR(
      fields.Finish({CountsTag::kIndex, CountsTag::kCurrentEntries, CountsTag::kOlderEntries}));
  return counts;
}

void AddCounts(FieldReader* fields, FileRecord* file) {
  Result<IndexCounts> counts = DecodeCounts(fields->Repeated());
  if (!counts) return fields->Fail(counts.error());
  if (!file->indexes.empty() && file->indexes.back().index >= counts->index) {
    return fields->FailCorrupt("index ids do not ascend");
  }
  if (file->indexes.size() == kIndexesMax) return fields->FailCorrupt("more than 64 indexes");
  file->indexes.push_back(*counts);
}

// Reads a field of a file that is not a bound of its content; false when `fields` is at another.
bool ReadFileIdentity(FieldReader* fields, FileRecord* file) {
  switch (fields->tag()) {
    case FileTag::kNumber:
      file->number = IdField<FileNumber>(fields);
      return true;
    case FileTag::kId:
      file->id = RandomIdField(fields);
      return true;
    case FileTag::kTable:
      file->table = IdField<TableId>(fields);
      return true;
    case FileTag::kSize:
      file->size_bytes = NumberField(fields);
      return true;
    case FileTag::kHash:
      file->hash = HashField(fields);
      return true;
    case FileTag::kRows:
      file->rows = static_cast<uint32_t>(fields->Number(kRowsPerFileMax));
      return true;
    case FileTag::kCells:
      file->cells = NumberField(fields);
      return true;
    case FileTag::kDeletes:
      file->deletes = NumberField(fields);
      return true;
    default:
      return false;
  }
}

bool ReadFileBounds(FieldReader* fields, FileRecord* file) {
  switch (fields->tag()) {
    case FileTag::kMinSequence:
      file->min_sequence = IdField<SequenceNumber>(fields);
      return true;
    case FileTag::kMaxSequence:
      file->max_sequence = IdField<SequenceNumber>(fields);
      return true;
    case FileTag::kMinTimestamp:
      file->min_timestamp = TimestampField(fields);
      return true;
    case FileTag::kMaxTimestamp:
      file->max_timestamp = TimestampField(fields);
      return true;
    case FileTag::kMinKey:
      file->min_key = KeyField(fields);
      return true;
    case FileTag::kMaxKey:
      file->max_key = KeyField(fields);
      return true;
    case FileTag::kCounts:
      AddCounts(fields, file);
      return true;
    default:
      return false;
  }
}

std::string EncodeReference(const FileReference& reference) {
  std::string out;
  AppendNumberField(&out, ReferenceTag::kFile, reference.file.value);
  AppendNumberField(&out, ReferenceTag::kRun, reference.run);
  AppendNumberField(&out, ReferenceTag::kOrdinalLow, reference.ordinal_low);
  AppendNumberField(&out, ReferenceTag::kOrdinalHigh, reference.ordinal_high);
  return out;
}

Result<FileReference> DecodeReference(std::string_view bytes) {
  FieldReader fields(bytes, "file reference");
  FileReference reference;
  while (fields.Next()) {
    switch (fields.tag()) {
      case ReferenceTag::kFile:
        reference.file = IdField<FileNumber>(&fields);
        break;
      case ReferenceTag::kRun:
        reference.run = static_cast<uint32_t>(fields.Number(UINT32_MAX));
        break;
      case ReferenceTag::kOrdinalLow:
        reference.ordinal_low = static_cast<uint32_t>(fields.Number(kRowsPerFileMax));
        break;
      case ReferenceTag::kOrdinalHigh:
        reference.ordinal_high = static_cast<uint32_t>(fields.Number(kRowsPerFileMax));
        break;
      default:
        fields.Unknown();
    }
  }
  RETURN_IF_ERROR(fields.Finish({ReferenceTag::kFile, ReferenceTag::kRun, ReferenceTag::kOrdinalLow,
                                 ReferenceTag::kOrdinalHigh}));
  return reference;
}

// The most files of a region. It limits what a hostile record allocates before its memory is
// counted.
constexpr size_t kReferencesMax = 100'000;

void AddReference(FieldReader* fields, RegionRecord* region) {
  Result<FileReference> reference = DecodeReference(fields->Repeated());
  if (!reference) return fields->Fail(reference.error());
  if (region->files.size() == kReferencesMax) {
    return fields->Fail(Status::Unsupported("region record: more than " +
                                            std::to_string(kReferencesMax) + " files"));
  }
  region->files.push_back(*reference);
}

}  // namespace

std::string EncodeCounters(const CatalogCounters& counters) {
  std::string out;
  AppendNumberField(&out, CountersTag::kNextFileNumber, counters.next_file_number);
  AppendNumberField(&out, CountersTag::kNextTableId, counters.next_table_id);
  AppendNumberField(&out, CountersTag::kNextRegionId, counters.next_region_id);
  AppendNumberField(&out, CountersTag::kLastTimestamp, ZigZag(counters.last_timestamp));
  AppendNumberField(&out, CountersTag::kClockHigh, ZigZag(counters.clock_high_micros));
  AppendNumberField(&out, CountersTag::kLastSequence, counters.last_sequence);
  return out;
}

Result<CatalogCounters> DecodeCounters(std::string_view bytes) {
  FieldReader fields(bytes, "counters");
  CatalogCounters counters;
  while (fields.Next()) {
    switch (fields.tag()) {
      case CountersTag::kNextFileNumber:
        counters.next_file_number = NumberField(&fields);
        break;
      case CountersTag::kNextTableId:
        counters.next_table_id = static_cast<uint32_t>(fields.Number(UINT32_MAX));
        break;
      case CountersTag::kNextRegionId:
        counters.next_region_id = NumberField(&fields);
        break;
      case CountersTag::kLastTimestamp:
        counters.last_timestamp = TimestampField(&fields);
        break;
      case CountersTag::kClockHigh:
        counters.clock_high_micros = TimestampField(&fields);
        break;
      case CountersTag::kLastSequence:
        counters.last_sequence = NumberField(&fields);
        break;
      default:
        fields.Unknown();
    }
  }
  RETURN_IF_ERROR(fields.Finish({CountersTag::kNextFileNumber, CountersTag::kNextTableId,
                                 CountersTag::kNextRegionId, CountersTag::kLastTimestamp,
                                 CountersTag::kClockHigh, CountersTag::kLastSequence}));
  return counters;
}

std::string EncodeFile(const FileRecord& file) {
  std::string out, hash;
  AppendU64(&hash, file.hash.low);
  AppendU64(&hash, file.hash.high);
  AppendNumberField(&out, FileTag::kNumber, file.number.value);
  AppendRandomIdField(&out, FileTag::kId, file.id);
  AppendNumberField(&out, FileTag::kTable, file.table.value);
  AppendNumberField(&out, FileTag::kSize, file.size_bytes);
  AppendField(&out, FileTag::kHash, hash);
  AppendNumberField(&out, FileTag::kRows, file.rows);
  AppendNumberField(&out, FileTag::kCells, file.cells);
  AppendNumberField(&out, FileTag::kDeletes, file.deletes);
  AppendNumberField(&out, FileTag::kMinSequence, file.min_sequence.value);
  AppendNumberField(&out, FileTag::kMaxSequence, file.max_sequence.value);
  AppendNumberField(&out, FileTag::kMinTimestamp, ZigZag(file.min_timestamp));
  AppendNumberField(&out, FileTag::kMaxTimestamp, ZigZag(file.max_timestamp));
  AppendField(&out, FileTag::kMinKey, file.min_key);
  AppendField(&out, FileTag::kMaxKey, file.max_key);
  for (const IndexCounts& counts : file.indexes)
    AppendField(&out, FileTag::kCounts, EncodeCounts(counts));
  return out;
}

Result<FileRecord> DecodeFile(std::string_view bytes) {
  FieldReader fields(bytes, "file record");
  FileRecord file;
  while (fields.Next()) {
    if (!ReadFileIdentity(&fields, &file) && !ReadFileBounds(&fields, &file)) fields.Unknown();
  }
  RETURN_IF_ERROR(
      fields.Finish({FileTag::kNumber, FileTag::kId, FileTag::kTable, FileTag::kSize,
                     FileTag::kHash, FileTag::kRows, FileTag::kCells, FileTag::kDeletes,
                     FileTag::kMinSequence, FileTag::kMaxSequence, FileTag::kMinTimestamp,
                     FileTag::kMaxTimestamp, FileTag::kMinKey, FileTag::kMaxKey}));
  if (file.min_sequence > file.max_sequence || file.min_key > file.max_key) {
    return Status::Corruption("file record: its smallest key or sequence is above its largest");
  }
  return file;
}

std::string EncodeRegion(const RegionRecord& region) {
  std::string out;
  AppendNumberField(&out, RegionTag::kId, region.id.value);
  AppendNumberField(&out, RegionTag::kTable, region.table.value);
  AppendField(&out, RegionTag::kStartKey, region.start_key);
  AppendField(&out, RegionTag::kEndKey, region.end_key);
  AppendNumberField(&out, RegionTag::kFlushedThrough, region.flushed_through.value);
  for (const FileReference& reference : region.files) {
    AppendField(&out, RegionTag::kReference, EncodeReference(reference));
  }
  if (region.start_by_size) AppendNumberField(&out, RegionTag::kStartBySize, 1);
  return out;
}

Result<RegionRecord> DecodeRegion(std::string_view bytes) {
  FieldReader fields(bytes, "region record");
  RegionRecord region;
  while (fields.Next()) {
    switch (fields.tag()) {
      case RegionTag::kId:
        region.id = IdField<RegionId>(&fields);
        break;
      case RegionTag::kTable:
        region.table = IdField<TableId>(&fields);
        break;
      case RegionTag::kStartKey:
        region.start_key = KeyField(&fields);
        break;
      case RegionTag::kEndKey:
        region.end_key = KeyField(&fields);
        break;
      case RegionTag::kFlushedThrough:
        region.flushed_through = IdField<SequenceNumber>(&fields);
        break;
      case RegionTag::kReference:
        AddReference(&fields, &region);
        break;
      case RegionTag::kStartBySize:
        region.start_by_size = fields.Number(1) == 1;
        break;
      default:
        fields.Unknown();
    }
  }
  RETURN_IF_ERROR(fields.Finish({RegionTag::kId, RegionTag::kTable, RegionTag::kStartKey,
                                 RegionTag::kEndKey, RegionTag::kFlushedThrough}));
  return region;
}

std::string EncodeSegment(const SegmentRecord& segment) {
  std::string out;
  AppendNumberField(&out, SegmentTag::kNumber, segment.number.value);
  AppendRandomIdField(&out, SegmentTag::kId, segment.id);
  return out;
}

Result<SegmentRecord> DecodeSegment(std::string_view bytes) {
  FieldReader fields(bytes, "segment record");
  SegmentRecord segment;
  while (fields.Next()) {
    switch (fields.tag()) {
      case SegmentTag::kNumber:
        segment.number = IdField<FileNumber>(&fields);
        break;
      case SegmentTag::kId:
        segment.id = RandomIdField(&fields);
        break;
      default:
        fields.Unknown();
    }
  }
  RETURN_IF_ERROR(fields.Finish({SegmentTag::kNumber, SegmentTag::kId}));
  return segment;
}

}  // namespace tandem::format
