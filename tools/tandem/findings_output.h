// Findings as records, and what a user does about them.
#pragma once

#include <string>

#include "tandem/verify.h"
#include "tools/tandem/output.h"

namespace tandem::tools {

/// Keeps the first of findings that say the same.
void RemoveRepeated(VerifyReport* report);

/// One record "finding" each: in a table its effect and the sentence, else with all its parts.
/// Nothing where there are none.
void WriteFindings(const VerifyReport& report, OutputMode mode, RecordWriter* writer);

/// "3 findings: 1 rows, 2 derived; see stdout; WHAT TO DO" of the database or file `path`.
std::string FindingsText(const VerifyReport& report, const std::string& path);

/// "PATH: N torn bytes at the end of the log were ignored: ...".
std::string TornText(const std::string& path, uint64_t torn_bytes);

}  // namespace tandem::tools
