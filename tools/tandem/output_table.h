// Records as a table for people: columns aligned, numbers to the right, cut to the terminal's
// width.
#pragma once

#include <cstdio>
#include <memory>

#include "tools/tandem/record_writer.h"

namespace tandem::tools {

/// Widths come from the first kTableRowsMeasured records; a later, wider value pushes its line out.
/// Nothing is cut when `out` is no terminal.
inline constexpr size_t kTableRowsMeasured = 1000;
std::unique_ptr<RecordWriter> NewTableWriter(std::FILE* out);

/// Columns that a terminal needs for a text: its characters, each counted as one.
size_t DisplayWidth(std::string_view text);
/// The first `width` characters; when some are cut, the last of them is an ellipsis.
std::string CutToWidth(std::string_view text, size_t width);

}  // namespace tandem::tools
