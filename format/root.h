// ROOT: which manifest and log segments make up the database, and whether it was closed cleanly. It
// has two 4 KiB slots after the file header, at 4,096 and 8,192, which are written alternately and
// synced. The valid slot with the higher generation is current; a clean close writes both. The byte
// table is in root.cc.
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

/// A manifest or segment that ROOT names. Length and checksum are binding only when the state is
/// closed.
struct BoundFile {
  FileNumber number;
  FileId id;
  uint64_t length_bytes = 0;
  uint64_t last_checksum = 0;  ///< Of its last frame; of its header when there is none.
};

/// The number of segments that fit in a slot. Each segment's header states the end of the one
/// before it.
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

/// The content of ROOT, with its header. Its file id is the database id.
struct RootFile {
  DatabaseId database;
  RootRecord record;
  size_t slot = 0;       ///< 0 or 1: the current one, the last that is known to be durable.
  bool writable = true;  ///< False: a later version made it; this build may only read.
};
/// Errors: kCorruption (no valid slot, another length, ...), kUnsupported, kIoError.
Result<RootFile> ReadRoot(base::File* file);
/// Both slots as they are on disk, for tools that inspect files. nullopt: the checksum does not
/// match, for instance after a crash during its write. Errors: as ReadRoot, except that no slot
/// need be valid.
Result<std::array<std::optional<RootRecord>, 2>> ReadRootSlots(base::File* file);
/// Writes a new ROOT with both slots, synced. Its space is reserved and synced first, so that after
/// a crash missing bytes are zeros, not old disk content. Requires: the file is empty.
Status CreateRoot(base::File* file, const RootFile& root);
/// Writes root->record into the slot that is not current, syncs and makes it current; with `both`,
/// then writes the other slot too. Requires: a higher generation than any before. Errors: kNoSpace
/// (the record may or may not be read back; a later call may succeed), kIoError (also for a failed
/// sync: nothing may be written to the file again).
Status WriteRoot(base::File* file, RootFile* root, bool both);
/// Writes the current slot again unchanged and syncs. A reader that becomes the writer does this
/// first: a failed sync in an earlier process may have left a slot that is readable but not
/// durable, and the other slot must not be overwritten until this one is durable. Errors: as
/// WriteRoot.
Status RewriteRoot(base::File* file, const RootFile& root);

}  // namespace tandem::format
