// ROOT's bytes: the file header (its file id is the database id), zeros up to 4,096, two slots of
// 4,096 bytes, and nothing after them. A slot, little-endian:
//
//   OFFSET SIZE FIELD             MEANING
//        0    8 checksum          XXH3-64 of bytes 8 to 4,095, seeded by ChecksumSeed with the
//                                 slot's offset
//        8    8 generation        grows with each record; the valid slot with the higher one counts
//       16    8 epoch             of the owner
//       24    8 next file number  numbers below are given out or reserved
//       32    1 state             1 open, 2 closed
//       33    3 zero
//       36    4 segment count     0 unless closed, at most 100
//       40   40 manifest          bound file; number 0 while the database is being created
//       80   40 segments          one bound file each, oldest first
//        +      zero              up to 4,096, verified
//
// A bound file: number u64, id 16 bytes, length u64, last checksum u64.
//
// A crash while a slot is written leaves the other one intact; an invalid slot is ignored. Two
// slots of the same generation are equal.
#include "format/root.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/check.h"
#include "base/status_macros.h"
#include "format/byte_reader.h"
#include "format/coding.h"
#include "format/corruption.h"
#include "format/file_header.h"
#include "format/hash.h"

namespace tandem::format {
namespace {

constexpr size_t kSlotBytes = 4096;
constexpr size_t kSlotHeadBytes = 40;
constexpr size_t kBoundFileBytes = 40;
constexpr std::array<uint64_t, 2> kSlotOffsets = {4096, 8192};
constexpr uint8_t kStateOpen = 1;
constexpr uint8_t kStateClosed = 2;
static_assert(kSlotHeadBytes + (kRootSegmentsMax + 1) * kBoundFileBytes <= kSlotBytes);
static_assert(kSlotOffsets[1] + kSlotBytes == kRootFileBytes);

void AppendBoundFile(const BoundFile& file, std::string* out) {
  AppendU64(out, file.number.value);
  out->append(reinterpret_cast<const char*>(file.id.bytes.data()), file.id.bytes.size());
  AppendU64(out, file.length_bytes);
  AppendU64(out, file.last_checksum);
}

BoundFile ReadBoundFile(ByteReader* reader) {
  BoundFile file;
  file.number = FileNumber(reader->U64());
  const std::string_view id = reader->Bytes(file.id.bytes.size());
  std::copy(id.begin(), id.end(), file.id.bytes.begin());
  file.length_bytes = reader->U64();
  file.last_checksum = reader->U64();
  return file;
}

uint64_t SlotChecksum(const DatabaseId& database, uint64_t offset, std::string_view slot) {
  return Hash64(slot.substr(sizeof(uint64_t)), ChecksumSeed(database, offset));
}

std::string EncodeSlot(const RootFile& root, uint64_t offset) {
  const RootRecord& record = root.record;
  CHECK(record.segments.size() <= kRootSegmentsMax);
  std::string slot;
  slot.reserve(kSlotBytes);
  AppendU64(&slot, 0);
  AppendU64(&slot, record.generation);
  AppendU64(&slot, record.epoch);
  AppendU64(&slot, record.next_file_number);
  AppendU8(&slot, record.closed ? kStateClosed : kStateOpen);
  slot.append(3, '\0');
  AppendU32(&slot, static_cast<uint32_t>(record.segments.size()));
  AppendBoundFile(record.manifest, &slot);
  for (const BoundFile& segment : record.segments) AppendBoundFile(segment, &slot);
  slot.resize(kSlotBytes, '\0');
  StoreAt(&slot, 0, SlotChecksum(root.database, offset, slot));
  return slot;
}

// nullopt when the checksum does not match: a torn write or damage. Errors: kCorruption and
// kUnsupported when the checksum matches but a field is invalid.
Result<std::optional<RootRecord>> DecodeSlot(std::string_view slot, const DatabaseId& database,
                                             const std::string& name, uint64_t offset) {
  ByteReader reader(slot);
  if (reader.U64() != SlotChecksum(database, offset, slot)) return std::optional<RootRecord>();
  RootRecord record;
  record.generation = reader.U64();
  record.epoch = reader.U64();
  record.next_file_number = reader.U64();
  const uint8_t state = reader.U8();
  const std::string_view zeros = reader.Bytes(3);
  const uint32_t segments = reader.U32();
  if (state != kStateOpen && state != kStateClosed) {
    return Status::Unsupported(name + ": unknown state " + std::to_string(state));
  }
  record.closed = state == kStateClosed;
  if (segments > (record.closed ? kRootSegmentsMax : 0)) {
    return CorruptionAt(name, offset + 36, "too many segments: " + std::to_string(segments));
  }
  record.manifest = ReadBoundFile(&reader);
  for (uint32_t i = 0; i < segments; ++i) record.segments.push_back(ReadBoundFile(&reader));
  const std::string_view rest = reader.Bytes(reader.remaining());
  if (rest.find_first_not_of('\0') != rest.npos || zeros.find_first_not_of('\0') != zeros.npos) {
    return CorruptionAt(name, offset, "bytes that must be zero are not");
  }
  return std::optional<RootRecord>(std::move(record));
}

Result<std::string> ReadWhole(base::File* file) {
  ASSIGN_OR_RETURN(const uint64_t size, file->Size());
  std::string bytes(kRootFileBytes, '\0');
  ASSIGN_OR_RETURN(const size_t count, file->Read(0, bytes));
  bytes.resize(count);
  // Check the header first, so that a file that is not ours gets its own message.
  RETURN_IF_ERROR(DecodeFileHeader(bytes, FileKind::kRoot, file->name()).status());
  if (size != kRootFileBytes || count != kRootFileBytes) {
    return CorruptionAt(file->name(), std::min<uint64_t>(size, kRootFileBytes),
                        Mismatch("bytes of file", kRootFileBytes, size));
  }
  return bytes;
}

Result<FileHeader> ReadHeader(std::string_view bytes, const std::string& name) {
  ASSIGN_OR_RETURN(const FileHeader header, DecodeFileHeader(bytes, FileKind::kRoot, name));
  if (header.id != header.database) {
    return CorruptionAt(name, 64, "its file id is not the database id");
  }
  const size_t stray = bytes.substr(0, kSlotOffsets[0]).find_first_not_of('\0', kFileHeaderBytes);
  if (stray != bytes.npos) return CorruptionAt(name, stray, "bytes that must be zero are not");
  return header;
}

using Slots = std::array<std::optional<RootRecord>, 2>;

Result<Slots> DecodeSlots(std::string_view bytes, const FileHeader& header,
                          const std::string& name) {
  Slots slots;
  for (size_t i = 0; i < slots.size(); ++i) {
    ASSIGN_OR_RETURN(slots[i], DecodeSlot(bytes.substr(kSlotOffsets[i], kSlotBytes),
                                          header.database, name, kSlotOffsets[i]));
  }
  return slots;
}

Status SyncRoot(base::File* file) {
  const Status status = file->DataSync();
  if (status.ok()) return status;
  return Status::IoError(file->name() + ": sync failed: " + std::string(status.message()));
}

Status WriteSlot(base::File* file, const RootFile& root, size_t slot) {
  const uint64_t offset = kSlotOffsets[slot];
  RETURN_IF_ERROR(file->Write(offset, EncodeSlot(root, offset)));
  return SyncRoot(file);
}

}  // namespace

Result<RootFile> ReadRoot(base::File* file) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadWhole(file));
  ASSIGN_OR_RETURN(const FileHeader header, ReadHeader(bytes, file->name()));
  ASSIGN_OR_RETURN(Slots slots, DecodeSlots(bytes, header, file->name()));
  if (!slots[0] && !slots[1]) {
    return CorruptionAt(file->name(), kSlotOffsets[0], "neither slot's checksum agrees");
  }
  const bool second = slots[1] && (!slots[0] || slots[1]->generation > slots[0]->generation);
  const size_t current = second ? 1 : 0;
  return RootFile{header.database, std::move(*slots[current]), current, header.writable()};
}

