// Checks of the files of a database as files: each alone, or all that ROOT binds together. Damage
// becomes findings; a Status is returned only where the checking itself failed.
#pragma once

#include <string>

#include "tandem/database.h"
#include "tandem/status.h"
#include "tools/tandem/file_probe.h"

namespace tandem::tools {

/// Checks a single file without its database: header, checksums, chains, padding; rows against what
/// is derived from them in a store file, with `deep` also its indexes, both ways.
Status CheckFile(ProbedFile* probed, bool deep, VerifyReport* report);

/// Checks what no reader of the database has to look at: both slots of ROOT, the whole-file hash of
/// every store file, and that after a clean close the directory has no file that nothing names.
/// Works while another process writes. Errors: kNotFound (no ROOT), kIoError.
Status CheckDirectory(const std::string& path, VerifyReport* report);

}  // namespace tandem::tools
