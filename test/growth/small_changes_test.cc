// What one small change costs beside a table of n rows in one file: what is read and written by the
// open, the flush, the checkpoint and the close around it.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <functional>
#include <map>

#include "test/growth/growth.h"
#include "test/growth/tables.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

struct SmallChange {
  IoBytes open, put, flush, checkpoint, split, merge, close, index, drop_index, snapshot,
      drop_snapshot, drop;
};

void RequireOk(const Status& status) { BOOST_REQUIRE_EQUAL(status.ToString(), "OK"); }

/// Beside n rows; each n is made once.
const SmallChange& ChangeBeside(uint64_t n) {
  static std::map<uint64_t, SmallChange> known;
  const auto [at, is_new] = known.try_emplace(n);
  SmallChange& change = at->second;
  if (!is_new) return change;
  TestEngine engine;
  OpenColdTable(&engine, n, 16);
  RequireOk(engine.Close());
  const auto of = [&engine](const std::function<Status()>& work) {
    return IoBytesOf(&engine, [&work] { RequireOk(work()); });
  };
  change.open = of([&] { return engine.Open(); });
  change.put = of([&] { return engine.Put(RowKey(n / 2), "c", "new"); });
  change.flush = of([&] { return engine->Flush("t"); });
  change.checkpoint = of([&] { return engine->Checkpoint("copy"); });
  change.split = of([&] { return engine->Split("t", {}).status(); });
  change.merge = of([&] { return engine->MergeRegions("t", {}).status(); });
  RequireOk(engine.Put(RowKey(n / 3), "c", "new"));
  change.close = of([&] { return engine.Close(); });
  RequireOk(engine.Open());
  const IndexOptions index{.name = "late", .columns = {{.qualifier = "c", .descending = true}}};
  change.index = of([&] { return engine->CreateIndex("t", index); });
  change.drop_index = of([&] { return engine->DropIndex("t", index.name); });
  change.snapshot = of([&] { return engine->CreateSnapshot("s", {}); });
  change.drop_snapshot = of([&] { return engine->DropSnapshot("s"); });
  change.drop = of([&] { return engine->DropTable("t"); });
  return change;
}

std::function<double(uint64_t)> Beside(IoBytes SmallChange::*part, uint64_t IoBytes::*figure) {
  return [=](uint64_t n) { return static_cast<double>(ChangeBeside(n).*part.*figure); };
}

/// Of 2,000 rows in one file and n snapshots, each with a file of one more row that the table has
/// merged since.
double ReadByAVerificationOf(uint64_t n) {
  TestEngine engine;
  OpenColdTable(&engine, 2000, 16);
  for (uint64_t i = 0; i < n; ++i) {
    RequireOk(engine.Put("row of " + RowKey(i), "c", "new"));
    RequireOk(engine->CreateSnapshot("snapshot " + std::to_string(i), {}));
  }
  RequireOk(engine->Compact("t"));
  const IoBytes bytes = IoBytesOf(&engine, [&] {
    const auto report = engine->Verify(true);
    RequireOk(report.status());
    BOOST_REQUIRE(report->findings.empty());
    BOOST_REQUIRE_GT(report->files, n);
  });
  return static_cast<double>(bytes.read);
}

/// The mean of n flushes of a row each.
double BytesOfATinyFile(uint64_t n) {
  TestEngine engine;
  engine.tuning.section_alignment = 4096;
  engine.tuning.compaction_runs = 1000;
  TableOptions table = SimpleTable();
  for (const char* column : {"a", "b"}) {
    table.indexes.push_back({.name = column, .columns = {{.qualifier = column}}});
  }
  RequireOk(engine.Open());
  RequireOk(engine->CreateTable(table));
  for (uint64_t i = 0; i < n; ++i) {
    WriteBatch batch;
    for (const char* column : {"a", "b", "c"}) batch.Put("t", RowKey(i), "d", column, RowKey(i));
    RequireOk(engine.Write(batch));
    RequireOk(engine->Flush("t"));
  }
  const NamedFiles files = FilesNamed(&engine, "store-");
  BOOST_REQUIRE_EQUAL(files.count, n);
  return static_cast<double>(files.bytes) / static_cast<double>(n);
}