Result<std::array<std::optional<RootRecord>, 2>> ReadRootSlots(base::File* file) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadWhole(file));
  ASSIGN_OR_RETURN(const FileHeader header, ReadHeader(bytes, file->name()));
  return DecodeSlots(bytes, header, file->name());
}

Status CreateRoot(base::File* file, const RootFile& root) {
  FileHeader header;
  header.kind = FileKind::kRoot;
  header.database = root.database;
  header.id = root.database;
  std::string bytes;
  AppendFileHeader(header, &bytes);
  for (uint64_t offset : kSlotOffsets) {
    bytes.resize(offset, '\0');
    bytes.append(EncodeSlot(root, offset));
  }
  RETURN_IF_ERROR(file->Preallocate(kRootFileBytes));
  RETURN_IF_ERROR(SyncRoot(file));
  RETURN_IF_ERROR(file->Write(0, bytes));
  return SyncRoot(file);
}

Status WriteRoot(base::File* file, RootFile* root, bool both) {
  for (int i = 0; i < (both ? 2 : 1); ++i) {
    RETURN_IF_ERROR(WriteSlot(file, *root, 1 - root->slot));
    root->slot = 1 - root->slot;
  }
  return {};
}

Status RewriteRoot(base::File* file, const RootFile& root) {
  return WriteSlot(file, root, root.slot);
}

}  // namespace tandem::format
