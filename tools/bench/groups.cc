// Loading and reading, warm and cold; see measuring.h.

#include <functional>

#include "tools/bench/cold_cache.h"
#include "tools/bench/disk_size.h"
#include "tools/bench/measuring.h"

namespace tandem::bench {

void Load(const W1& w1, Peer* peer) {
  const auto writer = peer->NewWriter();
  W1Row row;
  for (uint64_t i = 0; i < w1.rows(); ++i) {
    w1.Row(i, &row);
    writer->Insert(row);
    if ((i + 1) % kBatchRows == 0 || i + 1 == w1.rows()) writer->Commit();
  }
}

namespace {

// Prints microseconds per call.
void MeasureCount(const std::string& phase, double seconds,
                  const std::function<uint64_t()>& count) {
  Consumer counted;
  counted.rows = count();
  uint64_t calls = 0;
  const Usage begin = UsageNow();
  do {
    counted.bytes |= counted.rows ^ count();  // Another number now is another proof.
    ++calls;
  } while (SecondsNow() - begin.seconds < seconds);
  Figure figure = FigureBetween(phase, begin, UsageNow());
  figure.items = calls;
  figure.value = figure.seconds * 1e6 / static_cast<double>(calls);
  figure.rows_name = phase;
  figure.proof = ProofOf(counted);
  Print(figure);
}

void MeasureCounts(const W1& w1, Peer* peer, double seconds) {
  const W1::Target& target = w1.targets().back();
  MeasureCount("count by equality", seconds,
               [&] { return peer->Count(target.column, target.value); });
  W1Row low, high;
  w1.Row(w1.rows() / 4, &low);
  w1.Row(w1.rows() / 4 * 3, &high);
  MeasureCount("count by range", seconds, [&] { return peer->CountTimes(low.ts, high.ts); });
}

void MeasureWarmReads(const Arguments& arguments, const W1& w1, Peer* peer) {
  const auto measure = [&](const char* family, const std::vector<NamedRead>& reads) {
    if (!arguments.Wants(family)) return;
    for (const NamedRead& read : reads) MeasureRead(read, peer, arguments.seconds);
  };
  measure("query", QueriesOf(w1));
  measure("query", {OneRowQueriesOf(w1)});
  measure("range", {RangeOf(w1)});
  measure("filter", FiltersOf(w1));
  if (arguments.Wants("count")) MeasureCounts(w1, peer, arguments.seconds);
  measure("get", {GetsOf(w1), PinnedGetsOf(w1)});
  measure("scan", {ScanOf()});
}

}  // namespace

void MeasureWarm(const Arguments& arguments) {
  const W1 w1(arguments.rows);
  auto peer = OpenPeer(arguments.engine, {.path = arguments.path});
  const Usage begin = UsageNow();
  Load(w1, peer.get());
  const Usage loaded = UsageNow();
  peer->Settle();
  const Usage settled = UsageNow();
  if (arguments.Wants("load")) {
    PrintRate(FigureBetween("load", begin, loaded), w1.rows());
    PrintRate(FigureBetween("load settled", begin, settled), w1.rows());
  }
  MeasureWarmReads(arguments, w1, peer.get());
  peer.reset();
  if (arguments.Wants("disk")) PrintDiskSize("disk", arguments.path);
}

void MeasurePlain(const Arguments& arguments) {
  const W1 w1(arguments.rows);
  const auto peer =
      OpenPeer(arguments.engine, {.path = arguments.path, .indexes = IndexSet::kNone});
  const Usage begin = UsageNow();
  Load(w1, peer.get());
  peer->Settle();
  PrintRate(FigureBetween("load without indexes", begin, UsageNow()), w1.rows());
}

void MeasureCold(const Arguments& arguments) {
  const W1 w1(arguments.rows);
  const NamedRead read = ColdReadsOf(w1).at(static_cast<size_t>(arguments.item));
  DropPageCache(arguments.path);
  const auto peer = OpenPeer(arguments.engine, {.path = arguments.path, .reads = read.when_cold});
  DropPageCache(arguments.path);
  Consumer consumer;
  const Usage begin = UsageNow();
  read.run(peer.get(), &consumer);
  PrintRead(read, begin, consumer, consumer);
}

}  // namespace tandem::bench
