// See the header.
#include "engine/backup/draft_directory.h"

#include <vector>

#include "base/guarded.h"
#include "base/status_macros.h"
#include "engine/backup/staged_database.h"
#include "engine/storage/files.h"

namespace tandem::engine {

DraftDirectory::~DraftDirectory() {
  if (!made_) return;
  Guarded([this] {
    RETURN_IF_ERROR(RemoveFiles());
    return file_system_->RemoveDirectory(path_);
  }).Ignore("the next attempt says that something is left");
}

Status DraftDirectory::Make(const std::string& database) {
  ASSIGN_OR_RETURN(const auto directory, CreateCopyDirectory(file_system_, path_));
  made_ = true;
  ASSIGN_OR_RETURN(const auto above, file_system_->OpenDirectory(database, /*create=*/false));
  ASSIGN_OR_RETURN(const bool inside, directory->IsWithin(*above));
  if (!inside) return {};
  return Status::InvalidArgument("'" + path_ +
                                 "' lies in the database's own directory; name one outside");
}

// ROOT goes first, so that what is left is never taken for a database. It is emptied before, since
// a sync of the directory that was not honest could bring its name back.
Status DraftDirectory::RemoveFiles() {
  ASSIGN_OR_RETURN(const auto directory, file_system_->OpenDirectory(path_, /*create=*/false));
  auto root = directory->Open(kRootName, base::OpenMode::kReadWrite);
  if (!root && root.error().code() != StatusCode::kNotFound) return root.error();
  if (root) {
    RETURN_IF_ERROR((*root)->Truncate(0));
    RETURN_IF_ERROR((*root)->DataSync());
    RETURN_IF_ERROR(directory->Remove(kRootName));
    RETURN_IF_ERROR(directory->Sync());
  }
  ASSIGN_OR_RETURN(const std::vector<LocalFile> files, ListLocalFiles(directory.get()));
  for (const LocalFile& file : files) RETURN_IF_ERROR(directory->Remove(file.name));
  return {};
}

}  // namespace tandem::engine
