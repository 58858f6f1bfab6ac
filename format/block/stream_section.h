// Sections that hold one stream of bytes: postings, directories, digests. The stream is split into
// blocks of equal size that are never compressed, so the block of any byte is found by arithmetic.
//
// Block i holds bytes [i * kStreamBlockBytes, (i + 1) * kStreamBlockBytes) of the stream, the last
// block the rest; its `first` is i, its count 0. Block i starts at the section's offset +
// i * (kBlockHeaderBytes + kStreamBlockBytes). The section's count is the size of the stream.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "format/block/block_file.h"
#include "format/block/section_writer.h"
#include "tandem/status.h"

namespace tandem::format {

inline constexpr uint32_t kStreamBlockBytes = 32 * 1024;

struct StreamKind {
  SectionKind section{};
  BlockKind block{};
};

/// Writes `bytes` as one section. Requires: not empty.
Status WriteStream(StreamKind kind, uint32_t owner, uint32_t flags, std::string_view bytes,
                   SectionWriter* out);

/// Reads pieces of one stream and keeps the last block, so neighbouring pieces cost one read.
/// Threads: one at a time. Lifetime: `file` outlives it.
class StreamReader {
 public:
  enum class Through : uint8_t { kCache, kFile };

  StreamReader(const BlockFile& file, const SectionEntry& section, BlockKind kind, Through through)
      : file_(&file), section_(section), kind_(kind), through_(through) {}

  uint64_t size_bytes() const { return section_.count; }
  /// Bytes [at, at + size). Errors: kCorruption when the stream does not hold them, or the section
  /// is not as long as its stream. Lifetime: valid until the next call.
  Result<std::string_view> Read(uint64_t at, uint64_t size);

 private:
  Status Load(uint64_t number);

  const BlockFile* file_;
  SectionEntry section_;
  BlockKind kind_;
  Through through_;
  BlockRef block_;
  uint64_t block_number_ = 0;
  std::string joined_;  // Pieces that span blocks are assembled here.
};

/// The whole stream of a section, bypassing the cache. Errors: kCorruption.
Result<std::string> ReadWholeStream(const BlockFile& file, const SectionEntry& section,
                                    BlockKind kind);

}  // namespace tandem::format
