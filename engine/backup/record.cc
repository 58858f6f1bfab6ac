// Encoding and checked decoding of backup records.
#include "engine/backup/record.h"

#include <algorithm>
#include <optional>

#include "base/status_macros.h"
#include "format/byte_reader.h"
#include "format/coding.h"
#include "format/corruption.h"
#include "format/file_header.h"
#include "format/frame.h"

namespace tandem::format {
namespace {

constexpr uint64_t kSegmentsMax = 1 << 20;

std::string EncodePayload(const BackupRecord& record) {
  std::string payload;
  AppendU64(&payload, record.catalog.epoch);
  AppendU64(&payload, record.segments.size());
  for (const BackupSegment& segment : record.segments) {
    AppendU64(&payload, segment.end.number.value);
    AppendId(segment.end.id, &payload);
    AppendU64(&payload, segment.end.length_bytes);
    AppendU64(&payload, segment.end.last_checksum);
    AppendU64(&payload, segment.hash.low);
    AppendU64(&payload, segment.hash.high);
  }
  EncodeEdit(FullEdit(record.catalog), &payload);
  return payload;
}

BackupSegment ReadSegment(ByteReader* reader) {
  BackupSegment segment;
  segment.end.number = FileNumber(reader->U64());
  const std::string_view id = reader->Bytes(segment.end.id.bytes.size());
  std::copy(id.begin(), id.end(), segment.end.id.bytes.begin());
  segment.end.length_bytes = reader->U64();
  segment.end.last_checksum = reader->U64();
  segment.hash.low = reader->U64();
  segment.hash.high = reader->U64();
  return segment;
}

// Errors do not name the file.
Status DecodePayload(std::string_view payload, BackupRecord* record) {
  ByteReader reader(payload);
  record->catalog.epoch = reader.U64();
  const uint64_t count = reader.U64();
  if (count > kSegmentsMax)
    return Status::Corruption(Mismatch("segments, at most", kSegmentsMax, count));
  for (uint64_t i = 0; i < count && reader.ok(); ++i) {
    record->segments.push_back(ReadSegment(&reader));
  }
  if (!reader.ok()) return Status::Corruption("the payload is too short");
  ASSIGN_OR_RETURN(const CatalogEdit edit, DecodeEdit(payload.substr(reader.offset())));
  RETURN_IF_ERROR(ApplyEdit(edit, &record->catalog));
  const std::vector<SegmentRecord>& named = record->catalog.segments;
  const bool same = std::equal(
      named.begin(), named.end(), record->segments.begin(), record->segments.end(),
      [](const auto& a, const auto& b) { return a.number == b.end.number && a.id == b.end.id; });
  return same ? Status() : Status::Corruption("its segments are not those of its catalog");
}

Result<FileHeader> ReadHeader(base::File* file, uint64_t number, uint64_t* checksum) {
  std::string bytes(kFileHeaderBytes, '\0');
  ASSIGN_OR_RETURN(const size_t count, file->Read(0, bytes));
  bytes.resize(count);
  ASSIGN_OR_RETURN(const FileHeader header,
                   DecodeFileHeader(bytes, FileKind::kBackup, file->name()));
  if (header.number.value != number) {
    return CorruptionAt(file->name(), 56,
                        Mismatch("number of backup", number, header.number.value));
  }
  *checksum = HeaderChecksum(bytes);
  return header;
}

}  // namespace

Status WriteBackupRecord(base::File* file, const FileId& id, const BackupRecord& record) {
  FileHeader header;
  header.kind = FileKind::kBackup;
  header.database = record.catalog.database;
  header.number = FileNumber(record.number);
  header.id = id;
  std::string bytes;
  AppendFileHeader(header, &bytes);
  const std::string payload = EncodePayload(record);
  if (payload.size() > kFramePayloadBytesMax || record.segments.size() > kSegmentsMax) {
    return Status::Unsupported("the catalog is too large for one frame");
  }
  Frame frame;
  frame.previous = HeaderChecksum(bytes);
  frame.first_sequence = 1;
  frame.timestamp = record.created_micros;
  frame.count = 1;
  frame.payload = payload;
  EncodeFrame(id, bytes.size(), frame, &bytes);
  RETURN_IF_ERROR(file->Write(0, bytes));
  return file->DataSync();
}

Result<BackupRecord> ReadBackupRecord(base::File* file, uint64_t number) {
  uint64_t header_checksum = 0;
  ASSIGN_OR_RETURN(const FileHeader header, ReadHeader(file, number, &header_checksum));
  ASSIGN_OR_RETURN(const uint64_t size, file->Size());
  FrameReader reader(file, header.id, kFileHeaderBytes, size);
  ASSIGN_OR_RETURN(const std::optional<DecodedFrame> found, reader.Next());
  if (!found) return CorruptionAt(file->name(), reader.offset(), reader.reason());
  if (found->frame.previous != header_checksum) {
    return CorruptionAt(file->name(), kFileHeaderBytes,
                        HashMismatch("checksum of header", header_checksum, found->frame.previous));
  }
  if (reader.offset() != size) {
    return CorruptionAt(file->name(), reader.offset(),
                        Mismatch("bytes of file", reader.offset(), size));
  }
  BackupRecord record;
  record.number = number;
  record.created_micros = found->frame.timestamp;
  record.catalog.database = header.database;
  const Status status = DecodePayload(found->frame.payload, &record);
  if (status.ok()) return record;
  std::string message = file->name() + ": offset " + std::to_string(kFileHeaderBytes) + ": ";
  return Status(status.code(), message.append(status.message()));
}

}  // namespace tandem::format
