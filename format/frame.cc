// Encoding, checked decoding and searching of frames. The reader holds one window of the file, of
// kWindowBytes or of one frame if that is larger, and allocates for a frame only if the limit
// leaves room for it.
#include "format/frame.h"

#include <algorithm>

#include "base/check.h"
#include "base/status_macros.h"
#include "format/byte_reader.h"
#include "format/coding.h"
#include "format/corruption.h"
#include "format/hash.h"

namespace tandem::format {
namespace {

constexpr size_t kPreviousAt = 8;
constexpr size_t kLengthAt = 40;
constexpr size_t kCountAt = 44;
constexpr uint64_t kWindowBytes = 256 * 1024;
// All searches of a reader together may checksum kSearchFactor bytes in vain for each byte of the
// file, and at least kSearchBytesMin. Zeros look like headers of empty frames everywhere, and take
// six for each.
constexpr uint64_t kSearchFactor = 64;
constexpr uint64_t kSearchBytesMin = uint64_t{64} << 20;

uint64_t FrameChecksum(const FileId& id, uint64_t offset, std::string_view frame) {
  return Hash64(frame.substr(kPreviousAt), ChecksumSeed(id, offset));
}

}  // namespace

uint64_t EncodeFrame(const FileId& id, uint64_t offset, const Frame& frame, std::string* out) {
  CHECK(frame.payload.size() <= kFramePayloadBytesMax);
  const size_t start = out->size();
  AppendU64(out, 0);
  AppendU64(out, frame.previous);
  AppendU64(out, frame.first_sequence);
  AppendU64(out, frame.durable_mark);
  AppendU64(out, static_cast<uint64_t>(frame.timestamp));
  AppendU32(out, static_cast<uint32_t>(frame.payload.size()));
  AppendU32(out, frame.count);
  out->append(frame.payload);
  const uint64_t checksum = FrameChecksum(id, offset, std::string_view(*out).substr(start));
  StoreAt(out, start, checksum);
  out->resize(start + FrameBytes(frame.payload.size()), '\0');
  return checksum;
}

FrameReader::FrameReader(base::File* file, FileId id, uint64_t offset, uint64_t limit)
    : file_(file),
      id_(id),
      offset_(offset),
      limit_(limit),
      search_bytes_left_(
          std::max(kSearchBytesMin, kSearchFactor * (limit - std::min(offset, limit)))) {}

Result<std::optional<DecodedFrame>> FrameReader::Next() {
  ASSIGN_OR_RETURN(std::optional<DecodedFrame> found, DecodeAt(offset_));
  if (found) offset_ += FrameBytes(found->frame.payload.size());
  return found;
}

Result<std::optional<DecodedFrame>> FrameReader::FindNext() {
  for (; offset_ < limit_ && search_bytes_left_ > 0; offset_ += kFrameAlignment) {
    ASSIGN_OR_RETURN(const bool is_over, SkipZeros());
    if (is_over) break;
    ASSIGN_OR_RETURN(const std::string_view header, View(offset_, kFrameHeaderBytes));
    if (header.size() < kFrameHeaderBytes) break;
    if (!CouldBeFrame(offset_, header)) continue;
    const uint64_t size = FrameBytes(LoadAt<uint32_t>(header, kLengthAt));
    ASSIGN_OR_RETURN(std::optional<DecodedFrame> found, Next());
    if (found) return found;  // It costs nothing: the search goes on after all of its bytes.
    search_bytes_left_ -= std::min(size, search_bytes_left_);
  }
  offset_ = limit_;
  return std::optional<DecodedFrame>();
}

// (Of 2^64 frames one begins with zeros, a checksum.)
Result<bool> FrameReader::SkipZeros() {
  while (offset_ < limit_) {
    const uint64_t size = std::min<uint64_t>(kFrameAlignment, limit_ - offset_);
    ASSIGN_OR_RETURN(const std::string_view word, View(offset_, size));
    if (word.size() < size || word.find_first_not_of('\0') != std::string_view::npos) return false;
    offset_ += size;
    const uint64_t window_end = buffer_offset_ + buffer_.size();
    while (offset_ + kFrameAlignment <= window_end &&
           LoadAt<uint64_t>(buffer_, offset_ - buffer_offset_) == 0) {
      offset_ += kFrameAlignment;
    }
    if (offset_ + kFrameAlignment <= window_end) return false;
  }
  return true;
}

Status FrameReader::FindAll(const std::function<Status(const Frame& frame)>& visit) {
  while (offset_ < limit_) {
    ASSIGN_OR_RETURN(const std::optional<DecodedFrame> found, FindNext());
    if (!found) break;
    RETURN_IF_ERROR(visit(found->frame));
  }
  return {};
}

// Checks what the header alone shows: lengths fit the file, and a group of n sequence numbers has
// at least n bytes. This saves the search most checksums.
bool FrameReader::CouldBeFrame(uint64_t offset, std::string_view header) const {
  const uint32_t length = LoadAt<uint32_t>(header, kLengthAt);
  const uint32_t count = LoadAt<uint32_t>(header, kCountAt);
  return length <= kFramePayloadBytesMax && FrameBytes(length) <= limit_ - offset &&
         count <= std::max<uint32_t>(length, 1);
}

Result<std::optional<DecodedFrame>> FrameReader::DecodeAt(uint64_t offset) {
  reason_.clear();
  const uint64_t left = limit_ - std::min(offset, limit_);
  if (left < kFrameHeaderBytes) {
    reason_ = Mismatch("bytes of frame header", kFrameHeaderBytes, left);
    return std::optional<DecodedFrame>();
  }
  ASSIGN_OR_RETURN(const std::string_view header, View(offset, kFrameHeaderBytes));
  if (header.size() < kFrameHeaderBytes) {
    reason_ = Mismatch("bytes of frame header", kFrameHeaderBytes, header.size());
    return std::optional<DecodedFrame>();
  }
  const uint32_t length = LoadAt<uint32_t>(header, kLengthAt);
  if (length > kFramePayloadBytesMax || FrameBytes(length) > left) {
    reason_ = Mismatch("length of frame: at most",
                       std::min<uint64_t>(left - kFrameHeaderBytes, kFramePayloadBytesMax), length);
    return std::optional<DecodedFrame>();
  }
  ASSIGN_OR_RETURN(const std::string_view bytes, View(offset, FrameBytes(length)));
  if (bytes.size() < FrameBytes(length)) {
    reason_ = Mismatch("bytes of frame", FrameBytes(length), bytes.size());
    return std::optional<DecodedFrame>();
  }
  return Verify(offset, bytes);
}

std::optional<DecodedFrame> FrameReader::Verify(uint64_t offset, std::string_view bytes) {
  ByteReader reader(bytes);
  DecodedFrame decoded;
  decoded.offset = offset;
  decoded.checksum = reader.U64();
  Frame& frame = decoded.frame;
  frame.previous = reader.U64();
  frame.first_sequence = reader.U64();
  frame.durable_mark = reader.U64();
  frame.timestamp = reader.I64();
  const uint32_t length = reader.U32();
  frame.count = reader.U32();
  frame.payload = reader.Bytes(length);
  const std::string_view padding = reader.Bytes(reader.remaining());

  const uint64_t computed = FrameChecksum(id_, offset, bytes.substr(0, kFrameHeaderBytes + length));
  if (computed != decoded.checksum) {
    reason_ = HashMismatch("checksum of frame", computed, decoded.checksum);
    return std::nullopt;
  }
  if (padding.find_first_not_of('\0') != std::string_view::npos) {
    reason_ = "padding after a frame is not zero";
    return std::nullopt;
  }
  return decoded;
}

// `size` bytes at `offset`, or fewer at the end of the file. Requires: offset + size <= limit.
Result<std::string_view> FrameReader::View(uint64_t offset, uint64_t size) {
  const bool inside = offset >= buffer_offset_ && offset - buffer_offset_ <= buffer_.size() &&
                      buffer_.size() - (offset - buffer_offset_) >= size;
  if (!inside) {
    buffer_.resize(std::min(std::max(size, kWindowBytes), limit_ - offset));
    buffer_offset_ = offset;
    Result<size_t> count = file_->Read(offset, buffer_);
    buffer_.resize(count ? *count : 0);
    if (!count) return count.error();
  }
  return std::string_view(buffer_).substr(offset - buffer_offset_, size);
}

}  // namespace tandem::format
