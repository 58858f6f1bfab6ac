// Updates, queries beside writers, commits, and opening what was closed or killed; see measuring.h.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <thread>

#include "tools/bench/disk_size.h"
#include "tools/bench/measuring.h"

namespace tandem::bench {
namespace {

constexpr uint64_t kLogBytes = 64 << 20;
constexpr uint64_t kLoggedRowBytes = 320;  ///< About what a row takes in a log, names included.
constexpr double kWriterBatchesPerSecond = 25;
constexpr int kOpens = 5;
// Entries of old values make 30 % of an index when 3 rows in 7 were updated since it was compacted.
constexpr uint64_t kDeadParts = 3, kAllParts = 7;

// Updates `count` different rows at random to their version-th values.
void Update(const W1& w1, uint64_t count, uint64_t version, Peer* peer) {
  const auto writer = peer->NewWriter();
  W1Update update;
  for (uint64_t i = 0; i < count; ++i) {
    w1.Update(Scattered(i, w1.rows()), version, &update);
    writer->Update(update);
    if ((i + 1) % kBatchRows == 0 || i + 1 == count) writer->Commit();
  }
}

// Two threads that update random rows until they are stopped, each those of one half, so that no
// engine has to keep them apart. Their pace is fixed and the same for every engine: at full speed
// the query's rate would show how the system shares two processors among three threads.
class PacedWriters {
 public:
  PacedWriters(const W1& w1, Peer* peer) : w1_(w1) {
    for (uint64_t half = 0; half < 2; ++half) {
      threads_.emplace_back([this, half, peer] { Run(half, peer); });
    }
  }
  ~PacedWriters() {
    stop_.store(true, std::memory_order_relaxed);
    for (std::thread& thread : threads_) thread.join();
  }
  PacedWriters(const PacedWriters&) = delete;
  PacedWriters& operator=(const PacedWriters&) = delete;

 private:
  void Run(uint64_t half, Peer* peer) {
    const auto writer = peer->NewWriter();
    const uint64_t rows = w1_.rows() / 2;
    const double begin = SecondsNow();
    W1Update update;
    uint64_t next = 0;
    for (uint64_t batch = 1; !stop_.load(std::memory_order_relaxed); ++batch) {
      for (uint32_t i = 0; i < kBatchRows; ++i, ++next) {
        w1_.Update(half * rows + Scattered(next, rows), 2 + next / rows, &update);
        writer->Update(update);
      }
      writer->Commit();
      SleepSeconds(begin + static_cast<double>(batch) / kWriterBatchesPerSecond - SecondsNow());
    }
  }

