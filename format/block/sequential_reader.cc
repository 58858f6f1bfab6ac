// The stored size in a header is checked against the end of the run.
#include "format/block/sequential_reader.h"

#include <algorithm>

#include "base/status_macros.h"
#include "format/block/block_codec.h"
#include "format/byte_reader.h"
#include "format/corruption.h"

namespace tandem::format {
namespace {

constexpr size_t kStoredBytesAt = 8;

}  // namespace

Result<BlockKind> SequentialReader::NextKind() {
  ASSIGN_OR_RETURN(const std::string_view bytes, window_.Read(at_, kBlockHeaderBytes));
  return ClaimedKind(bytes);
}

Result<uint32_t> SequentialReader::StoredBytes() {
  RETURN_IF_ERROR(NextKind().status());
  ASSIGN_OR_RETURN(const std::string_view header, window_.Read(at_, kBlockHeaderBytes));
  const uint64_t payload = LoadAt<uint32_t>(header, kStoredBytesAt);
  const uint64_t left = end_ - at_ - kBlockHeaderBytes;  // The header was within the end.
  const uint64_t limit = std::min<uint64_t>(left, kBlockStoredBytesMax);
  if (payload > limit ||
      BlockEnd({at_, static_cast<uint32_t>(kBlockHeaderBytes + payload)}) > end_) {
    return file_.Corrupt(at_, Mismatch("stored size of block, at most", limit, payload));
  }
  return static_cast<uint32_t>(kBlockHeaderBytes + payload);
}

Result<BlockRef> SequentialReader::Next(BlockKind expected) {
  ASSIGN_OR_RETURN(const uint32_t stored, StoredBytes());
  ASSIGN_OR_RETURN(const std::string_view bytes, window_.Read(at_, stored));
  ASSIGN_OR_RETURN(BlockRef block, DecodeBlock(file_.PlaceAt(at_), expected, bytes));
  at_ = BlockEnd({at_, stored});
  return block;
}

Result<std::string_view> SequentialReader::NextStored() {
  ASSIGN_OR_RETURN(const uint32_t stored, StoredBytes());
  ASSIGN_OR_RETURN(const std::string_view bytes, window_.Read(at_, stored));
  RETURN_IF_ERROR(CheckStoredBlock(file_.PlaceAt(at_), bytes));
  at_ = BlockEnd({at_, stored});
  return bytes;
}

Status SequentialReader::Skip() {
  ASSIGN_OR_RETURN(const uint32_t stored, StoredBytes());
  at_ = BlockEnd({at_, stored});
  return {};
}

}  // namespace tandem::format
