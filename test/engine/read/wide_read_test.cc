// Reads of rows that do not fit in a block and of values that lie apart: how little of them is
// read, and that nothing is too large to be read in pieces.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "engine/query/reader.h"
#include "tandem/limits.h"
#include "test/engine/read_world.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

WorldOptions PlainOptions() {
  WorldOptions options;
  for (const char* name : {"f", "g"}) {
    options.families.push_back({.name = name, .compression = Compression::kZstd});
  }
  options.cache_bytes = 0;
  return options;
}

std::string Column(uint64_t i) { return "c" + std::to_string(100'000 + i); }

struct WideFixture {
  WideFixture() : world(PlainOptions()) {}

  void Put(const std::string& row, const std::string& family, const std::string& qualifier,
           const std::string& value) {
    ModelOperation put;
    put.table = kWorldTable;
    put.row = row;
    put.family = family;
    put.columns = {{qualifier, value}};
    world.Apply(put);
  }
  // A row of `columns` columns of 2,000 bytes each in f, and one cell in g.
  void PutWide(const std::string& row, uint64_t columns) {
    for (uint64_t i = 0; i < columns; ++i) {
      Put(row, "f", Column(i), std::to_string(i * 7919) + std::string(1990, 'v'));
    }
    Put(row, "g", "small", "1");
  }

  engine::TableView View() { return world.View(world.Moments()[0]); }
  Result<std::optional<Row>> Get(const std::string& row, const ReadOptions& options) {
    return engine::GetRow(View().RegionOf(row), options, row);
  }
  Result<std::unique_ptr<engine::RowSource>> Scan(const ReadOptions& options) {
    return engine::ScanRows(world.resources(), View(), options, {});
  }
  Result<std::unique_ptr<engine::RowSource>> Query(const ReadOptions& options,
                                                   const Predicate& predicate) {
    return engine::QueryRows(world.resources(), View(), options, predicate, {});
  }
  // The status that the source ends with.
  static Status End(Result<std::unique_ptr<engine::RowSource>> source) {
    if (!source.has_value()) return source.error();
    engine::RowReader reader(*std::move(source));
    RowView row;
    while (true) {
      const auto more = reader.Next(&row);
      if (!more.has_value() || !*more) return more.status();
    }
  }

  struct Reads {
    uint64_t count = 0, bytes = 0;
  };
  void Trace() {
    world.disk().control().SetTracing(true);
    world.disk().control().TakeTrace();
  }
  Reads TakeReads() {
    Reads reads;
    for (const DiskEvent& event : world.disk().control().TakeTrace()) {
      if (event.operation != DiskOperation::kRead) continue;
      ++reads.count;
      reads.bytes += event.size;
    }
    return reads;
  }

  ReadWorld world;
};

ReadOptions Columns(std::vector<ColumnName> columns) {
  ReadOptions options;
  options.columns = std::move(columns);
  return options;
}

ReadOptions InPieces() {
  ReadOptions options;
  options.pieces = true;
  return options;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(wide_read, WideFixture)

BOOST_AUTO_TEST_CASE(AColumnOfAWideRowTakesFourBlockReads) {
  PutWide("r", 4000);
  PutWide("s", 3);
  world.Flush(0);
  const auto warm = Get("r", Columns({{"f", Column(1)}}));
  BOOST_REQUIRE(warm.has_value() && warm->has_value());
  Trace();
  for (const uint64_t i : {0, 17, 1999, 3999}) {
    const auto got = Get("r", Columns({{"f", Column(i)}}));
    BOOST_REQUIRE(got.has_value() && got->has_value());
    BOOST_REQUIRE_EQUAL((*got)->cells().size(), 1u);
    BOOST_CHECK((*got)->cells()[0].value.starts_with(std::to_string(i * 7919)));
    BOOST_CHECK_LE(TakeReads().count, 4u);
  }
  const auto absent = Get("r", Columns({{"f", "c2"}, {"f", ""}}));
  BOOST_REQUIRE(absent.has_value());
  BOOST_CHECK(!absent->has_value());
  BOOST_CHECK_LE(TakeReads().count, 5u);
  // A scan steps over the chunks, whether the column decides or is returned.
  const auto rows = Drain(Scan(Columns({{"f", Column(2)}})));
  BOOST_CHECK_EQUAL(rows.size(), 2u);
  BOOST_CHECK_LE(TakeReads().count, 8u);
  const auto hits = Drain(Query(Columns({{"g", "small"}}), Predicate::Prefix(Column(3990), "3")));
  BOOST_CHECK_EQUAL(hits.size(), 1u);
  BOOST_CHECK_LE(TakeReads().count, 8u);
}

BOOST_AUTO_TEST_CASE(PiecesDoNotDependOnWhereCellsLie) {
  PutWide("r", 1700);
  Put("s", "f", "c", "1");
  const ReadOptions options = InPieces();
  const auto expected = CutIntoPieces(
      world.Moments()[0].model.Scan(kWorldTable, {}, {.now_micros = world.now(), .columns = {}}));
  BOOST_CHECK_EQUAL(expected.size(), 5u);
  BOOST_CHECK(DrainViews(Scan(options)) == expected);
  world.Flush(0);
  BOOST_CHECK(DrainViews(Scan(options)) == expected);
  // Newer cells of the same timestamps lie in a second file and in a memstore.
  for (const uint64_t i : {5, 900, 1699}) {
    Put("r", "f", Column(i), std::to_string(i * 7919) + std::string(1990, 'v'));
    if (i == 900) world.Flush(0);
  }
  BOOST_CHECK(DrainViews(Scan(options)) == expected);
  world.Flush(0);
  world.Merge(0, 0, 3);
  BOOST_CHECK(DrainViews(Scan(options)) == expected);
  BOOST_CHECK(DrainViews(Query(options, Predicate::Equal("g:small", "1"))).size() == 4);
  const auto whole = Get("r", options);  // Get returns whole rows.
  BOOST_REQUIRE(whole.has_value() && whole->has_value());
  BOOST_CHECK_EQUAL((*whole)->cells().size(), 1701u);
}

BOOST_AUTO_TEST_CASE(ARowThatIsTooLargeToBeReadWholeIsReadInPieces) {
  constexpr size_t kValueBytes = 15 << 20;
  static_assert(kValueBytes <= kValueBytesMax && 5 * kValueBytes > kWholeRowBytesMax);
  const std::string value(kValueBytes, 'v');
  for (const bool flushed : {false, true}) {
    for (uint64_t i = 0; i < 5; ++i) Put("r", "f", Column(i), value);
    if (flushed) world.Flush(0);
    for (const Status& status : {End(Scan({})), Get("r", {}).status()}) {
      BOOST_CHECK_EQUAL(status.code(), StatusCode::kOverBudget);
      const std::string message(status.message());
      BOOST_CHECK_MESSAGE(message.find("'r'") != std::string::npos, message);
      BOOST_CHECK_MESSAGE(message.find("pieces") != std::string::npos, message);
      const std::string size = std::to_string(5 * (kValueBytes + Column(0).size()));
      BOOST_CHECK_MESSAGE(flushed || message.find(size) != std::string::npos, message);
    }
    const auto views = DrainViews(Scan(InPieces()));
    BOOST_REQUIRE_EQUAL(views.size(), 5u);
    for (const ModelRow& view : views) BOOST_CHECK(view.cells.at(0).value == value);
    BOOST_CHECK(End(Scan(Columns({{"f", Column(3)}}))).ok());
  }
}

BOOST_AUTO_TEST_CASE(AnOverflowValueIsReadByWhoAsksForIt) {
  std::string value;
  while (value.size() < 1'000'000) value += std::to_string(value.size() * 2654435761u);
  for (const char* row : {"p", "q"}) {
    Put(row, "f", "far", value);
    Put(row, "f", "near", row);
  }
  world.Flush(0);
  BOOST_REQUIRE_EQUAL(Drain(Scan({})).size(), 2u);
  Trace();
  const auto bytes_of = [&](const ReadOptions& options, const Predicate& predicate, size_t rows) {
    BOOST_CHECK_EQUAL(Drain(Query(options, predicate)).size(), rows);
    return TakeReads().bytes;
  };
  const ReadOptions near = Columns({{"f", "near"}});
  const auto is = [](Predicate::Kind kind, std::vector<std::string> values) {
    return Predicate::Compare(kind, "far", std::move(values));
  };
  BOOST_CHECK_LT(bytes_of(near, {}, 2), 10'000u);
  BOOST_CHECK_LT(bytes_of(near, is(Predicate::Kind::kIsNotNull, {}), 2), 10'000u);
  BOOST_CHECK_LT(bytes_of(near, is(Predicate::Kind::kIsNull, {}), 0), 10'000u);
  BOOST_CHECK_LT(bytes_of({}, Predicate::Equal("near", "none"), 0), 10'000u);
  BOOST_CHECK_GT(bytes_of(near, is(Predicate::Kind::kEqual, {value}), 2), 300'000u);
  BOOST_CHECK_EQUAL(bytes_of(near, is(Predicate::Kind::kPrefix, {value.substr(0, 100'000)}), 2) > 0,
                    true);
  BOOST_CHECK_EQUAL(bytes_of(near, is(Predicate::Kind::kEqual, {value + "x"}), 0) > 0, true);
  const auto got = Get("q", {});
  BOOST_REQUIRE(got.has_value() && got->has_value());
  BOOST_CHECK((*got)->Find("f", "far") == value);
  const auto rows = Drain(Query({}, Predicate::Equal("near", "p")));
  BOOST_REQUIRE_EQUAL(rows.size(), 1u);
  BOOST_CHECK(rows[0].cells[0].value == value);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
