// Loads, reads and inserts with indexes of one kind each; see measuring.h.
#include <algorithm>

#include "tools/bench/measuring.h"

namespace tandem::bench {
namespace {

constexpr int kSyncedThreads = 8;
// How many rows inserts come to at most: they are loaded one by one.
constexpr uint64_t kRowsBefore = 100'000;

// The city of 1 % of the rows.
const W1::Target& CityOf(const W1& w1) { return w1.targets()[2]; }

void MeasureLoad(const std::string& phase, const W1& w1, Peer* peer) {
  const Usage begin = UsageNow();
  Load(w1, peer);
  peer->Settle();
  PrintRate(FigureBetween(phase, begin, UsageNow()), w1.rows());
}

// Rows of one city in a tenth of all time.
NamedRead CityTimesOf(const W1& w1) {
  W1Row low, high;
  w1.Row(w1.rows() / 2, &low);
  w1.Row(w1.rows() / 2 + w1.rows() / 10, &high);
  const auto run = [low, high, city = CityOf(w1).value](Peer* peer, Consumer* consumer) {
    peer->QueryCityTimes(city, low.ts, high.ts, consumer);
  };
  return {"query of two columns", "query of two columns", run, Reads::kWarm};
}

NamedRead StatusesOf(const std::string& name, const W1& w1) {
  const auto run = [city = CityOf(w1).value](Peer* peer, Consumer* consumer) {
    peer->QueryStatuses(city, consumer);
  };
  return {name, "statuses of a city", run, Reads::kWarm};
}

void MeasureInserts(const std::string& phase, int threads, double seconds, Peer* peer) {
  const Usage begin = UsageNow();
  const uint64_t inserts = InsertRows(threads, seconds, peer);
  PrintRate(FigureBetween(phase, begin, UsageNow()), inserts);
}

// Inserts into the loaded rows, not synced and by one thread, then synced and by several.
void MeasureInserts(const Arguments& arguments, const std::string& kind, const W1& w1,
                    PeerOptions options) {
  const double seconds = arguments.seconds * 5;
  {
    const auto peer = OpenPeer(arguments.engine, options);
    // Of a unique index a batch has one row.
    const auto writer = peer->NewWriter();
    W1Row row;
    for (uint64_t i = 0; i < std::min(w1.rows(), kRowsBefore); ++i) {
      w1.Row(i, &row);
      writer->Insert(row);
      writer->Commit();
    }
    MeasureInserts("inserts" + kind, 1, seconds, peer.get());
  }
  options.synced = true;
  const auto peer = OpenPeer(arguments.engine, options);
  MeasureInserts("synced inserts" + kind, kSyncedThreads, seconds, peer.get());
}

}  // namespace

void MeasureIndexSet(const Arguments& arguments) {
  const W1 w1(arguments.rows);
  const IndexSet set = kIndexSets[arguments.item];
  const PeerOptions options{.path = arguments.path, .indexes = set};
  if (set == IndexSet::kTime) return MeasureInserts(arguments, "", w1, options);
  if (set == IndexSet::kUniqueTime) return MeasureInserts(arguments, ", unique", w1, options);
  const auto peer = OpenPeer(arguments.engine, options);
  const double seconds = arguments.seconds;
  if (set == IndexSet::kCity) {
    MeasureLoad("load, index of one column", w1, peer.get());
    MeasureRead(StatusesOf("uncovered query", w1), peer.get(), seconds);
  } else if (set == IndexSet::kCityTime) {
    MeasureLoad("load, index of two", w1, peer.get());
    MeasureRead(CityTimesOf(w1), peer.get(), seconds);
  } else {
    Load(w1, peer.get());
    peer->Settle();
    MeasureRead(StatusesOf("covered query", w1), peer.get(), seconds);
  }
}

}  // namespace tandem::bench
