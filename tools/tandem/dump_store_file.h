// What the dumps of store files share.
#pragma once

#include <memory>
#include <string_view>

#include "format/schema.h"
#include "format/store_file.h"
#include "tandem/status.h"
#include "tools/tandem/file_probe.h"

namespace tandem::tools {

/// Opens the store file and takes the handle out of `probed`. Errors: those of StoreFile::Open.
Result<std::shared_ptr<format::StoreFile>> OpenProbedStoreFile(ProbedFile* probed);
/// The name of a family of the table; "?" when it has none of that id.
std::string_view FamilyName(const format::TableRecord& table, format::FamilyId id);

}  // namespace tandem::tools