BOOST_AUTO_TEST_SUITE(SmallChanges)

BOOST_AUTO_TEST_CASE(CostTheSameBesideATableOfAnySize) {
  const struct {
    std::string_view cost;
    IoBytes SmallChange::*part;
    uint64_t IoBytes::*figure;
    double bytes_max;
  } kLines[] = {
      {"bytes read of store files by an open beside n rows", &SmallChange::open,
       &IoBytes::read_of_stores, 64 << 10},
      {"bytes written by an open beside n rows", &SmallChange::open, &IoBytes::written, 16 << 10},
      {"bytes read by a put beside n rows", &SmallChange::put, &IoBytes::read, 0},
      {"bytes written by a put beside n rows", &SmallChange::put, &IoBytes::written, 4 << 10},
      {"bytes read by the flush of a put beside n rows", &SmallChange::flush, &IoBytes::read,
       16 << 10},
      {"bytes written by the flush of a put beside n rows", &SmallChange::flush, &IoBytes::written,
       16 << 10},
      {"bytes written by a checkpoint beside n rows", &SmallChange::checkpoint, &IoBytes::written,
       32 << 10},
      {"bytes read by a split in the middle of n rows", &SmallChange::split, &IoBytes::read,
       64 << 10},
      {"bytes written by a split in the middle of n rows", &SmallChange::split, &IoBytes::written,
       4 << 10},
      {"bytes read by a merge of two regions of n rows", &SmallChange::merge, &IoBytes::read,
       64 << 10},
      {"bytes written by a merge of two regions of n rows", &SmallChange::merge, &IoBytes::written,
       4 << 10},
      {"bytes read by the creation of an index over n rows", &SmallChange::index, &IoBytes::read,
       0},
      {"bytes written by the creation of an index over n rows", &SmallChange::index,
       &IoBytes::written, 4 << 10},
      {"bytes written by a drop of an index over n rows", &SmallChange::drop_index,
       &IoBytes::written, 4 << 10},
      {"bytes read by the creation of a snapshot of n rows", &SmallChange::snapshot, &IoBytes::read,
       0},
      {"bytes written by the creation of a snapshot of n rows", &SmallChange::snapshot,
       &IoBytes::written, 4 << 10},
      {"bytes written by a drop of a snapshot of n rows", &SmallChange::drop_snapshot,
       &IoBytes::written, 4 << 10},
      {"bytes read by a drop of a table of n rows", &SmallChange::drop, &IoBytes::read, 0},
      {"bytes written by a drop of a table of n rows", &SmallChange::drop, &IoBytes::written,
       4 << 10},
      {"bytes read of store files by a close after a put beside n rows", &SmallChange::close,
       &IoBytes::read_of_stores, 16 << 10},
      {"bytes written by a close after a put beside n rows", &SmallChange::close, &IoBytes::written,
       32 << 10},
  };
  for (const auto& line : kLines) {
    Check({.cost = line.cost,
           .n = 512,
           .bound = AtMost(line.bytes_max),
           .measure = Beside(line.part, line.figure)});
  }
}

BOOST_AUTO_TEST_CASE(ATinyFileTakesLittle) {
  Check({.cost = "bytes of a store file of one row with three indexes, the mean of n flushes",
         .n = 4,
         .bound = AtMost(12 << 10),
         .measure = BytesOfATinyFile});
}

// A snapshot's files are verified, each once; the table is not read again for each snapshot.
BOOST_AUTO_TEST_CASE(AVerificationReadsTheTableOnceForAllSnapshots) {
  Check(
      {.cost = "bytes read by a deep verification of 2,000 rows and n snapshots, each with a file",
       .n = 4,
       .bound = AtMostLinear(1 << 20, 32 << 10),
       .measure = ReadByAVerificationOf});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
