// stress and replay: the seed and the command that repeats a run come first, what was done last;
// in between at most 40 lines of what is wrong.
#include <cstdlib>

#include "base/random.h"
#include "base/status_macros.h"
#include "tools/stress/finding.h"
#include "tools/stress/stress.h"
#include "tools/tandem/declarations.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/output.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

constexpr uint64_t kSeedsChosen = 1'000'000'000;  // Short enough to be typed.
constexpr uint64_t kRowsMin = 4, kRowsMax = 1'000'000;
constexpr uint32_t kThreadsMax = 64;
constexpr int64_t kDurationMicrosMax = 365ll * 24 * 3600 * 1'000'000;  // Fits behind any clock.

stress::Kind KindOf(const StressOptions& options) {
  if (options.kill) return stress::Kind::kKill;
  if (options.crash) return stress::Kind::kCrash;
  if (options.faults) return stress::Kind::kFaults;
  const bool alone = options.threads == 1 && !options.child && !options.keep_going;
  return alone ? stress::Kind::kPlain : stress::Kind::kThreads;
}

Result<int64_t> DurationOf(std::string_view option, const std::string& text) {
  const auto duration = ParseDuration(text);
  if (!duration.has_value()) {
    return Status::InvalidArgument(Format("{}: {}", option, duration.error().message()));
  }
  if (*duration <= kDurationMicrosMax) return *duration;
  return Status::InvalidArgument(Format("{}: expected at most 365d, found {}", option, text));
}

/// nullopt: what suits the run.
Result<std::optional<int64_t>> HangLimitOf(const std::optional<std::string>& text) {
  if (!text.has_value()) return std::optional<int64_t>();
  if (*text == "0") return std::optional<int64_t>(0);
  ASSIGN_OR_RETURN(const int64_t limit, DurationOf("--hang-limit", *text));
  return std::optional<int64_t>(limit);
}

Result<stress::Setup> SetupOf(const StressOptions& options) {
  stress::Setup setup;
  setup.kind = KindOf(options);
  setup.directory = options.path;
  setup.threads = options.threads;
  if (options.path.empty()) return Status::InvalidArgument("DIR is empty: expected a directory");
  ASSIGN_OR_RETURN(setup.duration_micros, DurationOf("--duration", options.duration));
  setup.operations = options.operations;
  setup.seed =
      options.seed.has_value() ? *options.seed : base::NewSystemRandom()->Next64() % kSeedsChosen;
  setup.rows = options.rows;
  setup.keep_going = options.keep_going;
  setup.is_child = options.child;
  ASSIGN_OR_RETURN(setup.hang_limit_micros, HangLimitOf(options.hang_limit));
  if (options.rows != 0 && (options.rows < kRowsMin || options.rows > kRowsMax)) {
    return Status::InvalidArgument(
        Format("--rows: expected {} to {}, found {}", kRowsMin, kRowsMax, options.rows));
  }
  if (options.threads == 0 || options.threads > kThreadsMax) {
    return Status::InvalidArgument(
        Format("--threads: expected 1 to {}, found {}", kThreadsMax, options.threads));
  }
  return setup;
}

/// Where `report` is null the report of a hang goes to the user; otherwise as a finding of a child
/// to the one that started it.
stress::RunEnvironment EnvironmentOf(const Context& context, std::FILE* report) {
  return {.clock = context.clock,
          .is_interrupted = [&context] { return context.is_interrupted(); },
          .program = context.program,
          .end_hanging =
              [err = context.err, report](const std::string& text) {
                const std::string line = report == nullptr ? "tandem: " + text : text;
                std::FILE* const to = report == nullptr ? err : report;
                WriteBytes(to, stress::Shortened(line, stress::kFindingLinesMax));
                std::fflush(to);
                // Not exit(): a thread that hangs would not let go of what it has.
                std::_Exit(static_cast<int>(ExitCode::kFindings));
              }};
}

Result<stress::Outcome> RunKind(const stress::Setup& setup, const Context& context) {
  const stress::RunEnvironment environment =
      EnvironmentOf(context, setup.is_child ? context.out : nullptr);
  switch (setup.kind) {
    case stress::Kind::kThreads:
      return stress::RunThreads(setup, environment);
    case stress::Kind::kKill:
      return stress::RunKills(setup, environment);
    default:
      return stress::RunSimulated(setup, environment);
  }
}

/// Whatever the harness itself could not do is exit 1, but for what the user asked wrongly.
Status FaultOfHarness(const Status& status) {
  const bool passes = status.code() == StatusCode::kInvalidArgument ||
                      status.code() == StatusCode::kAlreadyExists ||
                      status.code() == StatusCode::kNotFound;
  return passes ? status : Status::IoError(std::string(status.message()));
}

ExitCode WriteOutcome(const stress::Outcome& outcome, OutputMode mode, const Context& context) {
  const auto writer = NewRecordWriter(mode, context.out);
  std::vector<Property> properties;
  for (const auto& [name, count] : outcome.counts) properties.emplace_back(name, count);
  if (!outcome.trace.empty()) properties.emplace_back("trace", outcome.trace);
  writer->AddProperties("summary", properties);
  std::fflush(context.out);
  if (!outcome.finding.empty()) {
    const std::string text = "tandem: a mismatch\n" + outcome.finding;
    WriteBytes(context.err, stress::Shortened(text, stress::kFindingLinesMax));
    return ExitCode::kFindings;
  }
  if (!outcome.interrupted) return ExitCode::kDone;
  WriteBytes(context.err, "tandem: interrupted; no mismatch so far\n");
  return ExitCode::kInterrupted;
}

}  // namespace

Result<ExitCode> RunVerb(const StressOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const stress::Setup setup, SetupOf(options));
  if (!options.child) {
    WriteBytes(context.err, Format("tandem: stress: seed {}\n", setup.seed));
    WriteBytes(context.err,
               "tandem: again with: " + stress::ReproCommand(setup, context.program) + "\n");
    std::fflush(context.err);
  }
  const auto outcome = RunKind(setup, context);
  if (!outcome.has_value()) return FaultOfHarness(outcome.error());
  if (options.child) {  // The one that started it writes the report.
    WriteBytes(context.out, outcome->finding);
    return outcome->finding.empty() ? ExitCode::kDone : ExitCode::kFindings;
  }
  return WriteOutcome(*outcome, options.output, context);
}

Result<ExitCode> RunVerb(const ReplayOptions& options, const Context& context) {
  stress::Again again{.file = options.script, .shrink = options.shrink};
  ASSIGN_OR_RETURN(again.hang_limit_micros, HangLimitOf(options.hang_limit));
  const auto outcome = stress::Replay(again, EnvironmentOf(context, nullptr));
  if (!outcome.has_value()) return FaultOfHarness(outcome.error());
  return WriteOutcome(*outcome, options.output, context);
}

}  // namespace tandem::tools
