// A line is written as a whole and at once, so that a log which is read meanwhile ends with one.
#include "tools/tandem/slow_log.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "tandem/explanation.h"
#include "tandem/options.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/explanation_output.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/output.h"

namespace tandem::tools {
namespace {

constexpr uint64_t kMillisMax = 86'400'000;  // A day.

// As --select takes them; a comma, a colon and a name of one asterisk are escaped.
std::string ColumnsText(const std::vector<ColumnName>& columns,
                        const std::vector<std::string>& families) {
  const auto escaped = [](const std::string& name) {
    std::string text;
    for (const char c : EscapeBytes(name)) {
      if (c == ',') {
        text += "\\x2c";
      } else if (c == ':') {
        text += "\\x3a";
      } else {
        text += c;
      }
    }
    return text;
  };
  std::string text;
  for (const ColumnName& column : columns) {
    if (!text.empty()) text += ',';
    if (!column.family.empty()) text += escaped(column.family) + ":";
    text += column.qualifier == "*" ? "\\x2a" : escaped(column.qualifier);
  }
  for (const std::string& family : families) {
    if (!text.empty()) text += ',';
    text += escaped(family) + ":*";
  }
  return text;
}

void WriteOptions(const QueryOptions& options, JsonWriter* json) {
  if (!options.order_by.empty()) WriteMember(json, "order_by", options.order_by);
  if (options.descending) WriteMember(json, "descending", true);
  if (options.limit > 0) WriteMember(json, "limit", options.limit);
  if (options.offset > 0) WriteMember(json, "offset", options.offset);
  if (!options.use_index.empty()) WriteMember(json, "use_index", options.use_index);
  if (!options.use_indexes.empty()) WriteMember(json, "use_indexes", options.use_indexes);
  if (options.no_index) WriteMember(json, "no_index", true);
  if (options.no_scan) WriteMember(json, "no_scan", true);
  if (options.any_version) WriteMember(json, "any_version", true);
}

// What a slow query does not know of (SlowQueryEvent).
bool IsUnknown(std::string_view name) {
  constexpr std::string_view kUnknown[] = {
      "files_scanned", "memstores_scanned", "rows_without_entry", "total_blocks", "total_bytes",
      "live_counts",   "rejected"};
  return std::ranges::find(kUnknown, name) != std::end(kUnknown);
}

void WriteExplanation(const Explanation& explanation, JsonWriter* json) {
  const std::string access = AccessOf(explanation);
  json->Key("explanation");
  json->BeginObject();
  for (const auto& [name, value] : PropertiesOf(explanation, access)) {
    if (!IsUnknown(name)) WriteMember(json, name, value);
  }
  json->EndObject();
}

}  // namespace

Result<std::shared_ptr<SlowLog>> SlowLog::Open(const SlowArguments& arguments,
                                               const Context& context) {
  ASSIGN_OR_RETURN(OutputFile file, OutputFile::Append(arguments.log, context));
  return std::make_shared<SlowLog>(std::move(file));
}

void SlowLog::OnSlowQuery(const SlowQueryEvent& event) {
  const std::lock_guard lock(mutex_);
  json_.Clear();
  json_.BeginObject();
  WriteMember(&json_, "table", event.table);
  WriteMember(&json_, "call", event.call);
  WriteMember(&json_, "predicate", event.predicate);
  const std::string columns = ColumnsText(*event.columns, *event.families);
  if (!columns.empty()) WriteMember(&json_, "columns", columns);
  WriteOptions(*event.options, &json_);
  WriteMember(&json_, "rows", event.rows);
  WriteMember(&json_, "micros", event.micros);
  WriteMember(&json_, "whole", event.is_whole);
  WriteMember(&json_, "status", StatusCodeName(event.status.code()));
  WriteExplanation(*event.explanation, &json_);
  json_.EndObject();
  WriteBytes(file_.stream(), std::string(json_.text()) + "\n");
  std::fflush(file_.stream());  // Close tells of an error.
}

Status SlowLog::Close() {
  const std::lock_guard lock(mutex_);
  return file_.Close();
}

Result<Context> WithSlowLog(const SlowArguments& arguments, const Context& context,
                            std::shared_ptr<SlowLog>* log) {
  Context with = context;
  if (!arguments.millis.has_value()) {
    if (arguments.log.empty()) return with;
    return Status::InvalidArgument("--slow-log: expected --slow MS besides");
  }
  if (*arguments.millis > kMillisMax) {
    return Status::InvalidArgument(
        Format("--slow {}: expected milliseconds, at most {}", *arguments.millis, kMillisMax));
  }
  ASSIGN_OR_RETURN(*log, SlowLog::Open(arguments, context));
  with.listener = *log;
  // 0 is every query, as none takes no time.
  with.slow_query_micros =
      std::max<int64_t>(1, static_cast<int64_t>(*arguments.millis) * int64_t{1000});
  return with;
}

}  // namespace tandem::tools
