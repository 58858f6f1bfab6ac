// Blocks that stand one after the other in a file, read front to back with few large reads, past
// the cache. Where a block ends is known from its own header only.
#pragma once

#include <cstdint>

#include "format/block/block_file.h"
#include "format/block/section_writer.h"
#include "format/file_window.h"
#include "tandem/status.h"

namespace tandem::format {

/// Threads: one at a time. Lifetime: `file` outlives it.
class SequentialReader {
 public:
  /// The blocks in [begin, end) of the file. `block_bytes_likely`: what one read should bring at
  /// least.
  SequentialReader(const BlockFile& file, uint64_t begin, uint64_t end,
                   uint64_t block_bytes_likely = 0)
      : file_(file),
        window_(&file.file(), end),
        at_(begin),
        end_(end),
        likely_(block_bytes_likely) {}
  /// The blocks of a section.
  SequentialReader(const BlockFile& file, const SectionEntry& section)
      : SequentialReader(file, section.offset, section.offset + section.size_bytes) {}

  bool done() const { return at_ >= end_; }
  /// Where the next block starts.
  uint64_t offset() const { return at_; }
  /// What the header of the next block says of its kind; no checksum has vouched for it. Errors:
  /// kCorruption also at the end.
  Result<BlockKind> NextKind();
  /// Decodes the next block and steps over it. Errors: kCorruption also when it or its padding does
  /// not end within the run.
  Result<BlockRef> Next(BlockKind expected);
  /// Steps over the next block without looking at its content.
  Status Skip();

 private:
  /// Size of the next block with its header.
  Result<uint32_t> StoredBytes();

  const BlockFile& file_;
  FileWindow window_;
  uint64_t at_;
  const uint64_t end_;
  const uint64_t likely_;
};

}  // namespace tandem::format
