// Dropping, truncating and renaming tables: each is one edit, readers finish on what they began
// with, and nothing of a dropped table stays, in the directory, in memory or in the log.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "test/engine/jobs/region_fixture.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

struct SchemaFixture : RegionFixture {
  std::string Drop(const std::string& table = "t") { return engine().DropTable(table).ToString(); }
  std::string Truncate(const std::string& table = "t") {
    return engine().TruncateTable(table).ToString();
  }
  std::string Rename(const std::string& from, const std::string& to) {
    return engine().RenameTable(from, to).ToString();
  }
  void Create(const std::string& name = "t") {
    TableOptions table = SimpleTable(2);
    table.name = name;
    BOOST_REQUIRE_EQUAL(engine().CreateTable(table).ToString(), "OK");
  }
  std::string PutInto(const std::string& table, const std::string& row) {
    WriteBatch batch;
    batch.Put(table, row, "d", "c", "v");
    return Write(batch).ToString();
  }
  /// Drops, truncates or renames "t".
  using Edit = std::function<std::string(SchemaFixture*)>;
  /// Rows of the table as `read` sees it; the error otherwise.
  std::string RowsAt(const ReadOptions& read, const std::string& table = "t") {
    auto cursor = engine().Scan(read, table, {});
    if (!cursor.has_value()) return cursor.error().ToString();
    return Rest(&*cursor);
  }
  static std::string Rest(Cursor* cursor) {
    std::string rows;
    while (cursor->Next()) rows.append(cursor->row().key()).append(" ");
    return cursor->status().ok() ? rows : cursor->status().ToString();
  }
};

const std::string kGone = "NotFound: table 't' does not exist";

BOOST_FIXTURE_TEST_SUITE(SchemaEditorTest, SchemaFixture)

BOOST_AUTO_TEST_CASE(ADroppedTableIsGoneWithItsFiles) {
  Create("other");
  BOOST_REQUIRE_EQUAL(PutInto("other", "o"), "OK");
  PutRows(0, 100, "a");
  Split({.key = Key(50)});
  Flush();
  PutRows(20, 80, "b");
  BOOST_CHECK_GE(StoreFiles(), 1u);
  BOOST_CHECK_EQUAL(Drop(), "OK");
  BOOST_CHECK_EQUAL(Drop(), kGone);
  executor.Drain();
  for (int life = 0; life < 2; ++life) {
    BOOST_CHECK_EQUAL(RowsAt({}), kGone);
    BOOST_CHECK_EQUAL(RowsAt({}, "other"), "o ");
    BOOST_CHECK_EQUAL(engine().Get({}, "t", "a").status().ToString(), kGone);
    BOOST_CHECK_EQUAL(engine().Flush("t").ToString(), kGone);
    BOOST_CHECK_EQUAL(PutInto("t", "a"), kGone);
    BOOST_CHECK_EQUAL(engine().Info().tables.size(), 1u);
    CheckSound();
    Reopen();
  }
  BOOST_CHECK_EQUAL(StoreFiles(), 1u);  // That of "other".
}

BOOST_AUTO_TEST_CASE(TheNameCanBeUsedAgain) {
  for (int i = 0; i < 3; ++i) {
    PutRows(0, 10, "a");
    if (i == 1) Flush();
    BOOST_CHECK_EQUAL(Drop(), "OK");
    Create();
    BOOST_CHECK_EQUAL(RowsAt({}), "");
    BOOST_REQUIRE_EQUAL(PutInto("t", "new"), "OK");
    BOOST_CHECK_EQUAL(RowsAt({}), "new ");
    if (i == 2) KillAndOpen();
    BOOST_CHECK_EQUAL(RowsAt({}), "new ");
    BOOST_CHECK_EQUAL(Hits("v").size(), 1u);
    CheckSound();
  }
}

