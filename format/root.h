// ROOT: which manifest and log segments are the database, and whether it was closed cleanly. Two
// 4 KiB slots behind the file header, at 4,096 and 8,192, written in turn and synced; the valid one
// with the higher generation counts; a clean close writes both. The byte table stands in root.cc.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::format {

/// A manifest or segment as ROOT binds it. Length and checksum are binding when the state is
/// closed.
struct BoundFile {
  FileNumber number;
  FileId id;
  uint64_t length_bytes = 0;
  uint64_t last_checksum = 0;  ///< Of its last frame; of its header when there is none.
};

/// Segments that a slot has room for; each vouches for the end of the one before it.
inline constexpr size_t kRootSegmentsMax = 100;
inline constexpr size_t kRootFileBytes = 3 * 4096;

struct RootRecord {
  uint64_t generation = 0;
  bool closed = false;
  uint64_t epoch = 1;
  uint64_t next_file_number = 1;    ///< Numbers below are given out or reserved, as in the catalog.
  BoundFile manifest;               ///< Number 0 while the database is being created.
  std::vector<BoundFile> segments;  ///< Only when closed: the newest, at most kRootSegmentsMax.
};

/// What ROOT holds, with its header. Its file id is the database id.
struct RootFile {
  DatabaseId database;
  RootRecord record;
  size_t slot = 0;       ///< 0 or 1: the current one, the last that is known to be durable.
  bool writable = true;  ///< False: a later version made it; this build may only read.
};
/// Errors: kCorruption (no valid slot, another length, ...), kUnsupported, kIoError.
Result<RootFile> ReadRoot(base::File* file);
/// Both slots as they stand, for tools that look at files; nullopt: its checksum does not agree, as
/// a crash while it was written leaves it. Errors: as ReadRoot, but not that no slot is valid.
Result<std::array<std::optional<RootRecord>, 2>> ReadRootSlots(base::File* file);
/// Writes a new ROOT with both slots, synced. Its space is reserved and synced before, so that a
/// crash leaves zeros where its bytes are missing and not what stood on the disk. Requires: the
/// file is empty.
Status CreateRoot(base::File* file, const RootFile& root);
/// Writes root->record into the slot that is not current, syncs and makes it current; with `both`,
/// then the other one too. Requires: a generation above all before. Errors: kNoSpace (the record
/// may be read back or not; a later call may succeed), kIoError (a failed sync among them: nothing
/// may be written to the file again).
Status WriteRoot(base::File* file, RootFile* root, bool both);
/// Writes the current slot again as it is and syncs. A reader that becomes the writer does so
/// first: a sync that failed in a process before may have left a slot that is seen but not durable,
/// and the other slot must stay until this one is. Errors: as WriteRoot.
Status RewriteRoot(base::File* file, const RootFile& root);

}  // namespace tandem::format
