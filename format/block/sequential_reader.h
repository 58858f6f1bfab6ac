// Reads consecutive blocks of a file front to back with a few large reads, bypassing the cache.
// Only a block's own header says where it ends.
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
  /// The blocks in [begin, end) of the file. `read_bytes`: what one read fetches; a larger block
  /// takes two.
  SequentialReader(const BlockFile& file, uint64_t begin, uint64_t end,
                   uint64_t read_bytes = FileWindow::kReadBytes)
      : file_(file), window_(&file.file(), end, read_bytes, file.known()), at_(begin), end_(end) {}
  /// The blocks of a section.
  SequentialReader(const BlockFile& file, const SectionEntry& section)
      : SequentialReader(file, section.offset, section.offset + section.size_bytes) {}

  bool done() const { return at_ >= end_; }
  /// Where the next block starts.
  uint64_t offset() const { return at_; }
  /// The kind in the header of the next block, before its checksum is verified. Errors: kCorruption
  /// also at the end.
  Result<BlockKind> NextKind();
  /// Decodes the next block and moves past it. Errors: kCorruption also when it or its padding does
  /// not end within the run.
  Result<BlockRef> Next(BlockKind expected);
  /// The next block as it is stored, header and payload, its checksum verified; moves past it.
  /// Errors: as Next. Lifetime: until the next call.
  Result<std::string_view> NextStored();
  /// Moves past the next block without decoding it.
  Status Skip();

 private:
  /// Size of the next block with its header.
  Result<uint32_t> StoredBytes();

  const BlockFile& file_;
  FileWindow window_;
  uint64_t at_;
  const uint64_t end_;
};

}  // namespace tandem::format
