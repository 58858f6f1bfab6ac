// Reading a local database up to its catalog, before any frame is replayed and without a write:
// ROOT, the manifest, and whether all named files are there.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "base/file_system.h"
#include "engine/local_files.h"
#include "format/manifest.h"
#include "format/root.h"
#include "format/types.h"
#include "tandem/status.h"
#include "wal/log.h"

namespace tandem::engine {

/// Lifetime: `segments` point into `root`; moving the whole keeps them valid.
struct RecoveredFiles {
  std::unique_ptr<base::File> root_file;
  format::RootFile root;
  std::unique_ptr<base::File> manifest_file;
  format::ManifestContents manifest;
  std::vector<wal::ReplaySegment> segments;
  /// Only for a reader beside a writer: handles outlive the names. Of segments it holds
  /// kHeldSegmentsMax at most, the oldest, which go first.
  std::map<format::FileNumber, std::shared_ptr<base::File>> store_files, segment_files;
  std::vector<LocalFile> listing;  ///< Only for the writer.
};

/// Segments of which a reader holds a handle: a database has few more, unless an earlier version
/// left them.
inline constexpr size_t kHeldSegmentsMax = 16;

/// For the owner, who holds the lock. Errors: kNotFound (no database), kCorruption, kUnsupported,
/// kIoError.
Result<RecoveredFiles> RecoverForWriting(base::Directory* directory);
/// Handles on segments and store files, by number: a number names one file for good.
using OpenFiles = std::map<format::FileNumber, std::shared_ptr<base::File>>;

/// For a reader beside a writer. Every file is open afterwards, segments above kHeldSegmentsMax
/// apart. Errors: as above; kCorruption also when what it reads changes underneath. `held` keeps
/// what could be opened for the next attempt, so that a writer that removes files as fast as they
/// are opened does not stay ahead.
Result<RecoveredFiles> RecoverForReading(base::Directory* directory, OpenFiles* held);

/// Opens segments for replay: `held` ones as they are, others by name. A missing one is
/// kCorruption. Lifetime: both outlive it.
wal::SegmentOpener SegmentsOf(base::Directory* directory, const OpenFiles& held);

}  // namespace tandem::engine
