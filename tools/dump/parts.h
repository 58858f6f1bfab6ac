// The parts of each kind of file that can be asked for alone, and the kinds of records that they
// print.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "format/file_header.h"
#include "tandem/status.h"
#include "tools/tandem/options.h"

namespace tandem::tools {

struct DumpPart {
  std::string_view name;
  std::vector<std::string_view> kinds;  ///< Of its records.
  bool is_default = true;               ///< Printed where nothing is asked for.
};

const std::vector<DumpPart>& PartsOf(format::FileKind kind);

/// The parts of a file that `--section` and `--records` ask for. Errors: kInvalidArgument: a part
/// or a kind of record that the file does not have; csv or tsv for records of several kinds.
Result<std::vector<std::string_view>> ChooseParts(const DumpOptions& options,
                                                  format::FileKind kind);

}  // namespace tandem::tools
