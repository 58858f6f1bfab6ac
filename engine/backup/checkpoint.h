// Checkpoints: a directory that is the database as of one point in time and shares its store files
// with it.
#pragma once

#include <string>

#include "base/file_system.h"
#include "base/random.h"
#include "engine/storage/pinned_store.h"
#include "tandem/status.h"

namespace tandem::engine {

/// What copies are made with.
struct CopyTools {
  base::FileSystem* file_system = nullptr;
  base::RandomSource* random = nullptr;
};

/// Makes `path` a database that holds `pinned`: store files by hard links where the file system
/// allows them, otherwise copied and compared with the catalog's hash; log segments, which recovery
/// may cut, always copied. After a failure, what was made is removed. Errors: kAlreadyExists,
/// kInvalidArgument (inside the database), kNotFound (no parent), kCorruption, kIoError, kNoSpace.
Status WriteCheckpoint(const PinnedStore& pinned, const CopyTools& tools, const std::string& path);

/// Fails with kCorruption "FILE: hash of the whole file: expected .., found ..".
Status CheckHash(const std::string& name, const format::Hash128& expected,
                 const format::Hash128& found);

}  // namespace tandem::engine
