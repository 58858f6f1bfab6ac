// Encodes and decodes one block (the byte table is in block.h). Checks are in the order bounds,
// limits, checksum, fields, so that no field is used before the checksum and nothing is allocated
// before its size is checked.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "format/block/block.h"
#include "format/types.h"
#include "tandem/schema.h"
#include "tandem/status.h"

namespace tandem::format {

inline constexpr uint32_t kBlockStoredBytesMax = kBlockRawBytesMax + 64 * 1024;

/// A block about to be written.
struct BlockContent {
  BlockKind kind{};
  uint16_t flags = 0;
  uint32_t count = 0;
  uint32_t first = 0;
  std::string_view raw = {};
  Compression compression = Compression::kNone;
};

/// The location of a block, for its checksum and for messages.
struct BlockPlace {
  std::shared_ptr<const std::string> file_name;
  FileId file;
  uint64_t offset = 0;
  base::BlockPool* pool = nullptr;  ///< For the decoded block; nullptr: the heap.
  uint64_t first_sequence = 0;      ///< Is added to the sequences of its cells.
};

/// The payload of the block: content.raw, compressed if that makes it an eighth smaller. `*scratch`
/// is a buffer for that. Requires: content.raw.size() <= kBlockRawBytesMax. Lifetime: that of
/// `*scratch` and content.raw.
std::string_view PayloadOf(const BlockContent& content, std::string* scratch);
/// Appends header and payload to `*out`, without padding, and returns their size. Requires:
/// `payload` is PayloadOf(content).
uint32_t AppendBlock(const BlockContent& content, std::string_view payload, uint64_t checksum_seed,
                     std::string* out);
/// The same with its payload in `*scratch`.
uint32_t AppendBlock(const BlockContent& content, uint64_t checksum_seed, std::string* scratch,
                     std::string* out);

/// Appends `stored`, header and payload of a block of another place, with the checksum of a new
/// one, and with `first` in its header if that is given.
/// Requires: CheckStoredBlock accepted it where it was.
void AppendStoredBlock(std::string_view stored, std::optional<uint32_t> first,
                       uint64_t checksum_seed, std::string* out);
/// How such a block is compressed, and its size before that. Requires: as above.
Compression CompressionOfStored(std::string_view stored);
uint32_t UnpackedBytesOfStored(std::string_view stored);
/// Checks the sizes and the checksum of `stored`, exactly header and payload, and none of its other
/// fields. Errors: kCorruption.
Status CheckStoredBlock(const BlockPlace& place, std::string_view stored);

/// The kind that the header of `stored` states, before any check; kRows when it is too short.
BlockKind ClaimedKind(std::string_view stored);

/// A block that is used in the buffer it was read into.
struct PlainBlock {
  uint32_t count = 0;
  uint32_t first = 0;
  std::string_view raw;
};

/// Checks `stored`, exactly header and payload of a block that is not compressed, as DecodeBlock
/// does. Errors: kCorruption, kUnsupported. Lifetime: that of `stored`.
Result<PlainBlock> CheckPlainBlock(const BlockPlace& place, BlockKind expected,
                                   std::string_view stored);
/// Decodes `stored`, exactly header and payload, into `*block`. Errors: kCorruption, kUnsupported
/// (a codec that this build does not know), kOutOfMemory.
Status DecodeBlockInto(const BlockPlace& place, BlockKind expected, std::string_view stored,
                       Block* block);
/// The same into a block of its own.
Result<BlockRef> DecodeBlock(const BlockPlace& place, BlockKind expected, std::string_view stored);

}  // namespace tandem::format
