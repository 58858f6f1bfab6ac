// A backup as a database that can be opened to read only, where it is: a file system whose one
// directory has the backup's store files and segments under the names of a database. ROOT and
// manifest, which a backup lacks, are made in memory.
#pragma once

#include <memory>
#include <string>

#include "base/file_system.h"
#include "base/random.h"
#include "engine/backup/checkpoint.h"
#include "tandem/status.h"

namespace tandem::engine {

/// The view of backup `number` (0: the newest) in the directory of backups `path`, which is also
/// the path of the database in it. The log segments were verified; store files are verified by who
/// reads them. Errors: kNotFound (no directory, no such backup), kInvalidArgument (it holds
/// something else), kCorruption, kUnsupported, kIoError. Lifetime: the tools outlive the result.
Result<std::unique_ptr<base::FileSystem>> ViewBackup(const CopyTools& tools,
                                                     const std::string& path, uint64_t number);

}  // namespace tandem::engine
