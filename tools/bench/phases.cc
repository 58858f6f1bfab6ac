// See phases.h.
#include "tools/bench/phases.h"

#include <algorithm>

#include "tools/bench/key_phases.h"

namespace tandem::bench {
namespace {

// In the names of the figures of "unmerged": which columns of 30 % of the rows the memstore holds.
constexpr const char* kUnmerged[] = {"indexed", "other", "mixed"};
// Orders of the pages after a fifth of the rows, and after a tenth was updated and flushed.
constexpr const char* kPages[] = {"key", "city", "city falling"};
// Of all rows. "one row": a single one is updated.
constexpr const char* kReadsOfAll[] = {"scan", "filter"};
constexpr const char* kUnmergedOfAll[] = {"one row", "indexed", "other", "mixed"};
constexpr const char* kSelectivities[] = {"0.01 %", "0.1 %", "1 %", "10 %"};

template <typename Use>
void ForEachUnmerged(Use&& use) {
  for (const std::string name : kUnmerged) {
    for (const std::string& state : {name, name + "+writes"}) use(state);
  }
}

void AddUnmergedPhases(std::vector<Phase>* phases) {
  const auto add = [phases](const std::string& state) {
    for (const std::string part : kSelectivities) {
      phases->push_back({state + " query " + part, "unmerged"});
    }
    for (const std::string part : kSelectivities) {
      phases->push_back({state + " count " + part, "unmerged", Unit::kNanos});
    }
  };
  add("merged");
  for (const std::string state : {"merged", "flushed"}) {
    for (const char* order : kPages) {
      phases->push_back({state + " page by " + order, "unmerged", Unit::kMicros});
    }
    for (const std::string part : kSelectivities) {
      phases->push_back({state + " counted " + part, "unmerged", Unit::kMicros});
    }
  }
  ForEachUnmerged(add);
  for (const char* const read : kReadsOfAll) {
    phases->push_back({std::string("merged ") + read, "unmerged"});
    for (const std::string state : kUnmergedOfAll) {
      phases->push_back({state + " unmerged " + read, "unmerged"});
    }
  }
}

void AddUnmergedGoals(std::vector<Goal>* goals) {
  for (const std::string state : {"merged", "flushed"}) {
    for (const char* order : kPages) {
      goals->push_back({state + " page by " + order, Against::kLimit, 200});
    }
    for (const std::string part : kSelectivities) {
      goals->push_back({state + " counted " + part, Against::kLimit, 20});
    }
  }
  ForEachUnmerged([goals](const std::string& state) {
    for (const std::string part : kSelectivities) {
      const std::string query = " query " + part;
      goals->push_back({state + query, Against::kOwnPhase, 0.7, "merged" + query});
    }
    goals->push_back({state + " count 10 %", Against::kLimit, 2});
  });
  for (const std::string read : kReadsOfAll) {
    for (const std::string state : kUnmergedOfAll) {
      goals->push_back({state + " unmerged " + read, Against::kOwnPhase, 0.7, "merged " + read});
    }
  }
}

void AddKeyPhases(std::vector<Phase>* phases) {
  for (const NamedBlocks& blocks : kBlocks) {
    for (const SaltScan& scan : kSaltScans) {
      const Unit unit = scan.part == 1 ? Unit::kPerSecond : Unit::kMicros;
      for (const uint32_t salts : kSalts) {
        phases->push_back({SaltPhase(blocks, scan, salts), "keys", unit});
      }
    }
  }
  for (const CellSet& set : kCellSets) {
    for (const std::string layout : kLayouts) {
      const std::string all = set.name;
      phases->push_back({layout + " load of " + all, "keys"});
      phases->push_back({layout + " disk of " + all, "keys", Unit::kBytes});
      phases->push_back({layout + " entity, all " + all, "keys", Unit::kMicros});
      phases->push_back({layout + " entity, one " + set.one, "keys", Unit::kMicros});
      if (all == "times") {
        phases->push_back({layout + " entity, a tenth of the times", "keys", Unit::kMicros});
      }
      phases->push_back({layout + " scan of " + all, "keys"});
    }
  }
}

// Of kinds of indexes, words, bulk loads and plans.
std::vector<Phase> PhasesOfKinds() {
  return {
      {"load, index of one column", "indexes"},
      {"load, index of two", "indexes"},
      {"query of two columns", "indexes"},
      {"uncovered query", "indexes"},
      {"covered query", "indexes"},
      {"inserts", "indexes"},
      {"inserts, unique", "indexes"},
      {"synced inserts", "indexes"},
      {"synced inserts, unique", "indexes"},
      {"load of titles", "text"},
      {"query of two words", "text", Unit::kMicros},
      {"disk of titles", "text", Unit::kBytes},
      {"load in key order", "bulk"},
      {"bulk load in key order", "bulk"},
      {"load in any order", "bulk"},
      {"bulk load in any order", "bulk"},
      {"AND of two 10 %", "answers"},
      {"OR of 20 values", "answers"},
      {"NOT of 99 %", "answers"},
      {"the other 1 %", "answers"},
      {"last 10 by ts", "answers", Unit::kMicros},
      {"last 10 by ts of a status", "answers", Unit::kMicros},
      {"count of a status", "answers", Unit::kMicros},
      {"count of a tenth of ts", "answers", Unit::kMicros},
      {"page 100,000 by key", "answers", Unit::kMicros},
      {"page 100,000 by ts", "answers", Unit::kMicros},
      {"late page of a status", "answers", Unit::kMicros},
      {"blind puts, 8 threads", "counters"},
      {"increments, 8 threads", "counters"},
      {"hot row, 1 thread", "counters"},
      {"hot row, 8 threads", "counters"},
      {"transfers, 8 threads", "counters"},
      {"plans worse than another", "grid", Unit::kNumber},
      {"the worst of them, times", "grid", Unit::kNumber},
  };
}

std::vector<Phase> AllPhases() {
  std::vector<Phase> phases = {
      {"load", "load"},
      {"load settled", "load"},
      {"load without indexes", "plain"},
      {"update", "update"},
      {"update settled", "update"},
      {"query 0.01 %", "query", Unit::kPerSecond, "filter 0.01 %"},
      {"query 0.1 %", "query", Unit::kPerSecond, "filter 0.1 %"},
      {"query 1 %", "query", Unit::kPerSecond, "filter 1 %"},
      {"query 10 %", "query", Unit::kPerSecond, "filter 10 %"},
      {"query one row", "query"},
      {"range 1 %", "range"},
      {"filter 0.01 %", "filter"},
      {"filter 0.1 %", "filter"},
      {"filter 1 %", "filter"},
      {"filter 10 %", "filter"},
      {"cold query 0.01 %", "cold"},
      {"cold query 0.1 %", "cold"},
      {"cold query 1 %", "cold", Unit::kPerSecond, "cold filter 1 %"},
      {"cold query 10 %", "cold", Unit::kPerSecond, "cold filter 10 %"},
      {"cold range 1 %", "cold"},
      {"cold filter 1 %", "cold"},
      {"cold filter 10 %", "cold"},
      {"cold get", "cold"},
      {"cold scan", "cold"},
      {"compacted query 1 %", "mixed"},
      {"unsettled query 1 %", "mixed"},
      {"query 1 % beside writers", "mixed"},
      {"dead entries, %", "mixed", Unit::kNumber},
      {"count by equality", "count", Unit::kMicros},
      {"count by range", "count", Unit::kMicros},
      {"get", "get"},
      {"get pinned", "get"},
      {"scan", "scan"},
      {"disk", "disk", Unit::kBytes},
      {"disk after updates", "update", Unit::kBytes},
      {"commits, 1 thread", "commits"},
      {"commits, 8 threads", "commits"},
      {"commits, 32 threads", "commits"},
      {"syncs per commit, 1 thread", "commits", Unit::kNumber},
      {"syncs per commit, 8 threads", "commits", Unit::kNumber},
      {"syncs per commit, 32 threads", "commits", Unit::kNumber},
      {"open closed", "open", Unit::kMillis},
      {"open killed", "open", Unit::kMillis},
      {"batch, 99.9 %", "tails", Unit::kMicros},
      {"batch, longest", "tails", Unit::kMicros},
      {"load of large rows", "large"},
      {"get of a large row", "large"},
  };
  AddUnmergedPhases(&phases);
  AddKeyPhases(&phases);
  for (const Phase& phase : PhasesOfKinds()) phases.push_back(phase);
  return phases;
}

// Those of the kinds of indexes, of bulk loads and of answers.
std::vector<Goal> GoalsOfKinds() {
  return {
      {"load, index of two", Against::kOwnPhase, 0.5, "load, index of one column"},
      {"query of two columns", Against::kBestPeer, 3},
      {"covered query", Against::kOwnPhase, 2, "uncovered query"},
      {"inserts, unique", Against::kOwnPhase, 1.0 / 3, "inserts"},
      {"synced inserts, unique", Against::kOwnPhase, 1 / 1.5, "synced inserts"},
      {"load of titles", Against::kBestPeer, 1},
      {"query of two words", Against::kBestPeer, 1},
      {"disk of titles", Against::kBestPeer, 1},
      {"bulk load in key order", Against::kOwnPhase, 2, "load in key order"},
      {"bulk load in any order", Against::kOwnPhase, 1.5, "load in any order"},
      {"AND of two 10 %", Against::kBestPeer, 5},
      {"OR of 20 values", Against::kBestPeer, 3},
      {"NOT of 99 %", Against::kOwnPhase, 1 / 1.05, "the other 1 %"},
      {"last 10 by ts", Against::kLimit, 50},
      {"last 10 by ts of a status", Against::kLimit, 50},
      {"count of a status", Against::kLimit, 20},
      {"count of a tenth of ts", Against::kLimit, 20},
      {"page 100,000 by key", Against::kLimit, 200},
      {"page 100,000 by ts", Against::kLimit, 200},
      {"late page of a status", Against::kLimit, 200},
      {"increments, 8 threads", Against::kOwnPhase, 0.7, "blind puts, 8 threads"},
      {"hot row, 8 threads", Against::kOwnPhase, 4, "hot row, 1 thread"},
      {"plans worse than another", Against::kLimit, 0},
  };
}

std::vector<Goal> AllGoals() {
  std::vector<Goal> goals = {
      {"load settled", Against::kBestPeer, 3},
      {"load settled", Against::kOwnPhase, 0.6, "load without indexes"},
      {"update settled", Against::kBestPeer, 6},
      {"query 0.01 %", Against::kBestPeer, 1.5},
      {"query 0.1 %", Against::kBestPeer, 2},
      {"query 1 %", Against::kBestPeer, 3},
      {"query 10 %", Against::kBestPeer, 3},
      {"query 0.01 %", Against::kRocksDb, 4},
      {"query 0.1 %", Against::kRocksDb, 5},
      {"query 1 %", Against::kRocksDb, 8},
      {"query 10 %", Against::kRocksDb, 8},
      {"range 1 %", Against::kBestPeer, 1.5},
      {"range 1 %", Against::kSecondPeer, 3},
      {"cold query 0.01 %", Against::kBestPeer, 1.5},
      {"cold query 0.1 %", Against::kBestPeer, 1.4},
      {"cold query 1 %", Against::kBestPeer, 1.5},
      {"cold query 10 %", Against::kBestPeer, 2.3},
      {"cold query 0.1 %", Against::kDeviceRandom, 0.8},
      {"cold query 10 %", Against::kDeviceSequential, 0.8},
      {"query 0.01 %", Against::kOwnPhase, 1 / 1.05, "filter 0.01 %"},
      {"query 0.1 %", Against::kOwnPhase, 1 / 1.05, "filter 0.1 %"},
      {"query 1 %", Against::kOwnPhase, 1 / 1.05, "filter 1 %"},
      {"query 10 %", Against::kOwnPhase, 1 / 1.05, "filter 10 %"},
      {"cold query 1 %", Against::kOwnPhase, 1 / 1.05, "cold filter 1 %"},
      {"cold query 10 %", Against::kOwnPhase, 1 / 1.05, "cold filter 10 %"},
      {"query 1 % beside writers", Against::kOwnPhase, 0.7, "compacted query 1 %"},
      {"count by equality", Against::kLimit, 10},
      {"count by range", Against::kLimit, 20},
      {"get", Against::kBestPeer, 1.3},
      {"get", Against::kRocksDb, 3},
      {"get pinned", Against::kBestPeer, 1.3},
      {"query one row", Against::kBestPeer, 1},
      {"cold get", Against::kBestPeer, 1.2},
      {"scan", Against::kBestPeer, 2},
      {"cold scan", Against::kDeviceSequential, 0.8},
      {"disk", Against::kRocksDb, 1 / 0.85},
      {"commits, 1 thread", Against::kRocksDb, 1.5},
      {"commits, 8 threads", Against::kRocksDb, 2.2},
      {"commits, 32 threads", Against::kRocksDb, 2.5},
      {"open closed", Against::kLimit, 10},
      {"open killed", Against::kLimit, 500},
      {"batch, 99.9 %", Against::kLimit, 6000},
      {"batch, longest", Against::kLimit, 20'000},
      {"load of large rows", Against::kRocksDb, 1.2},
      {"get of a large row", Against::kRocksDb, 1},
  };
  AddUnmergedGoals(&goals);
  for (const Goal& goal : GoalsOfKinds()) goals.push_back(goal);
  return goals;
}

}  // namespace

const std::vector<Phase>& Phases() {
  static const std::vector<Phase> phases = AllPhases();
  return phases;
}

const std::vector<Goal>& Goals() {
  static const std::vector<Goal> goals = AllGoals();
  return goals;
}

const Phase* FindPhase(const std::vector<Phase>& phases, std::string_view name) {
  for (const Phase& phase : phases) {
    if (phase.name == name) return &phase;
  }
  return nullptr;
}

const Phase* FindPhase(std::string_view name) { return FindPhase(Phases(), name); }

std::vector<std::string> Families() {
  std::vector<std::string> families;
  for (const Phase& phase : Phases()) {
    if (std::find(families.begin(), families.end(), phase.family) == families.end())
      families.emplace_back(phase.family);
  }
  return families;
}

bool IsMeasured(std::string_view family, std::string_view engine) {
  if (engine == "tandem") return true;
  if (family == "text" || family == "answers") return engine == "sqlite";
  if (family == "counters") return engine != "leveldb";
  return family != "unmerged" && family != "bulk" && family != "grid" && family != "keys";
}

bool IsRate(Unit unit) { return unit == Unit::kPerSecond; }

}  // namespace tandem::bench
