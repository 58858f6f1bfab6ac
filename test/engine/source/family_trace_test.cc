// What a read of a table of several families reads from the disk, by the trace of a simulated one:
// the data blocks of the families that it needs, and of no other.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <map>
#include <string>
#include <vector>

#include "engine/query/reader.h"
#include "test/engine/read_world.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr uint64_t kRows = 9000;

std::string Key(uint64_t row) { return "row" + std::to_string(1'000'000 + row); }
bool IsHit(uint64_t row) { return row % 500 == 7; }
bool HasThird(uint64_t row) { return row % 3 == 1; }

// Every row has f and g, a third of them h. An index is over f:a.
struct FamilyFixture {
  FamilyFixture() : world(Options()), moment(Fill(&world)), view(world.View(moment)) {
    // Loads what is not data, so that only data is left to read.
    for (const format::FamilyRecord& family : world.table().families) {
      BOOST_REQUIRE(file().Family(family.id).has_value());
    }
    BOOST_REQUIRE(file().KeyHashes().has_value());
    BOOST_REQUIRE(file().MayContain(1).has_value());
    QueryOptions query;
    query.use_index = "by_a";
    BOOST_REQUIRE(engine::CountRows(world.resources(), world.View(moment), {},
                                    Predicate::Equal("a", "hit"), query)
                      .has_value());
    world.disk().control().SetTracing(true);
    world.disk().control().TakeTrace();
  }

  static WorldOptions Options() {
    WorldOptions options;
    for (const char* name : {"f", "g", "h"}) {
      options.families.push_back(
          {.name = name, .compression = Compression::kNone, .block_size_bytes = 1024});
    }
    options.indexes.push_back({"by_a", {{"", "a", ColumnType::kText, false}}});
    options.cache_bytes = 0;
    return options;
  }

  static ReadWorld::Moment Fill(ReadWorld* world) {
    for (uint64_t row = 0; row < kRows; ++row) {
      Put(world, row, "f", {{"a", IsHit(row) ? "hit" : "miss"}, {"p", std::string(150, 'p')}});
      Put(world, row, "g", {{"q", std::string(150, 'q')}});
      if (HasThird(row)) Put(world, row, "h", {{"s", std::string(90, 's')}});
    }
    world->Flush(0);
    return world->Moments()[0];
  }

  static void Put(ReadWorld* world, uint64_t row, const std::string& family,
                  std::vector<std::pair<std::string, std::string>> columns) {
    ModelOperation put;
    put.table = kWorldTable;
    put.row = Key(row);
    put.family = family;
    put.columns = std::move(columns);
    world->Apply(put);
  }

  format::StoreFile& file() { return view.regions[0]->files[0].file->store(); }
  const format::DataSection& Section(const std::string& family) {
    return **file().Family(world.table().FindFamily(family)->id);
  }

  // How many blocks of each family were read since the last call.
  std::map<std::string, uint64_t> BlocksRead() {
    std::map<std::string, uint64_t> blocks;
    for (const DiskEvent& event : world.disk().control().TakeTrace()) {
      if (event.operation != DiskOperation::kRead) continue;
      for (const char* family : {"f", "g", "h"}) {
        const format::DataSection& data = Section(family);
        BOOST_REQUIRE(data.LoadBlocks().ok());
        for (uint32_t block = 0; block < data.block_count(); ++block) {
          const format::BlockHandle handle = data.BlockAt(block)->handle;
          if (handle.offset < event.offset + event.size &&
              event.offset < handle.offset + handle.stored_bytes) {
            ++blocks[family];
          }
        }
      }
    }
    return blocks;
  }

  std::vector<ModelRow> Scan(const ReadOptions& options, bool reverse = false) {
    ScanOptions scan;
    scan.reverse = reverse;
    return Drain(engine::ScanRows(world.resources(), world.View(moment), options, scan));
  }
  std::vector<ModelRow> Query(const ReadOptions& options, const Predicate& predicate) {
    return Drain(engine::QueryRows(world.resources(), world.View(moment), options, predicate, {}));
  }

  ReadWorld world;
  ReadWorld::Moment moment;
  engine::TableView view;
};

