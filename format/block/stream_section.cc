// Streams over blocks. Blocks are not compressed, so the size of the section bounds the size of the
// stream before anything is allocated.
#include "format/block/stream_section.h"

#include <algorithm>

#include "base/check.h"
#include "base/status_macros.h"
#include "format/corruption.h"

namespace tandem::format {
namespace {

constexpr uint64_t kStoredBlockBytes = kBlockHeaderBytes + kStreamBlockBytes;
static_assert(kStoredBlockBytes % kBlockAlignment == 0, "blocks follow without padding");

// Bytes of the section that holds a stream of `size_bytes`, which is at most the file's size.
uint64_t SectionBytes(uint64_t size_bytes) {
  const uint64_t rest = size_bytes % kStreamBlockBytes;
  const uint64_t last =
      (kBlockHeaderBytes + rest + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  return size_bytes / kStreamBlockBytes * kStoredBlockBytes + (rest == 0 ? 0 : last);
}

}  // namespace

Status WriteStream(StreamKind kind, uint32_t owner, uint32_t flags, std::string_view bytes,
                   SectionWriter* out) {
  CHECK(!bytes.empty());
  RETURN_IF_ERROR(out->Begin(kind.section, owner, flags));
  BlockContent content;
  content.kind = kind.block;
  for (size_t at = 0; at < bytes.size(); at += kStreamBlockBytes) {
    content.raw = bytes.substr(at, kStreamBlockBytes);
    RETURN_IF_ERROR(out->Append(content).status());
    ++content.first;
  }
  return out->End(bytes.size());
}

Result<std::string_view> StreamReader::Read(uint64_t at, uint64_t size) {
  const uint64_t stream_bytes = section_.count;
  if (stream_bytes > section_.size_bytes || SectionBytes(stream_bytes) != section_.size_bytes) {
    return file_->Corrupt(
        section_.offset,
        Mismatch("bytes of section for the stream in it",
                 SectionBytes(std::min(stream_bytes, section_.size_bytes)), section_.size_bytes));
  }
  if (at > stream_bytes || size > stream_bytes - at) {
    return file_->Corrupt(section_.offset,
                          Mismatch("end of piece in stream, at most", stream_bytes, at + size));
  }
  if (size == 0) return std::string_view();
  RETURN_IF_ERROR(Load(at / kStreamBlockBytes));
  uint64_t skip = at % kStreamBlockBytes;
  if (skip + size <= kStreamBlockBytes) return block_->raw().substr(skip, size);
  joined_.clear();
  joined_.reserve(size);
  while (joined_.size() < size) {
    RETURN_IF_ERROR(Load((at + joined_.size()) / kStreamBlockBytes));
    joined_.append(block_->raw().substr(skip, size - joined_.size()));
    skip = 0;
  }
  return std::string_view(joined_);
}

// Makes block `number`, which the section holds, the current one.
Status StreamReader::Load(uint64_t number) {
  if (block_ != nullptr && block_number_ == number) return {};
  const uint64_t raw_bytes =
      std::min<uint64_t>(kStreamBlockBytes, section_.count - number * kStreamBlockBytes);
  const BlockHandle handle{section_.offset + number * kStoredBlockBytes,
                           static_cast<uint32_t>(kBlockHeaderBytes + raw_bytes)};
  block_.reset();
  ASSIGN_OR_RETURN(BlockRef block, through_ == Through::kCache
                                       ? file_->Read(handle, kind_)
                                       : file_->ReadUncached(handle, kind_));
  if (block->raw_bytes != raw_bytes || block->first != number) {
    return file_->Corrupt(handle.offset, "block is not the expected part of its stream");
  }
  block_ = std::move(block);
  block_number_ = number;
  return {};
}

Result<std::string> ReadWholeStream(const BlockFile& file, const SectionEntry& section,
                                    BlockKind kind) {
  StreamReader reader(file, section, kind, StreamReader::Through::kFile);
  ASSIGN_OR_RETURN(const std::string_view bytes, reader.Read(0, reader.size_bytes()));
  return std::string(bytes);
}

}  // namespace tandem::format