// Nothing is flushed, and the log has operations on tables that are gone or have another name.
BOOST_AUTO_TEST_CASE(AKillAfterAnEditWithoutAnyFlush) {
  Create("u");
  Create("w");
  for (const char* table : {"t", "u", "w"}) BOOST_REQUIRE_EQUAL(PutInto(table, "before"), "OK");
  BOOST_CHECK_EQUAL(Drop("u"), "OK");
  BOOST_CHECK_EQUAL(Truncate("t"), "OK");
  BOOST_CHECK_EQUAL(Rename("w", "u"), "OK");
  for (const char* table : {"t", "u"}) BOOST_REQUIRE_EQUAL(PutInto(table, "z"), "OK");
  for (int life = 0; life < 3; ++life) {
    KillAndOpen();
    BOOST_CHECK_EQUAL(RowsAt({}, "t"), "z ");
    BOOST_CHECK_EQUAL(RowsAt({}, "u"), "before z ");
    BOOST_CHECK_EQUAL(RowsAt({}, "w"), "NotFound: table 'w' does not exist");
    CheckSound();
  }
  Reopen();
  BOOST_CHECK_EQUAL(RowsAt({}, "t"), "z ");
  BOOST_CHECK_EQUAL(RowsAt({}, "u"), "before z ");
  CheckSound();
}

BOOST_AUTO_TEST_CASE(ATruncatedTableIsEmptyAndKeepsItsDefinition) {
  PutRows(0, 100, "a");
  Flush();
  Split({.key = Key(50)});
  PutRows(0, 100, "b");
  const TableInfo before = Info();
  BOOST_CHECK_EQUAL(Truncate(), "OK");
  executor.Drain();
  BOOST_CHECK_EQUAL(StoreFiles(), 0u);
  const TableInfo after = Info();
  BOOST_CHECK_EQUAL(after.options.name, "t");
  BOOST_CHECK_EQUAL(after.options.families[0].max_versions, 2u);
  BOOST_REQUIRE_EQUAL(after.regions.size(), 2u);
  BOOST_CHECK_EQUAL(after.regions[1].start_key, Key(50));
  BOOST_CHECK_EQUAL(RowsAt({}), "");
  PutRows(49, 51, "c");
  Flush();
  BOOST_CHECK_EQUAL(RowsAt({}), Key(49) + " " + Key(50) + " ");
  BOOST_CHECK_EQUAL(Hits("c0").size(), 1u);
  CheckSound();
  Reopen();
  BOOST_CHECK_EQUAL(RowsAt({}), Key(49) + " " + Key(50) + " ");
}

BOOST_AUTO_TEST_CASE(ARenamedTableHasItsRowsUnderTheNewName) {
  Create("taken");
  PutRows(0, 20, "a");
  Flush();
  PutRows(20, 30, "b");
  const std::string rows = RowsAt({});
  BOOST_CHECK_EQUAL(Rename("t", "taken"), "AlreadyExists: table 'taken' exists already");
  BOOST_CHECK_EQUAL(Rename("t", "t"), "AlreadyExists: table 't' exists already");
  BOOST_CHECK_EQUAL(Rename("none", "x"), "NotFound: table 'none' does not exist");
  BOOST_CHECK(engine().RenameTable("t", "").code() == StatusCode::kInvalidArgument);
  BOOST_CHECK_EQUAL(Rename("t", "s"), "OK");
  BOOST_CHECK_EQUAL(PutInto("t", "a"), kGone);
  BOOST_CHECK_EQUAL(RowsAt({}), kGone);
  for (int life = 0; life < 2; ++life) {
    BOOST_CHECK_EQUAL(RowsAt({}, "s"), rows);
    BOOST_CHECK_EQUAL(engine().Flush("s").ToString(), "OK");
    BOOST_CHECK_EQUAL(engine().Compact("s").ToString(), "OK");
    BOOST_CHECK_EQUAL(engine().Split("s", {.key = Key(5 + life)}).status().ToString(), "OK");
    CheckSound();
    Reopen();
  }
  // The name belongs to nobody, and both tables go on.
  Create();
  PutRows(0, 1, "n");
  BOOST_CHECK_EQUAL(RowsAt({}), Key(0) + " ");
  BOOST_CHECK_EQUAL(RowsAt({}, "s"), rows);
}

