// A file that was linked is the source's own and as sound as that; one that is copied is hashed.
#include "engine/backup/checkpoint.h"

#include <utility>

#include "base/status_macros.h"
#include "engine/backup/staged_database.h"
#include "engine/storage/files.h"
#include "engine/storage/storage.h"
#include "format/corruption.h"
#include "format/hash.h"

namespace tandem::engine {
namespace {

bool HasToBeCopied(const Status& status) {
  return status.code() == StatusCode::kUnsupported || status.code() == StatusCode::kNotFound;
}

// A name refers to another file than the source's handle only if another program interfered.
Status CheckLinked(StagedDatabase* draft, const std::string& name, uint64_t size_bytes) {
  ASSIGN_OR_RETURN(const auto file, draft->directory()->Open(name, base::OpenMode::kReadOnly));
  ASSIGN_OR_RETURN(const uint64_t size, file->Size());
  if (size == size_bytes) return {};
  return format::CorruptionAt(name, std::min(size, size_bytes),
                              format::Mismatch("bytes of file", size_bytes, size));
}

Status AddStoreFile(const PinnedStore& pinned, const format::FileRecord& record,
                    StagedDatabase* draft) {
  const std::string name = StoreFileName(record.number);
  draft->Expect(name);
  const Status linked = pinned.files->LinkStoreFile(record.number, draft->directory());
  if (linked.ok()) return CheckLinked(draft, name, record.size_bytes);
  if (!HasToBeCopied(linked)) return linked;
  ASSIGN_OR_RETURN(const auto file, pinned.files->OpenStoreFile(record.number));
  ASSIGN_OR_RETURN(const format::Hash128 found,
                   draft->AddCopy(name, file.get(), record.size_bytes));
  return CheckHash(name, record.hash, found);
}

}  // namespace

Status CheckHash(const std::string& name, const format::Hash128& expected,
                 const format::Hash128& found) {
  if (found == expected) return {};
  return Status::Corruption(name + ": hash of the whole file: expected " +
                            format::HashText(expected) + ", found " + format::HashText(found));
}

Status WriteCheckpoint(const PinnedStore& pinned, const CopyTools& tools, const std::string& path) {
  ASSIGN_OR_RETURN(const std::unique_ptr<StagedDatabase> draft,
                   StagedDatabase::Begin(tools.file_system, path));
  ASSIGN_OR_RETURN(const bool inside, pinned.files->Contain(draft->directory()));
  if (inside) {
    return Status::InvalidArgument("'" + path +
                                   "' lies in the database's own directory; name one outside");
  }
  for (const auto& [number, record] : pinned.catalog.files) {
    RETURN_IF_ERROR(AddStoreFile(pinned, record, draft.get()));
  }
  for (const format::BoundFile& segment : pinned.segments) {
    ASSIGN_OR_RETURN(const auto file, pinned.files->OpenSegment(segment.number));
    RETURN_IF_ERROR(
        draft->AddCopy(SegmentName(segment.number), file.get(), segment.length_bytes).status());
  }
  return draft->Finish(pinned.catalog, pinned.segments, tools.random);
}

}  // namespace tandem::engine
