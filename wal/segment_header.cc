// The header of a segment: the common file header, and the end of its predecessor.
#include "base/status_macros.h"
#include "format/byte_reader.h"
#include "format/coding.h"
#include "format/corruption.h"
#include "format/file_header.h"
#include "format/hash.h"
#include "wal/log.h"

namespace tandem::wal {
namespace {

constexpr size_t kChecksumAt = kSegmentHeaderBytes - sizeof(uint64_t);
static_assert(format::kFileHeaderBytes + 4 * sizeof(uint64_t) == kSegmentHeaderBytes);

}  // namespace

uint64_t AppendSegmentHeader(const SegmentSpec& spec, std::string* out) {
  const size_t start = out->size();
  format::FileHeader header;
  header.kind = format::FileKind::kLog;
  header.database = spec.database;
  header.number = spec.number;
  header.id = spec.id;
  format::AppendFileHeader(header, out);
  format::AppendU64(out, spec.predecessor.length_bytes);
  format::AppendU64(out, spec.predecessor.last_checksum);
  format::AppendU64(out, spec.predecessor.last_sequence);
  const uint64_t checksum = format::Hash64(std::string_view(*out).substr(start));
  format::AppendU64(out, checksum);
  return checksum;
}

Result<SegmentHeader> ReadSegmentHeader(base::File* file) {
  std::string bytes(kSegmentHeaderBytes, '\0');
  ASSIGN_OR_RETURN(const size_t count, file->Read(0, bytes));
  bytes.resize(count);
  ASSIGN_OR_RETURN(const format::FileHeader common,
                   format::DecodeFileHeader(bytes, format::FileKind::kLog, file->name()));
  if (count < kSegmentHeaderBytes) {
    return format::CorruptionAt(
        file->name(), count,
        format::Mismatch("bytes of segment header", kSegmentHeaderBytes, count));
  }
  format::ByteReader reader(std::string_view(bytes).substr(format::kFileHeaderBytes));
  SegmentHeader header;
  header.spec.database = common.database;
  header.spec.number = common.number;
  header.spec.id = common.id;
  header.spec.predecessor.length_bytes = reader.U64();
  header.spec.predecessor.last_checksum = reader.U64();
  header.spec.predecessor.last_sequence = reader.U64();
  header.checksum = reader.U64();
  const uint64_t computed = format::Hash64(std::string_view(bytes).substr(0, kChecksumAt));
  if (computed != header.checksum) {
    return format::CorruptionAt(
        file->name(), kChecksumAt,
        format::HashMismatch("checksum of segment header", computed, header.checksum));
  }
  return header;
}

}  // namespace tandem::wal
