// The large set: `tandem_bench contents FILE [DIRECTORY]` loads apt-file's Contents into Tandem, by
// `tandem import`, into RocksDB and into SQLite, one after the other, and runs five queries on
// each.
//
// Every load, and every query, is a process of its own, whose memory and time the system accounts
// for. All three read and cut the file by the same code, commit batches of the same size, keep
// their indexes from the first row on and are settled at the end.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <sstream>

#include "tools/bench/child_process.h"
#include "tools/bench/contents_process.h"
#include "tools/bench/disk_size.h"
#include "tools/bench/figures.h"
#include "tools/bench/usage.h"
#include "tools/tandem/format_text.h"

namespace tandem::bench {
namespace {

using tools::Format;

constexpr double kMiB = 1 << 20;

class LargeSet {
 public:
  LargeSet(std::string contents, const std::string& directory)
      : contents_(std::move(contents)),
        base_(directory + "/tandem-bench-contents-" + std::to_string(getpid())),
        program_(std::filesystem::read_symlink("/proc/self/exe").string()) {
    engines_.push_back("tandem");
    if (NewRocksDbContents != nullptr) engines_.push_back("rocksdb");
    if (NewSqliteContents != nullptr) engines_.push_back("sqlite");
  }

  int Run() {
    for (const std::string& engine : engines_) {
      const std::string path = base_ + "-" + engine;
      std::filesystem::create_directories(path);
      Load(engine, path);
      for (size_t query = 0; query < ContentsQueries().size(); ++query)
        Take(engine, RunProcess({program_, "contents-query", engine, path, std::to_string(query)}));
      std::filesystem::remove_all(path);
    }
    PrintTable();
    const std::vector<std::string> mismatches = figures_.Mismatches();
    for (const std::string& line : mismatches) std::fprintf(stderr, "%s\n", line.c_str());
    return mismatches.empty() ? 0 : kFoundExitCode;
  }

 private:
  FinishedProcess RunLoad(const std::string& engine, const std::string& path) const {
    if (engine != "tandem") return RunProcess({program_, "contents-load", engine, path, contents_});
    const std::string tandem = (std::filesystem::path(program_).parent_path() / "tandem").string();
    RunProcess({tandem, "create", path, "contents", "--family", "d", "--index", "package=d:package",
                "--index", "section=d:section", "--index", "extension=d:extension"});
    return RunProcess({tandem, "import", path, "contents", contents_, "--format", "apt-contents"});
  }

  void Load(const std::string& engine, const std::string& path) {
    const FinishedProcess load = RunLoad(engine, path);
    std::fprintf(stderr, "%s: loaded and settled in %.1f s\n", engine.c_str(), load.seconds);
    Add(engine, "load settled, s", load.seconds);
    Add(engine, "load, CPU s", load.cpu_seconds);
    Add(engine, "load, peak MiB", static_cast<double>(load.peak_bytes) / kMiB);
    Add(engine, "disk, MiB", static_cast<double>(DiskSize(path)) / kMiB);
  }

  void Add(const std::string& engine, const std::string& what, double value) {
    Figure figure;
    figure.engine = engine;
    figure.phase = what;
    figure.value = value;
    Add(figure);
  }

  void Add(const Figure& figure) {
    if (figures_.Of(figure.phase, "tandem").empty()) order_.push_back(figure.phase);
    figures_.Add(figure);
  }

  void Take(const std::string& engine, const FinishedProcess& process) {
    std::istringstream lines(process.output);
    for (std::string line; std::getline(lines, line);) {
      auto figure = FromLine(line);
      if (!figure.has_value()) Fail(engine + " printed what is no figure: " + line);
      figure->engine = engine;
      figure->phase += ", ms";
      Add(*figure);
    }
  }

  // Each other engine's figure is followed by how many times less Tandem needs.
  void PrintTable() const {
    std::string table = Format("{:<38}", "apt-file's Contents");
    for (const std::string& engine : engines_)
      table += Format(engine == "tandem" ? "{:>12}" : "{:>12}        x", engine);
    table += "\n";
    for (const std::string& phase : order_) {
      table += Format("{:<38}", phase);
      const double own = figures_.Values(phase, "tandem").front();
      for (const std::string& engine : engines_) {
        const double value = figures_.Values(phase, engine).front();
        table += Format("{:>12.3f}", value);
        if (engine != "tandem") table += Format("{:>9.2f}", value / own);
      }
      table += "\n";
    }
    std::fputs(table.c_str(), stdout);
  }

  const std::string contents_, base_, program_;
  std::vector<std::string> engines_;
  std::vector<std::string> order_;  ///< Of phases.
  Figures figures_;
};

}  // namespace

int RunContents(const std::vector<std::string>& words) {
  const std::string& verb = words[0];
  UseTwoProcessors();
  if (verb == "contents-load" && words.size() == 4) {
    LoadContents(words[1], words[2], words[3]);
    return 0;
  }
  if (verb == "contents-query" && words.size() == 4) {
    MeasureContentsQuery(words[1], words[2], std::stoul(words[3]));
    return 0;
  }
  if (verb != "contents" || words.size() < 2 || words.size() > 3) {
    std::fputs("usage: tandem_bench contents FILE [DIRECTORY]\n", stderr);
    return kUsageExitCode;
  }
  if (std::FILE* file = std::fopen(words[1].c_str(), "rb"); file != nullptr) {
    std::fclose(file);
  } else {
    Fail("cannot open " + words[1]);
  }
  const std::string directory =
      words.size() == 3 ? words[2] : std::filesystem::temp_directory_path().string();
  return LargeSet(words[1], directory).Run();
}

}  // namespace tandem::bench
