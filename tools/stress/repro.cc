// The command that repeats a run.
#include "tools/stress/stress.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {

std::string ReproCommand(const Setup& setup, const std::string& program) {
  std::string text = tools::Format("{} stress {} --seed {}", program, setup.directory, setup.seed);
  if (setup.kind == Kind::kKill) text += " --kill";
  if (setup.kind == Kind::kCrash) text += " --crash";
  if (setup.kind == Kind::kFaults) text += " --faults";
  const bool alone = setup.kind == Kind::kPlain;
  const bool has_threads = setup.kind == Kind::kThreads || setup.kind == Kind::kKill || alone;
  if (has_threads) text += tools::Format(" --threads {}", alone ? 1 : setup.threads);
  if (setup.rows != 0) text += tools::Format(" --rows {}", setup.rows);
  if (setup.operations != 0) text += tools::Format(" --operations {}", setup.operations);
  if (setup.keep_going) text += " --keep-going";
  constexpr int64_t kMillisecond = 1000;
  if (setup.hang_limit_micros.has_value()) {
    text += tools::Format(" --hang-limit {}ms", *setup.hang_limit_micros / kMillisecond);
  }
  return text + tools::Format(" --duration {}ms", setup.duration_micros / kMillisecond);
}

}  // namespace tandem::stress