  const W1& w1_;
  std::atomic<bool> stop_ = false;  // Only a wish; joining orders the rest.
  std::vector<std::thread> threads_;
};

void PrintDeadShare(Peer* peer) {
  const std::optional<double> share = peer->DeadShare();
  if (!share.has_value()) return;
  Figure figure;
  figure.phase = "dead entries, %";
  figure.items = 1;
  figure.value = *share * 100;
  Print(figure);
}

// Requires: the database is settled.
void MeasureMixed(const Arguments& arguments, const W1& w1) {
  const auto peer = OpenPeer(arguments.engine, {.path = arguments.path});
  NamedRead query = QueriesOf(w1)[2];
  query.name = "compacted query 1 %";
  query.rows_name = "1 % after updates";
  MeasureRead(query, peer.get(), arguments.seconds);

  Update(w1, w1.rows() * kDeadParts / kAllParts, 1, peer.get());
  PrintDeadShare(peer.get());
  query.name = query.rows_name = "unsettled query 1 %";
  MeasureRead(query, peer.get(), arguments.seconds);
  {
    Consumer all;
    const PacedWriters writers(w1, peer.get());
    const Usage begin = UsageNow();
    do {
      query.run(peer.get(), &all);
    } while (SecondsNow() - begin.seconds < arguments.seconds * 5);
    PrintRate(FigureBetween("query 1 % beside writers", begin, UsageNow()), all.rows);
  }
  // What the writers wrote depends on time, so each engine is compared with itself.
  Consumer queried, filtered;
  query.run(peer.get(), &queried);
  FiltersOf(w1)[2].run(peer.get(), &filtered);
  if (ProofOf(queried) != ProofOf(filtered))
    Fail(arguments.engine + ": beside writers a query returns other rows than a filtered scan");
}

void InsertUntil(double until, uint64_t begin, Writer* writer, std::atomic<uint64_t>* commits) {
  const W1 w1(1);
  W1Row row;
  uint64_t i = begin;
  do {  // Once at least: what is counted is divided by the commits.
    w1.Row(i++, &row);
    writer->Insert(row);
    writer->Commit();
    commits->fetch_add(1, std::memory_order_relaxed);
  } while (SecondsNow() < until);
}

void MeasureCommitsBy(int threads, double seconds, Peer* peer) {
  const std::string by = ", " + std::to_string(threads) + (threads == 1 ? " thread" : " threads");
  const Usage begin = UsageNow();
  const uint64_t commits = InsertRows(threads, seconds, peer);
  const Usage end = UsageNow();
  PrintRate(FigureBetween("commits" + by, begin, end), commits);
  Figure syncs = FigureBetween("syncs per commit" + by, begin, end);
  syncs.items = commits;
  syncs.value = static_cast<double>(end.syncs - begin.syncs) / static_cast<double>(commits);
  Print(syncs);
}

uint64_t LoggedRows(const Arguments& arguments) {
  return std::min(arguments.rows, kLogBytes / kLoggedRowBytes);
}

}  // namespace

uint64_t InsertRows(int threads, double seconds, Peer* peer) {
  constexpr uint64_t kRowsApart = 1 << 24;
  std::vector<std::unique_ptr<Writer>> writers;
  for (int i = 0; i < threads; ++i) writers.push_back(peer->NewWriter());
  std::atomic<uint64_t> commits = 0;
  const double until = SecondsNow() + seconds;
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    const uint64_t first = static_cast<uint64_t>(threads * 16 + i) * kRowsApart;
    running.emplace_back(InsertUntil, until, first, writers[i].get(), &commits);
  }
  for (std::thread& thread : running) thread.join();
  return commits;
}

void MeasureUpdates(const Arguments& arguments) {
  const W1 w1(arguments.rows);
  auto peer = OpenPeer(arguments.engine, {.path = arguments.path});
  Consumer warm;
  peer->Scan(&warm);
  const uint64_t updates = w1.rows() / 2;
  const Usage begin = UsageNow();
  Update(w1, updates, 0, peer.get());
  const Usage updated = UsageNow();
  peer->Settle();
  const Usage settled = UsageNow();
  if (arguments.Wants("update")) {
    PrintRate(FigureBetween("update", begin, updated), updates);
    Figure figure = FigureBetween("update settled", begin, settled);
    Consumer after;
    peer->Scan(&after);
    figure.rows_name = "scan after updates";
    figure.proof = ProofOf(after);
    PrintRate(figure, updates);
  }
  peer.reset();  // Space that was reserved for a log is no part of the size.
  if (arguments.Wants("update")) PrintDiskSize("disk after updates", arguments.path);
  if (arguments.Wants("mixed")) MeasureMixed(arguments, w1);
}

void MeasureCommits(const Arguments& arguments) {
  const auto peer = OpenPeer(arguments.engine, {.path = arguments.path, .synced = true});
  for (const int threads : {1, 8, 32}) MeasureCommitsBy(threads, arguments.seconds * 5, peer.get());
}

void LoadTimed(const W1& w1, uint64_t begin, uint64_t end, Writer* writer,
               std::vector<float>* micros) {
  std::vector<W1Row> batch(kBatchRows);
  for (uint64_t first = begin; first < end; first += batch.size()) {
    batch.resize(std::min<uint64_t>(batch.size(), end - first));
    for (size_t i = 0; i < batch.size(); ++i) w1.Row(first + i, &batch[i]);
    const double start = SecondsNow();
    for (const W1Row& row : batch) writer->Insert(row);
    writer->Commit();
    micros->push_back(static_cast<float>((SecondsNow() - start) * 1e6));
  }
}

