// One long load part by part, an open after a kill in it, and loads of several sizes; see
// measuring.h and size_phases.h.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>

#include "tools/bench/disk_size.h"
#include "tools/bench/measuring.h"
#include "tools/bench/size_phases.h"

namespace tandem::bench {
namespace {

constexpr double kMiB = 1 << 20;
constexpr double kQuerySeconds = 0.02;  // Between parts: so that the load waits for little.
// More than memstores hold, so that flushes and merges go on when the process dies.
constexpr uint64_t kRowsBeforeKill = 1'000'000;

void PrintValue(const std::string& phase, double value) {
  Figure figure;
  figure.phase = phase;
  figure.items = 1;
  figure.value = value;
  figure.peak_bytes = UsageNow().peak_bytes;
  Print(figure);
}

void AddTime(const Figure& part, Figure* whole) {
  whole->seconds += part.seconds;
  whole->cpu_seconds += part.cpu_seconds;
  whole->read_bytes += part.read_bytes;
  whole->written_bytes += part.written_bytes;
  whole->peak_bytes = part.peak_bytes;
}

class LargeLoad {
 public:
  explicit LargeLoad(const Arguments& arguments)
      : path_(arguments.path),
        w1_(arguments.rows),
        resident_before_(UsageNow().resident_bytes),
        peer_(
            OpenPeer(arguments.engine,
                     {.path = path_, .memory_bytes = arguments.memory_mib << 20, .watched = true})),
        queries_(QueriesOf(w1_)),
        handed_before_(UsageNow().handed_bytes) {}

  void Run() {
    const auto writer = peer_->NewWriter();
    for (int part = 0; part < kLoadParts; ++part) LoadPart(part, writer.get());
    load_.phase = "load";
    PrintRate(load_, w1_.rows());
    PrintTails(load_, std::move(micros_));
    PrintWritten("loaded");
    PrintSpace("loaded");
    WorkOn("load idle", [this] { peer_->WaitForIdle(); });
    PrintWritten("idle");
    PrintMerges();
    WorkOn("load settled", [this] { peer_->Settle(); });
    PrintWritten("settled");
    PrintSpace("settled");
    PrintState();
    for (size_t query = 0; query < 2; ++query) {
      (void)MillisOnce(queries_[query]);  // Warms up.
      PrintValue("a row of " + queries_[query].name + ", settled",
                 MicrosPerRow(queries_[query], 10 * kQuerySeconds));
    }
  }

 private:
  double RowBytes(uint64_t rows) const { return static_cast<double>(rows * w1_.row_bytes()); }
  double WrittenBytes() const {
    return static_cast<double>(UsageNow().handed_bytes - handed_before_);
  }

  double MillisOnce(const NamedRead& query) {
    Consumer rows;
    const double begin = SecondsNow();
    query.run(peer_.get(), &rows);
    return (SecondsNow() - begin) * 1e3;
  }

  // 0: it returns none.
  double MicrosPerRow(const NamedRead& query, double seconds) {
    Consumer all;
    const double begin = SecondsNow();
    do {
      query.run(peer_.get(), &all);
    } while (SecondsNow() - begin < seconds);
    const double micros = (SecondsNow() - begin) * 1e6;
    return all.rows == 0 ? 0 : micros / static_cast<double>(all.rows);
  }

  void LoadPart(int part, Writer* writer) {
    const uint64_t first = part == 0 ? 0 : EndOfPart(w1_.rows(), part - 1);
    const uint64_t end = EndOfPart(w1_.rows(), part);
    const Usage begin = UsageNow();
    LoadTimed(w1_, first, end, writer, &micros_);
    const Usage now = UsageNow();
    Figure figure = FigureBetween("", begin, now);
    AddTime(figure, &load_);
    const EngineState state = *peer_->State();
    runs_most_ = std::max(runs_most_, state.runs_most);
    const double rate = static_cast<double>(end - first) / figure.seconds;
    const uint64_t waited = state.stalled_micros + state.delayed_micros;
    const uint64_t waited_before = std::exchange(waited_micros_, waited);
    const double values[] = {rate,
                             static_cast<double>(waited - waited_before) / 1e3,
                             static_cast<double>(state.regions),
                             static_cast<double>(state.runs_most),
                             static_cast<double>(state.files),
                             WrittenBytes() / RowBytes(end),
                             static_cast<double>(DiskSize(path_)) / RowBytes(end),
                             static_cast<double>(now.resident_bytes),
                             static_cast<double>(state.memory_bytes),
                             MillisOnce(queries_[0]),
                             MicrosPerRow(queries_[0], kQuerySeconds),
                             MicrosPerRow(queries_[1], kQuerySeconds)};
    static_assert(std::size(values) == std::size(kPartColumns));
    figure.items = end - first;
    for (size_t i = 0; i < std::size(values); ++i) {
      figure.phase = PartPhase(kPartColumns[i], part);
      figure.value = values[i];
      Print(figure);
    }
    std::fprintf(stderr, "%llu rows, %.0f/s\n", static_cast<unsigned long long>(end), rate);
  }

