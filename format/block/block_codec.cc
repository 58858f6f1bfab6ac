// Encoding and checked decoding of the 32-byte block header and its payload.
#include "format/block/block_codec.h"

#include <cstring>

#include "base/check.h"
#include "base/status_macros.h"
#include "format/byte_reader.h"
#include "format/coding.h"
#include "format/compression.h"
#include "format/corruption.h"
#include "format/hash.h"

namespace tandem::format {
namespace {

enum class Codec : uint8_t { kNone = 0, kZstd = 1 };

// Where a header has `first`.
constexpr size_t kFirstAt = 24;

struct Header {
  uint64_t checksum;
  uint32_t stored_bytes;
  uint32_t raw_bytes;
  uint8_t kind;
  uint8_t codec;
  uint16_t flags;
  uint32_t count;
  uint32_t first;
  uint32_t zero;
};

Header ReadHeader(std::string_view stored) {
  ByteReader reader(stored.substr(0, kBlockHeaderBytes));
  Header header;
  header.checksum = reader.U64();
  header.stored_bytes = reader.U32();
  header.raw_bytes = reader.U32();
  header.kind = reader.U8();
  header.codec = reader.U8();
  header.flags = reader.U16();
  header.count = reader.U32();
  header.first = reader.U32();
  header.zero = reader.U32();
  return header;
}

// Sizes and checksum, which are checked before any other field is used.
Status CheckBytes(const BlockPlace& place, const Header& header, std::string_view stored) {
  const auto corrupt = [&](std::string_view what, uint64_t expected, uint64_t found) {
    return CorruptionAt(*place.file_name, place.offset, Mismatch(what, expected, found));
  };
  if (header.stored_bytes != stored.size() - kBlockHeaderBytes) {
    return corrupt("stored size of block", stored.size() - kBlockHeaderBytes, header.stored_bytes);
  }
  if (header.stored_bytes > kBlockStoredBytesMax) {
    return corrupt("largest stored size of block", kBlockStoredBytesMax, header.stored_bytes);
  }
  if (header.raw_bytes > kBlockRawBytesMax) {
    return corrupt("largest raw size of block", kBlockRawBytesMax, header.raw_bytes);
  }
  const uint64_t checksum =
      Hash64(stored.substr(sizeof(uint64_t)), ChecksumSeed(place.file, place.offset));
  if (checksum == header.checksum) return {};
  return CorruptionAt(*place.file_name, place.offset,
                      HashMismatch("checksum of block", header.checksum, checksum));
}

Status CheckFields(const BlockPlace& place, const Header& header, BlockKind expected) {
  const auto corrupt = [&](std::string_view what, uint64_t wanted, uint64_t found) {
    return CorruptionAt(*place.file_name, place.offset, Mismatch(what, wanted, found));
  };
  if (header.kind != static_cast<uint8_t>(expected)) {
    return corrupt("kind of block", static_cast<uint8_t>(expected), header.kind);
  }
  if (header.codec > static_cast<uint8_t>(Codec::kZstd)) {
    return Status::Unsupported(*place.file_name + ": offset " + std::to_string(place.offset) +
                               ": unknown codec " + std::to_string(header.codec) + " of block");
  }
  if (header.zero != 0) return corrupt("last field of block header", 0, header.zero);
  if (header.codec == static_cast<uint8_t>(Codec::kNone) &&
      header.raw_bytes != header.stored_bytes) {
    return corrupt("raw size of uncompressed block", header.stored_bytes, header.raw_bytes);
  }
  return {};
}

Result<Header> SoundHeader(const BlockPlace& place, std::string_view stored) {
  if (stored.size() < kBlockHeaderBytes) {
    return CorruptionAt(*place.file_name, place.offset,
                        Mismatch("size of block, at least", kBlockHeaderBytes, stored.size()));
  }
  const Header header = ReadHeader(stored);
  RETURN_IF_ERROR(CheckBytes(place, header, stored));
  return header;
}

Result<Header> CheckedHeader(const BlockPlace& place, BlockKind expected, std::string_view stored) {
  ASSIGN_OR_RETURN(const Header header, SoundHeader(place, stored));
  RETURN_IF_ERROR(CheckFields(place, header, expected));
  return header;
}

}  // namespace

Status Block::Corrupt(std::string_view what) const {
  return CorruptionAt(file_name == nullptr ? std::string_view("block") : *file_name, offset, what);
}

std::string_view PayloadOf(const BlockContent& content, std::string* scratch) {
  CHECK(content.raw.size() <= kBlockRawBytesMax);
  const bool is_compressed =
      content.compression == Compression::kZstd && Compress(content.raw, scratch);
  return is_compressed ? std::string_view(*scratch) : content.raw;
}

uint32_t AppendBlock(const BlockContent& content, std::string_view payload, uint64_t checksum_seed,
                     std::string* out) {
  // What is compressed is smaller.
  const Codec codec = payload.size() < content.raw.size() ? Codec::kZstd : Codec::kNone;
  const size_t start = out->size();
  AppendU64(out, 0);
  AppendU32(out, static_cast<uint32_t>(payload.size()));
  AppendU32(out, static_cast<uint32_t>(content.raw.size()));
  AppendU8(out, static_cast<uint8_t>(content.kind));
  AppendU8(out, static_cast<uint8_t>(codec));
  AppendU16(out, content.flags);
  AppendU32(out, content.count);
  AppendU32(out, content.first);
  AppendU32(out, 0);
  out->append(payload);
  const std::string_view covered = std::string_view(*out).substr(start + sizeof(uint64_t));
  StoreAt(out, start, Hash64(covered, checksum_seed));
  return static_cast<uint32_t>(out->size() - start);
}

uint32_t AppendBlock(const BlockContent& content, uint64_t checksum_seed, std::string* scratch,
                     std::string* out) {
  return AppendBlock(content, PayloadOf(content, scratch), checksum_seed, out);
}

void AppendStoredBlock(std::string_view stored, std::optional<uint32_t> first,
                       uint64_t checksum_seed, std::string* out) {
  const size_t start = out->size();
  out->append(stored);
  if (first.has_value()) StoreAt(out, start + kFirstAt, *first);
  const std::string_view covered = std::string_view(*out).substr(start + sizeof(uint64_t));
  StoreAt(out, start, Hash64(covered, checksum_seed));
}

Compression CompressionOfStored(std::string_view stored) {
  const auto codec = static_cast<Codec>(ReadHeader(stored).codec);
  return codec == Codec::kNone ? Compression::kNone : Compression::kZstd;
}

uint32_t UnpackedBytesOfStored(std::string_view stored) { return ReadHeader(stored).raw_bytes; }

Status CheckStoredBlock(const BlockPlace& place, std::string_view stored) {
  return SoundHeader(place, stored).status();
}

BlockKind ClaimedKind(std::string_view stored) {
  if (stored.size() < kBlockHeaderBytes) return BlockKind::kRows;
  return static_cast<BlockKind>(ReadHeader(stored).kind);
}

Result<PlainBlock> CheckPlainBlock(const BlockPlace& place, BlockKind expected,
                                   std::string_view stored) {
  ASSIGN_OR_RETURN(const Header header, CheckedHeader(place, expected, stored));
  if (header.codec != static_cast<uint8_t>(Codec::kNone)) {
    return CorruptionAt(
        *place.file_name, place.offset,
        Mismatch("codec of block", static_cast<uint8_t>(Codec::kNone), header.codec));
  }
  return PlainBlock{header.count, header.first, stored.substr(kBlockHeaderBytes)};
}

Status DecodeBlockInto(const BlockPlace& place, BlockKind expected, std::string_view stored,
                       Block* block) {
  ASSIGN_OR_RETURN(const Header header, CheckedHeader(place, expected, stored));
  block->kind = expected;
  block->flags = header.flags;
  block->count = header.count;
  block->first = header.first;
  block->raw_bytes = header.raw_bytes;
  block->file_name = place.file_name;
  block->offset = place.offset;
  block->data = place.pool != nullptr ? place.pool->Allocate(header.raw_bytes)
                                      : base::AllocateInHeap(header.raw_bytes);
  const std::string_view payload = stored.substr(kBlockHeaderBytes);
  if (header.codec == static_cast<uint8_t>(Codec::kNone)) {
    std::memcpy(block->data.get(), payload.data(), payload.size());
    return {};
  }
  const Status status = Decompress(payload, {block->data.get(), header.raw_bytes});
  return status.code() == StatusCode::kCorruption ? block->Corrupt(status.message()) : status;
}

Result<BlockRef> DecodeBlock(const BlockPlace& place, BlockKind expected, std::string_view stored) {
  auto block = std::make_shared<Block>();
  RETURN_IF_ERROR(DecodeBlockInto(place, expected, stored, block.get()));
  return BlockRef(std::move(block));
}

}  // namespace tandem::format