// Cursors and snapshots that are older than the edit, with rows in files and in memory.
BOOST_AUTO_TEST_CASE(ReadersFinishOnWhatTheyBeganWith) {
  const Edit edits[] = {
      [](SchemaFixture* f) { return f->Drop(); },
      [](SchemaFixture* f) { return f->Truncate(); },
      [](SchemaFixture* f) { return f->Rename("t", "s"); },
  };
  for (const Edit& edit : edits) {
    for (const uint32_t scan_regions : {1u, 100u}) {
      BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
      tuning.scan_regions = scan_regions;
      BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
      for (const TableInfo& table : engine().Info().tables) Drop(table.options.name);
      Create();
      PutRows(0, 40, "a");
      Split({.key = Key(10)});
      Split({.key = Key(20)});
      PutRows(35, 60, "b");
      const std::string rows = RowsAt({});
      const std::vector<std::string> hits = Hits("a3");
      {
        auto cursor = engine().Scan({}, "t", {});
        auto query = engine().Query({}, "t", Predicate::Equal("c", "a3"), {.use_index = "by_c"});
        BOOST_REQUIRE(cursor.has_value() && query.has_value());
        BOOST_REQUIRE(cursor->Next());
        auto snapshot = engine().TakeSnapshot();
        BOOST_REQUIRE(snapshot.has_value());
        const uint64_t files = StoreFiles();
        BOOST_CHECK_EQUAL(edit(this), "OK");
        executor.Drain();
        const ReadOptions then{.snapshot = &*snapshot};
        BOOST_CHECK_EQUAL(StoreFiles(), files);
        for (int i = 0; i < 2; ++i) {
          BOOST_CHECK_EQUAL(RowsAt(then), rows);
          BOOST_CHECK(Hits("a3", then) == hits);
          BOOST_CHECK_EQUAL(engine().Get(then, "t", Key(50)).value().has_value(), true);
          BOOST_CHECK_EQUAL(RowsAt(then, "s").starts_with("NotFound"), true);
          // Another table of that name is no part of what the snapshot sees.
          if (i == 0) engine().CreateTable(SimpleTable()).Ignore("a truncated one has the name");
          BOOST_CHECK_EQUAL(PutInto("t", "later"), "OK");
          BOOST_CHECK_EQUAL(RowsAt({}), "later ");
        }
        BOOST_CHECK_EQUAL(Key(0) + " " + Rest(&*cursor), rows);
        size_t found = 0;
        while (query->Next()) ++found;
        BOOST_CHECK_EQUAL(found, hits.size());
        CheckSound();
      }
      executor.Drain();
      CheckSound();
    }
  }
}

BOOST_AUTO_TEST_CASE(FilesGoWithTheLastSnapshotBeforeTheDrop) {
  PutRows(0, 40, "a");
  Flush();
  auto first = engine().TakeSnapshot();
  std::optional<Snapshot> second(*engine().TakeSnapshot());
  BOOST_CHECK_EQUAL(Drop(), "OK");
  const Snapshot third = *engine().TakeSnapshot();
  BOOST_CHECK_EQUAL(StoreFiles(), 1u);
  BOOST_CHECK_EQUAL(RowsAt({.snapshot = &third}), kGone);
  { const Snapshot gone = *std::move(first); }
  BOOST_CHECK_EQUAL(StoreFiles(), 1u);
  BOOST_CHECK_EQUAL(Hits("a3", {.snapshot = &*second}).size(), 6u);
  second.reset();
  BOOST_CHECK_EQUAL(StoreFiles(), 0u);
}

// A database that goes away under a snapshot releases what only that kept.
BOOST_AUTO_TEST_CASE(ASnapshotMayOutliveTheDatabase) {
  PutRows(0, 40, "a");
  Flush();
  const Snapshot snapshot = *engine().TakeSnapshot();
  BOOST_CHECK_EQUAL(is_open(), true);
  BOOST_CHECK_EQUAL(engine().DropTable("t").ToString(), "OK");
  TestEngine::Drop();
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(StoreFiles(), 0u);
}

BOOST_AUTO_TEST_CASE(MemoryAndLogOfADroppedTableAreFree) {
  BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
  tuning.log_segment_bytes = 16 << 10;
  tuning.memstore_bytes = 8 << 20;  // The log is looked at after each sixteenth of it.
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  Create("other");
  BOOST_REQUIRE_EQUAL(PutInto("other", "o"), "OK");
  BOOST_REQUIRE_EQUAL(engine().Flush("other").ToString(), "OK");
  const uint64_t memory = engine().Info().memstore_bytes;
  for (int i = 0; i < 8; ++i) {
    PutRows(0, 200, std::string(1000, static_cast<char>('a' + i)));
    executor.Drain();
  }
  BOOST_CHECK_GT(engine().Info().memstore_bytes, 20 * memory);
  BOOST_CHECK_GT(engine().Info().log_segments, 4u);
  BOOST_CHECK_EQUAL(Drop(), "OK");
  executor.Drain();
  BOOST_CHECK_LE(engine().Info().memstore_bytes, memory);
  BOOST_CHECK_LE(engine().Info().log_segments, 2u);
}

