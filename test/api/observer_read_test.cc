// Observers of reads, flushes, merges and splits: what they are asked and told, what they hide, and
// that every read agrees on it.
#define BOOST_TEST_DYN_LINK
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "test/api/observer_fixture.h"

namespace tandem::test {
namespace {

struct ReadFixture : ObserverFixture {
  // Rows r0 to r9: n is the number, secret one of s0 to s2; odd rows have hidden=1 as well, in
  // another family.
  void Fill() {
    for (int i = 0; i < 10; ++i) {
      const std::string row = "r" + std::to_string(i);
      WriteBatch batch = PutOf("t", row, std::to_string(i));
      batch.Put("t", row, "d", "secret", "s" + std::to_string(i % 3));
      if (i % 2 == 1) batch.Put("t", row, "e", "hidden", "1");
      BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
    }
  }
  // Hides rows that are marked, and a column of the others.
  void HideMarked() {
    a->filter = [](StoredRow* row) -> Status {
      for (size_t i = 0; i < row->cells().size(); ++i) {
        if (row->cells()[i].qualifier == "hidden") row->HideRow();
        if (row->cells()[i].qualifier == "secret") row->Hide(i);
      }
      return {};
    };
  }
  static Predicate Parse(const char* text) { return *Predicate::Parse(text); }
  std::string Query(const char* text, const QueryOptions& query = {},
                    const ReadOptions& read = {}) {
    return TextOf(database->Query(read, "t", Parse(text), query));
  }
  uint64_t Count(const char* text, const QueryOptions& query = {}, const ReadOptions& read = {}) {
    return database->Count(read, "t", Parse(text), query).value();
  }
  std::string Get(std::string_view row, const ReadOptions& options = {}) {
    const auto found = database->Get(options, "t", row);
    if (!found.has_value()) return found.status().ToString();
    return found->has_value() ? TextOf((*found)->view()) : "none";
  }
  std::string GetPinned(std::string_view row, const ReadOptions& options = {}) {
    PinnedRow pinned;
    const auto found = database->GetPinned(options, "t", row, &pinned);
    if (!found.has_value()) return found.status().ToString();
    return *found ? TextOf(pinned.view()) : "none";
  }
  std::string MultiGet(const std::vector<std::string_view>& rows, const ReadOptions& options = {}) {
    const auto found = database->MultiGet(options, "t", rows);
    if (!found.has_value()) return found.status().ToString();
    std::string text;
    for (const auto& row : *found) {
      text += (text.empty() ? "" : ", ") + (row.has_value() ? TextOf(row->view()) : "none");
    }
    return text;
  }
};

BOOST_FIXTURE_TEST_SUITE(observer_reads, ReadFixture)

// In memory, in a file, and in both.
BOOST_AUTO_TEST_CASE(AllReadsAgreeOnWhatIsHidden) {
  Fill();
  HideMarked();
  for (int round = 0; round < 3; ++round) {
    BOOST_CHECK_EQUAL(Rows(), "r0 n=0, r2 n=2, r4 n=4, r6 n=6, r8 n=8");
    BOOST_CHECK_EQUAL(TextOf(database->Scan({}, "t", {.reverse = true, .limit = 2})),
                      "r8 n=8, r6 n=6");
    BOOST_CHECK_EQUAL(Get("r2"), "r2 n=2");
    BOOST_CHECK_EQUAL(Get("r1"), "none");
    BOOST_CHECK_EQUAL(GetPinned("r2"), "r2 n=2");
    BOOST_CHECK_EQUAL(GetPinned("r1"), "none");
    BOOST_CHECK_EQUAL(MultiGet({"r4", "r1", "r4", "x"}), "r4 n=4, none, r4 n=4, none");
    BOOST_CHECK_EQUAL(Query("n >= 3"), "r4 n=4, r6 n=6, r8 n=8");
    BOOST_CHECK_EQUAL(Query("n >= 3", {.no_index = true}), "r4 n=4, r6 n=6, r8 n=8");
    BOOST_CHECK_EQUAL(Query("n >= 3", {.order_by = "n", .descending = true, .limit = 2}),
                      "r8 n=8, r6 n=6");
    BOOST_CHECK_EQUAL(Query("secret = 's0'"), "r0 n=0, r6 n=6");  // It is decided as stored.
    BOOST_CHECK_EQUAL(Count("n >= 3"), 3u);
    BOOST_CHECK_EQUAL(Count("n >= 3", {.limit = 2}), 2u);
    BOOST_CHECK_EQUAL(Count("n >= 3", {.order_by = "n"}), 3u);
    BOOST_CHECK_EQUAL(Count("n = 3"), 0u);
    auto prepared = database->Prepare("t", Parse("n >= ?"), {.limit = 1});
    BOOST_REQUIRE(prepared->BindInt64(1, 7).ok());
    BOOST_CHECK_EQUAL(TextOf(database->Query({}, &*prepared)), "r8 n=8");
    BOOST_CHECK_EQUAL(database->Count({}, &*prepared).value(), 1u);
    auto transaction = database->Begin();
    BOOST_REQUIRE(transaction->Put("t", "r2", "d", "n", "22").ok());
    BOOST_REQUIRE(transaction->Put("t", "r4", "e", "hidden", "1").ok());
    BOOST_CHECK_EQUAL(TextOf((*transaction->Get({}, "t", "r2"))->view()), "r2 n=22");
    BOOST_CHECK(!(*transaction->Get({}, "t", "r4")).has_value());
    BOOST_CHECK_EQUAL(transaction->Count({}, "t", Parse("n >= 3")).value(), 3u);  // 22, 6, 8
    transaction->Rollback();
    const auto snapshot = database->TakeSnapshot();
    BOOST_CHECK_EQUAL(Rows("t", {.snapshot = &*snapshot}),
                      "r0 n=0, r2 n=2, r4 n=4, r6 n=6, r8 n=8");
    if (round == 0) BOOST_REQUIRE(database->Flush().ok());
    if (round == 1) Fill();
  }
}

// Otherwise what hides a row would depend on what is asked for.
BOOST_AUTO_TEST_CASE(AFilterSeesColumnsThatAreNotAskedFor) {
  Fill();
  std::string seen;
  HideMarked();
  const ReadOptions column{.columns = {{"", "n"}}};
  BOOST_CHECK_EQUAL(Rows("t", column), "r0 n=0, r2 n=2, r4 n=4, r6 n=6, r8 n=8");
  BOOST_CHECK_EQUAL(Get("r1", column), "none");
  BOOST_CHECK_EQUAL(GetPinned("r1", column), "none");
  BOOST_CHECK_EQUAL(MultiGet({"r1", "r2"}, column), "none, r2 n=2");
  const ReadOptions secret{.columns = {{"d", "secret"}}};
  BOOST_CHECK_EQUAL(Rows("t", secret), "");
  BOOST_CHECK_EQUAL(Get("r2", secret), "none");
  BOOST_CHECK_EQUAL(Query("n = 2", {}, secret), "r2");  // As a query without such a column.
  BOOST_CHECK_EQUAL(Count("n <= 2", {}, secret), 2u);
  const ReadOptions family{.families = {"e"}};
  BOOST_CHECK_EQUAL(Rows("t", family), "");
  BOOST_CHECK_EQUAL(Rows("t", {.families = {"nowhere"}}),
                    "NotFound: table 't' has no family 'nowhere'");
  BOOST_CHECK_EQUAL(Get("r2", {.families = {"nowhere"}}),
                    "NotFound: table 't' has no family 'nowhere'");
  BOOST_CHECK_EQUAL(Get("r2", {.versions = 0}).substr(0, 15), "InvalidArgument");
}

BOOST_AUTO_TEST_CASE(HiddenCellsOneByOneHideTheRow) {
  Fill();
  a->filter = [](StoredRow* row) -> Status {
    for (size_t i = 0; i < row->cells().size(); ++i) row->Hide(i);
    BOOST_CHECK(row->is_hidden(0));
    return {};
  };
  BOOST_CHECK_EQUAL(Rows(), "");
  BOOST_CHECK_EQUAL(Query("n >= 0"), "");
  BOOST_CHECK_EQUAL(Count("n >= 0"), 0u);
}

BOOST_AUTO_TEST_CASE(FiltersOfSeveralObserversAddUp) {
  Fill();
  HideMarked();
  SetObservers({"a", "b"});
  b->filter = [](StoredRow* row) -> Status {
    if (row->key() == "r4") row->HideRow();
    if (row->key() == "r5") BOOST_CHECK(row->is_hidden(0));  // By the first one.
    return {};
  };
  BOOST_CHECK_EQUAL(Rows(), "r0 n=0, r2 n=2, r6 n=6, r8 n=8");
  SetObservers({});
  BOOST_CHECK_EQUAL(Count("n >= 0"), 10u);
}

// By its former name the table is found in the snapshot alone.
BOOST_AUTO_TEST_CASE(ReadsOfASnapshotAgreeAfterChangesOfTheTable) {
  Fill();
  HideMarked();
  auto snapshot = database->TakeSnapshot();
  const ReadOptions then{.snapshot = &*snapshot};
  const auto check = [&] {
    BOOST_CHECK_EQUAL(Get("r1", then), "none");
    BOOST_CHECK_EQUAL(GetPinned("r1", then), "none");
    BOOST_CHECK_EQUAL(GetPinned("r2", then), "r2 n=2");
    BOOST_CHECK_EQUAL(MultiGet({"r1", "r2"}, then), "none, r2 n=2");
    BOOST_CHECK_EQUAL(Rows("t", then), "r0 n=0, r2 n=2, r4 n=4, r6 n=6, r8 n=8");
    BOOST_CHECK_EQUAL(Count("n >= 3", {}, then), 3u);
  };
  BOOST_REQUIRE_EQUAL(database->RenameTable("t", "v").ToString(), "OK");
  check();
  BOOST_REQUIRE_EQUAL(database->DropTable("v").ToString(), "OK");
  check();
}

BOOST_AUTO_TEST_CASE(ACursorKeepsTheObserversThatItWasOpenedWith) {
  Fill();
  HideMarked();
  std::optional<Cursor> filtered, whole;
  filtered.emplace(*database->Scan({}, "t", {}));
  SetObservers({});
  whole.emplace(*database->Scan({}, "t", {}));
  SetObservers({"b"});
  BOOST_CHECK_EQUAL(TextOf(*std::move(filtered)), "r0 n=0, r2 n=2, r4 n=4, r6 n=6, r8 n=8");
  size_t rows = 0;
  while (whole->Next()) ++rows;
  BOOST_CHECK_EQUAL(rows, 10u);
}

BOOST_AUTO_TEST_CASE(ManyRowsAndRegionsAreFiltered) {
  Create({.name = "wide",
          .families = {{.name = "d"}},
          .split_keys = {"2", "4", "6", "8"},
          .observers = {"a"}});
  a->filter = [](StoredRow* row) -> Status {
    if (row->key().back() % 2 == 1) row->HideRow();
    return {};
  };
  WriteBatch batch;
  for (int i = 1000; i < 10000; ++i) batch.Put("wide", std::to_string(i), "d", "n", "1");
  BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  for (int round = 0; round < 2; ++round) {
    uint64_t rows = 0;
    auto cursor = database->Scan({}, "wide", {});
    for (const RowView& row : *cursor) rows += row.key().back() % 2 == 0 ? 1 : 1000000;
    BOOST_CHECK_EQUAL(rows, 4500u);
    BOOST_CHECK_EQUAL(database->Count({}, "wide", Predicate::IsNotNull("n")).value(), 4500u);
    rows = 0;
    auto limited = database->Scan({}, "wide", {.start = "3", .limit = 777});
    while (limited->Next()) ++rows;
    BOOST_CHECK_EQUAL(rows, 777u);
    BOOST_REQUIRE(database->Flush().ok());
  }
}

BOOST_AUTO_TEST_CASE(ARowThatIsLargerThanAPieceIsFilteredWhole) {
  const std::string large(900 << 10, 'x');
  for (const char* column : {"a", "b", "c"}) {
    BOOST_REQUIRE_EQUAL(Put("large", large, column).ToString(), "OK");
  }
  BOOST_REQUIRE_EQUAL(Put("large", "1", "z").ToString(), "OK");
  a->filter = [](StoredRow* row) -> Status {
    BOOST_CHECK_EQUAL(row->cells().size(), 4u);
    for (size_t i = 0; i < 3; ++i) row->Hide(i);
    return {};
  };
  BOOST_CHECK_EQUAL(Rows("t", {.pieces = true}), "large z=1");
  BOOST_CHECK_EQUAL(Get("large"), "large z=1");
}

BOOST_AUTO_TEST_CASE(AFailingFilterEndsTheReadAfterTheRowsBeforeIt) {
  Fill();
  a->filter = [](StoredRow* row) -> Status {
    if (row->key() == "r3") throw std::runtime_error("cannot");
    if (row->key() == "r7") return Status::Corruption("bad");
    return {};
  };
  const std::string thrown = "Cancelled: observer 'a' threw in FilterRow: cannot";
  BOOST_CHECK_EQUAL(TextOf(database->Scan({.columns = {{"", "n"}}}, "t", {})),
                    "r0 n=0, r1 n=1, r2 n=2 " + thrown);
  BOOST_CHECK_EQUAL(Get("r3"), thrown);
  BOOST_CHECK_EQUAL(GetPinned("r3"), thrown);
  BOOST_CHECK_EQUAL(MultiGet({"r1", "r3"}), thrown);
  BOOST_CHECK_EQUAL(database->Count({}, "t", Parse("n >= 0")).status().ToString(), thrown);
  BOOST_CHECK_EQUAL(Get("r7"), "Corruption: observer 'a' in FilterRow: bad");
  BOOST_CHECK_EQUAL(database->Close().ToString(), "OK");  // Nothing is held.
}

BOOST_AUTO_TEST_CASE(ReadsAreAskedBeforeAndAfter) {
  Fill();
  std::string notes;
  a->before_get = [&](const ObservedGet& get) -> Status {
    notes += "before " + std::string(get.table) + " " + std::string(get.row) + "; ";
    return {};
  };
  a->after_get = [&](const ObservedGet&, const RowView* row) -> Status {
    notes += "after " + (row == nullptr ? "none" : TextOf(*row)) + "; ";
    return {};
  };
  const auto note_scan = [&](const ObservedScan& scan) -> Status {
    notes += "scan " + scan.scan.start + "; ";
    return {};
  };
  const auto note_query = [&](const ObservedQuery& query) -> Status {
    notes += (query.counts ? "count " : "query ") + std::string(query.table) + "; ";
    return {};
  };
  a->before_scan = a->after_scan = note_scan;
  a->before_query = a->after_query = note_query;
  const auto take = [&] { return std::exchange(notes, ""); };
  HideMarked();
  (void)Get("r2");
  BOOST_CHECK_EQUAL(take(), "before t r2; after r2 n=2; ");
  (void)GetPinned("r2");
  BOOST_CHECK_EQUAL(take(), "before t r2; after r2 n=2; ");
  (void)MultiGet({"r1", "r2"});
  BOOST_CHECK_EQUAL(take(), "before t r1; before t r2; after none; after r2 n=2; ");
  (void)database->Scan({}, "t", {.start = "r5"});
  BOOST_CHECK_EQUAL(take(), "scan r5; scan r5; ");
  (void)Query("n = 1");
  BOOST_CHECK_EQUAL(take(), "query t; query t; ");
  (void)Count("n = 1");
  BOOST_CHECK_EQUAL(take(), "count t; count t; ");
  auto prepared = database->Prepare("t", Parse("n = 1"));
  (void)database->Query({}, &*prepared);
  (void)database->Count({}, &*prepared);
  BOOST_CHECK_EQUAL(take(), "query t; query t; count t; count t; ");
  auto transaction = database->Begin();
  (void)transaction->Get({}, "t", "r2");
  BOOST_CHECK_EQUAL(take(), "before t r2; after r2 n=2; ");
  a->filter = nullptr;
  (void)Get("r1");
  (void)database->Get({}, "u", "r1");
  BOOST_CHECK_EQUAL(take(), "before t r1; after r1 n=1 secret=s1 hidden=1; ");
}

BOOST_AUTO_TEST_CASE(HooksOfReadsMayRefuse) {
  Fill();
  const Status no = Status::Conflict("no");
  const std::string text = "Conflict: observer 'a' in ";
  a->before_get = [&](const ObservedGet&) { return no; };
  a->before_scan = [&](const ObservedScan&) { return no; };
  a->before_query = [&](const ObservedQuery&) { return no; };
  BOOST_CHECK_EQUAL(Get("r2"), text + "BeforeGet: no");
  BOOST_CHECK_EQUAL(GetPinned("r2"), text + "BeforeGet: no");
  BOOST_CHECK_EQUAL(MultiGet({"r2"}), text + "BeforeGet: no");
  BOOST_CHECK_EQUAL(Rows(), text + "BeforeScan: no");
  BOOST_CHECK_EQUAL(Query("n = 1"), text + "BeforeQuery: no");
  BOOST_CHECK_EQUAL(database->Count({}, "t", Parse("n = 1")).status().ToString(),
                    text + "BeforeQuery: no");
  a->before_get = nullptr;
  a->before_scan = nullptr;
  a->before_query = nullptr;
  a->after_get = [&](const ObservedGet&, const RowView*) -> Status {
    throw std::runtime_error("late");
  };
  a->after_scan = [&](const ObservedScan&) { return no; };
  a->after_query = [&](const ObservedQuery&) { return no; };
  BOOST_CHECK_EQUAL(Get("r2"), "Cancelled: observer 'a' threw in AfterGet: late");
  BOOST_CHECK_EQUAL(GetPinned("r2"), "Cancelled: observer 'a' threw in AfterGet: late");
  BOOST_CHECK_EQUAL(Rows(), text + "AfterScan: no");
  BOOST_CHECK_EQUAL(Query("n = 1"), text + "AfterQuery: no");
  BOOST_CHECK_EQUAL(database->Close().ToString(), "OK");
}

BOOST_AUTO_TEST_CASE(FlushesMergesAndSplitsAreTold) {
  std::string notes;
  std::mutex mutex;
  const auto note = [&](const std::string& what) {
    const std::lock_guard lock(mutex);
    notes += what + " ";
    BOOST_CHECK(Get("r1") != "none");  // A read is allowed.
  };
  const auto take = [&] {
    const std::lock_guard lock(mutex);
    return std::exchange(notes, "");
  };
  a->before_flush = [&](const FlushEvent& event) { note("flush-" + std::string(event.table)); };
  a->after_flush = [&](const FlushEvent& event) { note(std::to_string(event.rows)); };
  a->before_merge = [&](const CompactionEvent& event) {
    note("merge-" + std::to_string(event.input_files));
  };
  a->after_merge = [&](const CompactionEvent& event) { note(std::to_string(event.rows)); };
  a->before_compact = [&](std::string_view table) {
    note("compact-" + std::string(table));
    return Status();
  };
  a->before_split = [&](std::string_view, const SplitOptions& split) {
    note("split-" + split.key);
    return Status();
  };
  a->after_split = [&](const RegionSplitEvent&) { note("was-split"); };
  a->before_merge_regions = [&](std::string_view, const RegionMergeOptions& merge) {
    note("join-" + merge.key);
    return Status();
  };
  a->after_merge_regions = [&](const RegionMergeEvent&) { note("was-joined"); };
  Fill();
  BOOST_REQUIRE(Write(PutOf("u", "r", "1")).ok());
  BOOST_REQUIRE(database->Flush().ok());
  BOOST_CHECK_EQUAL(take(), "flush-t 10 ");
  BOOST_REQUIRE(Put("r1", "77").ok());
  BOOST_REQUIRE(database->Compact("").ok());
  BOOST_CHECK_EQUAL(take(), "compact-t flush-t 1 merge-2 10 ");
  BOOST_REQUIRE(database->Split("t", {.key = "r5", .dry_run = true}).has_value());
  BOOST_CHECK_EQUAL(take(), "");
  BOOST_REQUIRE(database->Split("t", {.key = "r5"}).has_value());
  BOOST_CHECK_EQUAL(take(), "split-r5 was-split ");
  BOOST_REQUIRE(database->MergeRegions("t", {.key = "r1"}).has_value());
  BOOST_CHECK_EQUAL(take(), "join-r1 was-joined ");
}

BOOST_AUTO_TEST_CASE(CompactSplitAndMergeRegionsMayBeRefused) {
  Fill();
  a->before_compact = [](std::string_view) { return Status::Busy("later"); };
  a->before_split = [](std::string_view, const SplitOptions&) { return Status::Busy("later"); };
  a->before_merge_regions = [](std::string_view, const RegionMergeOptions&) -> Status {
    throw std::runtime_error("later");
  };
  BOOST_CHECK_EQUAL(database->Compact("t").ToString(),
                    "Busy: observer 'a' in BeforeCompact: later");
  BOOST_CHECK_EQUAL(database->Compact("").code(), StatusCode::kBusy);
  BOOST_CHECK_EQUAL(database->Compact("u").ToString(), "OK");
  BOOST_CHECK_EQUAL(database->Split("t", {.key = "r5"}).status().ToString(),
                    "Busy: observer 'a' in BeforeSplit: later");
  BOOST_CHECK_EQUAL(database->MergeRegions("t").status().ToString(),
                    "Cancelled: observer 'a' threw in BeforeMergeRegions: later");
  BOOST_CHECK_EQUAL(database->Info()->tables[0].regions.size(), 1u);
  BOOST_CHECK_EQUAL(database->Flush().ToString(), "OK");
}

BOOST_AUTO_TEST_CASE(AThrowingFlushHookDoesNotStopTheFlush) {
  Fill();
  a->before_flush = [](const FlushEvent&) { throw std::runtime_error("no"); };
  a->after_flush = [](const FlushEvent&) { throw 1; };
  BOOST_CHECK_EQUAL(database->Flush("t").ToString(), "OK");
  BOOST_CHECK_EQUAL(database->GetStatistics().observer_failures, 2u);
  BOOST_CHECK_EQUAL(database->Info()->tables[0].regions[0].files.size(), 1u);
}

// Observers are set while others read and write: every read is filtered by one list or the other.
BOOST_AUTO_TEST_CASE(ObserversAreSetBesideReadersAndWriters) {
  Fill();
  HideMarked();
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 2; ++thread) {
    threads.emplace_back([&] {
      while (!stop) {
        const uint64_t count = Count("_row >= 'r'");
        if (count != 10 && count != 5) ++wrong;
        const std::string row = Get("r1");
        if (row != "none" && row.find("hidden") == std::string::npos) ++wrong;
      }
    });
  }
  threads.emplace_back([&] {
    for (int i = 0; !stop; ++i) {
      const Status status = Put("r0", std::to_string(i));
      if (!status.ok() && status.code() != StatusCode::kConflict) ++wrong;
    }
  });
  for (int i = 0; i < 50; ++i) {
    SetObservers({});
    SetObservers({"a"});
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  BOOST_CHECK_EQUAL(wrong, 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
