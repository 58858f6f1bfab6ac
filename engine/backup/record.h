// The record of one backup: which files it is made of, and the catalog that joins them. A file
// "backup-N": the file header (kind 6, N as its file number) and one frame (format/frame.h) with
// number 1, durable mark 0, count 1 and the time of the backup, microseconds since 1970, as its
// timestamp. Nothing follows the frame. Its payload, little-endian:
//
//   OFFSET SIZE FIELD      MEANING
//        0    8 epoch      of the store
//        8    8 segments   how many follow, at most 1,048,576
//       16   56 segment    one each, oldest first: number u64, id 16 bytes, length u64, checksum of
//                          its last frame u64, XXH3-128 of its bytes, low half first
//        +    + edit       the whole catalog as one catalog edit
//
// It has no file names: they follow from number, id and hash. Example: the payload of a store of
// epoch 1 without segments begins (hex)
//   01 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "engine/storage/catalog.h"
#include "format/root.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::format {

/// A log segment as a backup holds it.
struct BackupSegment {
  BoundFile end;  ///< Its length is that of the backup's file.
  Hash128 hash;   ///< Of these bytes.
};

struct BackupRecord {
  uint64_t number = 0;
  int64_t created_micros = 0;
  Catalog catalog;
  std::vector<BackupSegment> segments;  ///< Those of the catalog, in its order.
};

/// Writes `record` to `file`, which is empty, and syncs it; `id` is random. Errors: kUnsupported
/// (the catalog passes a frame's size), kIoError, kNoSpace.
Status WriteBackupRecord(base::File* file, const FileId& id, const BackupRecord& record);
/// Reads and checks a record, that of backup `number`. Errors: kCorruption naming file, offset,
/// expected and found; kUnsupported, kIoError.
Result<BackupRecord> ReadBackupRecord(base::File* file, uint64_t number);

}  // namespace tandem::format
