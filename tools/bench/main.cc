// The benchmark program: workload W1 on Tandem and RocksDB in turn, one process per engine and
// round, and a table of medians with the ratio round by round.
//
//   tandem_bench [--rows N] [--rounds N] [--directory DIR]
//
// Each round loads, settles, queries at four selectivities, a range on ts, gets and scans, all
// warm. Every engine must return the same rows: sums are compared, and a difference fails the run.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "tools/bench/peer.h"

namespace tandem::bench {

void Fail(const std::string& what) {
  std::fprintf(stderr, "tandem_bench: %s\n", what.c_str());
  std::exit(1);
}

namespace {

struct Arguments {
  uint64_t rows = 500'000;
  int rounds = 3;
  std::string directory = std::filesystem::temp_directory_path();
  std::string engine;  ///< Set in a child: the engine to run.
  std::string path;    ///< Set in a child: its directory.
};

double Seconds() {
  static const std::unique_ptr<base::Clock> clock = base::NewSystemClock();
  return static_cast<double>(clock->MonotonicMicros()) / 1e6;
}

// One figure of a round: "name rate checksum" on a line of the child's output.
void Print(const std::string& name, double figure, uint64_t proof) {
  std::printf("%s\t%.9g\t%llu\n", name.c_str(), figure, static_cast<unsigned long long>(proof));
}

uint64_t Proof(const Consumer& consumer) {
  return Mix(consumer.rows) ^ Mix(consumer.bytes) ^ consumer.mix;
}

// Repeats `body` until it ran for a fifth of a second, after one run to warm up, and prints rows/s.
void Measure(const std::string& name, const std::function<void(Consumer*)>& body) {
  Consumer proof;
  body(&proof);
  Consumer all;
  const double begin = Seconds();
  double spent = 0;
  while ((spent = Seconds() - begin) < 0.2) body(&all);
  Print(name, static_cast<double>(all.rows) / spent, Proof(proof));
}

uint64_t DiskBytes(const std::string& path) {
  uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  return bytes;
}

void RunRound(const Arguments& arguments) {
  const W1 w1(arguments.rows);
  auto peer =
      arguments.engine == "tandem" ? NewTandemPeer(arguments.path) : NewRocksDbPeer(arguments.path);
  const double begin = Seconds();
  peer->Load(w1);
  const double loaded = Seconds();
  peer->Settle();
  const double settled = Seconds();
  Print("load", w1.rows() / (loaded - begin), 0);
  Print("load settled", w1.rows() / (settled - begin), 0);
  for (const W1::Target& target : w1.targets()) {
    Measure(std::string("query ") + target.name,
            [&](Consumer* c) { peer->Query(target.column, target.value, c); });
  }
  W1Row low, high;
  w1.Row(w1.rows() / 2, &low);
  w1.Row(w1.rows() / 2 + w1.rows() / 100, &high);
  Measure("range ts 1 %", [&](Consumer* c) { peer->QueryTimes(low.ts, high.ts, c); });
  uint64_t next = 0;
  Measure("get", [&](Consumer* c) {
    if (c->rows == 0) next = 0;  // The proof run and the timed run ask for the same first keys.
    for (int i = 0; i < 1000; ++i) peer->Get(w1.Key(Mix(next++) % w1.rows()), c);
  });
  Measure("scan", [&](Consumer* c) { peer->Scan(c); });
  peer.reset();
  Print("disk bytes", static_cast<double>(DiskBytes(arguments.path)), 0);
}

struct Figure {
  std::vector<double> values;
  uint64_t proof = 0;
};
using Figures = std::map<std::string, std::map<std::string, Figure>>;  // By phase, by engine.

void RunChild(const Arguments& arguments, const std::string& self, const std::string& engine,
              std::vector<std::string>* phases, Figures* figures) {
  const std::string path = arguments.directory + "/tandem-bench-" + engine;
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  const std::string command = "'" + self + "' --rows " + std::to_string(arguments.rows) +
                              " --engine " + engine + " --path '" + path + "'";
  std::FILE* child = popen(command.c_str(), "r");
  if (child == nullptr) Fail("cannot start " + command);
  char line[256];
  while (std::fgets(line, sizeof line, child) != nullptr) {
    char* tab = std::strchr(line, '\t');
    if (tab == nullptr) continue;
    const std::string phase(line, tab);
    char* rest = nullptr;
    const double value = std::strtod(tab + 1, &rest);
    if (figures->find(phase) == figures->end()) phases->push_back(phase);
    Figure& figure = (*figures)[phase][engine];
    figure.values.push_back(value);
    figure.proof = std::strtoull(rest, nullptr, 10);
  }
  if (pclose(child) != 0) Fail(engine + " failed");
  std::filesystem::remove_all(path);
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int Compare(const Arguments& arguments, const std::string& self) {
  std::vector<std::string> phases;
  Figures figures;
  for (int round = 0; round < arguments.rounds; ++round) {
    for (const char* engine : {"tandem", "rocksdb"}) {
      std::fprintf(stderr, "round %d of %d: %s\n", round + 1, arguments.rounds, engine);
      RunChild(arguments, self, engine, &phases, &figures);
    }
  }
  std::printf(
      "W1, %llu rows, medians of %d rounds, rows/s (bytes for disk); zstd 1, cache 512 MiB\n",
      static_cast<unsigned long long>(arguments.rows), arguments.rounds);
  std::printf("%-16s %14s %14s %8s %16s\n", "phase", "tandem", "rocksdb", "ratio", "ratio min-max");
  int different = 0;
  for (const std::string& phase : phases) {
    const Figure& ours = figures[phase]["tandem"];
    const Figure& theirs = figures[phase]["rocksdb"];
    std::vector<double> ratios;
    for (size_t i = 0; i < ours.values.size(); ++i)
      ratios.push_back(ours.values[i] / theirs.values[i]);
    const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
    std::printf("%-16s %14.0f %14.0f %8.2f %8.2f-%.2f\n", phase.c_str(), Median(ours.values),
                Median(theirs.values), Median(ratios), *least, *most);
    if (ours.proof != theirs.proof) {
      std::printf("%-16s DIFFERENT ROWS\n", "");
      ++different;
    }
  }
  return different == 0 ? 0 : 1;
}

Arguments Parse(int count, char** words) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string option = words[i];
    if (i + 1 == count) Fail("usage: tandem_bench [--rows N] [--rounds N] [--directory DIR]");
    const std::string value = words[++i];
    if (option == "--rows") {
      arguments.rows = std::stoull(value);
    } else if (option == "--rounds") {
      arguments.rounds = std::stoi(value);
    } else if (option == "--directory") {
      arguments.directory = value;
    } else if (option == "--engine") {
      arguments.engine = value;
    } else if (option == "--path") {
      arguments.path = value;
    } else {
      Fail("unknown option " + option);
    }
  }
  return arguments;
}

}  // namespace
}  // namespace tandem::bench

int main(int count, char** words) {
  const auto arguments = tandem::bench::Parse(count, words);
  if (!arguments.engine.empty()) {
    tandem::bench::RunRound(arguments);
    return 0;
  }
  return tandem::bench::Compare(arguments, words[0]);
}
