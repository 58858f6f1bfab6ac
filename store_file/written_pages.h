// Which bytes of a file that is being written stay in the system's cache, and lets go of the
// others. They begin to be written to the disk early: only pages that are there can go, and the
// sync at the end has less to do.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/file_system.h"
#include "format/block/section_writer.h"
#include "tandem/status.h"

namespace tandem::format {

/// Threads: one at a time. Lifetime: `file` outlives it.
class WrittenPages {
 public:
  WrittenPages(base::File* file, bool keeps_indexes) : file_(file), keeps_indexes_(keeps_indexes) {}

  /// Another row was added, whose bytes are among those after the `offset` of the call before. The
  /// blocks so far end at `offset`. Errors: those of Advance.
  Status AddRow(bool is_kept, const SectionWriter& out);
  /// The file was given more bytes. Errors: those of File::StartWriteBack and AwaitWriteBack.
  Status Advance(const SectionWriter& out);
  /// The file is complete and synced.
  void Finish(std::span<const SectionEntry> sections);

 private:
  // Bytes from the end of the run before up to `end`.
  struct Run {
    uint64_t end = 0;
    bool is_kept = false;
  };
  void AddRun(uint64_t end, bool is_kept);
  void DropRows(uint64_t begin, uint64_t end);

  base::File* const file_;
  const bool keeps_indexes_;
  std::vector<Run> runs_;
  uint64_t rows_end_ = 0;         // Of the runs.
  bool keeps_next_ = false;       // Of the block that is not written yet.
  bool keeps_any_ = false;        // Rows.
  uint64_t begun_to_ = 0;         // Write-back has begun for what is before.
  uint64_t begun_to_before_ = 0;  // One step ago.
};

}  // namespace tandem::format
