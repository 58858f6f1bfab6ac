// What overlaps and live entries say of a memstore, against its rows: at many sequences, by several
// readers beside the writer.
#define BOOST_TEST_DYN_LINK
#include "engine/source/memstore_overlap.h"

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "engine/source/memstore_verdicts.h"
#include "index/key.h"
#include "test/engine/read_world.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

using engine::MemRow;
using engine::Memstore;
using engine::MemstoreVerdict;
using engine::MemstoreVerdicts;
using format::Cell;
using format::CellKind;
using format::SequenceNumber;

constexpr uint32_t kRows = 2000;
constexpr uint64_t kFirst = 100'000;  // Of the memstore's sequences.

std::string KeyOf(uint64_t row) { return "row" + std::to_string(10'000 + row); }

/// A file of even rows, and a memstore over it that a test writes.
class World {
 public:
  explicit World(uint32_t chain_cells_max = engine::kChainCellsMax)
      : world_({.families = {{.name = "f"}}, .indexes = {{"c", {{"f", "c"}}}}}),
        table_(std::make_shared<const format::TableRecord>(world_.table())),
        memstore_(std::make_shared<Memstore>(table_, nullptr, 0, chain_cells_max)) {
    for (uint64_t row = 0; row < kRows; row += 2) {
      ModelOperation put;
      put.table = kWorldTable;
      put.row = KeyOf(row);
      put.family = "f";
      put.columns = {{"c", "v" + std::to_string(row % 10)}, {"d", "x"}};
      world_.Apply(put);
    }
    world_.Flush(0);
    view_ = world_.View(world_.Moments()[0]);
    auto clusters = engine::FindClusters(view_, format::KeyRange());
    BOOST_REQUIRE(clusters.has_value() && clusters->size() == 1);
    cluster_ = std::move(clusters->front());
    BOOST_REQUIRE_EQUAL(cluster_.files.size(), 1u);
    cluster_.memstores = {memstore_};
  }

  /// The i-th operation, a random one. Threads: one.
  void Write(uint64_t i, TestRandom* random) {
    Cell cell;
    cell.family = table_->families[0].id;
    cell.sequence = SequenceNumber(kFirst + i);
    cell.timestamp = static_cast<int64_t>(random->Below(8) == 0 ? 1 : 1000 + i);
    const std::string value = "v" + std::to_string(random->Below(10));
    const uint64_t kind = random->Below(8);
    cell.qualifier = kind < 3 ? "c" : "d";
    cell.value = value;
    if (kind == 6) cell.kind = CellKind::kDeleteColumn;
    if (kind == 6 && random->Below(2) == 0) cell.qualifier = "c";
    if (kind == 7) cell.kind = CellKind::kDeleteFamily;
    if (kind >= 6) cell.value = {};
    if (kind == 7) cell.qualifier = {};
    // Few rows are hot.
    const uint64_t row = random->Below(random->Below(4) == 0 ? 8 : kRows);
    memstore_->Apply(KeyOf(row), {&cell, 1});
  }

  /// The verdicts on all rows of the file at `sequence`, by overlaps or by rows alone.
  std::vector<MemstoreVerdict> Verdicts(uint64_t sequence, bool by_overlap) {
    const auto context = NewContext(sequence, by_overlap);
    MemstoreVerdicts verdicts(*context, cluster_, cluster_.files[0], &table_->indexes[0]);
    const std::vector<uint32_t> ordinals = AllOrdinals();
    std::vector<MemstoreVerdict> all(ordinals.size());
    for (size_t at = 0; at < all.size(); at += MemstoreVerdicts::kTogether) {
      const size_t count = std::min(MemstoreVerdicts::kTogether, all.size() - at);
      const Status status = verdicts.Ask(std::span(ordinals).subspan(at), {&all[at], count});
      CHECK(status.ok());  // Several threads come here: Boost.Test takes one at a time.
    }
    return all;
  }

  /// The rows that are untouched, then those that are shared.
  std::vector<uint32_t> Sifted(uint64_t sequence, bool by_overlap) {
    const auto context = NewContext(sequence, by_overlap);
    MemstoreVerdicts verdicts(*context, cluster_, cluster_.files[0], &table_->indexes[0]);
    std::vector<uint32_t> ordinals = AllOrdinals(), shared;
    CHECK(verdicts.Sift(&ordinals, &shared).ok());
    ordinals.push_back(UINT32_MAX);
    ordinals.insert(ordinals.end(), shared.begin(), shared.end());
    return ordinals;
  }

  /// The memstore's rows whose newest Put of the column is in the range.
  std::vector<const MemRow*> RowsWith(const format::KeyRange& range, uint64_t sequence) {
    std::vector<const MemRow*> rows;
    memstore_->CollectIndex(0, range, SequenceNumber(sequence), &rows);
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    const format::IndexColumnRecord& column = table_->indexes[0].columns[0];
    std::erase_if(rows, [&](const MemRow* row) {
      const auto put = Memstore::NewestPut(row, column, SequenceNumber(sequence));
      std::string key;
      return !put.has_value() || !format::AppendIndexKey(column, put->value, &key).ok() ||
             !range.Contains(key);
    });
    return rows;
  }

  format::KeyRange RangeOf(uint64_t low, uint64_t high) const {
    const format::IndexColumnRecord& column = table_->indexes[0].columns[0];
    format::KeyRange range;
    std::string end;
    CHECK(format::AppendIndexKey(column, "v" + std::to_string(low), &range.low).ok());
    CHECK(format::AppendIndexKey(column, "v" + std::to_string(high), &end).ok());
    range.high = end;
    return range;
  }

  /// Whether the memstore shows cells of the row with that ordinal.
  bool Holds(uint32_t ordinal, uint64_t sequence) const {
    const MemRow* row = memstore_->Find(KeyOf(uint64_t{ordinal} * 2));
    return row != nullptr && Memstore::HasCells(row, SequenceNumber(sequence));
  }
  const Memstore& memstore() const { return *memstore_; }
  format::StoreFile* file() const { return cluster_.files[0].file; }
  /// The overlap has covered a reader at that sequence.
  bool Covers(uint64_t sequence) {
    const auto overlap = engine::MemstoreOverlap::Of(*memstore_, *cluster_.files[0].file,
                                                     world_.resources().overlap_memory);
    const auto covers = overlap->Covers(SequenceNumber(sequence), cluster_.files[0].file);
    BOOST_REQUIRE(covers.has_value());
    return *covers;
  }

 private:
  std::unique_ptr<engine::ReadContext> NewContext(uint64_t sequence, bool by_overlap) {
    engine::ReadResources resources = world_.resources();
    if (!by_overlap) resources.overlap_memory = nullptr;
    engine::TableView view = view_;
    view.point.sequence = SequenceNumber(sequence);
    return std::make_unique<engine::ReadContext>(resources, std::move(view),
                                                 engine::ReadSchema());
  }
  std::vector<uint32_t> AllOrdinals() const {
    std::vector<uint32_t> ordinals(cluster_.files[0].high);
    for (uint32_t i = 0; i < ordinals.size(); ++i) ordinals[i] = i;
    return ordinals;
  }

  ReadWorld world_;
  std::shared_ptr<const format::TableRecord> table_;
  std::shared_ptr<Memstore> memstore_;
  engine::TableView view_;
  engine::Cluster cluster_;
};

// A row that was added after the sequence is absent for the overlap; who asks the row finds it, but
// without cells.
bool AreEqual(World* world, uint64_t sequence) {
  std::vector<MemstoreVerdict> known = world->Verdicts(sequence, true);
  std::vector<MemstoreVerdict> asked = world->Verdicts(sequence, false);
  for (uint32_t i = 0; i < known.size(); ++i) {
    if (known[i] == asked[i]) continue;
    const bool is_later = known[i] == MemstoreVerdict::kAbsent &&
                          asked[i] == MemstoreVerdict::kUntouched && !world->Holds(i, sequence);
    if (!is_later) return false;
  }
  return world->Sifted(sequence, true) == world->Sifted(sequence, false);
}

bool IsLiveEqual(World* world, uint64_t sequence, TestRandom* random) {
  const uint64_t low = random->Below(9);
  const format::KeyRange range = world->RangeOf(low, low + 1 + random->Below(9 - low));
  const std::vector<const MemRow*> asked = world->RowsWith(range, sequence);
  std::vector<const MemRow*> live;
  const SequenceNumber at(sequence);
  const bool is_known = world->memstore().CollectLiveIndex(0, range, at, &live);
  if (!is_known) return live.empty();
  std::sort(live.begin(), live.end());
  const auto count = world->memstore().CountLiveIndex(0, range, at);
  return live == asked && (!count.has_value() || *count == live.size());
}

BOOST_AUTO_TEST_SUITE(MemstoreOverlapSuite)

BOOST_AUTO_TEST_CASE(OverlapsSayWhatTheRowsSayAtEverySequence) {
  for (const uint32_t chain_cells_max : {2u, engine::kChainCellsMax}) {
    World world(chain_cells_max);
    TestRandom random("overlaps by sequence");
    uint64_t covered = 0, live = 0;
    for (uint64_t i = 0; i < 3000; ++i) {
      world.Write(i, &random);
      if (i % 50 != 0) continue;
      const uint64_t now = kFirst + i;
      const uint64_t before = now - random.Below(std::min<uint64_t>(i + 1, 400));
      for (const uint64_t sequence : {now, before}) {
        BOOST_REQUIRE_MESSAGE(AreEqual(&world, sequence), "at " << sequence << " of " << now);
        BOOST_REQUIRE(IsLiveEqual(&world, sequence, &random));
        covered += world.Covers(sequence) ? 1 : 0;
      }
      std::vector<const MemRow*> rows;
      live += world.memstore().CollectLiveIndex(0, world.RangeOf(0, 9), SequenceNumber(now), &rows);
    }
    // That is, what was compared was there.
    BOOST_TEST(covered > 100u);
    BOOST_TEST(live > 20u);
  }
}

BOOST_AUTO_TEST_CASE(OverlapsSayWhatTheRowsSayBesideAWriter) {
  World world;
  constexpr uint64_t kWrites = 20'000;
  std::atomic<uint64_t> published = 0;  // The last sequence; release and acquire, as in the engine.
  std::atomic<bool> is_equal = true;
  std::vector<std::thread> readers;
  for (uint64_t reader = 0; reader < 2; ++reader) {
    readers.emplace_back([&, reader] {
      TestRandom random(reader == 0 ? "one reader" : "another reader");
      uint64_t sequence = 0;
      while (sequence < kFirst + kWrites - 1 && is_equal) {
        sequence = published.load(std::memory_order_acquire);
        if (sequence == 0) continue;
        const uint64_t back = random.Below(std::min<uint64_t>(sequence - kFirst + 1, 100));
        for (const uint64_t at : {sequence, sequence - back}) {
          if (!AreEqual(&world, at) || !IsLiveEqual(&world, at, &random)) is_equal = false;
        }
      }
    });
  }
  TestRandom random("writer beside readers");
  for (uint64_t i = 0; i < kWrites && is_equal; ++i) {
    world.Write(i, &random);
    published.store(kFirst + i, std::memory_order_release);
  }
  published.store(kFirst + kWrites - 1, std::memory_order_release);
  for (std::thread& reader : readers) reader.join();
  BOOST_TEST(is_equal);
}

BOOST_AUTO_TEST_CASE(WithoutMemoryNothingIsKnown) {
  World world;
  TestRandom random("changes");
  for (uint64_t i = 0; i < 100; ++i) world.Write(i, &random);
  for (const uint64_t bytes : {500u, 1u << 20}) {
    const auto memory = std::make_shared<engine::OverlapMemory>(bytes);
    {
      engine::MemstoreOverlap overlap(world.memstore(), memory);
      overlap.Asked(1'000'000);
      const auto covers = overlap.Covers(SequenceNumber(kFirst + 99), world.file());
      BOOST_REQUIRE(covers.has_value());
      BOOST_TEST(*covers == (bytes > 500));
      BOOST_TEST((memory->used_bytes() > 0) == *covers);
    }
    BOOST_TEST(memory->used_bytes() == 0u);
  }
}

BOOST_AUTO_TEST_CASE(NothingIsTakenOverBeforeItPays) {
  World world;
  TestRandom random("changes");
  for (uint64_t i = 0; i < 1000; ++i) world.Write(i, &random);
  engine::MemstoreOverlap overlap(world.memstore(),
                                  std::make_shared<engine::OverlapMemory>(1 << 20));
  const SequenceNumber now(kFirst + 999);
  BOOST_TEST(!overlap.Covers(now, world.file()).value());
  overlap.Asked(1000);
  BOOST_TEST(!overlap.Covers(now, world.file()).value());
  overlap.Asked(2000);
  BOOST_TEST(overlap.Covers(now, world.file()).value());
  world.Write(1000, &random);  // A few changes are taken over by any reader.
  BOOST_TEST(overlap.Covers(SequenceNumber(kFirst + 1000), world.file()).value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
