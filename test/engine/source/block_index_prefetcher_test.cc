// What reads load of a block index, by the trace of a simulated disk: the pieces that their rows
// are in, each once, neighbours together, and nothing when a read ends early.
#define BOOST_TEST_DYN_LINK
#include "engine/source/block_index_prefetcher.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/query/reader.h"
#include "test/engine/read_world.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

using Extent = std::pair<uint64_t, uint64_t>;  // Offset and end.

// Rows of one file with some 2,400 blocks, so that the index has 19 pieces.
class IndexTrace {
 public:
  static constexpr uint64_t kRows = 12'000;

  explicit IndexTrace(const std::set<uint32_t>& hits) : world_(Options()), moment_(Fill(hits)) {
    // Only data and pieces of its index are left to read.
    BOOST_REQUIRE(file().Carrier().has_value());
    BOOST_REQUIRE(file().CleanRows().has_value());
    world_.disk().control().SetTracing(true);
    world_.disk().control().TakeTrace();
  }

  format::StoreFile& file() const { return view_.regions[0]->files[0].file->store(); }
  const format::BlockIndex& index() const { return (*file().Carrier())->index(); }
  DiskControl& disk() { return world_.disk().control(); }
  size_t Scan(const ScanOptions& scan) {
    return Drain(engine::ScanRows(world_.resources(), world_.View(moment_), {}, scan)).size();
  }
  Result<std::unique_ptr<engine::RowSource>> Query(const QueryOptions& query = {}) {
    QueryOptions with_index = query;
    with_index.use_index = "by_a";
    return engine::QueryRows(world_.resources(), world_.View(moment_), {},
                             Predicate::Equal("a", "hit"), with_index);
  }

  // The reads of pieces since the last call, by offset.
  std::vector<Extent> Reads() {
    const auto& sections = file().sections();
    const auto found = std::find_if(sections.begin(), sections.end(), [](const auto& section) {
      return section.kind == format::SectionKind::kBlockIndex;
    });
    std::vector<Extent> reads;
    for (const DiskEvent& event : disk().TakeTrace()) {
      const bool is_read =
          event.operation == DiskOperation::kRead && event.name == file().blocks().file().name();
      if (!is_read || event.offset < found->offset) continue;
      if (event.offset >= found->offset + found->size_bytes) continue;
      reads.emplace_back(event.offset, event.offset + event.size);
    }
    std::sort(reads.begin(), reads.end());
    return reads;
  }
  // The reads that these pieces call for.
  std::vector<Extent> ReadsOf(const std::set<uint32_t>& pieces) const {
    std::vector<Extent> reads;
    for (const uint32_t piece : pieces) {
      const format::BlockHandle place = index().PlaceOfPiece(piece);
      const uint64_t end = place.offset + place.stored_bytes;
      if (!reads.empty() &&
          place.offset - reads.back().second <= engine::BlockIndexPrefetcher::kGapMax) {
        reads.back().second = end;
      } else {
        reads.emplace_back(place.offset, end);
      }
    }
    return reads;
  }
  size_t LoadedPieces() const {
    size_t loaded = 0;
    for (uint32_t piece = 0; piece < index().piece_count(); ++piece) {
      loaded += index().HasPiece(piece) ? 1 : 0;
    }
    return loaded;
  }

 private:
  static WorldOptions Options() {
    WorldOptions options;
    options.families.push_back(
        {.name = "f", .compression = Compression::kNone, .block_size_bytes = 1024});
    options.indexes.push_back({"by_a", {{"", "a", ColumnType::kText, false}}});
    options.cache_bytes = 64 << 20;
    return options;
  }
  static std::string Key(uint64_t row) { return "row" + std::to_string(1'000'000 + row); }

  ReadWorld::Moment Fill(const std::set<uint32_t>& hits) {
    for (uint32_t row = 0; row < kRows; ++row) {
      ModelOperation put;
      put.table = kWorldTable;
      put.row = Key(row);
      put.family = "f";
      put.columns = {{"a", hits.contains(row) ? "hit" : "miss"},
                     {"payload", std::string(180, 'p')}};
      world_.Apply(put);
    }
    world_.Flush(0);
    ReadWorld::Moment moment = world_.Moments()[0];
    view_ = world_.View(moment);
    return moment;
  }

