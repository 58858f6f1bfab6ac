// A whole file against the size and hash that the catalog binds it by.
#pragma once

#include <cstdint>

#include "base/file_system.h"
#include "format/types.h"
#include "tandem/database.h"
#include "tandem/status.h"

namespace tandem::format {

/// Reads all of `file` and adds a finding when its size or its XXH3-128 is not the expected one, or
/// a part cannot be read. Errors: none that concern the file's content; kOutOfMemory.
Status VerifyFileHash(base::File* file, uint64_t size_bytes, const Hash128& expected,
                      VerifyReport* report);

}  // namespace tandem::format
