// Linking the files of a pinned store, and comparing its directory.
#include "engine/storage/pinned_store.h"

#include <string>

#include "engine/storage/files.h"

namespace tandem::engine {

Status PinnedFiles::LinkStoreFile(format::FileNumber number, base::Directory* to) {
  const std::string name = StoreFileName(number);
  return to->Link(*directory_, name, name);
}

Result<bool> PinnedFiles::Contain(base::Directory* directory) {
  return directory->IsWithin(*directory_);
}

}  // namespace tandem::engine
