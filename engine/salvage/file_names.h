// The directory of a damaged database, in which a file is found by what its header says it is,
// whatever it is called: a rescue from a broken file system gives files other names, and a user who
// meant well may have moved them about.
#pragma once

#include <memory>

#include "base/file_system.h"
#include "engine/salvage/salvage.h"
#include "tandem/status.h"

namespace tandem::engine {

/// `directory`, for reading only, with each manifest, segment and store file under the name that
/// its header has it. Where two files say that they are the same one, that of the right name
/// counts, else the first by name; a file without a good header keeps its name unless nothing is
/// lost by it. What has another name is reported as repaired. Errors: kIoError.
Result<std::unique_ptr<base::Directory>> NamedByHeaders(std::unique_ptr<base::Directory> directory,
                                                        SalvageReport* report);

}  // namespace tandem::engine
