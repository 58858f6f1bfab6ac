// stress and replay: the seed and the command that repeats a run come first, what was done last;
// in between at most 40 lines of what is wrong.
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

stress::Kind KindOf(const StressOptions& options) {
  if (options.kill) return stress::Kind::kKill;
  if (options.crash) return stress::Kind::kCrash;
  if (options.faults) return stress::Kind::kFaults;
  const bool alone = options.threads == 1 && !options.child && !options.keep_going;
  return alone ? stress::Kind::kPlain : stress::Kind::kThreads;
}

Result<stress::Setup> SetupOf(const StressOptions& options) {
  stress::Setup setup;
  setup.kind = KindOf(options);
  setup.directory = options.path;
  setup.threads = options.threads;
  const auto duration = ParseDuration(options.duration);
  if (!duration.has_value()) {
    return Status::InvalidArgument(Format("--duration: {}", duration.error().message()));
  }
  setup.duration_micros = *duration;
  setup.operations = options.operations;
  setup.seed =
      options.seed.has_value() ? *options.seed : base::NewSystemRandom()->Next64() % kSeedsChosen;
  setup.rows = options.rows;
  setup.keep_going = options.keep_going;
  setup.is_child = options.child;
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

stress::Surroundings SurroundingsOf(const Context& context) {
  return {.clock = context.clock,
          .is_interrupted = [&context] { return context.is_interrupted(); },
          .program = context.program};
}

Result<stress::Outcome> RunKind(const stress::Setup& setup, const Context& context) {
  const stress::Surroundings surroundings = SurroundingsOf(context);
  switch (setup.kind) {
    case stress::Kind::kThreads:
      return stress::RunThreads(setup, surroundings);
    case stress::Kind::kKill:
      return stress::RunKills(setup, surroundings);
    default:
      return stress::RunSimulated(setup, surroundings);
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
  const auto outcome = stress::Replay(options.script, options.shrink, SurroundingsOf(context));
  if (!outcome.has_value()) return FaultOfHarness(outcome.error());
  return WriteOutcome(*outcome, options.output, context);
}

}  // namespace tandem::tools
