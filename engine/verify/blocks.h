// The first half of verifying a store file: its bytes, without what they mean.
#pragma once

#include "engine/verify/findings.h"
#include "store_file/store_file.h"
#include "tandem/status.h"

namespace tandem::format {

/// Reads the whole file: each block decodes and is of a kind that its section has, each section has
/// the checksum of the section table, padding is zero, both copies of the section table agree.
/// Damage becomes findings. Errors: kOutOfMemory.
Status VerifyBlocks(const StoreFile& file, Findings* findings);

}  // namespace tandem::format
