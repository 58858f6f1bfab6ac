// The benchmark program: workload W1 on Tandem and its peers in turn, and a table of medians with
// the ratios round by round.
//
//   tandem_bench [--rows N] [--rounds N] [--directory DIR] [--engines A,B]
//
// A round of an engine is a process that loads, settles, queries at four selectivities, a range on
// ts, gets and scans, all warm; then, for each selectivity and the range, a fresh process that runs
// the query once on a cold page cache. Every engine must return the same rows: sums are compared,
// and a difference fails the run.
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
#include "tools/bench/cold_cache.h"
#include "tools/bench/peer.h"

namespace tandem::bench {

void Fail(const std::string& what) {
  std::fprintf(stderr, "tandem_bench: %s\n", what.c_str());
  std::exit(1);
}

namespace {

constexpr const char* kUsage =
    "usage: tandem_bench [--rows N] [--rounds N] [--directory DIR] [--engines tandem,rocksdb,lmdb]";

struct Arguments {
  uint64_t rows = 500'000;
  int rounds = 3;
  std::string directory = std::filesystem::temp_directory_path();
  std::vector<std::string> engines = {"tandem", "rocksdb", "lmdb"};
  std::string engine;  ///< Set in a child: the engine to run.
  std::string path;    ///< Set in a child: its directory.
  int cold = -1;       ///< Set in a child that runs one query, cold: its number.
};

double Seconds() {
  static const std::unique_ptr<base::Clock> clock = base::NewSystemClock();
  return static_cast<double>(clock->MonotonicMicros()) / 1e6;
}

std::unique_ptr<Peer> NewPeer(const Arguments& arguments) {
  if (arguments.engine == "tandem") return NewTandemPeer(arguments.path);
  if (arguments.engine == "rocksdb") return NewRocksDbPeer(arguments.path);
  if (arguments.engine == "lmdb") return NewLmdbPeer(arguments.path);
  Fail("unknown engine " + arguments.engine);
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

struct NamedQuery {
  std::string name;
  std::function<void(Peer*, Consumer*)> run;
};

// The queries of W1, by rising selectivity, then the range on ts.
std::vector<NamedQuery> QueriesOf(const W1& w1) {
  std::vector<NamedQuery> queries;
  for (const W1::Target& target : w1.targets()) {
    const auto run = [target](Peer* peer, Consumer* c) {
      peer->Query(target.column, target.value, c);
    };
    queries.push_back({std::string("query ") + target.name, run});
  }
  W1Row low, high;
  w1.Row(w1.rows() / 2, &low);
  w1.Row(w1.rows() / 2 + w1.rows() / 100, &high);
  const auto range = [low, high](Peer* peer, Consumer* c) { peer->QueryTimes(low.ts, high.ts, c); };
  queries.push_back({"range ts 1 %", range});
  return queries;
}

void RunWarm(const Arguments& arguments) {
  const W1 w1(arguments.rows);
  auto peer = NewPeer(arguments);
  const double begin = Seconds();
  peer->Load(w1);
  const double loaded = Seconds();
  peer->Settle();
  const double settled = Seconds();
  Print("load", static_cast<double>(w1.rows()) / (loaded - begin), 0);
  Print("load settled", static_cast<double>(w1.rows()) / (settled - begin), 0);
  for (const NamedQuery& query : QueriesOf(w1)) {
    Measure(query.name, [&](Consumer* c) { query.run(peer.get(), c); });
  }
  uint64_t next = 0;
  Measure("get", [&](Consumer* c) {
    if (c->rows == 0) next = 0;  // The proof run and the timed run ask for the same first keys.
    for (int i = 0; i < 1000; ++i) peer->Get(w1.Key(Mix(next++) % w1.rows()), c);
  });
  Measure("scan", [&](Consumer* c) { peer->Scan(c); });
  peer.reset();
  uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(arguments.path)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  Print("disk bytes", static_cast<double>(bytes), 0);
}

// Opening is part of the time of no engine: only what the query reads is cold.
void RunCold(const Arguments& arguments) {
  const W1 w1(arguments.rows);
  const std::vector<NamedQuery> queries = QueriesOf(w1);
  const NamedQuery& query = queries.at(static_cast<size_t>(arguments.cold));
  auto peer = NewPeer(arguments);
  DropPageCache(arguments.path);
  Consumer consumer;
  const double begin = Seconds();
  query.run(peer.get(), &consumer);
  Print("cold " + query.name, static_cast<double>(consumer.rows) / (Seconds() - begin),
        Proof(consumer));
}

struct Figure {
  std::vector<double> values;
  uint64_t proof = 0;
};
struct Figures {
  std::vector<std::string> phases;  ///< In the order of the first round.
  std::map<std::string, std::map<std::string, Figure>> by_phase;  ///< Then by engine.

  void Add(const std::string& phase, const std::string& engine, double value, uint64_t proof) {
    if (!by_phase.contains(phase)) phases.push_back(phase);
    Figure& figure = by_phase[phase][engine];
    figure.values.push_back(value);
    figure.proof = proof;
  }
};

void RunChild(const std::string& command, const std::string& engine, Figures* figures) {
  std::FILE* child = popen(command.c_str(), "r");
  if (child == nullptr) Fail("cannot start " + command);
  char line[256];
  while (std::fgets(line, sizeof line, child) != nullptr) {
    char* tab = std::strchr(line, '\t');
    if (tab == nullptr) continue;
    char* rest = nullptr;
    const double value = std::strtod(tab + 1, &rest);
    figures->Add(std::string(line, tab), engine, value, std::strtoull(rest, nullptr, 10));
  }
  if (pclose(child) != 0) Fail(engine + " failed");
}

void RunRound(const Arguments& arguments, const std::string& self, const std::string& engine,
              Figures* figures) {
  const std::string path = arguments.directory + "/tandem-bench-" + engine;
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  const std::string command = "'" + self + "' --rows " + std::to_string(arguments.rows) +
                              " --engine " + engine + " --path '" + path + "'";
  RunChild(command, engine, figures);
  const size_t queries = QueriesOf(W1(arguments.rows)).size();
  for (size_t query = 0; query < queries; ++query) {
    RunChild(command + " --cold " + std::to_string(query), engine, figures);
  }
  std::filesystem::remove_all(path);
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Prints a phase: the median of each engine, and the first engine's ratio to each other. False when
// the engines returned different rows.
bool PrintPhase(const std::string& phase, const Arguments& arguments,
                const std::map<std::string, Figure>& figures) {
  const Figure& ours = figures.at(arguments.engines[0]);
  std::printf("%-18s %12.0f", phase.c_str(), Median(ours.values));
  bool same = true;
  for (size_t i = 1; i < arguments.engines.size(); ++i) {
    const Figure& theirs = figures.at(arguments.engines[i]);
    std::vector<double> ratios;
    for (size_t round = 0; round < ours.values.size(); ++round) {
      ratios.push_back(ours.values[round] / theirs.values[round]);
    }
    const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
    std::printf(" %12.0f %6.2f (%.2f-%.2f)", Median(theirs.values), Median(ratios), *least, *most);
    same = same && ours.proof == theirs.proof;
  }
  std::printf("%s\n", same ? "" : " DIFFERENT ROWS");
  return same;
}

int Compare(const Arguments& arguments, const std::string& self) {
  Figures figures;
  for (int round = 0; round < arguments.rounds; ++round) {
    for (const std::string& engine : arguments.engines) {
      std::fprintf(stderr, "round %d of %d: %s\n", round + 1, arguments.rounds, engine.c_str());
      RunRound(arguments, self, engine, &figures);
    }
  }
  std::printf(
      "W1, %llu rows, medians of %d rounds, rows/s (bytes for disk); zstd 1 where there is a "
      "choice, cache 512 MiB, page cache dropped for cold\n",
      static_cast<unsigned long long>(arguments.rows), arguments.rounds);
  std::printf("%-18s %12s", "phase", arguments.engines[0].c_str());
  for (size_t i = 1; i < arguments.engines.size(); ++i) {
    std::printf(" %12s %s", arguments.engines[i].c_str(), "ratio (min-max)");
  }
  std::printf("\n");
  bool same = true;
  for (const std::string& phase : figures.phases) {
    same = PrintPhase(phase, arguments, figures.by_phase.at(phase)) && same;
  }
  return same ? 0 : 1;
}

std::vector<std::string> Split(const std::string& list) {
  std::vector<std::string> parts(1);
  for (const char letter : list) {
    if (letter == ',') {
      parts.emplace_back();
    } else {
      parts.back().push_back(letter);
    }
  }
  return parts;
}

Arguments Parse(int count, char** words) {
  Arguments arguments;
  const std::map<std::string, std::function<void(const std::string&)>> options = {
      {"--rows", [&](const std::string& value) { arguments.rows = std::stoull(value); }},
      {"--rounds", [&](const std::string& value) { arguments.rounds = std::stoi(value); }},
      {"--directory", [&](const std::string& value) { arguments.directory = value; }},
      {"--engines", [&](const std::string& value) { arguments.engines = Split(value); }},
      {"--engine", [&](const std::string& value) { arguments.engine = value; }},
      {"--path", [&](const std::string& value) { arguments.path = value; }},
      {"--cold", [&](const std::string& value) { arguments.cold = std::stoi(value); }}};
  for (int i = 1; i < count; i += 2) {
    const auto option = options.find(words[i]);
    if (option == options.end() || i + 1 == count) Fail(kUsage);
    option->second(words[i + 1]);
  }
  return arguments;
}

}  // namespace
}  // namespace tandem::bench

int main(int count, char** words) {
  using tandem::bench::Compare, tandem::bench::RunCold, tandem::bench::RunWarm;
  const auto arguments = tandem::bench::Parse(count, words);
  if (arguments.engine.empty()) return Compare(arguments, words[0]);
  arguments.cold < 0 ? RunWarm(arguments) : RunCold(arguments);
  return 0;
}
