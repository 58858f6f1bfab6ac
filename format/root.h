// ROOT: which manifest and log segments are the database, and whether it was closed cleanly. Two
// 4 KiB slots behind the file header, at 4,096 and 8,192, written in turn and synced; the valid one
// with the higher generation counts; a clean close writes both. The byte table stands in root.cc.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::format {

/// A manifest or segment as ROOT binds it. Length and checksum are binding when the state is closed.
struct BoundFile {
  FileNumber number;
  FileId id;
  uint64_t length_bytes = 0;
  uint64_t last_checksum = 0;  ///< Of its last frame; of its header when there is none.
};

struct RootRecord {
  uint64_t generation = 0;
  bool closed = false;
  uint64_t epoch = 1;
  BoundFile manifest;
  std::vector<BoundFile> segments;  ///< Only when closed.
};

/// What ROOT holds, with its header. Errors: kCorruption, kUnsupported.
struct RootFile {
  DatabaseId database;
  RootRecord record;
};
Result<RootFile> ReadRoot(base::File* file);
/// Writes a new ROOT with both slots, synced. Requires: the file is empty.
Status CreateRoot(base::File* file, const RootFile& root);
/// Writes the slot that is not current and syncs; with `both`, then the other one too.
Status WriteRoot(base::File* file, const RootFile& root, bool both);

}  // namespace tandem::format
