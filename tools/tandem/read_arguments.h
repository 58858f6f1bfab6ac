// What the verbs that read share: from the words of the command line to the engine's options, and
// to the layout of the rows that come back.
#pragma once

#include <string_view>

#include "tandem/database.h"
#include "tools/tandem/options.h"
#include "tools/tandem/row_output.h"

namespace tandem::tools {

/// Errors: kInvalidArgument, with the option that is wrong.
Result<ReadOptions> ReadOptionsOf(const ReadArguments& arguments);
/// Errors: kInvalidArgument, and those of ParseBytes.
Result<ScanOptions> ScanOptionsOf(const RangeArguments& arguments);
/// How rows that were read so are printed. Errors: kNotFound (the table; with suggestion).
Result<RowLayout> LayoutOf(OutputMode mode, const ReadOptions& read, Database& database,
                           std::string_view table);

}  // namespace tandem::tools
