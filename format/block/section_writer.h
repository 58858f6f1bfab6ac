// Writes sections of blocks to a file, front to back, through one large buffer. It pads with zeros,
// hashes every byte, and builds the section table.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/executor.h"
#include "base/file_system.h"
#include "format/block/block.h"
#include "format/block/block_codec.h"
#include "format/hash.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::format {

/// A bitmap's sections are written and read by bitmap_section.h. Numbers are on disk.
enum class SectionKind : uint16_t {
  kSchema = 1,
  kDictionary = 2,  ///< Owner: family.
  kData = 3,        ///< Owner: 0. Blocks of all families, in extents (format/row/data_section.h).
  kBlockIndex = 4,  ///< Owner: family.
  kKeyHashes = 5,
  kCleanRows = 6,
  kFilter = 7,
  kIndexLeaves = 8,  ///< Owner: index; so are the next four. Flag bit 0: the older part.
  kIndexPostings = 9,
  kIndexDirectory = 10,
  kIndexPresent = 11,
  kIndexTouched = 12,
  kStatistics = 13,
  kDigests = 14,
  kPresence = 15,       ///< Owner: family. Which rows have cells of it; absent when all have.
  kBlockIndexTop = 16,  ///< Owner: family. Leads to the pieces of its block index.
  kIndexRecords = 17,   ///< Owner: index; so is the next one.
  kIndexRecordDirectory = 18,
};
/// Whether it is a part of an index; its owner is the index.
inline bool IsIndexSection(SectionKind kind) {
  return (kind >= SectionKind::kIndexLeaves && kind <= SectionKind::kIndexTouched) ||
         kind == SectionKind::kIndexRecords || kind == SectionKind::kIndexRecordDirectory;
}

inline constexpr uint32_t kSectionFlagOlder = 1;  ///< The older part of an index.
inline constexpr uint32_t kSectionFlagFull = 2;   ///< A bitmap without bytes: every bit is set.
inline constexpr uint32_t kSectionFlagEqual = 4;  ///< Touched without bytes: equal to present.
inline constexpr uint32_t kSectionFlagEmpty = 8;  ///< A bitmap without bytes: no bit is set.

struct SectionEntry {
  SectionKind kind{};
  uint32_t flags = 0;
  uint32_t owner = 0;
  uint64_t offset = 0;
  uint64_t size_bytes = 0;  ///< Up to the end of the last block's padding.
  uint64_t count = 0;       ///< By kind: rows, entries, blocks, ...
  uint64_t checksum = 0;    ///< XXH3-64 of the section's bytes.
};

/// Blocks that are appended together.
struct BlockGroup {
  struct Member {
    BlockContent content;  ///< Without its bytes.
    size_t raw_bytes;
    /// Its bytes are header and payload of a block of another place. Of `content`, `first` counts.
    bool is_stored = false;
  };
  std::vector<Member> blocks;
  std::string raw;  ///< The bytes of the blocks, one after the other.
  /// Of all blocks before compression: what limits go by, whether blocks are stored or not.
  uint64_t unpacked_bytes = 0;

  void Clear() {
    blocks.clear();
    raw.clear();
    unpacked_bytes = 0;
  }
};

/// After an error the writer must not be used. Threads: one at a time.
class SectionWriter {
 public:
  /// `file` is empty and outlives the writer; sections start at multiples of `alignment` (a power
  /// of two, 64 or more). `parallel` compresses the blocks of groups; it may be null.
  SectionWriter(base::File* file, FileId id, uint32_t alignment,
                base::Parallel* parallel = nullptr);

  /// Appends bytes that belong to no block (the file header, the footer).
  Status AppendRaw(std::string_view bytes);
  /// Starts a section at the next alignment. Requires: none is open.
  Status Begin(SectionKind kind, uint32_t owner, uint32_t flags = 0);
  /// Requires: a section is open, raw.size() <= kBlockRawBytesMax.
  Result<BlockHandle> Append(const BlockContent& content);
  /// Appends the blocks of `*group`, which is empty afterwards, and calls placed(handle) for each.
  /// While they are compressed in parallel this may wait for the next call of another function that
  /// appends, of End or Flush. Requires: as Append. Lifetime: what `placed` refers to, until then.
  using Placed = std::function<void(const BlockHandle& handle)>;
  Status AppendGroup(BlockGroup* group, Placed placed);
  /// Appends a block of another file as it is stored there, with the checksum of its new place.
  /// Requires: a section is open; CheckStoredBlock accepted it.
  Status AppendStored(std::string_view stored);
  Status End(uint64_t count);
  /// Appends a block that belongs to no section at the next alignment. Requires: none is open.
  Result<BlockHandle> AppendAlone(const BlockContent& content);
  /// Pads with zeros to a multiple of `alignment`.
  Status PadTo(uint32_t alignment);
  /// Writes out what is buffered, and frees the memory that groups took.
  Status Flush();

  uint64_t offset() const { return offset_; }
  /// Bytes that the file has been given.
  uint64_t written_bytes() const { return flushed_; }
  uint32_t alignment() const { return alignment_; }
  /// Whether groups are compressed in parallel.
  bool is_parallel() const { return parallel_ != nullptr; }
  /// Bytes of the group that is not appended yet, before compression.
  uint64_t waiting_bytes() const { return group_.unpacked_bytes; }
  uint64_t memory_bytes() const {
    return buffer_.capacity() + scratch_.capacity() + group_.raw.capacity() + scratches_bytes_;
  }
  const FileId& id() const { return id_; }
  const std::vector<SectionEntry>& sections() const { return sections_; }
  /// XXH3-128 of every byte so far.
  Hash128 hash() const { return hash_.Finish(); }

 private:
  Status BeginGroup();
  Status FinishGroup();
  std::string_view Payload(size_t member, std::string* scratch) const;
  Result<BlockHandle> EmitMember(size_t member, std::string_view payload);
  Result<BlockHandle> EmitBlock(const BlockContent& content, std::string_view payload);
  Result<BlockHandle> EmitStored(std::string_view stored, std::optional<uint32_t> first);
  Result<BlockHandle> Emit(size_t begin);
  Status Emitted(size_t size);
  Status WriteBuffer();
  Status Pad(uint32_t alignment);

  base::File* file_;
  FileId id_;
  uint32_t alignment_;
  base::Parallel* parallel_;
  uint64_t offset_ = 0;   ///< Of the next byte.
  uint64_t flushed_ = 0;  ///< Bytes given to the file.
  std::string buffer_;
  std::string scratch_;  // For compression.
  StreamingHash128 hash_;
  StreamingHash64 section_hash_;
  std::vector<SectionEntry> sections_;
  bool open_ = false;

  // The group that is being compressed: its blocks, and the payload of each with its buffer.
  BlockGroup group_;
  Placed placed_;
  std::vector<BlockContent> contents_;
  std::vector<std::string> scratches_;
  std::vector<std::string_view> payloads_;
  uint64_t scratches_bytes_ = 0;                ///< As of the group before.
  std::unique_ptr<base::Parallel::Loop> loop_;  ///< Null: there is no such group. Ends first.
};

}  // namespace tandem::format
