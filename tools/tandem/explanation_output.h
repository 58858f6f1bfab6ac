// An explanation of a query on standard output.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "tandem/database.h"
#include "tools/tandem/output.h"

namespace tandem::tools {

/// "scan", or "index NAME".
std::string AccessOf(const Explanation& explanation);
/// The figures by name. Lifetime: that of the explanation and of `access`, which AccessOf made.
std::vector<Property> PropertiesOf(const Explanation& explanation, const std::string& access);
void WriteExplanation(const Explanation& explanation, OutputMode mode, std::FILE* out);
/// The same as one line for people: "index section, 1,024 entries, 63 of 2,100 blocks (0.4 of 16
/// MiB)".
std::string ExplanationLine(const Explanation& explanation);

}  // namespace tandem::tools
