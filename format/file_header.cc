// Encoding and checked decoding of the file header.
#include "format/file_header.h"

#include <algorithm>
#include <cstring>

#include "base/status_macros.h"
#include "format/byte_reader.h"
#include "format/coding.h"
#include "format/corruption.h"
#include "format/hash.h"

namespace tandem::format {
namespace {

constexpr std::string_view kMagic = "\x89TANDEM\n";
constexpr size_t kZeroBytes = 40;
constexpr size_t kChecksumAt = kFileHeaderBytes - sizeof(uint64_t);
constexpr uint8_t kAlignmentLog2Min = 3;
constexpr uint8_t kAlignmentLog2Max = 20;
static_assert(kMagic.size() == 8);

void ReadId(ByteReader* reader, RandomId* id) {
  const std::string_view bytes = reader->Bytes(id->bytes.size());
  std::memcpy(id->bytes.data(), bytes.data(), bytes.size());
}

// The checks that come before any field is used.
Status CheckBytes(std::string_view bytes, std::string_view file_name) {
  if (bytes.size() < kFileHeaderBytes) {
    return CorruptionAt(file_name, 0, Mismatch("bytes of header", kFileHeaderBytes, bytes.size()));
  }
  if (!bytes.starts_with(kMagic)) return CorruptionAt(file_name, 0, "this is no file of Tandem");
  const uint64_t expected = LoadAt<uint64_t>(bytes, kChecksumAt);
  const uint64_t found = Hash64(bytes.substr(0, kChecksumAt));
  if (found != expected) {
    return CorruptionAt(file_name, kChecksumAt,
                        HashMismatch("checksum of header", expected, found));
  }
  return {};
}

}  // namespace

uint64_t HeaderChecksum(std::string_view header) {
  return LoadAt<uint64_t>(header, kFileHeaderBytes - sizeof(uint64_t));
}

void AppendId(const RandomId& id, std::string* out) {
  out->append(reinterpret_cast<const char*>(id.bytes.data()), id.bytes.size());
}

void AppendFileHeader(const FileHeader& header, std::string* out) {
  const size_t start = out->size();
  out->append(kMagic);
  AppendU8(out, static_cast<uint8_t>(header.kind));
  AppendU8(out, header.alignment_log2);
  AppendU16(out, kFormatVersion);
  AppendU32(out, kFileHeaderBytes);
  AppendU64(out, header.compatible);
  AppendU64(out, header.read_compatible);
  AppendU64(out, header.incompatible);
  AppendId(header.database, out);
  AppendU64(out, header.number.value);
  AppendId(header.id, out);
  out->append(kZeroBytes, '\0');
  AppendU64(out, Hash64(std::string_view(*out).substr(start)));
}

Result<FileHeader> DecodeFileHeader(std::string_view bytes, FileKind expected,
                                    std::string_view file_name) {
  RETURN_IF_ERROR(CheckBytes(bytes, file_name));
  ByteReader reader(bytes.substr(kMagic.size(), kChecksumAt - kMagic.size()));
  FileHeader header;
  const uint8_t kind = reader.U8();
  header.kind = static_cast<FileKind>(kind);
  header.alignment_log2 = reader.U8();
  const uint16_t version = reader.U16();
  const uint32_t header_bytes = reader.U32();
  header.compatible = reader.U64();
  header.read_compatible = reader.U64();
  header.incompatible = reader.U64();
  ReadId(&reader, &header.database);
  header.number = FileNumber(reader.U64());
  ReadId(&reader, &header.id);
  const std::string_view zeros = reader.Bytes(kZeroBytes);

  if (version != kFormatVersion) {
    return Status::Unsupported(std::string(file_name) + ": " +
                               Mismatch("format version", kFormatVersion, version));
  }
  if ((header.incompatible & ~kKnownIncompatible) != 0) {
    return Status::Unsupported(std::string(file_name) + ": unknown features, mask " +
                               std::to_string(header.incompatible & ~kKnownIncompatible));
  }
  if (header.kind != expected) {
    return CorruptionAt(file_name, 8, Mismatch("kind", static_cast<uint8_t>(expected), kind));
  }
  if (header_bytes != kFileHeaderBytes) {
    return CorruptionAt(file_name, 12, Mismatch("header size", kFileHeaderBytes, header_bytes));
  }
  if (header.alignment_log2 < kAlignmentLog2Min || header.alignment_log2 > kAlignmentLog2Max) {
    return CorruptionAt(file_name, 9, "alignment is out of range");
  }
  if (std::any_of(zeros.begin(), zeros.end(), [](char byte) { return byte != 0; })) {
    return CorruptionAt(file_name, 80, "bytes that must be zero are not");
  }
  return header;
}

}  // namespace tandem::format
