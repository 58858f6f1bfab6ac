// Byte tables of the records inside a catalog edit. Every field occurs, those marked * once per
// element; timestamps are zigzag varints, all other numbers plain ones.
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
  AppendNumberField(&out, 1, counts.index.value);
  AppendNumberField(&out, 3, counts.current_entries);
  AppendNumberField(&out, 5, counts.older_entries);
  return out;
}

Result<IndexCounts> DecodeCounts(std::string_view bytes) {
  FieldReader fields(bytes, "index counts");
  IndexCounts counts;
  while (fields.Next()) {
    switch (fields.tag()) {
      case 1:
        counts.index = IdField<IndexId>(&fields);
        break;
      case 3:
        counts.current_entries = NumberField(&fields);
        break;
      case 5:
        counts.older_entries = NumberField(&fields);
        break;
      default:
        fields.Unknown();
    }
  }
  RETURN_IF_ERROR(fields.Finish({1, 3, 5}));
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

// The fields of a file that are not about its content's bounds; false when `fields` is at another.
bool ReadFileIdentity(FieldReader* fields, FileRecord* file) {
  switch (fields->tag()) {
    case 1:
      file->number = IdField<FileNumber>(fields);
      return true;
    case 3:
      file->id = RandomIdField(fields);
      return true;
    case 5:
      file->table = IdField<TableId>(fields);
      return true;
    case 7:
      file->size_bytes = NumberField(fields);
      return true;
    case 9:
      file->hash = HashField(fields);
      return true;
    case 11:
      file->rows = static_cast<uint32_t>(fields->Number(kRowsPerFileMax));
      return true;
    case 13:
      file->cells = NumberField(fields);
      return true;
    case 15:
      file->deletes = NumberField(fields);
      return true;
    default:
      return false;
  }
}

bool ReadFileBounds(FieldReader* fields, FileRecord* file) {
  switch (fields->tag()) {
    case 17:
      file->min_sequence = IdField<SequenceNumber>(fields);
      return true;
    case 19:
      file->max_sequence = IdField<SequenceNumber>(fields);
      return true;
    case 21:
      file->min_timestamp = TimestampField(fields);
      return true;
    case 23:
      file->max_timestamp = TimestampField(fields);
      return true;
    case 25:
      file->min_key = KeyField(fields);
      return true;
    case 27:
      file->max_key = KeyField(fields);
      return true;
    case 29:
      AddCounts(fields, file);
      return true;
    default:
      return false;
  }
}

std::string EncodeReference(const FileReference& reference) {
  std::string out;
  AppendNumberField(&out, 1, reference.file.value);
  AppendNumberField(&out, 3, reference.run);
  AppendNumberField(&out, 5, reference.ordinal_low);
  AppendNumberField(&out, 7, reference.ordinal_high);
  return out;
}

Result<FileReference> DecodeReference(std::string_view bytes) {
  FieldReader fields(bytes, "file reference");
  FileReference reference;
  while (fields.Next()) {
    switch (fields.tag()) {
      case 1:
        reference.file = IdField<FileNumber>(&fields);
        break;
      case 3:
        reference.run = static_cast<uint32_t>(fields.Number(UINT32_MAX));
        break;
      case 5:
        reference.ordinal_low = static_cast<uint32_t>(fields.Number(kRowsPerFileMax));
        break;
      case 7:
        reference.ordinal_high = static_cast<uint32_t>(fields.Number(kRowsPerFileMax));
        break;
      default:
        fields.Unknown();
    }
  }
  RETURN_IF_ERROR(fields.Finish({1, 3, 5, 7}));
  return reference;
}

// Files of a region, and no more than a hostile record may have before its memory is counted.
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
  AppendNumberField(&out, 1, counters.next_file_number);
  AppendNumberField(&out, 3, counters.next_table_id);
  AppendNumberField(&out, 5, counters.next_region_id);
  AppendNumberField(&out, 7, ZigZag(counters.last_timestamp));
  AppendNumberField(&out, 9, ZigZag(counters.clock_high_micros));
  AppendNumberField(&out, 11, counters.last_sequence);
  return out;
}

