// Headers, frames and slots of ROOT.
#include "test/fuzz/sealing.h"

#include <algorithm>

#include "format/byte_reader.h"
#include "format/coding.h"
#include "format/file_header.h"
#include "format/frame.h"
#include "format/hash.h"
#include "format/root.h"
#include "wal/log.h"

namespace tandem::fuzz {
namespace {

// Fields of a frame header (format/frame.h), and of a file header.
constexpr size_t kPreviousAt = 8, kSequenceAt = 16, kLengthAt = 40, kCountAt = 44;
constexpr size_t kDatabaseAt = 40;

constexpr size_t kSlotBytes = 4096, kSlotGathered = 200;

void SealUpTo(size_t checksum_at, std::string* file) {
  if (file->size() < checksum_at + sizeof(uint64_t)) return;
  format::StoreAt(file, checksum_at,
                  format::Hash64(std::string_view(*file).substr(0, checksum_at)));
}

}  // namespace

void SealHeader(std::string* file) { SealUpTo(format::kFileHeaderBytes - sizeof(uint64_t), file); }

void SealSegmentHeader(std::string* file) {
  SealHeader(file);
  SealUpTo(wal::kSegmentHeaderBytes - sizeof(uint64_t), file);
}

uint64_t NumberAt(const std::string& file, size_t offset) {
  return file.size() < offset + sizeof(uint64_t) ? 0 : format::LoadAt<uint64_t>(file, offset);
}

SealedFrames SealFrames(const format::FileId& id, size_t begin, uint64_t previous,
                        std::string* file) {
  SealedFrames sealed{previous, 0};
  for (size_t at = begin; at + format::kFrameHeaderBytes <= file->size();) {
    const size_t left = file->size() - at - format::kFrameHeaderBytes;
    const auto length = static_cast<uint32_t>(
        std::min<size_t>(format::LoadAt<uint32_t>(*file, at + kLengthAt), left));
    format::StoreAt(file, at + kLengthAt, length);
    const size_t end = at + format::FrameBytes(length);
    const size_t payload_end = at + format::kFrameHeaderBytes + length;
    if (end > file->size()) file->resize(end, '\0');
    std::fill(file->begin() + static_cast<ptrdiff_t>(payload_end),
              file->begin() + static_cast<ptrdiff_t>(end), '\0');
    if (NumberAt(*file, at) != 0) {
      format::StoreAt(file, at + kPreviousAt, sealed.last_checksum);
      const std::string_view covered =
          std::string_view(*file).substr(at + kPreviousAt, payload_end - at - kPreviousAt);
      sealed.last_checksum = format::Hash64(covered, format::ChecksumSeed(id, at));
      format::StoreAt(file, at, sealed.last_checksum);
      sealed.last_sequence =
          NumberAt(*file, at + kSequenceAt) + format::LoadAt<uint32_t>(*file, at + kCountAt) - 1;
    }
    at = end;
  }
  return sealed;
}

std::string SpreadRoot(std::string_view bytes) {
  std::string file(bytes.substr(0, format::kFileHeaderBytes));
  bytes.remove_prefix(file.size());
  file.resize(kSlotBytes, '\0');
  const std::string_view first = bytes.substr(0, kSlotGathered);
  file.append(first).resize(2 * kSlotBytes, '\0');
  bytes.remove_prefix(first.size());
  file.append(bytes);
  if (file.size() < format::kRootFileBytes) file.resize(format::kRootFileBytes, '\0');
  return file;
}

std::string GatherRoot(std::string_view file) {
  std::string bytes(file.substr(0, format::kFileHeaderBytes));
  bytes.append(file.substr(kSlotBytes, kSlotGathered));
  return bytes.append(file.substr(2 * kSlotBytes, kSlotGathered));
}

void SealRoot(std::string* file) {
  SealHeader(file);
  format::DatabaseId id;
  if (file->size() < format::kRootFileBytes) return;
  std::copy_n(file->begin() + kDatabaseAt, id.bytes.size(), id.bytes.begin());
  for (const size_t slot : {kSlotBytes, 2 * kSlotBytes}) {
    const std::string_view covered =
        std::string_view(*file).substr(slot + sizeof(uint64_t), kSlotBytes - sizeof(uint64_t));
    format::StoreAt(file, slot, format::Hash64(covered, format::ChecksumSeed(id, slot)));
  }
}

}  // namespace tandem::fuzz
