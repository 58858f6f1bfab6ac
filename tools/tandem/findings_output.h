// Findings as records, and what a user does about them.
#pragma once

#include <string>
#include <string_view>

#include "tandem/status.h"
#include "tandem/verify.h"
#include "tools/tandem/context.h"
#include "tools/tandem/output.h"

namespace tandem::tools {

/// Keeps the first of findings that say the same.
void RemoveRepeated(VerifyReport* report);

/// One record "finding" each: in a table its effect and the sentence, else with all its parts.
/// Nothing where there are none.
void WriteFindings(const VerifyReport& report, OutputMode mode, RecordWriter* writer);

/// "3 findings: 1 rows, 2 derived; see stdout; WHAT TO DO" of the database or file `path`.
std::string FindingsText(const VerifyReport& report, const std::string& path);

/// Damage is a finding, whatever its place; other errors pass.
Status AddDamage(const Status& status, VerifyReport* report);

/// Prints what `verb` has checked of `path`, and its findings, each once; what to do goes to `err`.
/// kFindings if there are any.
ExitCode WriteReport(std::string_view verb, const std::string& path, OutputMode mode,
                     const Context& context, VerifyReport* report);

/// "PATH: N torn bytes at the end of the log were ignored: ...".
std::string TornText(const std::string& path, uint64_t torn_bytes);

}  // namespace tandem::tools
