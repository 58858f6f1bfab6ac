// A store file verified a piece at a time, for work that must not hold a thread for long: every
// block against its checksum, decompressed, and the padding between them, past every cache.
#pragma once

#include <cstdint>

#include "format/block/section_table.h"
#include "format/file_window.h"
#include "store_file/store_file.h"
#include "tandem/status.h"

namespace tandem::format {

/// Threads: one at a time. Lifetime: the file outlives it.
class IncrementalVerifier {
 public:
  explicit IncrementalVerifier(const StoreFile* file)
      : file_(*file), window_(&file->blocks().file(), file->size_bytes()) {}

  /// Every byte was verified.
  bool done() const { return done_; }
  /// Verifies the next part, at least one block and then until `bytes` bytes are done, and returns
  /// the number of bytes verified. After an error the rest is skipped. Errors: kCorruption naming
  /// file and offset, kIoError.
  Result<uint64_t> Step(uint64_t bytes);

 private:
  Status Begin();
  Status ToSection(const SectionEntry& section);
  Result<uint64_t> VerifyBlock(const SectionEntry& section);

  const StoreFile& file_;
  FileWindow window_;
  size_t section_ = 0;
  uint64_t at_ = 0;  // Everything before is verified.
  bool done_ = false;
};

}  // namespace tandem::format