ReadOptions Families(std::vector<std::string> families) {
  ReadOptions options;
  options.families = std::move(families);
  return options;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(family_trace, FamilyFixture)

BOOST_AUTO_TEST_CASE(AScanReadsEachBlockOfItsFamiliesOnce) {
  for (const bool reverse : {false, true}) {
    BOOST_CHECK_EQUAL(Scan(Families({"g"}), reverse).size(), kRows);
    auto blocks = BlocksRead();
    BOOST_CHECK_EQUAL(blocks["f"], 0u);
    BOOST_CHECK_EQUAL(blocks["g"], Section("g").block_count());
    BOOST_CHECK_EQUAL(blocks["h"], 0u);

    BOOST_CHECK_EQUAL(Scan(Families({"h"}), reverse).size(), kRows / 3);
    blocks = BlocksRead();
    BOOST_CHECK_EQUAL(blocks["f"] + blocks["g"], 0u);
    BOOST_CHECK_EQUAL(blocks["h"], Section("h").block_count());

    BOOST_CHECK_EQUAL(Scan({}, reverse).size(), kRows);
    blocks = BlocksRead();
    for (const char* family : {"f", "g", "h"}) {
      BOOST_CHECK_EQUAL(blocks[family], Section(family).block_count());
    }
  }
}

BOOST_AUTO_TEST_CASE(AGetReadsOneBlockAFamily) {
  ReadOptions options = Families({"h"});
  for (const uint64_t row : {1, 2}) {
    const auto got = engine::GetRow(view.RegionOf(Key(row)), options, Key(row));
    BOOST_REQUIRE(got.has_value());
    BOOST_CHECK_EQUAL(got->has_value(), HasThird(row));
    auto blocks = BlocksRead();
    BOOST_CHECK_EQUAL(blocks["f"] + blocks["g"], 0u);
    BOOST_CHECK_EQUAL(blocks["h"], HasThird(row) ? 1u : 0u);
  }
}

BOOST_AUTO_TEST_CASE(WhatAnIndexDecidesIsNotReadAgain) {
  const Predicate is_hit = Predicate::Equal("a", "hit");
  const auto rows = Query(Families({"g"}), is_hit);
  BOOST_CHECK_EQUAL(rows.size(), kRows / 500);
  auto blocks = BlocksRead();
  BOOST_CHECK_EQUAL(blocks["f"], 0u);
  BOOST_CHECK_EQUAL(blocks["g"], kRows / 500);
  BOOST_CHECK_EQUAL(blocks["h"], 0u);

  const auto explained = engine::ExplainQuery(world.resources(), world.View(moment),
                                              Families({"g"}), is_hit, QueryOptions());
  BOOST_REQUIRE(explained.has_value());
  BOOST_CHECK_EQUAL(explained->candidate_blocks, kRows / 500);
  BOOST_CHECK_EQUAL(explained->total_blocks,
                    Section("f").block_count() + Section("g").block_count());
  BlocksRead();

  // Of hits that lack the family the key comes from the carrier.
  uint64_t without = 0;
  for (uint64_t row = 0; row < kRows; ++row) without += IsHit(row) && !HasThird(row) ? 1 : 0;
  BOOST_CHECK_EQUAL(Query(Families({"h"}), is_hit).size(), kRows / 500);
  blocks = BlocksRead();
  BOOST_CHECK_EQUAL(blocks["f"], without);
  BOOST_CHECK_EQUAL(blocks["g"], 0u);
  BOOST_CHECK_EQUAL(blocks["h"], kRows / 500 - without);
}

BOOST_AUTO_TEST_CASE(AConditionWithoutAnIndexReadsItsFamily) {
  const auto count = engine::CountRows(world.resources(), world.View(moment), {},
                                       Predicate::Equal("h:s", std::string(90, 's')), {});
  BOOST_REQUIRE(count.has_value());
  BOOST_CHECK_EQUAL(*count, kRows / 3);
  auto blocks = BlocksRead();
  BOOST_CHECK_EQUAL(blocks["f"] + blocks["g"], 0u);
  BOOST_CHECK_EQUAL(blocks["h"], Section("h").block_count());
}

BOOST_AUTO_TEST_CASE(OtherSourcesAddOnlyTheFamiliesAskedFor) {
  for (uint64_t row = 0; row < kRows; row += 90) Put(&world, row, "g", {{"q", "new"}});
  moment = world.Moments()[0];
  BOOST_CHECK(Scan(Families({"g"})) ==
              moment.model.Scan(kWorldTable, {},
                                {.now_micros = world.now(), .columns = {}, .families = {"g"}}));
  auto blocks = BlocksRead();
  BOOST_CHECK_EQUAL(blocks["f"] + blocks["h"], 0u);
  BOOST_CHECK_EQUAL(blocks["g"], Section("g").block_count());
  // A hit that the memstore holds too is not single-source: f decides on it, where it is.
  Put(&world, 7, "h", {{"s", "new"}});
  moment = world.Moments()[0];
  BOOST_CHECK_EQUAL(Query(Families({"g"}), Predicate::Equal("a", "hit")).size(), kRows / 500);
  blocks = BlocksRead();
  BOOST_CHECK_EQUAL(blocks["f"], 1u);
  BOOST_CHECK_EQUAL(blocks["g"], kRows / 500);
  BOOST_CHECK_EQUAL(blocks["h"], 0u);
}

BOOST_AUTO_TEST_CASE(AnUnknownFamilyIsNotFound) {
  ReadOptions column;
  column.columns.push_back({"nowhere", "q"});
  for (const ReadOptions& options : {Families({"nowhere"}), column}) {
    BOOST_CHECK_EQUAL(engine::GetRow(view.RegionOf(Key(1)), options, Key(1)).status().code(),
                      StatusCode::kNotFound);
    BOOST_CHECK_EQUAL(
        engine::ScanRows(world.resources(), world.View(moment), options, {}).status().code(),
        StatusCode::kNotFound);
  }
  // A column is that of its family, and of no other.
  ReadOptions other;
  other.columns.push_back({"g", "a"});
  BOOST_CHECK(Scan(other).empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
