// dump: the files one after the other, and one exit code for all.
#include "base/status_macros.h"
#include "tools/dump/dump.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/run.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

// Of the names and meanings of records; grows when one changes its meaning or goes.
constexpr uint64_t kDumpVersion = 1;

Status CheckOptions(const DumpOptions& options) {
  const int views = static_cast<int>(!options.bytes.empty()) +
                    static_cast<int>(!options.at.empty()) +
                    static_cast<int>(!options.index.empty()) + static_cast<int>(options.hex) +
                    static_cast<int>(!options.find_key.empty());
  if (views > 1) {
    return Status::InvalidArgument(
        "--hex, --bytes, --at, --index and --find-key are different views: choose one");
  }
  return {};
}

Status DumpPath(const DumpOptions& options, const Context& context, DumpRecords* writer) {
  if (!options.find_key.empty()) return FindKey(options, options.file, context, writer);
  ASSIGN_OR_RETURN(ProbedFile probed, ProbeFile(options.file));
  return DumpFile(options, context, &probed, writer);
}

}  // namespace

Result<ExitCode> RunVerb(const DumpOptions& options, const Context& context) {
  RETURN_IF_ERROR(CheckOptions(options));
  const auto writer = NewRecordWriter(options.output, context.out);
  if (options.output == OutputMode::kJsonLines) {
    const Property version[] = {{"version", kDumpVersion}};
    writer->AddProperties("dump", version);
  }
  if (options.files.size() == 1) {
    DumpRecords records(writer.get(), {.kind = options.records, .records_max = options.limit});
    DumpOptions one = options;
    one.file = options.files.front();
    RETURN_IF_ERROR(DumpPath(one, context, &records));
    return ExitCode::kDone;
  }
  // One damaged or foreign file does not hide the others.
  ExitCode code = ExitCode::kDone;
  for (const std::string& file : options.files) {
    DumpOptions one = options;
    one.file = file;
    DumpRecords records(writer.get(),
                        {.kind = options.records, .file = file, .records_max = options.limit});
    const Status status = DumpPath(one, context, &records);
    if (status.ok()) continue;
    if (status.code() == StatusCode::kCancelled) return status;
    WriteBytes(context.err, Format("tandem: dump: {}\n", status.message()));
    if (code == ExitCode::kDone) code = ExitCodeOf(status.code());
  }
  return code;
}

}  // namespace tandem::tools
