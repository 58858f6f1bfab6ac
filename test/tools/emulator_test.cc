// The emulator without its verb: descriptions of regions, the policies over them, sizes of an
// hbase-site.xml, shapes of rows, the page.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "tools/emulator/hbase_site.h"
#include "tools/emulator/history.h"
#include "tools/emulator/html_report.h"
#include "tools/emulator/measure.h"
#include "tools/emulator/row_shape.h"
#include "tools/emulator/store.h"
#include "tools/row_keys/generator.h"

namespace tandem::test {
namespace {

using emulator::RowCosts;
using emulator::State;
using emulator::Store;

/// Rows of 100 bytes wherever they are, and memstores of 1,000 rows.
RowCosts PlainCosts() {
  return {.raw = 100,
          .memstore = emulator::MemstoreSizes(100),
          .again = 100,
          .log = 100,
          .flushed = {100},
          .merged = {100}};
}

engine::Tuning PlainSizes(uint64_t region_rows_max = 0) {
  engine::Tuning sizes;
  sizes.memstore_bytes = 100'000;
  sizes.memstores_total_bytes = 10 * sizes.memstore_bytes;
  sizes.log_segment_bytes = sizes.memstore_bytes;
  sizes.region_bytes_max = region_rows_max == 0 ? UINT64_MAX : 100 * region_rows_max;
  return sizes;
}

void PutAll(Store* store, const std::string& design, uint64_t keys, uint64_t weight = 1) {
  const auto source = row_keys::KeysOf(*row_keys::NewGenerator({.spec = design}), keys, weight);
  row_keys::WeightedKey key;
  while (*source->Next(&key)) store->Put(key.key, static_cast<double>(weight));
}

State Emulated(const std::string& design, uint64_t keys, const engine::Tuning& sizes,
               uint64_t weight = 1) {
  Store store(sizes, PlainCosts(), {});
  PutAll(&store, design, keys, weight);
  store.Flush();
  return store.Describe();
}

bool AreNear(double a, double b, double share) { return std::abs(a - b) <= share * std::abs(b); }

BOOST_AUTO_TEST_SUITE(emulator_test)

BOOST_AUTO_TEST_CASE(EveryRowIsInAFileAtTheEnd) {
  for (const char* design : {"sequence", "hash+id", "mod+id:7", "reverse", "salt+time:5"}) {
    const State state = Emulated(design, 50'000, PlainSizes(8'000));
    BOOST_TEST(AreNear(state.rows, 50'000, 1e-9), design);
    // Halves of a region that is no longer written share files with those that are.
    BOOST_TEST(state.disk_bytes >= 5'000'000, design);
    BOOST_TEST(state.disk_bytes <= 2 * 5'000'000, design);
    BOOST_TEST(state.regions == state.counters.splits + 1, design);
    BOOST_TEST(state.counters.flushed_bytes == 5'000'000, design);
  }
}

BOOST_AUTO_TEST_CASE(RowsThatComeAgainAreOneRowAfterAMerge) {
  std::set<std::string> distinct;
  const auto generator = row_keys::NewGenerator({.spec = "zipf:3000:0.8"});
  for (uint64_t i = 0; i < 100'000; ++i) {
    std::string key;
    (*generator)->Append(i, &key);
    distinct.insert(key);
  }
  const State state = Emulated("zipf:3000:0.8", 100'000, PlainSizes());
  // Of a row that several runs have, each counts.
  BOOST_TEST(state.rows >= static_cast<double>(distinct.size()));
  BOOST_TEST(state.rows <= 2 * static_cast<double>(distinct.size()));
  BOOST_TEST(state.counters.flushed_bytes < 100'000 * 100.0);
}

BOOST_AUTO_TEST_CASE(AHashedTableIsRewrittenAndASequenceIsNot) {
  engine::Tuning sizes = PlainSizes();
  sizes.join_bytes = sizes.memstore_bytes;
  const State hashed = Emulated("hash+id", 100'000, sizes);
  const State rising = Emulated("sequence", 100'000, sizes);
  BOOST_TEST(rising.written_per_flushed() == 1);
  BOOST_TEST(rising.runs <= 2u);  // What the end flushed is too small to join.
  BOOST_TEST(hashed.written_per_flushed() > 3);
  BOOST_TEST(hashed.written_per_flushed() < 7);
  BOOST_TEST(hashed.runs_max <= 8u);
}

// docs/decisions/0013 has the figures of the policy alone: 5.2 after 256 flushes.
BOOST_AUTO_TEST_CASE(RewritesAreThoseOfThePolicy) {
  Store store(PlainSizes(), PlainCosts(), {});
  PutAll(&store, "hash+id", 256 * 1001);  // A memstore is full when it passes its size.
  const State state = store.Describe();
  BOOST_TEST(state.counters.flushes == 256u);
  BOOST_TEST(AreNear(state.written_per_flushed(), 5.2, 0.05), state.written_per_flushed());
}

BOOST_AUTO_TEST_CASE(ASequenceLeavesHalfFullRegions) {
  const State state = Emulated("sequence", 200'000, PlainSizes(10'000));
  BOOST_TEST(state.regions > 200'000 / 10'000 * 3 / 2);
  BOOST_TEST(AreNear(state.region_bytes.median, 500'000, 0.2), state.region_bytes.median);
}

BOOST_AUTO_TEST_CASE(FilesAreCountedOnceAndMeasured) {
  // A region of 1,500 rows is split: its halves share its only file.
  Store store(PlainSizes(1'400), PlainCosts(), {});
  PutAll(&store, "sequence", 1'500);
  store.Flush();
  const State state = store.Describe();
  BOOST_TEST(state.regions == 2u);
  BOOST_TEST(state.files >= 1u);
  uint64_t parts = 0;
  double bytes = 0;
  for (const auto& region : store.regions()) {
    parts += region->files.size();
    bytes += region->bytes();
  }
  BOOST_TEST(state.files < parts);
  BOOST_TEST(state.file_bytes.least <= state.file_bytes.median);
  BOOST_TEST(state.file_bytes.median <= state.file_bytes.most);
  BOOST_TEST(AreNear(state.disk_bytes, bytes, 1e-6));
  BOOST_TEST(state.file_bytes.most <= state.disk_bytes);
  BOOST_TEST(AreNear(store.FilesWithHits(1e9), static_cast<double>(state.files), 1e-6));
  BOOST_TEST(Store(PlainSizes(), PlainCosts(), {}).Describe().file_bytes.most == 0);
}

BOOST_AUTO_TEST_CASE(ASpreadIsOfSortedSizes) {
  const emulator::Spread spread = emulator::SpreadOf({5, 1, 9, 3, 7});
  BOOST_TEST(spread.least == 1);
  BOOST_TEST(spread.median == 5);
  BOOST_TEST(spread.most == 9);
}

BOOST_AUTO_TEST_CASE(RowsByWeightComeOutAsRowsOneByOne) {
  for (const char* design : {"hash+id", "sequence", "user+time:100"}) {
    const State each = Emulated(design, 400'000, PlainSizes(20'000));
    const State by_ten = Emulated(design, 40'000, PlainSizes(20'000), 10);
    BOOST_TEST(AreNear(by_ten.rows, each.rows, 1e-6), design);
    BOOST_TEST(AreNear(static_cast<double>(by_ten.regions), static_cast<double>(each.regions), 0.1),
               design << ": " << by_ten.regions << " and " << each.regions);
    BOOST_TEST(
        AreNear(by_ten.written_per_flushed(), each.written_per_flushed(), 0.1),
        design << ": " << by_ten.written_per_flushed() << " and " << each.written_per_flushed());
  }
}

BOOST_AUTO_TEST_CASE(SmallMemstoresAreFlushedForTheCommonBudget) {
  std::vector<std::string> splits;
  for (char digit = '1'; digit <= '9'; ++digit) splits.emplace_back(1, digit);
  engine::Tuning sizes = PlainSizes();
  sizes.memstores_total_bytes = sizes.memstore_bytes;
  Store store(sizes, PlainCosts(), splits);
  PutAll(&store, "reverse", 100'000);
  const State state = store.Describe();
  BOOST_TEST(state.regions == 10u);
  // None is ever full; the ten share what one may have.
  BOOST_TEST(state.counters.flushes > 500u);
  double active = 0;
  for (const auto& region : store.regions()) active += region->memstore.bytes;
  BOOST_TEST(active <= static_cast<double>(sizes.memstores_total_bytes) * 7 / 8);
}

BOOST_AUTO_TEST_CASE(ALongLogFlushesColdRegions) {
  const std::string splits[] = {"5"};
  Store store(PlainSizes(), PlainCosts(), splits);
  store.Put("9");
  for (uint64_t i = 0; i < 20'000; ++i) store.Put("1" + std::to_string(i));
  BOOST_TEST(store.regions()[1]->files.size() == 1u);
  BOOST_TEST(store.regions()[1]->memstore.puts == 0);
}

BOOST_AUTO_TEST_CASE(RegionsThatShrankBecomeOne) {
  // The same keys again and again: files grow until merges find out that they have few rows.
  engine::Tuning sizes = PlainSizes(4'000);
  sizes.compaction_runs = 8;
  Store store(sizes, PlainCosts(), {});
  for (uint64_t round = 0; round < 40; ++round) PutAll(&store, "hash+id", 800);
  store.Flush();
  const State state = store.Describe();
  BOOST_TEST(state.regions + state.counters.joins == state.counters.splits + 1);
  BOOST_TEST(state.rows >= 800);
}

BOOST_AUTO_TEST_CASE(SamplesStayBoundedAndRight) {
  engine::Tuning sizes = PlainSizes(100'000);
  sizes.memstore_bytes *= 20;
  sizes.memstores_total_bytes *= 20;
  Store store(sizes, PlainCosts(), {});
  PutAll(&store, "hash+id", 3 * emulator::kSampledKeysMax);
  uint64_t sampled = 0;
  for (const auto& region : store.regions()) {
    sampled += region->memstore.keys.size();
    for (const auto& part : region->files) sampled += part.keys.size();
  }
  BOOST_TEST(sampled <= emulator::kSampledKeysMax);
  BOOST_TEST(sampled > emulator::kSampledKeysMax / 4);
  store.Flush();
  const State state = store.Describe();
  BOOST_TEST(AreNear(state.rows, 3.0 * emulator::kSampledKeysMax, 1e-9));
  // Halves are halves.
  BOOST_TEST(state.region_gini < 0.2);
}

BOOST_AUTO_TEST_CASE(AQueryFindsItsRowsInSomeFiles) {
  Store store(PlainSizes(5'000), PlainCosts(), {});
  PutAll(&store, "hash+id", 100'000);
  store.Flush();
  const State state = store.Describe();
  BOOST_TEST(AreNear(store.FilesWithHits(1), 1, 1e-6));
  BOOST_TEST(AreNear(store.FilesWithHits(1e9), static_cast<double>(state.files), 1e-6));
}

BOOST_AUTO_TEST_CASE(ColumnsAreRead) {
  const auto column = emulator::ParseColumnShape("name=20:digits");
  BOOST_REQUIRE_EQUAL(column.has_value(), true);
  BOOST_TEST(column->qualifier == "name");
  BOOST_TEST(column->bytes == 20u);
  BOOST_TEST((column->kind == emulator::ValueKind::kDigits));
  for (const char* text : {"name", "name=", "name=0", "name=-1", "name=x", "name=9:no",
                           "name=9:", "name=99999999999999999999"}) {
    BOOST_TEST(!emulator::ParseColumnShape(text).has_value(), text);
  }
}

BOOST_AUTO_TEST_CASE(CostsAreWhatFilesTake) {
  const auto shape = emulator::RowShape::OfColumns(
      {{.qualifier = "a", .bytes = 50, .kind = emulator::ValueKind::kRandom},
       {.qualifier = "b", .bytes = 100}},
      {{.name = "by_a", .columns = {{.family = "d", .qualifier = "a"}}}});
  std::vector<std::string> keys;
  for (uint64_t i = 0; i < 20'000; ++i) keys.push_back("key" + std::to_string(1'000'000 + i));
  const auto costs = emulator::MeasureCosts(shape, keys);
  BOOST_REQUIRE_EQUAL(costs.has_value(), true);
  BOOST_TEST(costs->raw == 10 + 2 + 150);
  BOOST_TEST(costs->memstore.BytesOf(1000) > 1000 * costs->raw);
  BOOST_TEST(costs->log > costs->raw);
  // The random bytes are there twice, the text is compressed.
  BOOST_TEST(costs->index.row > 50);
  BOOST_TEST(costs->merged.row > 100);
  BOOST_TEST(costs->merged.row < 200);
  BOOST_TEST(costs->again > 0);
}

BOOST_AUTO_TEST_CASE(CostsOfAFewRowsAreMeasuredToo) {
  const auto shape = emulator::RowShape::OfColumns({{.qualifier = "a", .bytes = 50}}, {});
  for (const size_t count : {1u, 2u, 7u}) {
    std::vector<std::string> keys;
    for (size_t i = 0; i < count; ++i) keys.push_back(std::string(1, static_cast<char>('a' + i)));
    keys.push_back("a");  // It comes again.
    const auto costs = emulator::MeasureCosts(shape, keys);
    BOOST_REQUIRE_EQUAL(costs.has_value(), true);
    BOOST_TEST(costs->flushed.row > 0);
    BOOST_TEST(costs->merged.row >= 0);
  }
  BOOST_TEST(!emulator::MeasureCosts(shape, {}).has_value());
}

BOOST_AUTO_TEST_CASE(AnIndexThatFitsNoColumnIsRefused) {
  const auto shape = emulator::RowShape::OfColumns(
      {{.qualifier = "a", .bytes = 50}},
      {{.name = "by_a",
        .columns = {{.family = "e", .qualifier = "a", .type = ColumnType::kInt64}}}});
  const std::string keys[] = {"a", "b"};
  const auto costs = emulator::MeasureCosts(shape, keys);
  BOOST_REQUIRE_EQUAL(costs.has_value(), false);
  BOOST_TEST((costs.error().code() == StatusCode::kInvalidArgument ||
              costs.error().code() == StatusCode::kNotFound));
}

std::string Site(const std::string& properties) {
  return "<?xml version=\"1.0\"?>\n<!-- a -->\n<configuration>" + properties + "</configuration>\n";
}

std::string Property(const std::string& name, const std::string& value) {
  return "<property>\n  <name> " + name + "</name><value>" + value +
         " </value><description>b</description>\n</property>";
}

BOOST_AUTO_TEST_CASE(SizesOfASiteAreRead) {
  const auto site = emulator::ParseHBaseSite(
      Site(Property("hbase.hregion.memstore.flush.size", "1048576") +
           Property("hbase.hregion.max.filesize", "ten") + Property("hbase.rootdir", "/hbase") +
           Property("hbase.hstore.compactionThreshold", "4") +
           Property("hbase.hstore.compactionThreshold", "5")));
  BOOST_REQUIRE_EQUAL(site.has_value(), true);
  BOOST_TEST(site->flush_bytes == 1048576u);
  BOOST_TEST(site->values[0].note == "from the file");
  BOOST_TEST(site->region_bytes_max == 10737418240u);
  BOOST_TEST(site->values[1].note ==
             "HBase's default: expected 1048576 to 1125899906842624, found 'ten'");
  BOOST_TEST(site->compaction_threshold == 5u);
  BOOST_TEST(site->block_multiplier == 4u);
  BOOST_TEST(site->values[3].note == "HBase's default");
  BOOST_TEST((site->others == std::vector<std::string>{"hbase.rootdir"}));
  engine::Tuning sizes;
  emulator::Apply(*site, &sizes);
  BOOST_TEST(sizes.memstore_bytes == 1048576u);
  BOOST_TEST(sizes.memstores_total_bytes == 4 * 1048576u);
  BOOST_TEST(sizes.region_bytes_max == 10737418240u);
  BOOST_TEST(sizes.compaction_runs == 5u);
}

BOOST_AUTO_TEST_CASE(WhatIsNoSiteIsRefused) {
  const auto error = [](const std::string& xml) {
    const auto site = emulator::ParseHBaseSite(xml);
    return site.has_value() ? "none" : std::string(site.error().message());
  };
  BOOST_TEST(error("") == "no XML: line 1: no element found");
  BOOST_TEST(error("<configuration>\n<property>\n</configuration>") ==
             "no XML: line 3: mismatched tag");
  BOOST_TEST(error("<html/>") == "no <configuration>: its root is <html>");
  BOOST_TEST(error(Site("")) == "none");
}

BOOST_AUTO_TEST_CASE(ThePageIsWellFormedAndHasBothDesigns) {
  std::vector<emulator::Outcome> outcomes;
  for (const char* design : {"sequence", "hash+id"}) {
    Store store(PlainSizes(5'000), PlainCosts(), {});
    emulator::History history(1'000, 20);
    const auto generator = row_keys::NewGenerator({.spec = design});
    for (uint64_t i = 0; i < 50'000; ++i) {
      std::string key;
      (*generator)->Append(i, &key);
      store.Put(key);
      history.Look(store, static_cast<double>(i + 1));
    }
    store.Flush();
    history.Finish(store);
    BOOST_TEST(history.states().size() >= 20u);
    BOOST_TEST(history.states().size() <= 41u);
    outcomes.push_back({.design = std::string(design) + "<&\"\xff",
                        .costs = PlainCosts(),
                        .states = history.states(),
                        .hits = 10,
                        .files_with_hits = store.FilesWithHits(10)});
  }
  const std::string page = emulator::HtmlReport(outcomes);
  // Its root is the one that it should be, and it has been read to its end.
  const auto read = emulator::ParseHBaseSite(page);
  BOOST_REQUIRE_EQUAL(read.has_value(), false);
  BOOST_TEST(read.error().message() == "no <configuration>: its root is <html>");
  size_t lines = 0;
  for (size_t at = page.find("<polyline"); at != std::string::npos;
       at = page.find("<polyline", at + 1))
    ++lines;
  BOOST_TEST(lines == 2 * (3 + 3 + 1 + 1 + 2 + 1));
  for (const char* text : {"prefers-color-scheme: dark", "sequence&#60;&#38;&#34;?", "hash+id"}) {
    BOOST_TEST(page.find(text) != std::string::npos, text);
  }
  BOOST_TEST(page.find("nan") == std::string::npos);
  BOOST_TEST(page.find("http") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
