// The manifest: a file header and a chain of frames (format/frame.h). The first frame holds the
// whole catalog, each later one an edit; every frame is synced before the next is written. A
// frame's sequence is the number of its edit, from 1; its durable mark is the number before it. A
// payload:
//
//   OFFSET SIZE FIELD         MEANING
//        0    8 epoch         of the owner who wrote it; never shrinks
//        8    8 log segment   a segment of the log, 0 for none ...
//       16    8 log length    ... of which this many bytes were durable when the frame was written
//       24    + edit          catalog edit
//
// Example: an empty edit under epoch 1, segment 2 durable up to byte 160 (hex)
//   01 00 00 00 00 00 00 00  02 00 00 00 00 00 00 00  A0 00 00 00 00 00 00 00
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/file_system.h"
#include "engine/storage/catalog.h"
#include "format/frame.h"
#include "format/root.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::format {

/// How much of the log was durable.
struct LogMark {
  FileNumber segment;
  uint64_t length_bytes = 0;
};

/// What a manifest says, and where it ends.
struct ManifestContents {
  Catalog catalog;
  LogMark log;
  BoundFile end;                 ///< After the last good frame.
  uint64_t first_frame_end = 0;  ///< After the whole catalog.
  uint64_t last_edit = 0;
};

/// The edit in the payload of a frame of a manifest. Errors: as DecodeEdit.
Result<CatalogEdit> DecodeEditOf(const Frame& frame);

/// Applies the next frame of a manifest, and checks of the catalog what ApplyEditInPlace does.
/// After an error the contents are half changed. Errors: kCorruption (another edit's turn, an epoch
/// that shrinks), those of ApplyEditInPlace.
Status ApplyManifestFrame(const Frame& frame, ManifestContents* contents);

/// Reads the manifest that ROOT names. A torn last frame ends it, unless ROOT is closed: then
/// length and checksum must agree. Threads: a writer may append meanwhile. Errors: kCorruption
/// naming file and offset, kUnsupported, kIoError.
Result<ManifestContents> ReadManifest(base::File* file, const RootFile& root);

/// The part of a manifest that is known to be good.
struct ManifestPrefix {
  ManifestContents contents;  ///< After the last good edit; last_edit 0: there is none.
  DatabaseId database;
  std::string reason;        ///< Why it ends there.
  uint64_t edits_after = 0;  ///< Good frames after the first bad bytes.
  bool is_torn = false;      ///< Nonzero bytes follow: an edit was there, or begun.
  bool header_is_good = true;
};

/// Reads a manifest, whatever ROOT says, up to its first edit that is broken or does not fit.
/// `identity` (its number and id) is used when the header is broken; without it (null) a broken
/// header is an error. Errors: kCorruption (the header; it is not `identity`), kUnsupported,
/// kIoError.
Result<ManifestPrefix> ReadManifestPrefix(base::File* file, const BoundFile* identity,
                                          const DatabaseId& database);

/// Appends to one manifest. After any error but kInvalidArgument it accepts nothing more: a new
/// manifest has to follow. Threads: one at a time.
class ManifestWriter {
 public:
  /// Writes a new manifest with the whole of `catalog` and syncs it; the caller syncs the name.
  /// Requires: the file is empty. Errors: kNoSpace, kIoError, kUnsupported (the catalog passes a
  /// frame's size).
  static Result<std::unique_ptr<ManifestWriter>> Create(std::unique_ptr<base::File> file,
                                                        const BoundFile& identity,
                                                        const Catalog& catalog, LogMark log);
  /// Continues a manifest that was closed cleanly.
  static std::unique_ptr<ManifestWriter> Resume(std::unique_ptr<base::File> file,
                                                const ManifestContents& contents);

  /// Appends `edit` and syncs. Errors: kInvalidArgument (too large; nothing was written), kNoSpace,
  /// kIoError.
  Status Append(const CatalogEdit& edit, uint64_t epoch, LogMark log);
  /// After the last durable frame.
  const BoundFile& end() const { return end_; }
  uint64_t first_frame_end() const { return first_frame_end_; }
  /// False after an error other than kInvalidArgument.
  bool usable() const { return usable_; }

 private:
  ManifestWriter(std::unique_ptr<base::File> file, const BoundFile& end);

  std::unique_ptr<base::File> file_;
  BoundFile end_;
  uint64_t first_frame_end_ = 0;
  uint64_t last_edit_ = 0;
  bool usable_ = true;
};

}  // namespace tandem::format
