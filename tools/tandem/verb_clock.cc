// clock: how the database judges the wall clock, and the confirmation that it is right.
#include "base/status_macros.h"
#include "tools/tandem/clock_text.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/output.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

void WriteClock(const DatabaseInfo& info, const ClockOptions& options, const Context& context) {
  const std::unique_ptr<RecordWriter> writer = NewRecordWriter(options.output, context.out);
  const Property properties[] = {
      {"state", ClockStateName(info.clock_state)},
      {"clock_micros", info.clock_micros},
      {"time_micros", info.time_micros},
      {"ahead_micros", info.clock_micros - info.time_micros},
  };
  writer->AddProperties("clock", properties);
}

}  // namespace

const char* ClockStateName(ClockState state) {
  constexpr const char* kNames[] = {"right", "behind", "doubted"};
  return kNames[static_cast<size_t>(state)];
}

Result<ExitCode> RunVerb(const ClockOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database,
                   options.accept ? OpenAcceptingClock(options.path, context)
                                  : OpenForReading(options.path, context));
  ASSIGN_OR_RETURN(const DatabaseInfo info, database->Info());
  RETURN_IF_ERROR(database->Close());
  WriteClock(info, options, context);
  if (!options.accept || info.clock_state == ClockState::kRight) return ExitCode::kDone;
  return Status::Conflict(Format(
      "{}: the clock is behind the time of the database, which never goes back; expected a later "
      "clock. To begin with an earlier time, 'tandem export' and 'tandem import' into a new one",
      options.path));
}

}  // namespace tandem::tools
