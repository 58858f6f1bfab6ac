// A whole file against the size and hash that the catalog binds it by.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "base/file_system.h"
#include "format/types.h"
#include "tandem/database.h"
#include "tandem/status.h"

namespace tandem::format {

/// The XXH3-128 of the first `size_bytes` of `file`. `visit` (may be empty) receives each piece of
/// them and its offset. Errors: kCorruption naming file and offset (the file is shorter), kIoError;
/// those of `visit`.
using VisitPiece = std::function<Status(uint64_t offset, std::string_view bytes)>;
Result<Hash128> HashFile(base::File* file, uint64_t size_bytes, const VisitPiece& visit = {});

/// Reads all of `file` and adds a finding when its size or its XXH3-128 is not the expected one, or
/// a part cannot be read. Errors: none that concern the file's content; kOutOfMemory.
Status VerifyFileHash(base::File* file, uint64_t size_bytes, const Hash128& expected,
                      VerifyReport* report);

}  // namespace tandem::format
