// Only the whole word counts.
#include "tools/tandem/confirm.h"

#include <cstdio>

#include "tools/tandem/format_text.h"
#include "tools/tandem/output.h"
#include "tools/tandem/progress.h"

namespace tandem::tools {
namespace {

bool ReadsYes(std::FILE* in) {
  std::string line;
  for (int c; (c = std::fgetc(in)) != EOF && c != '\n';) line.push_back(static_cast<char>(c));
  return line == "yes";
}

}  // namespace

Status Confirm(const std::string& loss, const Context& context) {
  if (!IsTerminal(context.in) || !IsTerminal(context.err)) {
    return Status::InvalidArgument(Format("{}: nothing was done; --yes does it", loss));
  }
  WriteBytes(context.err, Format("{}? There is no way back. 'yes' does it: ", loss));
  std::fflush(context.err);
  if (ReadsYes(context.in)) return {};
  return Status::Cancelled("nothing was done");
}

}  // namespace tandem::tools
