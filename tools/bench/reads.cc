// The reads of W1 and how they are measured; see measuring.h.
#include <cstdio>

#include "tools/bench/measuring.h"

namespace tandem::bench {
namespace {

constexpr uint64_t kGetsAtOnce = 1000;
constexpr uint64_t kTimes = 20'000;  // Distinct ones that are queried.

}  // namespace

std::vector<NamedRead> QueriesOf(const W1& w1) {
  std::vector<NamedRead> queries;
  for (const W1::Target& target : w1.targets()) {
    const auto run = [target](Peer* peer, Consumer* consumer) {
      peer->Query(target.column, target.value, consumer);
    };
    queries.push_back({std::string("query ") + target.name, target.name, run, Reads::kColdMany});
  }
  return queries;
}

std::vector<NamedRead> FiltersOf(const W1& w1) {
  std::vector<NamedRead> filters;
  for (const W1::Target& target : w1.targets()) {
    const auto run = [target](Peer* peer, Consumer* consumer) {
      peer->Filter(target.column, target.value, consumer);
    };
    filters.push_back({std::string("filter ") + target.name, target.name, run, Reads::kColdMany});
  }
  return filters;
}

NamedRead RangeOf(const W1& w1) {
  W1Row low, high;
  w1.Row(w1.rows() / 2, &low);
  w1.Row(w1.rows() / 2 + w1.rows() / 100, &high);
  const auto run = [low, high](Peer* peer, Consumer* consumer) {
    peer->QueryTimes(low.ts, high.ts, consumer);
  };
  return {"range 1 %", "range 1 %", run, Reads::kColdOrdered};
}

NamedRead GetsOf(const W1& w1) {
  // Each run continues after the one before it; the first, which is compared, begins at 0.
  auto next = std::make_shared<uint64_t>(0);
  const auto run = [next, &w1](Peer* peer, Consumer* consumer) {
    for (uint64_t i = 0; i < kGetsAtOnce; ++i) {
      peer->Get(w1.Key(Mix((*next)++) % w1.rows()), consumer);
    }
  };
  return {"get", "get", run, Reads::kColdFew};
}

NamedRead PinnedGetsOf(const W1& w1) {
  auto next = std::make_shared<uint64_t>(0);
  const auto run = [next, &w1](Peer* peer, Consumer* consumer) {
    for (uint64_t i = 0; i < kGetsAtOnce; ++i) {
      peer->GetPinned(w1.Key(Mix((*next)++) % w1.rows()), consumer);
    }
  };
  return {"get pinned", "get", run, Reads::kColdFew};
}

NamedRead OneRowQueriesOf(const W1& w1) {
  auto times = std::make_shared<std::vector<std::string>>();
  W1Row row;
  for (uint64_t i = 0; i < kTimes; ++i) {
    w1.Row(Mix(i) % w1.rows(), &row);
    times->push_back(row.ts);
  }
  auto next = std::make_shared<uint64_t>(0);
  const auto run = [next, times](Peer* peer, Consumer* consumer) {
    for (uint64_t i = 0; i < kGetsAtOnce; ++i) {
      peer->QueryTime((*times)[(*next)++ % kTimes], consumer);
    }
  };
  return {"query one row", "get", run, Reads::kColdFew};
}

NamedRead ScanOf() {
  return {"scan", "scan", [](Peer* peer, Consumer* consumer) { peer->Scan(consumer); },
          Reads::kColdMany};
}

std::vector<NamedRead> ColdReadsOf(const W1& w1) {
  std::vector<NamedRead> reads = QueriesOf(w1);
  const std::vector<NamedRead> filters = FiltersOf(w1);
  reads.insert(reads.end(), filters.end() - 2, filters.end());
  reads.push_back(RangeOf(w1));
  reads.push_back(GetsOf(w1));
  reads.push_back(ScanOf());
  for (NamedRead& read : reads) {
    if (read.name == "query 0.01 %" || read.name == "query 0.1 %") read.when_cold = Reads::kColdFew;
    read.name = "cold " + read.name;
  }
  return reads;
}

Figure FigureBetween(const std::string& phase, const Usage& begin, const Usage& end) {
  Figure figure;
  figure.phase = phase;
  figure.seconds = end.seconds - begin.seconds;
  figure.cpu_seconds = end.cpu_seconds - begin.cpu_seconds;
  figure.read_bytes = end.read_bytes - begin.read_bytes;
  figure.written_bytes = end.written_bytes - begin.written_bytes;
  figure.peak_bytes = end.peak_bytes;
  return figure;
}

void Print(const Figure& figure) { std::printf("%s\n", ToLine(figure).c_str()); }

void PrintRate(Figure figure, uint64_t items) {
  figure.items = items;
  figure.value = static_cast<double>(items) / figure.seconds;
  Print(figure);
}

void PrintRead(const NamedRead& read, const Usage& begin, const Consumer& all,
               const Consumer& proof) {
  Figure figure = FigureBetween(read.name, begin, UsageNow());
  figure.row_bytes = all.bytes;
  figure.rows_name = read.rows_name;
  figure.proof = ProofOf(proof);
  PrintRate(figure, all.rows);
}

void MeasureRead(const NamedRead& read, Peer* peer, double seconds) {
  Consumer proof;
  read.run(peer, &proof);
  Consumer all;
  const Usage begin = UsageNow();
  do {
    read.run(peer, &all);
  } while (SecondsNow() - begin.seconds < seconds);
  PrintRead(read, begin, all, proof);
}

}  // namespace tandem::bench
