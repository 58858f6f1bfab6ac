// Each option is read on its own, then against the others.
#include "tools/tandem/read_arguments.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/declarations.h"
#include "tools/tandem/format_text.h"

namespace tandem::tools {
namespace {

Result<std::optional<int64_t>> OptionalTime(std::string_view option, const std::string& text) {
  if (text.empty()) return std::optional<int64_t>();
  ASSIGN_OR_RETURN(const int64_t micros, ParseTime(option, text));
  return std::optional<int64_t>(micros);
}

}  // namespace

Result<ReadOptions> ReadOptionsOf(const ReadArguments& arguments) {
  if (arguments.versions == 0) {
    return Status::InvalidArgument("--versions 0: expected a number from 1");
  }
  ReadOptions read;
  read.versions = arguments.versions;
  ASSIGN_OR_RETURN(ColumnSelection selection, ParseColumns(arguments.columns));
  read.columns = std::move(selection.columns);
  read.families = std::move(selection.families);
  ASSIGN_OR_RETURN(read.as_of, OptionalTime("--as-of", arguments.as_of));
  ASSIGN_OR_RETURN(read.since, OptionalTime("--since", arguments.since));
  if (read.since.has_value() && read.as_of.has_value() && *read.since > *read.as_of) {
    return Status::InvalidArgument(Format("--since {} is after --as-of {}; nothing lies between",
                                          arguments.since, arguments.as_of));
  }
  return read;
}

Result<ScanOptions> ScanOptionsOf(const RangeArguments& arguments) {
  ScanOptions scan;
  ASSIGN_OR_RETURN(scan.start, ParseBytes(arguments.start));
  ASSIGN_OR_RETURN(scan.end, ParseBytes(arguments.end));
  ASSIGN_OR_RETURN(scan.prefix, ParseBytes(arguments.prefix));
  return scan;
}

Result<RowLayout> LayoutOf(OutputMode mode, const ReadOptions& read, Database& database,
                           std::string_view table) {
  RowLayout layout{mode, read.columns, read.families, read.versions, {}};
  if (std::ranges::none_of(read.columns,
                           [](const auto& column) { return column.family.empty(); })) {
    return layout;
  }
  ASSIGN_OR_RETURN(const TableInfo found, FindTable(database, table));
  layout.first_family = found.options.families.front().name;
  return layout;
}

}  // namespace tandem::tools
