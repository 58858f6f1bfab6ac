// The records of emulate.
#pragma once

#include <cstdio>
#include <optional>
#include <span>

#include "engine/runtime/environment.h"
#include "tools/emulator/hbase_site.h"
#include "tools/emulator/history.h"
#include "tools/tandem/output.h"

namespace tandem::tools {

/// Sizes that counted, what rows cost, each moment, and the end of each design, two beside each
/// other in a table. csv, tsv and raw hold the moments alone.
void WriteEmulation(std::span<const emulator::Outcome> outcomes,
                    const std::optional<emulator::HBaseSite>& site, const engine::Tuning& sizes,
                    OutputMode output, std::FILE* out);

}  // namespace tandem::tools
