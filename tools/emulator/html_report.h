// Outcomes as one HTML page with plots, which needs nothing else and is light or dark as its reader
// is. It is well-formed XML, too.
#pragma once

#include <span>
#include <string>

#include "tools/emulator/history.h"

namespace tandem::emulator {

/// One or two outcomes; the plots have both. Requires: each has a state.
std::string HtmlReport(std::span<const Outcome> outcomes);

}  // namespace tandem::emulator
