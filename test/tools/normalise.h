// Output of the program without what changes from run to run, so that scripts can hold it.
#pragma once

#include <string>

namespace tandem::test {

void ReplaceAll(const std::string& from, const std::string& to, std::string* text);

/// Replaces numbers of files (store-7), hashes, identifiers and times (* for 16 or 32 hex digits),
/// the process id (PID), sizes of files and long checksums (N), the time that an import took, and
/// when a snapshot was created.
/// Control characters other than line ends and tabs, and bytes above ASCII, become <NN>.
std::string Normalise(const std::string& text);

}  // namespace tandem::test