void PrintTails(Figure of, std::vector<float> micros) {
  std::sort(micros.begin(), micros.end());
  of.items = micros.size();
  of.phase = "batch, 99.9 %";
  of.value = micros[micros.size() - 1 - micros.size() / 1000];
  Print(of);
  of.phase = "batch, longest";
  of.value = micros.back();
  Print(of);
}

void MeasureTails(const Arguments& arguments) {
  const W1 w1(arguments.rows);
  const auto peer = OpenPeer(arguments.engine, {.path = arguments.path});
  const auto writer = peer->NewWriter();
  std::vector<float> micros;
  const Usage begin = UsageNow();
  LoadTimed(w1, 0, w1.rows(), writer.get(), &micros);
  PrintTails(FigureBetween("", begin, UsageNow()), std::move(micros));
}

void MeasureLarge(const Arguments& arguments) {
  constexpr uint32_t kPayloadBytes = 20'000;
  const W1 w1(std::max<uint64_t>(1, arguments.rows / 100), kPayloadBytes);
  const auto peer = OpenPeer(arguments.engine, {.path = arguments.path});
  const Usage begin = UsageNow();
  Load(w1, peer.get());
  peer->Settle();
  PrintRate(FigureBetween("load of large rows", begin, UsageNow()), w1.rows());
  NamedRead gets = GetsOf(w1);
  gets.name = gets.rows_name = "get of a large row";
  MeasureRead(gets, peer.get(), arguments.seconds);
}

Figure TimeOpen(const Arguments& arguments, const std::string& key,
                std::optional<EngineState>* state) {
  Consumer consumer;
  const Usage begin = UsageNow();
  const auto peer = OpenPeer(arguments.engine, {.path = arguments.path,
                                                .memory_bytes = arguments.memory_mib << 20,
                                                .watched = state != nullptr});
  peer->Get(key, &consumer);
  Figure figure = FigureBetween("", begin, UsageNow());
  if (state != nullptr) *state = peer->State();
  figure.items = 1;
  figure.value = figure.seconds * 1e3;
  figure.proof = ProofOf(consumer);
  return figure;
}

void MeasureOpen(const Arguments& arguments) {
  const W1 w1(1);
  std::vector<Figure> opens;
  for (int i = 0; i < kOpens; ++i) opens.push_back(TimeOpen(arguments, w1.Key(0)));
  std::sort(opens.begin(), opens.end(),
            [](const Figure& a, const Figure& b) { return a.value < b.value; });
  Figure figure = opens[kOpens / 2];
  figure.phase = "open closed";
  figure.rows_name = "a row of a closed database";
  Print(figure);
}

void LoadAndDie(const Arguments& arguments, uint64_t first, uint64_t rows) {
  const W1 w1(1);
  const auto peer = OpenPeer(
      arguments.engine, {.path = arguments.path, .memory_bytes = arguments.memory_mib << 20});
  const auto writer = peer->NewWriter();
  W1Row row;
  for (uint64_t i = 0; i < rows; ++i) {
    w1.Row(first + i, &row);
    writer->Insert(row);
    if ((i + 1) % kBatchRows == 0 || i + 1 == rows) writer->Commit();
  }
  std::fflush(stdout);
  (void)std::raise(SIGKILL);
  std::abort();  // Unreachable.
}

void WriteAndDie(const Arguments& arguments) { LoadAndDie(arguments, 0, LoggedRows(arguments)); }

void MeasureReopen(const Arguments& arguments) {
  const W1 w1(1);
  Figure figure = TimeOpen(arguments, w1.Key(LoggedRows(arguments) - 1));
  figure.phase = "open killed";
  figure.rows_name = "the last row before the kill";
  Print(figure);
}

}  // namespace tandem::bench
