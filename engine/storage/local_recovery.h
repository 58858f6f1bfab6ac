// Reads a local database up to its catalog, before any frame is replayed and without a write: ROOT,
// the manifest, and whether all named files exist.
#pragma once

#include <memory>
#include <vector>

#include "base/file_system.h"
#include "engine/storage/files.h"
#include "engine/storage/manifest.h"
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
  std::vector<LocalFile> listing;  ///< After the manifest was read.
};

/// For the owner, who holds the lock. Errors: kNotFound (no database), kCorruption, kUnsupported,
/// kIoError.
Result<RecoveredFiles> RecoverForWriting(base::Directory* directory);
/// For a reader, while another process may write. The caller took a shared lock on the directory's
/// files before the call, where there are such locks, so what the catalog names stays. Errors: as
/// above; kCorruption also when what it reads changes meanwhile.
Result<RecoveredFiles> RecoverForReading(base::Directory* directory);
/// One more than the largest number of a file that the catalog names.
uint64_t NumbersNamed(const format::Catalog& catalog);

/// Opens segments for replay. A missing one is kCorruption. Lifetime: `directory` outlives it.
wal::SegmentOpener SegmentsOf(base::Directory* directory);

}  // namespace tandem::engine
