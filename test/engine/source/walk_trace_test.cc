// What a query reads from the disk, by the trace of a simulated one: the data blocks that hold
// candidates, each once, neighbours together, gaps of at most 16 KiB.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/query/reader.h"
#include "format/hash.h"
#include "test/engine/read_world.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

constexpr uint64_t kGapMax = 16 * 1024;
constexpr uint64_t kReadMax = 256 << 10;

struct Extent {
  uint64_t offset = 0, end = 0;
};

// By file name.
using Extents = std::map<std::string, std::vector<Extent>>;

WorldOptions PlainOptions(size_t cache_bytes) {
  WorldOptions options;
  options.families.push_back(
      {.name = "f", .compression = Compression::kNone, .block_size_bytes = 1024});
  options.indexes.push_back({"by_a", {{"", "a", ColumnType::kText, false}}});
  options.cache_bytes = cache_bytes;
  return options;
}

std::string Key(uint64_t row) { return "row" + std::to_string(1'000'000 + row); }

void Put(ReadWorld& world, uint64_t row, const std::string& a) {
  ModelOperation put;
  put.table = kWorldTable;
  put.row = Key(row);
  put.family = "f";
  put.columns = {{"a", a}, {"payload", std::string(180, 'p')}};
  world.Apply(put);
}

format::StoreFile& FileOf(const engine::TableView& view, size_t which) {
  return view.regions[0]->files[which].file->store();
}

// The blocks of the file that hold the rows, by place in the file.
std::set<uint32_t> BlocksOf(format::StoreFile& file, const std::set<std::string>& keys) {
  std::set<uint32_t> blocks;
  for (const std::string& key : keys) {
    const uint64_t hash = format::RowHash(key, file.table().hash_secret);
    const auto found = file.FindByHash(key, hash);
    BOOST_REQUIRE(found.has_value());
    if (found->has_value()) blocks.insert(*(*file.Carrier())->BlockOf((*found)->ordinal.value));
  }
  return blocks;
}

Extent PlaceOf(const format::StoreFile& file, uint32_t block) {
  const format::BlockHandle handle = (*file.Carrier())->BlockAt(block)->handle;
  return {handle.offset, handle.offset + handle.stored_bytes};
}

// The reads of data blocks in the trace.
Extents DataReads(ReadWorld& world, const engine::TableView& view) {
  Extents reads;
  std::vector<DiskEvent> trace = world.disk().control().TakeTrace();
  for (const DiskEvent& event : trace) {
    if (event.operation != DiskOperation::kRead) continue;
    for (const engine::FileSlice& slice : view.regions[0]->files) {
      format::StoreFile& file = slice.file->store();
      if (file.blocks().file().name() != event.name) continue;
      const uint32_t count = (*file.Carrier())->block_count();
      if (event.offset >= PlaceOf(file, 0).offset && event.offset < PlaceOf(file, count - 1).end) {
        reads[event.name].push_back({event.offset, event.offset + event.size});
      }
    }
  }
  return reads;
}

