// The directory of a damaged database, in which a file is found by what its header says it is,
// whatever its name: recovery of a broken file system gives files other names, and a user may have
// moved them.
#pragma once

#include <memory>

#include "base/file_system.h"
#include "engine/salvage/report.h"
#include "tandem/status.h"

namespace tandem::engine {

/// `directory`, for reading only, with each manifest, segment and store file under the name that
/// its header gives it. If two files claim the same name, the one that has it is used, else the
/// first by name; a file without a good header keeps its name unless a good file claims it and
/// nothing is lost. A file read under another name is reported as repaired. Errors: kIoError.
Result<std::unique_ptr<base::Directory>> NamedByHeaders(std::unique_ptr<base::Directory> directory,
                                                        SalvageReport* report);

}  // namespace tandem::engine
