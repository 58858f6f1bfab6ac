// See rounds.h.
#include "tools/bench/rounds.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>

#include "tools/bench/measuring.h"
#include "tools/bench/phases.h"

namespace tandem::bench {
namespace {

std::string Quote(const std::string& word) {
  std::string quoted = "'";
  for (const char letter : word) quoted += letter == '\'' ? "'\\''" : std::string(1, letter);
  return quoted + "'";
}

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

// One engine in one round. Its database lives in a directory of its own.
class EngineRound {
 public:
  EngineRound(const Arguments& arguments, const std::string& program, Figures* figures)
      : arguments_(arguments), program_(program), figures_(figures) {}

  void Run(const std::string& engine, int round) {
    engine_ = engine;
    round_ = round;
    path_ = arguments_.directory + "/tandem-bench-" + std::to_string(getpid()) + "-" + engine;
    if (NeedsLoadedRows()) RunOnLoadedRows();
    if (arguments_.Wants("plain")) RunFresh({"plain"});
    for (const char* family : {"commits", "tails", "large"}) {
      if (arguments_.Wants(family)) RunFresh({family});
    }
    if (arguments_.Wants("open")) RunFresh({"die", "reopen"});
    if (arguments_.Wants("indexes")) {
      for (size_t item = 0; item < std::size(kIndexSets); ++item) RunFresh({"indexes"}, item);
    }
    for (const char* family : {"text", "unmerged", "bulk", "answers", "grid", "counters"}) {
      if (arguments_.Wants(family) && IsMeasured(family, engine)) RunFresh({family});
    }
    if (arguments_.Wants("keys") && IsMeasured("keys", engine)) {
      for (const char* group : {"salts", "layouts"}) RunFresh({group});
    }
    std::filesystem::remove_all(path_);
  }

 private:
  bool NeedsLoadedRows() const {
    for (const char* family : {"load", "query", "range", "filter", "count", "get", "scan", "disk",
                               "cold", "open", "update", "mixed"}) {
      if (arguments_.Wants(family)) return true;
    }
    return false;
  }

  void RunOnLoadedRows() {
    RunFresh({"warm"});
    if (arguments_.Wants("cold")) {
      const size_t reads = ColdReadsOf(W1(1)).size();
      for (size_t item = 0; item < reads; ++item) RunChild("cold", item);
    }
    if (arguments_.Wants("open")) RunChild("open", 0);
    if (arguments_.Wants("update") || arguments_.Wants("mixed")) RunChild("update", 0);
  }

  void RunFresh(const std::vector<std::string>& groups, size_t item = 0) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
    for (const std::string& group : groups) RunChild(group, item);
  }

  void RunChild(const std::string& group, size_t item) {
    // exec: no shell stays in between that would report a kill on its own.
    const std::string command =
        "exec " + Quote(program_) + " --rows " + std::to_string(arguments_.rows) + " --seconds " +
        std::to_string(arguments_.seconds) + " --cache-mib " +
        std::to_string(arguments_.cache_mib) + " --phases " + Join(arguments_.phases) +
        " --engine " + engine_ + " --path " + Quote(path_) + " --child " + group + " --item " +
        std::to_string(item);
    std::FILE* child = popen(command.c_str(), "r");
    if (child == nullptr) Fail("cannot start " + command);
    char line[512];
    while (std::fgets(line, sizeof line, child) != nullptr) Take(line);
    const int status = pclose(child);
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (group == "die" ? !killed : status != 0)
      Fail(engine_ + " failed in '" + group + "'; its database is left in " + path_);
  }

  void Take(const std::string& line) {
    auto figure = FromLine(line);
    if (!figure.has_value()) Fail(engine_ + " printed what is no figure: " + line);
    figure->engine = engine_;
    figure->round = round_;
    figures_->Add(std::move(*figure));
  }

  const Arguments& arguments_;
  const std::string program_;
  Figures* figures_;
  std::string engine_, path_;
  int round_ = 0;
};

}  // namespace

Figures RunRounds(const Arguments& arguments, const std::string& program) {
  Figures figures;
  EngineRound runner(arguments, program, &figures);
  for (int round = 0; round < arguments.rounds; ++round) {
    for (const std::string& engine : arguments.engines) {
      const double begin = SecondsNow();
      runner.Run(engine, round);
      std::fprintf(stderr, "round %d of %d: %s, %.0f s\n", round + 1, arguments.rounds,
                   engine.c_str(), SecondsNow() - begin);
    }
  }
  return figures;
}

void RunGroup(const Arguments& arguments) {
  const std::map<std::string, void (*)(const Arguments&)> groups = {
      {"warm", MeasureWarm},        {"plain", MeasurePlain},     {"cold", MeasureCold},
      {"update", MeasureUpdates},   {"commits", MeasureCommits}, {"open", MeasureOpen},
      {"die", WriteAndDie},         {"reopen", MeasureReopen},   {"unmerged", MeasureUnmerged},
      {"indexes", MeasureIndexSet}, {"bulk", MeasureBulk},       {"text", MeasureTitles},
      {"answers", MeasureAnswers},  {"grid", MeasureGrid},       {"tails", MeasureTails},
      {"large", MeasureLarge},      {"salts", MeasureSalts},     {"layouts", MeasureLayouts},
      {"counters", MeasureCounters},
      {"large-load", MeasureLargeLoad},
      {"large-die", DieInLargeLoad},
      {"large-reopen", ReopenLargeLoad},
      {"growth", MeasureGrowthLoad}};
  const auto group = groups.find(arguments.child);
  if (group == groups.end()) Fail("unknown group '" + arguments.child + "'");
  UseTwoProcessors();
  group->second(arguments);
}

}  // namespace tandem::bench