  ReadWorld world_;
  engine::TableView view_;
  ReadWorld::Moment moment_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(index_ahead)

BOOST_AUTO_TEST_CASE(AQueryReadsThePiecesOfItsHitsOnceAndNeighboursTogether) {
  TestRandom random("index_ahead/AQueryReadsThePiecesOfItsHitsOnceAndNeighboursTogether");
  for (const uint64_t distance : {20, 800, 3000}) {
    std::set<uint32_t> hits = {3, 11'900};
    for (uint32_t row = 0; row < IndexTrace::kRows; ++row) {
      if (random.OneIn(distance)) hits.insert(row);
    }
    IndexTrace trace(hits);
    BOOST_REQUIRE(trace.index().piece_count() >= 15);
    BOOST_REQUIRE_EQUAL(trace.LoadedPieces(), 0u);
    BOOST_REQUIRE_EQUAL(Drain(trace.Query()).size(), hits.size());
    std::set<uint32_t> needed;
    for (const uint32_t row : hits) needed.insert(trace.index().PieceOf(row, 0));
    const auto expected = trace.ReadsOf(needed);
    BOOST_CHECK(trace.Reads() == expected);
    BOOST_CHECK_EQUAL(trace.LoadedPieces(), needed.size());
    for (const uint32_t piece : needed) BOOST_CHECK(trace.index().HasPiece(piece));
    Drain(trace.Query());
    BOOST_CHECK(trace.Reads().empty());
  }
}

BOOST_AUTO_TEST_CASE(AScanReadsTheIndexWithOneRead) {
  IndexTrace trace({});
  BOOST_CHECK_EQUAL(trace.Scan({}), IndexTrace::kRows);
  std::set<uint32_t> all;
  for (uint32_t piece = 0; piece < trace.index().piece_count(); ++piece) all.insert(piece);
  size_t bytes = 0;
  for (const auto& [begin, end] : trace.Reads()) bytes += end - begin;
  const auto whole = trace.ReadsOf(all);
  BOOST_REQUIRE_EQUAL(whole.size(), 1u);
  BOOST_CHECK(bytes <= whole[0].second - whole[0].first);
  BOOST_CHECK_EQUAL(trace.LoadedPieces(), all.size());
}

BOOST_AUTO_TEST_CASE(APrefixReadsOnePiece) {
  IndexTrace trace({});
  ScanOptions scan;
  scan.prefix = "row100600";  // Rows 6,000 to 6,009.
  BOOST_CHECK_EQUAL(trace.Scan(scan), 10u);
  BOOST_CHECK(trace.LoadedPieces() <= 2u);
  scan.reverse = true;
  trace.Reads();
  BOOST_CHECK_EQUAL(trace.Scan(scan), 10u);
  BOOST_CHECK(trace.Reads().empty());
}

BOOST_AUTO_TEST_CASE(ALimitReadsFewPieces) {
  std::set<uint32_t> hits;
  for (uint32_t row = 0; row < IndexTrace::kRows; row += 5) hits.insert(row);
  IndexTrace trace(hits);
  QueryOptions query;
  query.limit = 5;
  BOOST_CHECK_EQUAL(Drain(trace.Query(query)).size(), 5u);
  BOOST_CHECK_EQUAL(trace.LoadedPieces(), 1u);
}

BOOST_AUTO_TEST_CASE(AFailedReadOfAPieceEndsTheCursorAndIsTriedAgain) {
  std::set<uint32_t> hits;
  for (uint32_t row = 0; row < IndexTrace::kRows; row += 1500) hits.insert(row);
  IndexTrace trace(hits);
  uint64_t struck = 0;
  for (uint64_t at = 1;; ++at) {
    DiskFault fault;
    fault.operations = {DiskOperation::kRead};
    fault.at = at;
    trace.disk().InjectFault(fault);
    auto source = trace.Query();
    Status status = source.status();
    format::RowBatch rows;
    while (status.ok()) {
      const auto more = (*source)->NextBatch(&rows);
      status = more.status();
      if (status.ok() && !*more) break;
    }
    const bool has_struck = trace.disk().has_struck();
    trace.disk().ClearFaults();
    BOOST_REQUIRE_EQUAL(status.code(), has_struck ? StatusCode::kIoError : StatusCode::kOk);
    if (!has_struck) break;
    ++struck;
  }
  BOOST_CHECK(struck > 2);
  BOOST_CHECK_EQUAL(Drain(trace.Query()).size(), hits.size());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
