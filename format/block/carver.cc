// Bytes that cannot be a block header are skipped without hashing anything.
#include "format/block/carver.h"

#include <algorithm>

#include "format/byte_reader.h"
#include "format/file_window.h"

namespace tandem::format {
namespace {

bool CouldBeBlock(std::string_view header, uint64_t left) {
  constexpr auto kLastKind = static_cast<uint8_t>(BlockKind::kIndexRecordDirectory);
  const auto stored = LoadAt<uint32_t>(header, 8);
  const auto raw = LoadAt<uint32_t>(header, 12);
  const auto kind = static_cast<uint8_t>(header[16]);
  const auto codec = static_cast<uint8_t>(header[17]);
  return kind >= 1 && kind <= kLastKind && codec <= 1 && (codec == 1 || stored == raw) &&
         raw <= kBlockRawBytesMax && stored <= kBlockStoredBytesMax &&
         stored + kBlockHeaderBytes <= left && LoadAt<uint32_t>(header, 28) == 0;
}

// The block at `at`; nullptr if there is none.
Result<BlockRef> BlockAt(const BlockFile& file, FileWindow* window, uint64_t at, uint64_t left) {
  Result<std::string_view> header = window->Read(at, kBlockHeaderBytes);
  if (!header) return header.error();
  if (!CouldBeBlock(*header, left)) return BlockRef();
  const BlockKind kind = ClaimedKind(*header);
  const Result<std::string_view> stored =
      window->Read(at, kBlockHeaderBytes + uint64_t{LoadAt<uint32_t>(*header, 8)});
  if (!stored) return stored.error();
  Result<BlockRef> block = DecodeBlock(file.PlaceAt(at), kind, *stored);
  if (!block && block.error().code() == StatusCode::kCorruption) return BlockRef();
  return block;
}

}  // namespace

Status FindBlocks(const BlockFile& file, uint64_t begin, uint64_t end,
                  const std::function<Status(const BlockRef&, BlockHandle)>& visit) {
  Result<uint64_t> size = file.file().Size();
  if (!size) return size.error();
  end = std::min(end, *size);
  FileWindow window(&file.file(), end);
  uint64_t at = (begin + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  while (at + kBlockHeaderBytes <= end) {
    Result<BlockRef> block = BlockAt(file, &window, at, end - at);
    if (!block) return block.error();
    if (*block == nullptr) {
      at += kBlockAlignment;
      continue;
    }
    const Result<std::string_view> header = window.Read(at, kBlockHeaderBytes);
    if (!header) return header.error();
    const BlockHandle handle{
        at, static_cast<uint32_t>(kBlockHeaderBytes + LoadAt<uint32_t>(*header, 8))};
    const Status status = visit(*block, handle);
    if (!status.ok()) return status;
    at = BlockEnd(handle);
  }
  return {};
}

}  // namespace tandem::format
