// What is wrong with a database that does not open: all of it, not only what keeps it from opening.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/file_system.h"
#include "engine/salvage/damaged_file.h"
#include "tandem/status.h"
#include "tandem/verify.h"

namespace tandem::engine {

/// Checks ROOT and the manifest, every segment of the log and every store file, each by itself and
/// under the name that its header has it; with `deep` also indexes against rows. Files that the
/// catalog names and that do not exist are findings too. Writes nothing. Errors: kNotFound (no file
/// of a database), kIoError, kOutOfMemory.
Status VerifyFiles(std::unique_ptr<base::Directory> directory, bool deep, VerifyReport* report);

/// A store file by its name in `directory`, and what is known of it apart from its bytes.
struct NamedStoreFile {
  base::Directory* directory = nullptr;
  std::string name;
  format::KnownFile known;
};
/// Checks one store file by itself. If it cannot be opened, finds what can be proved of it, as
/// salvage does. Errors: kIoError, kOutOfMemory.
Status VerifyStoreFile(const NamedStoreFile& file, bool deep, VerifyReport* report);
/// Checks the indexes of one store file, or the one of that name, against its rows. Errors:
/// kNotFound (the file's table had no such index when the file was written), kIoError,
/// kOutOfMemory.
Status VerifyIndexesOf(const NamedStoreFile& file, std::optional<std::string_view> index,
                       VerifyReport* report);

}  // namespace tandem::engine
