// Parses, dispatches, reports. The one place that maps a Status to an exit code.
#include "tools/tandem/run.h"

#include <cerrno>
#include <cstring>
#include <new>
#include <variant>

#include "base/status_macros.h"
#include "engine/verify/findings.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/command_line.h"
#include "tools/tandem/file_probe.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/output.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

/// "tandem: get: message" as one line, whatever bytes the message holds.
void Report(const Context& context, std::string_view verb, std::string_view message) {
  std::string line = "tandem: ";
  if (!verb.empty()) line.append(verb).append(": ");
  line += IsPlainText(message) ? std::string(message) : EscapeBytes(message);
  line.push_back('\n');
  WriteBytes(context.err, line);
}

/// What a user does about damage that the verb met.
const char* NextStep(std::string_view verb, const std::string& path) {
  if (verb == "salvage") return "; 'tandem restore' makes a database from a backup";
  if (verb == "restore" || verb == "backup")
    return "; 'tandem restore DIR --verify' lists all damage";
  if (verb == "attach" || verb == "restore-table")
    return "; 'tandem verify' lists all damage of a database, 'tandem restore DIR --verify' of "
           "backups";
  if (!IsDirectory(path)) return "; 'tandem verify' lists all damage of a file";
  return "; 'tandem verify' lists all damage, 'tandem salvage' copies what is good, 'tandem "
         "restore' gets a backup";
}

/// The message of an error of a verb on the database `path`: which file of it, and what to do next.
Status Explain(const Status& error, std::string_view verb, const std::string& path) {
  std::string message(error.message());
  if (error.code() == StatusCode::kCorruption) {
    for (const char* name : {"ROOT", "manifest-", "log-", "store-"}) {
      if (message.starts_with(name)) message.insert(0, path.ends_with('/') ? path : path + "/");
    }
    message += NextStep(verb, path);
  } else if (error.code() == StatusCode::kBusy) {
    message += "; verbs that only read work beside it";
  }
  return Status(error.code(), std::move(message));
}

std::string DirectoryOf(const std::string& file) {
  const size_t slash = file.rfind('/');
  return slash == std::string::npos ? "." : file.substr(0, slash + 1);
}

Result<ExitCode> Dispatch(const CommandLine& line, const Context& context) {
  if (!line.help.empty()) {
    WriteBytes(context.out, line.help);
    return ExitCode::kDone;
  }
  return std::visit(
      [&](const auto& options) -> Result<ExitCode> {
        Result<ExitCode> result = RunVerb(options, context);
        if constexpr (requires { options.path; }) {
          if (!result.has_value()) return Explain(result.error(), line.verb, options.path);
        }
        if constexpr (requires { options.file; }) {
          if (!result.has_value()) {
            return Explain(result.error(), line.verb, DirectoryOf(options.file));
          }
        }
        return result;
      },
      line.options);
}

/// Whether the verb was asked for JSON Lines.
bool WantsJson(const CommandLine& line) {
  return std::visit(
      [](const auto& options) {
        if constexpr (requires { options.output == OutputMode::kJsonLines; }) {
          return options.output == OutputMode::kJsonLines;
        }
        return false;
      },
      line.options);
}

/// The error as one record, for a program that reads records: its message, and the parts of it.
void ReportAsJson(const Context& context, std::string_view verb, const Status& error) {
  const Finding parts = format::NewFinding(error);
  const bool is_damage = error.code() == StatusCode::kCorruption;
  const auto part = [&](const std::string& text) {
    return is_damage && !text.empty() ? Value(text) : Value();
  };
  const auto writer = NewRecordWriter(OutputMode::kJsonLines, context.err);
  writer->Begin("error", {"verb", "code", "exit", "file", "offset", "expected", "found", "error"});
  writer->Add({verb, StatusCodeName(error.code()), static_cast<int64_t>(ExitCodeOf(error.code())),
               part(parts.file),
               is_damage && parts.offset.has_value() ? Value(*parts.offset) : Value(),
               part(parts.expected), part(parts.found), error.message()});
  writer->End();
}

/// Data that could not be written is a failure, whatever the verb returned.
Result<ExitCode> FlushOutput(Result<ExitCode> result, const Context& context) {
  const bool failed = std::fflush(context.out) != 0 || std::ferror(context.out) != 0;
  if (!failed || !result.has_value()) return result;
  return Status::IoError(Format("standard output: {}", std::strerror(errno)));
}

ExitCode RunParsed(const CommandLine& line, const Context& context) {
  Result<ExitCode> result = Status::OutOfMemory("out of memory");
  try {
    result = Dispatch(line, context);
  } catch (const std::bad_alloc&) {
    // `result` says it already.
  }
  result = FlushOutput(std::move(result), context);
  if (result.has_value()) return *result;
  if (WantsJson(line)) {
    ReportAsJson(context, line.verb, result.error());
  } else {
    Report(context, line.verb, result.error().message());
  }
  return ExitCodeOf(result.error().code());
}

}  // namespace

int Run(const std::vector<std::string>& arguments, Context context) {
  const Result<CommandLine> line = ParseCommandLine(arguments);
  ExitCode code = ExitCode::kUsage;
  if (line.has_value()) {
    context.verbose = line->verbose;
    code = RunParsed(*line, context);
  } else {
    Report(context, "", line.error().message());
  }
  std::fflush(context.err);
  return static_cast<int>(code);
}

ExitCode ExitCodeOf(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return ExitCode::kDone;
    case StatusCode::kInvalidArgument:
      return ExitCode::kUsage;
    case StatusCode::kNotFound:
      return ExitCode::kNotFound;
    case StatusCode::kCorruption:
      return ExitCode::kCorrupt;
    case StatusCode::kAlreadyExists:
    case StatusCode::kConflict:
    case StatusCode::kOverBudget:
    case StatusCode::kReadOnly:
      return ExitCode::kRefused;
    case StatusCode::kBusy:
      return ExitCode::kLocked;
    case StatusCode::kUnsupported:
      return ExitCode::kUnsupported;
    case StatusCode::kCancelled:
      return ExitCode::kInterrupted;
    case StatusCode::kIoError:
    case StatusCode::kNoSpace:
    case StatusCode::kOutOfMemory:
    case StatusCode::kClosed:
    case StatusCode::kUnavailable:
      break;
  }
  return ExitCode::kFailed;
}

}  // namespace tandem::tools