// The reads of one file are exactly those that its needed blocks call for.
void CheckReads(format::StoreFile& file, const std::set<uint32_t>& needed,
                std::vector<Extent> reads) {
  std::sort(reads.begin(), reads.end(),
            [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
  std::vector<Extent> expected;
  for (const uint32_t block : needed) {
    const Extent place = PlaceOf(file, block);
    const bool joins = !expected.empty() && place.offset - expected.back().end <= kGapMax &&
                       place.end - expected.back().offset <= kReadMax;
    if (joins) {
      expected.back().end = place.end;
    } else {
      expected.push_back(place);
    }
  }
  BOOST_REQUIRE_EQUAL(reads.size(), expected.size());
  for (size_t i = 0; i < reads.size(); ++i) {
    BOOST_REQUIRE_EQUAL(reads[i].offset, expected[i].offset);
    BOOST_REQUIRE_EQUAL(reads[i].end, expected[i].end);
  }
}

// Loads what is not data (index sections, filters, hashes) so that only data is left to read.
void Warm(ReadWorld& world, const engine::TableView& view) {
  for (const engine::FileSlice& slice : view.regions[0]->files) {
    format::StoreFile& file = slice.file->store();
    BOOST_REQUIRE((*file.Carrier())->LoadBlocks().ok());
    BOOST_REQUIRE(file.KeyHashes().has_value());
    BOOST_REQUIRE(file.MayContain(1).has_value());
    BOOST_REQUIRE(file.CleanRows().has_value());
    std::vector<uint32_t> ordinals;
    auto section = file.Index(view.table->indexes[0].id);
    BOOST_REQUIRE(section.has_value());
    const auto all = format::PresentRange(view.table->indexes[0].columns[0]);
    BOOST_REQUIRE((*section)->AppendOrdinals(format::IndexPart::kCurrent, all, &ordinals).ok());
  }
  world.disk().control().SetTracing(true);
  world.disk().control().TakeTrace();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(walk_trace)

BOOST_AUTO_TEST_CASE(AQueryReadsTheBlocksOfItsHitsOnceAndNeighboursTogether) {
  TestRandom random("walk_trace/AQueryReadsTheBlocksOfItsHitsOnceAndNeighboursTogether");
  for (const uint64_t distance : {1, 7, 60, 400, 3000}) {
    ReadWorld world(PlainOptions(64 << 20));
    std::set<std::string> hits;
    for (uint64_t row = 0; row < 12'000; ++row) {
      const bool is_hit = random.OneIn(distance);
      Put(world, row, is_hit ? "hit" : "miss");
      if (is_hit) hits.insert(Key(row));
    }
    world.Flush(0);
    const auto moment = world.Moments()[0];
    const engine::TableView view = world.View(moment);
    Warm(world, view);
    QueryOptions query;
    query.use_index = "by_a";
    const auto rows = Drain(engine::QueryRows(world.resources(), world.View(moment), {},
                                              Predicate::Equal("a", "hit"), query));
    BOOST_REQUIRE_EQUAL(rows.size(), hits.size());
    format::StoreFile& file = FileOf(view, 0);
    const auto needed = BlocksOf(file, hits);
    CheckReads(file, needed, DataReads(world, view)[file.blocks().file().name()]);

    const auto explained = engine::ExplainQuery(world.resources(), world.View(moment), {},
                                                Predicate::Equal("a", "hit"), query);
    BOOST_REQUIRE(explained.has_value());
    BOOST_CHECK_EQUAL(explained->candidate_blocks, needed.size());
    BOOST_CHECK_EQUAL(explained->candidate_rows, hits.size());
    BOOST_CHECK_EQUAL(explained->entries, hits.size());
    BOOST_CHECK_EQUAL(explained->total_blocks, (*file.Carrier())->block_count());
    // Everything came from the cache the second time.
    BOOST_CHECK(DataReads(world, view).empty());
  }
}

BOOST_AUTO_TEST_CASE(RowsOfSeveralFilesAreMergedReadingEachBlockOnce) {
  TestRandom random("walk_trace/RowsOfSeveralFilesAreMergedReadingEachBlockOnce");
  size_t superseded = 0;
  for (int trial = 0; trial < 6; ++trial) {
    // Without a cache every second read of a block would show.
    ReadWorld world(PlainOptions(trial % 2 == 0 ? 0 : 64 << 20));
    // Of the rows that a memstore had a hit of, a file keeps those that ended as one.
    std::set<std::string> hits, written;
    const auto write = [&](uint64_t row, bool is_hit) {
      Put(world, row, is_hit ? "hit" : "miss");
      if (is_hit) {
        written.insert(Key(row));
      } else {
        written.erase(Key(row));
      }
    };
    const auto flush = [&] {
      world.Flush(0);
      hits.merge(written);
      written.clear();
    };
    for (uint64_t row = 0; row < 6000; ++row) write(row, random.OneIn(40));
    flush();
    for (int file = 0; file < 2; ++file) {
      for (int i = 0; i < 700; ++i) write(random.Below(6000), random.OneIn(10));
      flush();
    }
    for (uint64_t i = 0; i < 100; ++i) {
      Put(world, i * 59, i % 10 == 0 ? "hit" : "miss");
      if (i % 10 == 0) {
        hits.insert(Key(i * 59));
      } else {
        superseded += hits.erase(Key(i * 59));
      }
    }
    const auto moment = world.Moments()[0];
    const engine::TableView view = world.View(moment);
    Warm(world, view);
    QueryOptions query;
    query.use_index = "by_a";
    const auto rows = Drain(engine::QueryRows(world.resources(), world.View(moment), {},
                                              Predicate::Equal("a", "hit"), query));
    BOOST_CHECK(rows == moment.model.Query(kWorldTable, Predicate::Equal("a", "hit"), query,
                                           world.ReadOf()));
    Extents reads = DataReads(world, view);
    for (size_t i = 0; i < 3; ++i) {
      format::StoreFile& file = FileOf(view, i);
      // A row that was ever a hit is a candidate, and needed wherever it is, but for those that a
      // memstore has made a miss: nothing of them is read.
      const auto needed = BlocksOf(file, hits);
      std::map<uint32_t, int> times;
      for (const Extent& read : reads[file.blocks().file().name()]) {
        BOOST_CHECK(read.end - read.offset <= kReadMax);
        uint64_t end = read.offset;  // Of the last needed block in this read.
        for (const uint32_t block : needed) {
          const Extent place = PlaceOf(file, block);
          if (place.offset < read.offset || place.end > read.end) continue;
          ++times[block];
          BOOST_CHECK(place.offset - end <= kGapMax);
          end = place.end;
        }
        BOOST_CHECK_EQUAL(end, read.end);  // A read ends with a block that is needed.
      }
      // A block within the gap of an earlier read is read again when it turns out to be needed.
      for (const uint32_t block : needed) BOOST_CHECK(times[block] >= 1 && times[block] <= 2);
    }
  }
  BOOST_CHECK_GT(superseded, 0u);
}

BOOST_AUTO_TEST_CASE(AScanReadsAheadInLargeReads) {
  ReadWorld world(PlainOptions(64 << 20));
  for (uint64_t row = 0; row < 30'000; ++row) Put(world, row, "v");
  world.Flush(0);
  const auto moment = world.Moments()[0];
  const engine::TableView view = world.View(moment);
  Warm(world, view);
  Drain(engine::ScanRows(world.resources(), world.View(moment), {}, {}));
  format::StoreFile& file = FileOf(view, 0);
  std::set<uint32_t> all;
  for (uint32_t block = 0; block < (*file.Carrier())->block_count(); ++block) all.insert(block);
  CheckReads(file, all, DataReads(world, view)[file.blocks().file().name()]);
}

BOOST_AUTO_TEST_CASE(ALargeScanLeavesTheCacheAsItIs) {
  ReadWorld world(PlainOptions(64 << 20));
  for (uint64_t row = 0; row < 10'000; ++row) Put(world, row, "v");
  world.Flush(0);
  const auto moment = world.Moments()[0];
  const engine::TableView view = world.View(moment);
  Warm(world, view);
  engine::ReadResources resources = world.resources();
  resources.cache_bytes = 1 << 20;
  for (const bool reverse : {false, true}) {
    ScanOptions scan;
    scan.reverse = reverse;
    BOOST_CHECK_EQUAL(Drain(engine::ScanRows(resources, world.View(moment), {}, scan)).size(),
                      10'000);
    BOOST_CHECK(!DataReads(world, view).empty());
  }
  const format::DataSection& data = **FileOf(view, 0).Carrier();
  for (uint32_t block = 0; block < data.block_count(); ++block) {
    BOOST_REQUIRE(data.CachedRows(*data.BlockAt(block)) == nullptr);
  }
}

// The hit rate of a hot set is the same before and after everything was scanned.
BOOST_AUTO_TEST_CASE(AScanOfEverythingLeavesTheHotSet) {
  constexpr size_t kCacheBytes = 1 << 20;
  ReadWorld world(PlainOptions(kCacheBytes));
  for (uint64_t row = 0; row < 20'000; ++row) Put(world, row, "v");
  world.Flush(0);
  const auto moment = world.Moments()[0];
  const engine::TableView view = world.View(moment);
  Warm(world, view);
  const auto read_hot = [&] {
    for (uint64_t row = 0; row < 20'000; row += 100) {
      BOOST_REQUIRE(
          engine::GetRow(world.View(moment).RegionOf(Key(row)), {}, Key(row)).has_value());
    }
    return DataReads(world, view)[FileOf(view, 0).blocks().file().name()].size();
  };
  BOOST_CHECK_EQUAL(read_hot(), 200u);
  BOOST_CHECK_EQUAL(read_hot(), 0u);
  engine::ReadResources resources = world.resources();
  resources.cache_bytes = kCacheBytes;
  for (const bool reverse : {false, true}) {
    ScanOptions scan;
    scan.reverse = reverse;
    BOOST_CHECK_EQUAL(Drain(engine::ScanRows(resources, world.View(moment), {}, scan)).size(),
                      20'000u);
    DataReads(world, view);
    BOOST_CHECK_EQUAL(read_hot(), 0u);
  }
}

BOOST_AUTO_TEST_CASE(ALimitReadsLittle) {
  ReadWorld world(PlainOptions(64 << 20));
  for (uint64_t row = 0; row < 30'000; ++row) Put(world, row, "v");
  world.Flush(0);
  const auto moment = world.Moments()[0];
  const engine::TableView view = world.View(moment);
  Warm(world, view);
  QueryOptions query;
  query.limit = 5;
  query.use_index = "by_a";
  Drain(engine::QueryRows(world.resources(), world.View(moment), {}, Predicate::Equal("a", "v"),
                          query));
  uint64_t bytes = 0;
  for (const auto& [name, reads] : DataReads(world, view)) {
    for (const Extent& read : reads) bytes += read.end - read.offset;
  }
  BOOST_CHECK(bytes > 0 && bytes < 64 * 1024);
}

// The block after the last row of the limit is not read each time.
BOOST_AUTO_TEST_CASE(ALimitedQueryWhoseRowsAreCachedReadsNothing) {
  ReadWorld world(PlainOptions(64 << 20));
  for (uint64_t row = 0; row < 30'000; ++row) Put(world, row, row % 200 == 0 ? "hit" : "miss");
  world.Flush(0);
  const auto moment = world.Moments()[0];
  const engine::TableView view = world.View(moment);
  Warm(world, view);
  QueryOptions query;
  query.use_index = "by_a";
  for (const uint64_t limit : {1, 2, 6, 40}) {
    query.limit = limit;
    for (int run = 0; run < 2; ++run) {
      BOOST_CHECK_EQUAL(Drain(engine::QueryRows(world.resources(), world.View(moment), {},
                                                Predicate::Equal("a", "hit"), query))
                            .size(),
                        limit);
      BOOST_CHECK_EQUAL(DataReads(world, view).empty(), run == 1);
    }
  }
}

namespace {

struct Asked {
  const char* predicate;
  QueryOptions query = {};
  uint64_t keys = 0;  // That are looked up in each file, before a row is read.
};

// Every operator, alone and joined, with each kind of order.
std::vector<Asked> EachOperator() {
  return {{"a = 'hit'"},
          {"a != 'miss'"},
          {"NOT a = 'miss'"},
          {"a IN ('hit', 'rare')"},
          {"a PREFIX 'h'"},
          {"a IS NULL"},
          {"a IS NOT NULL AND n < 40"},
          {"n < 30"},
          {"n <= 30 OR n >= 1490"},
          {"n > 1460"},
          {"n BETWEEN 700 AND 720"},
          {"(n, a) > (1450, 'hit')"},
          {"a = 'hit' AND n < 700"},
          {"a = 'hit' OR n < 20"},
          {"a = 'hit' AND NOT n < 700"},
          {"a LIKE 'h%'"},
          {"a CONTAINS 'ar'"},
          {"_row < 'row1000300'", {}, 1},
          {"_row IN ('row1000003', 'row1000990', 'row1001499') AND n >= 0", {}, 5},
          {"_row BETWEEN 'row1000500' AND 'row1000700' AND a = 'hit'", {}, 2},
          {"TRUE"},
          {"a = 'hit'", {.no_index = true}},
          {"a = 'hit'", {.order_by = "by_n"}},
          {"TRUE", {.order_by = "by_n", .limit = 30}},
          {"TRUE", {.order_by = "by_n", .descending = true, .limit = 30}},
          {"n < 900", {.order_by = "by_n", .limit = 20, .offset = 100}},
          {"a = 'hit'", {.order_by = "by_n", .limit = 5}},
          {"a = 'hit' AND n < 900", {.order_by = "by_n", .descending = true, .limit = 3}},
          {"TRUE", {.limit = 30}},
          {"a = 'hit'", {.limit = 7}},
          {"a = 'hit' AND n < 900", {.use_indexes = {"by_a", "by_n"}}}};
}

struct DataRead {
  uint64_t blocks = 0, bytes = 0;
};

DataRead TakeDataRead(ReadWorld& world, const engine::TableView& view) {
  DataRead read;
  const Extents all = DataReads(world, view);
  for (const engine::FileSlice& slice : view.regions[0]->files) {
    format::StoreFile& file = slice.file->store();
    const auto reads = all.find(file.blocks().file().name());
    if (reads == all.end()) continue;
    for (const Extent& extent : reads->second) {
      for (uint32_t block = 0; block < (*file.Carrier())->block_count(); ++block) {
        const Extent place = PlaceOf(file, block);
        if (place.offset < extent.offset || place.end > extent.end) continue;
        ++read.blocks;
        read.bytes += place.end - place.offset;
      }
    }
  }
  return read;
}

}  // namespace

// What EXPLAIN says of a query is what the query reads from the disk, block by block. Blocks are
// larger than the gaps that are read along, and nothing is cached. Blocks in which row keys are
// looked up do not count: with a cache they are those of rows nearly always.
BOOST_AUTO_TEST_CASE(ExplanationsOfEachOperatorAreWhatIsRead) {
  TestRandom random("walk_trace/ExplanationsOfEachOperatorAreWhatIsRead");
  WorldOptions options = PlainOptions(0);
  options.families[0].block_size_bytes = 20 << 10;
  options.indexes.push_back({"by_n", {{"", "n", ColumnType::kInt64, false}}});
  ReadWorld world(options);
  const auto put = [&](uint64_t row) {
    ModelOperation operation;
    operation.table = kWorldTable;
    operation.row = Key(row);
    operation.family = "f";
    operation.columns = {{"n", std::to_string(row * 7'919 % 1'500)},
                         {"payload", std::string(2'000, 'p')}};
    if (!random.OneIn(30)) {
      operation.columns.emplace_back("a", random.OneIn(40)    ? "hit"
                                          : random.OneIn(200) ? "rare"
                                                              : "miss");
    }
    world.Apply(operation);
  };
  for (uint64_t row = 0; row < 1'500; ++row) put(row);
  world.Flush(0);
  for (const int sources : {1, 3}) {
    if (sources == 3) {
      for (int i = 0; i < 40; ++i) put(random.Below(1'500));
      world.Flush(0);
      for (int i = 0; i < 40; ++i) put(random.Below(1'500));
      world.BuildOverlaps(0, &random, 0);
    }
    const auto moment = world.Moments()[0];
    const engine::TableView view = world.View(moment);
    Warm(world, view);
    for (const auto& [text, query, keys] : EachOperator()) {
      const Predicate predicate = *Predicate::Parse(text);
      // Sections of indexes are read by the first of these.
      Drain(engine::QueryRows(world.resources(), world.View(moment), {}, predicate, query));
      DataReads(world, view);
      const auto explained =
          engine::ExplainQuery(world.resources(), world.View(moment), {}, predicate, query);
      BOOST_REQUIRE_MESSAGE(explained.has_value(), explained.status().ToString());
      const auto by_explain = TakeDataRead(world, view);
      Drain(engine::QueryRows(world.resources(), world.View(moment), {}, predicate, query));
      const auto by_query = TakeDataRead(world, view);
      BOOST_TEST_CONTEXT(text << " by '" << query.order_by << "', " << sources << " sources, "
                              << explained->reason) {
        BOOST_CHECK_EQUAL(by_query.blocks, by_explain.blocks);
        BOOST_CHECK_EQUAL(by_query.bytes, by_explain.bytes);
        // Of several files each may have all the rows that are asked for, and reads ahead of them.
        const bool reads_ahead = sources > 1 && query.limit > 0 && query.order_by.empty();
        const uint64_t others = (reads_ahead ? query.limit : keys) * explained->files;
        BOOST_CHECK_GE(by_query.blocks, explained->candidate_blocks);
        BOOST_CHECK_LE(by_query.blocks, explained->candidate_blocks + others);
        BOOST_CHECK_GE(by_query.bytes, explained->candidate_bytes);
        if (others == 0) BOOST_CHECK_EQUAL(by_query.bytes, explained->candidate_bytes);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(AFailedReadEndsTheCursorWithItsStatus) {
  ReadWorld world(PlainOptions(0));
  for (uint64_t row = 0; row < 20'000; ++row) Put(world, row, row % 50 == 0 ? "hit" : "miss");
  world.Flush(0);
  const auto moment = world.Moments()[0];
  const engine::TableView view = world.View(moment);
  Warm(world, view);
  QueryOptions query;
  query.use_index = "by_a";
  for (uint64_t at = 1; at < 40; ++at) {
    DiskFault fault;
    fault.operations = {DiskOperation::kRead};
    fault.at = at;
    world.disk().control().InjectFault(fault);
    auto source = engine::QueryRows(world.resources(), world.View(moment), {},
                                    Predicate::Equal("a", "hit"), query);
    Status status = source.status();
    format::RowBatch rows;
    while (status.ok()) {
      const auto more = (*source)->NextBatch(&rows);
      status = more.status();
      if (status.ok() && !*more) break;
    }
    const bool struck = world.disk().control().has_struck();
    world.disk().control().ClearFaults();
    BOOST_REQUIRE_EQUAL(status.code(), struck ? StatusCode::kIoError : StatusCode::kOk);
    if (!struck) break;
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