  // Prints how many rows a second have come so far when `work` is done.
  template <typename Work>
  void WorkOn(const std::string& phase, Work work) {
    const Usage begin = UsageNow();
    work();
    AddTime(FigureBetween("", begin, UsageNow()), &load_);
    load_.phase = phase;
    PrintRate(load_, w1_.rows());
  }

  void PrintWritten(const std::string& when) {
    PrintValue("written per byte, " + when, WrittenBytes() / RowBytes(w1_.rows()));
  }
  void PrintSpace(const std::string& when) {
    PrintValue("space per byte, " + when,
               static_cast<double>(DiskSize(path_)) / RowBytes(w1_.rows()));
  }

  // Of those that were due, without the one that settles.
  void PrintMerges() {
    const EngineState state = *peer_->State();
    runs_most_ = std::max(runs_most_, state.runs_most);
    PrintValue("longest due merge", static_cast<double>(state.longest_merge_micros) / 1e3);
    PrintValue("largest due merge", static_cast<double>(state.largest_merge_bytes));
  }

  // Of the settled database.
  void PrintState() {
    const EngineState state = *peer_->State();
    const double bytes = RowBytes(w1_.rows());
    const auto flushed = static_cast<double>(state.flushed_bytes);
    const auto merged = static_cast<double>(state.merged_bytes);
    PrintValue("of these by flushes", flushed / bytes);
    PrintValue("of these by merges", merged / bytes);
    PrintValue("of these by log and manifest",
               std::max(0.0, WrittenBytes() - flushed - merged) / bytes);
    PrintValue("longest stall", static_cast<double>(state.longest_stall_micros) / 1e3);
    PrintValue("stalls", static_cast<double>(state.stalls));
    PrintValue("all stalls", static_cast<double>(state.stalled_micros) / 1e3);
    PrintValue("all delays", static_cast<double>(state.delayed_micros) / 1e3);
    PrintValue("runs at most", static_cast<double>(std::max(runs_most_, state.runs_most)));
    PrintValue("memory before the open, MiB", static_cast<double>(resident_before_) / kMiB);
    PrintValue("memory budget, MiB", static_cast<double>(state.memory_budget_bytes) / kMiB);
    PrintValue("peak memory, MiB", static_cast<double>(UsageNow().peak_bytes) / kMiB);
  }

  const std::string path_;
  const W1 w1_;
  const uint64_t resident_before_;
  const std::unique_ptr<Peer> peer_;
  const std::vector<NamedRead> queries_;
  const uint64_t handed_before_;
  Figure load_;                // The time so far, without that of queries.
  std::vector<float> micros_;  // Of each batch.
  uint64_t runs_most_ = 0, waited_micros_ = 0;
};

uint64_t RowsBeforeKill(const Arguments& arguments) {
  return std::min(arguments.rows, kRowsBeforeKill);
}

}  // namespace

void MeasureLargeLoad(const Arguments& arguments) { LargeLoad(arguments).Run(); }

void DieInLargeLoad(const Arguments& arguments) {
  LoadAndDie(arguments, arguments.rows, RowsBeforeKill(arguments));
}

void ReopenLargeLoad(const Arguments& arguments) {
  W1Row last;
  W1(1).Row(arguments.rows + RowsBeforeKill(arguments) - 1, &last);
  Consumer expected{.rows = 1};
  for (const std::string* value : {&last.city, &last.payload, &last.status, &last.ts})
    expected.Value(*value);
  std::optional<EngineState> state;
  Figure figure = TimeOpen(arguments, last.key, &state);
  if (figure.proof != ProofOf(expected)) Fail("the last row before the kill is not there");
  figure.phase = "open killed";
  Print(figure);
  PrintValue("operations replayed", static_cast<double>(state->replayed));
}

void MeasureGrowthLoad(const Arguments& arguments) {
  const W1 w1(arguments.rows);
  auto peer = OpenPeer(arguments.engine,
                       {.path = arguments.path, .memory_bytes = arguments.memory_mib << 20});
  const Usage begin = UsageNow();
  const double row_bytes = static_cast<double>(w1.rows() * w1.row_bytes());
  const auto print = [&](const char* state) {
    const Usage now = UsageNow();
    Figure figure = FigureBetween(std::string(kGrowthTime) + state, begin, now);
    figure.items = w1.rows();
    figure.value = figure.seconds * 1e6 / static_cast<double>(w1.rows());
    Print(figure);
    figure.phase = std::string(kGrowthCpu) + state;
    figure.value = figure.cpu_seconds * 1e6 / static_cast<double>(w1.rows());
    Print(figure);
    figure.phase = std::string(kGrowthWritten) + state;
    figure.value = static_cast<double>(now.handed_bytes - begin.handed_bytes) / row_bytes;
    Print(figure);
  };
  Load(w1, peer.get());
  print("loaded");
  peer->WaitForIdle();
  print("idle");
  peer->Settle();
  print("settled");
  peer.reset();
  PrintValue("peak memory, MiB", static_cast<double>(UsageNow().peak_bytes) / kMiB);
  PrintDiskSize("disk", arguments.path);
}

}  // namespace tandem::bench