// An unsynced write before the drop is durable when the drop is.
BOOST_AUTO_TEST_CASE(WhatWasWrittenBeforeADropIsNotLostAlone) {
  Create("copy");
  BOOST_REQUIRE_EQUAL(PutInto("t", "row"), "OK");
  WriteBatch batch;
  batch.Put("copy", "row", "d", "c", "v");
  BOOST_REQUIRE_EQUAL(Write(batch, Durability::kBuffered).ToString(), "OK");
  BOOST_CHECK_EQUAL(Drop(), "OK");
  Crash({});
  BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(RowsAt({}), kGone);
  BOOST_CHECK_EQUAL(RowsAt({}, "copy"), "row ");
}

// Work on the table that runs meanwhile ends, and leaves no file.
BOOST_AUTO_TEST_CASE(FlushesAndMergesThatRunLeaveNothing) {
  struct Dropper final : EventListener {
    void OnFlushBegin(const FlushEvent&) override { Act(flush); }
    void OnCompactionBegin(const CompactionEvent&) override { Act(!flush); }
    void Act(bool is_meant) {
      if (!is_meant || !std::exchange(armed, false)) return;
      result = fixture->Drop();
    }
    SchemaFixture* fixture = nullptr;
    bool flush = false, armed = false;
    std::string result;
  };
  const auto dropper = std::make_shared<Dropper>();
  dropper->fixture = this;
  options.listener = dropper;
  Reopen();
  for (const bool flush : {true, false}) {
    PutRows(0, 100, "a");
    if (!flush) Flush();
    if (!flush) PutRows(0, 100, "b");
    if (!flush) Flush();
    dropper->flush = flush;
    dropper->armed = true;
    disk.control().SetTracing(true);
    const Status status = flush ? engine().Flush("t") : engine().Compact("t");
    const std::vector<DiskEvent> trace = disk.control().TakeTrace();
    disk.control().SetTracing(false);
    // A merge that was asked for by hand ends with its table, and is not written first.
    const auto of_merge = std::ranges::count_if(trace, [](const DiskEvent& event) {
      return event.operation == DiskOperation::kWrite && event.name.starts_with("store-");
    });
    BOOST_CHECK_EQUAL(of_merge > 0, flush);
    BOOST_CHECK_EQUAL(dropper->result, "OK");
    BOOST_CHECK_EQUAL(status.ToString(), kGone);
    executor.Drain();
    BOOST_CHECK_EQUAL(StoreFiles(), 0u);
    BOOST_CHECK(!engine().Info().read_only);
    Create();
    CheckSound();
  }
}

// A drop whose edit failed may be in the manifest all the same: what is acknowledged before that is
// settled could go with the table.
BOOST_AUTO_TEST_CASE(NothingIsAcknowledgedWhileADropIsInDoubt) {
  for (const Edit& edit : {Edit([](SchemaFixture* f) { return f->Drop(); }),
                           Edit([](SchemaFixture* f) { return f->Truncate(); })}) {
    disk.control().SetHook([this](const DiskEvent& event) {
      const bool is_edit =
          event.operation == DiskOperation::kDataSync && event.name.starts_with("manifest-");
      if (!is_edit) return;
      const Status full = Status::NoSpace("injected");
      disk.control().SetHook(nullptr);
      disk.control().InjectFault(
          {.operations = {DiskOperation::kDataSync}, .partly = true, .status = full});
      disk.control().InjectFault(
          {.operations = {DiskOperation::kCreate}, .sticky = true, .status = full});
    });
    BOOST_CHECK(edit(this).starts_with("NoSpace"));
    for (int i = 0; i < 2; ++i) {
      BOOST_CHECK(Put("a", "c", "1", Durability::kSynced).code() == StatusCode::kNoSpace);
      BOOST_CHECK_EQUAL(Rows(), "");
    }
    disk.control().ClearFaults();
    BOOST_CHECK_EQUAL(Put("a", "c", "1", Durability::kSynced).ToString(), "OK");
    Crash({.kept = CrashPolicy::Kept::kAll});
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    BOOST_CHECK_EQUAL(Rows(), "a{c=1}");
    BOOST_CHECK_EQUAL(edit(this), "OK");
    if (engine().Info().tables.empty()) Create();
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