Result<CatalogCounters> DecodeCounters(std::string_view bytes) {
  FieldReader fields(bytes, "counters");
  CatalogCounters counters;
  while (fields.Next()) {
    switch (fields.tag()) {
      case 1:
        counters.next_file_number = NumberField(&fields);
        break;
      case 3:
        counters.next_table_id = static_cast<uint32_t>(fields.Number(UINT32_MAX));
        break;
      case 5:
        counters.next_region_id = NumberField(&fields);
        break;
      case 7:
        counters.last_timestamp = TimestampField(&fields);
        break;
      case 9:
        counters.clock_high_micros = TimestampField(&fields);
        break;
      case 11:
        counters.last_sequence = NumberField(&fields);
        break;
      default:
        fields.Unknown();
    }
  }
  RETURN_IF_ERROR(fields.Finish({1, 3, 5, 7, 9, 11}));
  return counters;
}

std::string EncodeFile(const FileRecord& file) {
  std::string out, hash;
  AppendU64(&hash, file.hash.low);
  AppendU64(&hash, file.hash.high);
  AppendNumberField(&out, 1, file.number.value);
  AppendRandomIdField(&out, 3, file.id);
  AppendNumberField(&out, 5, file.table.value);
  AppendNumberField(&out, 7, file.size_bytes);
  AppendField(&out, 9, hash);
  AppendNumberField(&out, 11, file.rows);
  AppendNumberField(&out, 13, file.cells);
  AppendNumberField(&out, 15, file.deletes);
  AppendNumberField(&out, 17, file.min_sequence.value);
  AppendNumberField(&out, 19, file.max_sequence.value);
  AppendNumberField(&out, 21, ZigZag(file.min_timestamp));
  AppendNumberField(&out, 23, ZigZag(file.max_timestamp));
  AppendField(&out, 25, file.min_key);
  AppendField(&out, 27, file.max_key);
  for (const IndexCounts& counts : file.indexes) AppendField(&out, 29, EncodeCounts(counts));
  return out;
}

Result<FileRecord> DecodeFile(std::string_view bytes) {
  FieldReader fields(bytes, "file record");
  FileRecord file;
  while (fields.Next()) {
    if (!ReadFileIdentity(&fields, &file) && !ReadFileBounds(&fields, &file)) fields.Unknown();
  }
  RETURN_IF_ERROR(fields.Finish({1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27}));
  if (file.min_sequence > file.max_sequence || file.min_key > file.max_key) {
    return Status::Corruption("file record: its smallest key or sequence is above its largest");
  }
  return file;
}

std::string EncodeRegion(const RegionRecord& region) {
  std::string out;
  AppendNumberField(&out, 1, region.id.value);
  AppendNumberField(&out, 3, region.table.value);
  AppendField(&out, 5, region.start_key);
  AppendField(&out, 7, region.end_key);
  AppendNumberField(&out, 9, region.flushed_through.value);
  for (const FileReference& reference : region.files) {
    AppendField(&out, 11, EncodeReference(reference));
  }
  return out;
}

Result<RegionRecord> DecodeRegion(std::string_view bytes) {
  FieldReader fields(bytes, "region record");
  RegionRecord region;
  while (fields.Next()) {
    switch (fields.tag()) {
      case 1:
        region.id = IdField<RegionId>(&fields);
        break;
      case 3:
        region.table = IdField<TableId>(&fields);
        break;
      case 5:
        region.start_key = KeyField(&fields);
        break;
      case 7:
        region.end_key = KeyField(&fields);
        break;
      case 9:
        region.flushed_through = IdField<SequenceNumber>(&fields);
        break;
      case 11:
        AddReference(&fields, &region);
        break;
      default:
        fields.Unknown();
    }
  }
  RETURN_IF_ERROR(fields.Finish({1, 3, 5, 7, 9}));
  return region;
}

std::string EncodeSegment(const SegmentRecord& segment) {
  std::string out;
  AppendNumberField(&out, 1, segment.number.value);
  AppendRandomIdField(&out, 3, segment.id);
  return out;
}

Result<SegmentRecord> DecodeSegment(std::string_view bytes) {
  FieldReader fields(bytes, "segment record");
  SegmentRecord segment;
  while (fields.Next()) {
    switch (fields.tag()) {
      case 1:
        segment.number = IdField<FileNumber>(&fields);
        break;
      case 3:
        segment.id = RandomIdField(&fields);
        break;
      default:
        fields.Unknown();
    }
  }
  RETURN_IF_ERROR(fields.Finish({1, 3}));
  return segment;
}

}  // namespace tandem::format
