// The reading half of recovery.
#include "engine/storage/local_recovery.h"

#include <algorithm>

#include "base/status_macros.h"
#include "engine/storage/files.h"
#include "engine/storage/storage.h"
#include "format/corruption.h"
#include "format/file_header.h"

namespace tandem::engine {
namespace {

using format::FileNumber;

// Opens a file that ROOT or the manifest names: its absence is damage.
Result<std::unique_ptr<base::File>> OpenNamed(base::Directory* directory, const std::string& name,
                                              base::OpenMode mode) {
  Result<std::unique_ptr<base::File>> file = directory->Open(name, mode);
  if (!file && file.error().code() == StatusCode::kNotFound) {
    return Status::Corruption(name + ": the database names this file, but it does not exist");
  }
  return file;
}

Status ReadRootFile(base::Directory* directory, base::OpenMode mode, RecoveredFiles* files) {
  Result<std::unique_ptr<base::File>> file = directory->Open(kRootName, mode);
  if (!file && file.error().code() == StatusCode::kNotFound) {
    ASSIGN_OR_RETURN(const std::vector<LocalFile> others, ListLocalFiles(directory));
    if (!others.empty()) return RootIsMissing(others);
    return Status::NotFound("no database here: ROOT does not exist");
  }
  ASSIGN_OR_RETURN(files->root_file, std::move(file));
  Result<format::RootFile> root = format::ReadRoot(files->root_file.get());
  if (!root && root.error().code() == StatusCode::kCorruption) {
    ASSIGN_OR_RETURN(const bool half_made, IsHalfMadeRoot(directory, files->root_file.get()));
    if (half_made) return Status::NotFound("no database here: its creation was never finished");
  }
  ASSIGN_OR_RETURN(files->root, std::move(root));
  if (files->root.record.manifest.number.value == 0) {
    return Status::NotFound("no database here: its creation was never finished");
  }
  return {};
}

// A closed ROOT binds the newest segments of the catalog, as many as it has room for.
Status BindSegments(RecoveredFiles* files) {
  const std::vector<format::BoundFile>& bound = files->root.record.segments;
  std::vector<wal::ReplaySegment>& segments = files->segments;
  const size_t expected = std::min(segments.size(), format::kRootSegmentsMax);
  if (bound.size() != expected) {
    return format::CorruptionAt(kRootName, 4096,
                                format::Mismatch("number of segments", expected, bound.size()));
  }
  for (size_t i = 0; i < bound.size(); ++i) {
    wal::ReplaySegment& segment = segments[segments.size() - expected + i];
    if (bound[i].number != segment.number || bound[i].id != segment.id) {
      return format::CorruptionAt(
          kRootName, 4096,
          format::Mismatch("segment", segment.number.value, bound[i].number.value));
    }
    segment.bound = &bound[i];
  }
  return {};
}

// Lists what replay needs to know about each segment.
Status ListSegments(RecoveredFiles* files) {
  for (const format::SegmentRecord& record : files->manifest.catalog.segments) {
    wal::ReplaySegment segment{.number = record.number, .id = record.id};
    if (files->manifest.log.segment == record.number) {
      segment.durable_bytes = files->manifest.log.length_bytes;
    }
    files->segments.push_back(segment);
  }
  return files->root.record.closed ? BindSegments(files) : Status();
}

// After a clean close no segment or manifest can be newer than those that ROOT binds: if one is,
// ROOT is an old copy.
Status CheckNothingNewer(const std::vector<LocalFile>& listing, const RecoveredFiles& files) {
  FileNumber newest = files.root.record.manifest.number;
  for (const wal::ReplaySegment& segment : files.segments) {
    newest = std::max(newest, segment.number);
  }
  for (const LocalFile& file : listing) {
    const bool chained =
        file.kind == LocalFileKind::kManifest || file.kind == LocalFileKind::kSegment;
    if (chained && file.number > newest) {
      return Status::Corruption(file.name +
                                ": newer than ROOT, which says that the database is closed");
    }
  }
  return {};
}

// Whether a frame follows the header of a segment of this database. A partial header is from a roll
// that a crash interrupted; a rewritten segment holds only what the segments that it was to replace
// hold.
Result<bool> HasFrames(base::Directory* directory, const std::string& name,
                       const format::DatabaseId& database) {
  Result<std::unique_ptr<base::File>> file = directory->Open(name, base::OpenMode::kReadOnly);
  if (!file)
    return file.error().code() == StatusCode::kNotFound ? Result<bool>(false) : file.error();
  const Result<wal::SegmentHeader> header = wal::ReadSegmentHeader(file->get());
  if (!header || header->spec.database != database || wal::IsRewritten(header->spec)) return false;
  ASSIGN_OR_RETURN(const uint64_t size, (*file)->Size());
  format::FrameReader frames(file->get(), header->spec.id, wal::kSegmentHeaderBytes, size);
  ASSIGN_OR_RETURN(const auto first, frames.Next());
  return first.has_value() && first->frame.previous == header->checksum;
}

// A segment takes frames only once the manifest durably names it. So a newer segment with frames
// proves that the manifest has lost its end.
Status CheckNoFramesUnnamed(base::Directory* directory, const RecoveredFiles& files) {
  FileNumber newest(0);
  for (const wal::ReplaySegment& segment : files.segments) {
    newest = std::max(newest, segment.number);
  }
  for (const LocalFile& file : files.listing) {
    if (file.kind != LocalFileKind::kSegment || file.number <= newest) continue;
    ASSIGN_OR_RETURN(const bool has_frames,
                     HasFrames(directory, file.name, files.manifest.catalog.database));
    if (!has_frames) continue;
    return Status::Corruption(ManifestName(files.root.record.manifest.number) +
                              ": it does not name " + file.name +
                              ", which holds frames: the manifest has lost its end");
  }
  return {};
}

Result<RecoveredFiles> Recover(base::Directory* directory, base::OpenMode mode) {
  RecoveredFiles files;
  RETURN_IF_ERROR(ReadRootFile(directory, mode, &files));
  ASSIGN_OR_RETURN(files.manifest_file,
                   OpenNamed(directory, ManifestName(files.root.record.manifest.number), mode));
  ASSIGN_OR_RETURN(files.manifest, format::ReadManifest(files.manifest_file.get(), files.root));
  RETURN_IF_ERROR(ListSegments(&files));
  ASSIGN_OR_RETURN(files.listing, ListLocalFiles(directory));
  RETURN_IF_ERROR(files.root.record.closed ? CheckNothingNewer(files.listing, files)
                                           : CheckNoFramesUnnamed(directory, files));
  return files;
}

Status OnlyReadable(const std::string& what) {
  return Status::Unsupported("a later version made " + what + "; this one can only read it");
}

// An unreadable header is reported by the reader of the file.
Status CheckWritable(base::File* file, format::FileKind kind) {
  char bytes[format::kFileHeaderBytes];
  ASSIGN_OR_RETURN(const size_t count, file->Read(0, bytes));
  const Result<format::FileHeader> header =
      format::DecodeFileHeader({bytes, count}, kind, file->name());
  return header && !header->writable() ? OnlyReadable(file->name()) : Status();
}

// Checks the segments too, which must also open for writing.
Status CheckWritable(base::Directory* directory, const RecoveredFiles& files) {
  if (!files.root.writable) return OnlyReadable("this database");
  RETURN_IF_ERROR(CheckWritable(files.manifest_file.get(), format::FileKind::kManifest));
  for (const wal::ReplaySegment& segment : files.segments) {
    ASSIGN_OR_RETURN(const auto file,
                     OpenNamed(directory, SegmentName(segment.number), base::OpenMode::kReadWrite));
    RETURN_IF_ERROR(CheckWritable(file.get(), format::FileKind::kLog));
  }
  return {};
}

Status CheckStoreFilesExist(const RecoveredFiles& files) {
  std::vector<FileNumber> found;
  for (const LocalFile& file : files.listing) {
    if (file.kind == LocalFileKind::kStore) found.push_back(file.number);
  }
  std::sort(found.begin(), found.end());
  for (const auto& [number, record] : files.manifest.catalog.files) {
    if (!std::binary_search(found.begin(), found.end(), number)) {
      return Status::Corruption(StoreFileName(number) +
                                ": the manifest names this file, but it does not exist");
    }
  }
  return {};
}

}  // namespace

Result<RecoveredFiles> RecoverForWriting(base::Directory* directory) {
  ASSIGN_OR_RETURN(RecoveredFiles files, Recover(directory, base::OpenMode::kReadWrite));
  RETURN_IF_ERROR(CheckWritable(directory, files));
  RETURN_IF_ERROR(CheckStoreFilesExist(files));
  return files;
}

Result<RecoveredFiles> RecoverForReading(base::Directory* directory) {
  ASSIGN_OR_RETURN(RecoveredFiles files, Recover(directory, base::OpenMode::kReadOnly));
  RETURN_IF_ERROR(CheckStoreFilesExist(files));
  return files;
}

uint64_t NumbersNamed(const format::Catalog& catalog) {
  uint64_t last = catalog.files.empty() ? 0 : catalog.files.rbegin()->first.value;
  for (const format::SegmentRecord& segment : catalog.segments) {
    last = std::max(last, segment.number.value);
  }
  return last + 1;
}

wal::SegmentOpener SegmentsOf(base::Directory* directory) {
  return [directory](FileNumber number) -> Result<std::shared_ptr<base::File>> {
    ASSIGN_OR_RETURN(std::unique_ptr<base::File> file,
                     OpenNamed(directory, SegmentName(number), base::OpenMode::kReadOnly));
    return std::shared_ptr<base::File>(std::move(file));
  };
}

}  // namespace tandem::engine
