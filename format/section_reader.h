// Walking the blocks of a section front to back, for sections that are loaded whole.
#pragma once

#include <cstdint>

#include "format/block_file.h"
#include "format/section_writer.h"
#include "tandem/status.h"

namespace tandem::format {

/// Reads past the cache. Threads: one at a time. Lifetime: `file` and `section` outlive it.
class SectionReader {
 public:
  SectionReader(const BlockFile& file, const SectionEntry& section)
      : file_(file), section_(section), offset_(section.offset) {}

  bool done() const { return offset_ == section_.offset + section_.size_bytes; }
  /// Where the next block starts, for messages.
  uint64_t offset() const { return offset_; }
  /// The next block. Errors: kCorruption also when it does not end within the section.
  Result<BlockRef> Next(BlockKind expected);

 private:
  const BlockFile& file_;
  const SectionEntry& section_;
  uint64_t offset_;
};

}  // namespace tandem::format
