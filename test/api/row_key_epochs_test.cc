// Tables whose row key has changed while they had rows. Each is read as a plain table with the same
// rows, at every snapshot, whichever rows have been moved to the newest key.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tandem/observer.h"
#include "test/api/small_database.h"
#include "test/api/twin_epochs.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

// Random changes of both, and comparisons.
class RandomTwins {
 public:
  /// Row keys begin as the first of `leads` says, and become others of them.
  RandomTwins(const std::vector<std::string>& leads, TestRandom* random)
      : random_(*random), leads_(leads), twins_(leads.front()) {}

  void Step() {
    const uint64_t choice = random_.Below(16);
    if (choice < 7) return WriteSome();
    if (choice == 7) return ChangeKeys();
    if (choice == 8) return RewriteKeys();
    if (choice == 9) return MoveSome();
    if (choice == 10) return TakeSnapshot();
    if (choice == 11) return KeepSnapshot();
    if (choice == 12) BOOST_REQUIRE_EQUAL(database().Flush("t").ToString(), "OK");
    if (choice == 13) (void)database().Split("t", {.key = KeyOf(RandomRow())});  // May be at one.
    if (choice == 14) (void)database().MergeRegions("t");  // There may be one region.
    if (choice == 15) BOOST_REQUIRE_EQUAL(database().Compact("t").ToString(), "OK");
  }
  void CompareAll() {
    Compare(nullptr);
    if (snapshot_.has_value()) Compare(&*snapshot_);
    if (!has_named_) return;
    const auto named = database().OpenSnapshot("then");
    BOOST_REQUIRE_EQUAL(named.status().ToString(), "OK");
    Compare(&*named);
  }
  void Reopen() {
    snapshot_.reset();
    twins_.Reopen();
  }
  // All rows have one key in the end.
  void Finish() {
    snapshot_.reset();
    BOOST_TEST(twins_.Rewrite().closed);
    BOOST_TEST(twins_.Former().empty());
    Compare(nullptr);
    const auto report = database().Verify(true);
    BOOST_REQUIRE_EQUAL(report.status().ToString(), "OK");
    BOOST_TEST(report->findings.empty());
  }

 private:
  Database& database() { return *twins_.database; }
  Fields RandomRow() {
    const auto at = static_cast<int>(random_.Below(40)) - 15;
    return Row(std::string(1 + random_.Below(2), static_cast<char>('a' + random_.Below(3))), at);
  }
  std::string KeyOf(const Fields& fields) { return twins_.Keys().Keys(fields)->back(); }
  // One batch of both tables, so that their cells have the same timestamps.
  void WriteSome() {
    WriteBatch batch;
    for (int i = 0; i < 8; ++i) {
      const Fields fields = RandomRow();
      const std::string value = std::to_string(random_.Below(6));
      const uint64_t choice = random_.Below(8);
      if (choice == 0) {
        twins_.Delete(fields, &batch);
      } else if (choice == 1) {
        batch.DeleteColumn("t", twins_.KeyForWrite(fields), "d", "c");
        batch.DeleteColumn("plain", *twins_.plain.newest().Encode(fields), "d", "c");
      } else if (choice == 2) {
        batch.DeleteCell("t", twins_.KeyForWrite(fields), "d", "c");
        batch.DeleteCell("plain", *twins_.plain.newest().Encode(fields), "d", "c");
      } else if (choice == 3) {
        batch.Append("t", twins_.KeyForWrite(fields), "e", "log", value);
        batch.Append("plain", *twins_.plain.newest().Encode(fields), "e", "log", value);
      } else {
        twins_.Put(fields, random_.OneIn(3) ? "x" : "c", value, &batch);
      }
    }
    twins_.Write(batch);
  }
  void ChangeKeys() {
    const std::string& lead = leads_[random_.Below(leads_.size())];
    const std::string status = twins_.Change(lead);
    const bool are_too_many =
        status.starts_with("InvalidArgument: table 't' has 3 former row keys");
    const bool is_taken_off = lead.empty() && status.starts_with("Unsupported");
    BOOST_TEST((status == "OK" || are_too_many || is_taken_off), status);
  }
  void RewriteKeys() {
    if (random_.OneIn(2)) snapshot_.reset();
    const RewriteKeysReport report = twins_.Rewrite();
    if (!snapshot_.has_value()) BOOST_TEST(report.closed);
    BOOST_TEST(twins_.Former().empty() == report.closed);
  }
  // As a rewrite that ended early leaves it.
  void MoveSome() {
    for (int i = 0; i < 10; ++i) twins_.KeyForWrite(RandomRow());
  }
  void TakeSnapshot() {
    auto snapshot = database().TakeSnapshot();
    BOOST_REQUIRE_EQUAL(snapshot.status().ToString(), "OK");
    snapshot_ = *std::move(snapshot);
  }
  void KeepSnapshot() {
    if (has_named_) BOOST_REQUIRE_EQUAL(database().DropSnapshot("then").ToString(), "OK");
    BOOST_REQUIRE_EQUAL(database().CreateSnapshot("then").ToString(), "OK");
    has_named_ = true;
  }

  void Compare(const Snapshot* snapshot) {
    const ReadOptions read = AllVersions(snapshot);
    CompareScans(read);
    for (int i = 0; i < 5; ++i) {
      const Fields fields = RandomRow();
      BOOST_REQUIRE_EQUAL(twins_.Got(false, read, fields), twins_.Got(true, read, fields));
    }
    const std::string value = std::to_string(random_.Below(6));
    for (const Predicate& predicate :
         {Predicate::Equal("c", value), Predicate::Equal("e:log", value), Predicate()}) {
      const auto found = twins_.Queried(false, read, predicate);
      const auto expected = twins_.Queried(true, read, predicate);
      BOOST_REQUIRE_EQUAL_COLLECTIONS(found.begin(), found.end(), expected.begin(), expected.end());
      const Result<uint64_t> count = database().Count(read, "t", predicate);
      BOOST_REQUIRE_EQUAL(count.status().ToString(), "OK");
      BOOST_REQUIRE_EQUAL(*count, expected.size());
      CompareQueries(read, predicate);
    }
  }
  // By index or not, in the order of the fields.
  void CompareQueries(const ReadOptions& read, const Predicate& predicate) {
    Fields prefix;
    if (random_.OneIn(2)) prefix = {RandomRow()[0]};
    QueryOptions query, plain;
    query.ranges = twins_.Keys(read).InFieldOrder(prefix)->ranges;
    plain.ranges = twins_.plain.InFieldOrder(prefix)->ranges;
    query.descending = plain.descending = random_.OneIn(2);
    query.limit = plain.limit = random_.OneIn(2) ? 0 : 1 + random_.Below(12);
    query.offset = plain.offset = random_.OneIn(3) ? random_.Below(10) : 0;
    query.no_index = random_.OneIn(4);
    BOOST_REQUIRE_EQUAL(twins_.InOrder(false, read, predicate, query),
                        twins_.InOrder(true, read, predicate, plain));
  }
  void CompareScans(const ReadOptions& read) {
    const uint64_t shape = random_.Below(4);
    Fields prefix;
    RowKeyBounds bounds;
    if (shape >= 1) prefix = {RandomRow()[0]};
    if (shape >= 2) {
      const auto from = static_cast<int64_t>(random_.Below(40)) - 15;
      bounds = {.field = "at", .from = std::to_string(from)};
      const auto to = from + 1 + static_cast<int64_t>(random_.Below(20));
      if (shape == 3) bounds.to = std::to_string(to);
    }
    Result<ScanOptions> scan = twins_.Keys(read).InFieldOrder(prefix, bounds);
    BOOST_REQUIRE_EQUAL(scan.status().ToString(), "OK");
    ScanOptions plain = *twins_.plain.InFieldOrder(prefix, bounds);
    scan->reverse = plain.reverse = random_.OneIn(2);
    scan->limit = plain.limit = random_.OneIn(2) ? 0 : 1 + random_.Below(12);
    scan->offset = plain.offset = random_.OneIn(3) ? random_.Below(10) : 0;
    const std::string expected = twins_.Rows(true, read, plain);
    BOOST_REQUIRE_EQUAL(twins_.Rows(false, read, *scan), expected);
    if (scan->limit == 0 && scan->offset == 0) {
      BOOST_REQUIRE_EQUAL(Pages(read, *scan, 1 + random_.Below(9)), expected);
    }
  }
  // A page after the other, each by a cursor of its own.
  std::string Pages(const ReadOptions& read, ScanOptions scan, uint64_t page_rows) {
    const RowKeyEpochs keys = twins_.Keys(read);
    std::string rows;
    scan.limit = page_rows;
    while (true) {
      auto cursor = database().Scan(read, "t", scan);
      BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
      uint64_t count = 0;
      for (; cursor->Next(); ++count) rows += EpochTwins::Text(keys, cursor->row());
      BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
      if (count < page_rows) return rows;
      scan.after = *cursor->Token();
    }
  }

  TestRandom& random_;
  const std::vector<std::string> leads_;
  EpochTwins twins_;
  std::optional<Snapshot> snapshot_;
  bool has_named_ = false;
};

class Counting final : public Observer {
 public:
  Status BeforeWrite(PendingWrite* write) override {
    ++batches;
    mutations += write->mutations().size();
    return {};
  }
  std::atomic<uint64_t> batches{0}, mutations{0};
};

// Lets another thread work between the read of the first batch and its commit.
class Meanwhile final : public Observer {
 public:
  Status BeforeWrite(PendingWrite*) override {
    if (work != nullptr) std::thread(std::exchange(work, nullptr)).join();
    return {};
  }
  std::function<void()> work;
};

BOOST_AUTO_TEST_SUITE(row_key_epochs)

BOOST_AUTO_TEST_CASE(RandomTablesEqualPlainOnesAtEverySnapshot) {
  TestRandom random("row_key_epochs");
  const std::vector<std::string> salted = {"salt(4)", "salt(9)", "mod(at, 7)", "salt(200)",
                                           "mod(at, 30)"};
  const std::vector<std::string> two_bytes = {"salt(300)", "salt(2), mod(at, 3)", "mod(at, 3, 4)",
                                              "salt(1000)", "mod(at, 4, 3)"};
  const std::vector<std::string> plain_at_first = {"", "salt(4)", "salt(60)", "mod(at, 7)"};
  const std::vector<std::string> plain_then_two = {"", "salt(300)", "salt(8), mod(at, 5)",
                                                   "mod(at, 6, 5)"};
  for (const auto& leads : {salted, two_bytes, plain_at_first, plain_then_two}) {
    RandomTwins twins(leads, &random);
    for (int i = 0; i < 80; ++i) {
      twins.Step();
      twins.CompareAll();
      if (i % 31 == 30) twins.Reopen();
    }
    twins.Finish();
  }
}

BOOST_AUTO_TEST_CASE(RowsAreReadOnceUnderFormerAndNewKeys) {
  EpochTwins twins("salt(4)");
  FillWith(40, &twins);
  BOOST_TEST(twins.Change("salt(16)") == "OK");
  BOOST_TEST(twins.Former() == std::vector<std::string>{Led("salt(4)")});
  twins.CheckEqual();
  // Half of the cells of a row come later.
  for (int i = 0; i < 40; i += 3) twins.Put(Row(i % 2 == 0 ? "ann" : "bob", i), "x", "late");
  FillWith(20, &twins);
  twins.CheckEqual();
  const RewriteKeysReport report = twins.Rewrite();
  BOOST_TEST(report.closed);
  BOOST_TEST(report.moved > 10u);
  BOOST_TEST(report.moved < 40u);  // Those that were written have been moved, and some stay.
  BOOST_TEST(report.moved_cells >= report.moved);
  BOOST_TEST(report.rows == 80u);  // The second pass found none.
  BOOST_TEST(twins.Former().empty());
  twins.CheckEqual();
  BOOST_TEST(twins.Keys().schemas().size() == 1u);
  BOOST_TEST(twins.Rewrite().rows == 0u);
}

// A snapshot of the empty database has sequence 0, and holds former keys as any other does.
BOOST_AUTO_TEST_CASE(ASnapshotOfNothingHoldsFormerKeys) {
  EpochTwins twins("salt(4)");
  std::optional<Snapshot> snapshot = *twins.database->TakeSnapshot();
  FillWith(10, &twins);
  BOOST_TEST(twins.Change("salt(9)") == "OK");
  BOOST_TEST(!twins.Rewrite().closed);
  twins.CheckEqual();
  snapshot.reset();
  BOOST_TEST(twins.Rewrite().closed);
}

// All versions and timestamps move, and what is deleted or hidden stays so.
BOOST_AUTO_TEST_CASE(AMoveKeepsVersionsAndTimestamps) {
  EpochTwins twins("mod(at, 2)");
  const Fields row = Row("ann", 3);
  const std::string former = twins.KeyForWrite(row), plain = *twins.plain.newest().Encode(row);
  constexpr int64_t kFuture = 5'000'000'000'000'000;
  for (const auto& [table, key] : {std::pair("t", former), std::pair("plain", plain)}) {
    for (const int64_t time : {int64_t{-7}, int64_t{10}, int64_t{20}, int64_t{30}, kFuture}) {
      WriteBatch batch;
      batch.Put(table, key, "d", "c", std::to_string(time), time);
      batch.Put(table, key, "e", "f", "f", time);
      batch.PutColumns(table, key, "d", std::vector<ColumnValue>{{"y", "1"}, {"z", "2"}}, 20);
      twins.Write(batch);
    }
    WriteBatch batch;
    batch.DeleteCell(table, key, "d", "c", 20);
    batch.DeleteColumn(table, key, "d", "z", 25);
    twins.Write(batch);
  }
  const std::string expected = twins.Got(true, AllVersions(), row);
  BOOST_TEST(twins.Got(false, AllVersions(), row) == expected);
  BOOST_TEST(twins.Change("mod(at, 5)") == "OK");
  BOOST_TEST(twins.Got(false, AllVersions(), row) == expected);
  BOOST_TEST(twins.Rewrite().moved == 1u);
  BOOST_TEST(twins.Got(false, AllVersions(), row) == expected);
  BOOST_TEST(!twins.database->Get({}, "t", former)->has_value());
  // And back: what the move has deleted there hides nothing of it.
  BOOST_TEST(twins.Change("mod(at, 2)") == "OK");
  BOOST_TEST(twins.Rewrite().moved == 1u);
  BOOST_TEST(twins.Got(false, AllVersions(), row) == expected);
  BOOST_TEST(twins.database->Get({}, "t", former)->has_value());
  BOOST_REQUIRE_EQUAL(twins.database->Compact("t").ToString(), "OK");
  BOOST_TEST(twins.Got(false, AllVersions(), row) == expected);
}

// A row whose key is the same by both declarations does not move.
BOOST_AUTO_TEST_CASE(ADeclarationOfBeforeIsTheNewestAgain) {
  EpochTwins twins("salt(4)");
  FillWith(30, &twins);
  BOOST_TEST(twins.Change("salt(7)") == "OK");
  FillWith(10, &twins);
  BOOST_TEST(twins.Change("salt(4)") == "OK");
  BOOST_TEST(twins.Former() == std::vector<std::string>{Led("salt(7)")});
  twins.CheckEqual();
  const RewriteKeysReport report = twins.Rewrite();
  BOOST_TEST(report.moved > 0u);
  BOOST_TEST(report.moved <= 10u);
  twins.CheckEqual();
}

// The keys of text begin above the salts.
BOOST_AUTO_TEST_CASE(ASaltIsAddedWhereNoKeyBeginsLikeOne) {
  EpochTwins twins("");
  FillWith(30, &twins);
  BOOST_TEST(twins.Change("salt(97)") == "OK");
  twins.CheckEqual();
  FillWith(12, &twins);
  twins.CheckEqual();
  BOOST_TEST(
      twins.Change("salt(98)") ==
      "Unsupported: table 't': row 'ann\\x00\\x80\\x00\\x00\\x00\\x00\\x00\\x00\\x0c' could not "
      "be told apart from rows of the row key 'salt(98), user:text, at:int64', whose keys "
      "begin below 'b'");
  BOOST_TEST(twins.Change("salt(256)").starts_with("Unsupported"));
  BOOST_TEST(twins.Change("hash(user, 1)").starts_with("Unsupported"));
  BOOST_TEST(twins.Change("").starts_with("Unsupported"));
  BOOST_TEST(twins.Former() == std::vector<std::string>{kFields});
  BOOST_TEST(twins.Rewrite().closed);
  twins.CheckEqual();
  BOOST_TEST(twins.Change("salt(98)") == "OK");  // All are led.
  BOOST_TEST(twins.Change("hash(user, 1)") == "OK");
  BOOST_TEST(twins.Change("").starts_with("Unsupported"));
}

// A user whose name begins like a salt is found all the same, once the rows have a salt.
BOOST_AUTO_TEST_CASE(ANameThatBeginsLikeASaltHasNoFormerKey) {
  EpochTwins twins("");
  FillWith(10, &twins);
  BOOST_TEST(twins.Change("salt(4)") == "OK");
  for (const char* name : {"\x01",
                           "\x02"
                           "ann",
                           "\x03"
                           "bob"}) {
    for (int i = 0; i < 10; ++i) twins.Put(Row(name, i), "c", "low");
  }
  twins.CheckEqual();
  const std::string text = twins.Got(false, AllVersions(),
                                     Row("\x02"
                                         "ann",
                                         3));
  BOOST_TEST(text == twins.Got(true, AllVersions(),
                               Row("\x02"
                                   "ann",
                                   3)));
  BOOST_TEST(!text.empty());
  BOOST_TEST(twins.Keys()
                 .Keys(Row("\x02"
                           "ann",
                           3))
                 ->size() == 1u);
  BOOST_TEST(twins.Rewrite().moved == 10u);
  twins.CheckEqual();
}

BOOST_AUTO_TEST_CASE(AKeyThatWouldBeTooLongStays) {
  EpochTwins twins("");
  const Fields longest = Row(std::string(65'526, 'x'), 1);
  twins.Put(longest, "c", "v");
  FillWith(3, &twins);
  BOOST_TEST(twins.Change("salt(4)") == "OK");
  BOOST_TEST(twins.database->RewriteKeys("t").status().code() == StatusCode::kInvalidArgument);
  BOOST_TEST(twins.Former().size() == 1u);
}

BOOST_AUTO_TEST_CASE(WhatCannotBeToldApartIsRefused) {
  EpochTwins twins("salt(4)");
  BOOST_TEST(twins.Change("salt(5)") == "OK");  // No cells: nothing to remember.
  BOOST_TEST(twins.Former().empty());
  BOOST_TEST(twins.Change("salt(4)") == "OK");
  FillWith(3, &twins);
  Database& database = *twins.database;
  const auto change = [&](const std::string& declaration) {
    return database.ChangeRowKey("t", declaration).ToString();
  };
  BOOST_TEST(change(Led("salt(4)")) == "OK");
  BOOST_TEST(change(Led("SALT(04)")) == "OK");
  BOOST_TEST(twins.Former().empty());
  BOOST_TEST(change(Led("salt(300)")) ==
             "Unsupported: table 't': row keys 'salt(4), user:text, at:int64' and 'salt(300), "
             "user:text, at:int64' could not be told apart: 1 and 2 bytes lead them");
  BOOST_TEST(change(Led("mod(at, 2, 2)")) ==
             "Unsupported: table 't': row keys 'salt(4), user:text, at:int64' and 'mod(at, 2, 2), "
             "user:text, at:int64' could not be told apart: 1 and 2 bytes lead them");
  BOOST_TEST(change(kFields).starts_with("Unsupported"));
  BOOST_TEST(change("").starts_with("Unsupported"));
  BOOST_TEST(change("salt(4), at:int64, user:text") ==
             "Unsupported: table 't': row keys 'salt(4), user:text, at:int64' and 'salt(4), "
             "at:int64, user:text' have different fields, or fields in other bytes");
  BOOST_TEST(change("salt(4), user:text, at:int64 desc").starts_with("Unsupported"));
  BOOST_TEST(change("salt(4), reverse(user), user:text, at:int64").starts_with("Unsupported"));
  BOOST_TEST(change("salt(4, user:text").starts_with("InvalidArgument: row key: at position"));
  BOOST_TEST(change("salt(0), user:text, at:int64").starts_with("InvalidArgument"));
  BOOST_TEST(database.ChangeRowKey("none", kFields).code() == StatusCode::kNotFound);
  BOOST_TEST(twins.Former().empty());
  for (const char* lead : {"salt(5)", "mod(at, 9)", "hash(user, 1, md5)"}) {
    BOOST_TEST(twins.Change(lead) == "OK");
  }
  BOOST_TEST(twins.Change("salt(6)") ==
             "InvalidArgument: table 't' has 3 former row keys, the limit: its keys have to be "
             "rewritten before they change again");
  BOOST_TEST(twins.Change("salt(5)") == "OK");  // One of them.
  BOOST_TEST(twins.Rewrite().closed);
  BOOST_TEST(twins.Change("salt(6)") == "OK");
  twins.CheckEqual();
}

BOOST_AUTO_TEST_CASE(BytesHaveNoFieldsAndNoFormerKeys) {
  EpochTwins twins("salt(4)");
  Database& database = *twins.database;
  BOOST_REQUIRE_EQUAL(database.CreateTable({.name = "b", .families = {{.name = "d"}}}).ToString(),
                      "OK");
  BOOST_TEST(database.RowKeysOf({}, "b").status().ToString() ==
             "InvalidArgument: the row keys of table 'b' are bytes, without fields");
  BOOST_TEST(database.KeyForWrite({}, "b", Row("ann", 1)).status().code() ==
             StatusCode::kInvalidArgument);
  BOOST_TEST(database.RewriteKeys("b")->closed);
  BOOST_TEST(database.RowKeysOf({}, "none").status().code() == StatusCode::kNotFound);
  BOOST_TEST(database.KeyForWrite({}, "none", Row("ann", 1)).status().code() ==
             StatusCode::kNotFound);
  BOOST_TEST(database.RewriteKeys("none").status().code() == StatusCode::kNotFound);
  BOOST_TEST(database.KeyForWrite({}, "t", Fields{{"user", "ann"}}).status().code() ==
             StatusCode::kInvalidArgument);
  // Any bytes stay valid keys, and stay where they are.
  FillWith(10, &twins);
  WriteBatch batch;
  batch.Put("t", "raw", "d", "c", "raw");
  twins.Write(batch);
  BOOST_TEST(twins.Change("salt(9)") == "OK");
  BOOST_TEST(twins.Rewrite().closed);
  BOOST_TEST(database.Get({}, "t", "raw")->has_value());
}

// A snapshot that may see rows under former keys keeps these declared; a named one has its own.
BOOST_AUTO_TEST_CASE(OpenSnapshotsHoldFormerKeys) {
  EpochTwins twins("salt(4)");
  FillWith(30, &twins);
  BOOST_REQUIRE_EQUAL(twins.database->CreateSnapshot("then").ToString(), "OK");
  std::optional<Snapshot> snapshot = *twins.database->TakeSnapshot();
  BOOST_TEST(twins.Change("salt(11)") == "OK");
  RewriteKeysReport report = twins.Rewrite();
  BOOST_TEST(!report.closed);
  BOOST_TEST(report.held_by_sequence == snapshot->sequence());
  BOOST_TEST(twins.Former().size() == 1u);
  FillWith(10, &twins);
  twins.CheckEqual();
  twins.CheckEqual(AllVersions(&*snapshot));
  snapshot = *twins.database->TakeSnapshot();
  BOOST_TEST(twins.Rewrite().closed);  // It sees no former key.
  twins.CheckEqual(AllVersions(&*snapshot));
  const Snapshot named = *twins.database->OpenSnapshot("then");
  BOOST_TEST(twins.Keys({.snapshot = &named}).newest().ToString() == Led("salt(4)"));
  twins.CheckEqual(AllVersions(&named));
}

BOOST_AUTO_TEST_CASE(AMoveIsOneBatchForUniqueIndexesAndObservers) {
  const auto observer = std::make_shared<Counting>();
  TemporaryDirectory directory;
  Options options = SmallOptions();
  options.observers = {{"o", observer}};
  const auto database = OpenSmall(directory.path(), options);
  TableOptions table = {.name = "t", .families = {{.name = "d"}}};
  table.indexes = {{.name = "u", .columns = {{.qualifier = "c"}}, .unique = true},
                   {.name = "g",
                    .columns = {{.qualifier = "c"}, {.qualifier = "x"}},
                    .placement = IndexPlacement::kGlobal}};
  table.observers = {"o"};
  table.row_key = Led("salt(3)");
  BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
  for (int i = 0; i < 20; ++i) {
    WriteBatch batch;
    const std::string key = *database->KeyForWrite({}, "t", Row("ann", i));
    batch.Put("t", key, "d", "c", std::to_string(i));
    batch.Put("t", key, "d", "x", "x");
    BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  }
  BOOST_REQUIRE_EQUAL(database->ChangeRowKey("t", Led("salt(17)")).ToString(), "OK");
  observer->batches = observer->mutations = 0;
  const auto report = database->RewriteKeys("t");
  BOOST_REQUIRE_EQUAL(report.status().ToString(), "OK");
  BOOST_TEST(report->closed);
  BOOST_TEST(report->moved > 10u);
  BOOST_TEST(observer->batches.load() == 1u);
  // Of each row the cells of one time, and a delete.
  BOOST_TEST(observer->mutations.load() == 2 * report->moved);
  for (int i = 0; i < 20; ++i) {
    const Predicate predicate = Predicate::Equal("c", std::to_string(i));
    for (const char* index : {"u", "g"}) {
      const auto count = database->Count({}, "t", predicate, {.use_index = index});
      BOOST_REQUIRE_EQUAL(count.status().ToString(), "OK");
      BOOST_TEST(*count == 1u);
    }
  }
  const auto verified = database->Verify(true);
  BOOST_REQUIRE_EQUAL(verified.status().ToString(), "OK");
  BOOST_TEST(verified->findings.empty());
}

// What somebody deletes after it was read for the move does not come back.
BOOST_AUTO_TEST_CASE(AMoveOfARowThatChangesIsRepeated) {
  const auto observer = std::make_shared<Meanwhile>();
  TemporaryDirectory directory;
  Options options = SmallOptions();
  options.observers = {{"o", observer}};
  const auto database = OpenSmall(directory.path(), options);
  TableOptions table = {.name = "t", .families = {{.name = "d"}}};
  table.row_key = Led("mod(at, 2)");
  table.observers = {"o"};
  BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
  WriteBatch batch;
  const std::string former = *database->KeyForWrite({}, "t", Row("ann", 5));
  batch.Put("t", former, "d", "c", "1");
  batch.Put("t", *database->KeyForWrite({}, "t", Row("ann", 7)), "d", "c", "1");
  BOOST_REQUIRE_EQUAL(database->Write({}, batch).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(database->ChangeRowKey("t", Led("mod(at, 4)")).ToString(), "OK");
  WriteBatch deletes;
  for (const std::string& key : *database->RowKeysOf({}, "t")->Keys(Row("ann", 7))) {
    deletes.DeleteRow("t", key);
  }
  observer->work = [&] { (void)database->Write({}, deletes); };
  const auto report = database->RewriteKeys("t");
  BOOST_REQUIRE_EQUAL(report.status().ToString(), "OK");
  BOOST_TEST(report->closed);
  BOOST_TEST(database->GetStatistics().conflicts.total() == 1u);
  BOOST_TEST(*database->Count({}, "t", Predicate()) == 1u);
  BOOST_TEST(database->Get({}, "t", former)->has_value());  // 5 modulo 4 is 1 as well.
}

// Files would bring rows that the table has under other keys.
BOOST_AUTO_TEST_CASE(FilesAreNotLoadedBesideFormerKeys) {
  EpochTwins twins("salt(4)");
  FillWith(10, &twins);
  Database& database = *twins.database;
  auto load = database.BeginBulkLoad("t");
  BOOST_REQUIRE_EQUAL(load.status().ToString(), "OK");
  const std::string exported = twins.directory.path() + "-export";
  BOOST_REQUIRE_EQUAL(database.ExportFiles("t", exported).status().ToString(), "OK");
  WriteBatch batch;
  batch.Put("t", *twins.Keys().newest().Encode(Row("cid", 1)), "d", "c", "v");
  BOOST_REQUIRE_EQUAL(load->Add(batch).ToString(), "OK");
  BOOST_TEST(twins.Change("salt(8)") == "OK");
  BOOST_TEST(load->Commit().ToString().starts_with(
      "InvalidArgument: table 't' has former row keys: rewrite its keys before files are loaded"));
  BOOST_TEST(database.BeginBulkLoad("t").status().code() == StatusCode::kInvalidArgument);
  BOOST_TEST(database.Attach("t", exported).status().code() == StatusCode::kInvalidArgument);
  // An export of such a table, and a table that is restored, have the former keys too.
  const std::string mixed = twins.directory.path() + "-mixed";
  BOOST_REQUIRE_EQUAL(database.ExportFiles("t", mixed).status().ToString(), "OK");
  BOOST_TEST(database.Attach("plain", mixed).status().ToString().find("former row keys") !=
             std::string::npos);
  BOOST_REQUIRE_EQUAL(database.RestoreTable(mixed, "t", {.as = "u"}).status().ToString(), "OK");
  BOOST_TEST((database.RowKeysOf({}, "u")->schemas().size() == 2u));
  BOOST_REQUIRE_EQUAL(database.RewriteKeys("u").status().ToString(), "OK");
  BOOST_TEST(twins.Rewrite().closed);
  twins.CheckEqual();
}

BOOST_AUTO_TEST_CASE(AnEmptiedTableHasNoFormerKeys) {
  EpochTwins twins("salt(4)");
  FillWith(10, &twins);
  BOOST_TEST(twins.Change("salt(8)") == "OK");
  BOOST_REQUIRE_EQUAL(twins.database->TruncateTable("t").ToString(), "OK");
  BOOST_TEST(twins.Former().empty());
  BOOST_TEST(twins.Keys().newest().ToString() == Led("salt(8)"));
}

// What was moved before stays so, and the next call goes on.
BOOST_AUTO_TEST_CASE(ACancelledRewriteIsGoneOnWith) {
  EpochTwins twins("salt(4)");
  FillWith(50, &twins);
  BOOST_TEST(twins.Change("salt(8)") == "OK");
  std::atomic<bool> cancelled{true};
  RewriteKeysOptions options;
  options.cancelled = &cancelled;
  BOOST_TEST(twins.database->RewriteKeys("t", options).status().code() == StatusCode::kCancelled);
  twins.CheckEqual();
  cancelled = false;
  options.bytes_per_second = 10'000'000;
  BOOST_TEST(twins.database->RewriteKeys("t", options)->closed);
  twins.CheckEqual();
}

// No increment is lost, and each snapshot has each row once, while another thread moves the rows.
BOOST_AUTO_TEST_CASE(WritersAndReadersGoOnBesideARewrite) {
  constexpr int kRows = 3000, kWrites = 1500;
  EpochTwins twins("salt(4)");
  Database& database = *twins.database;
  WriteBatch batch;
  const RowKeySchema former = twins.Keys().newest();
  for (int i = 0; i < kRows; ++i) {
    batch.Put("t", *former.Encode(Row("ann", i)), "d", "n", "0");
  }
  twins.Write(batch);
  BOOST_TEST(twins.Change("salt(50)") == "OK");
  std::atomic<int> failures{0}, writing{2};
  std::vector<std::thread> writers;
  for (int thread = 0; thread < 2; ++thread) {
    writers.emplace_back([&, thread] {
      for (int i = 0; i < kWrites; ++i) {
        const int at = (i * 7 + thread) % kRows;
        const Result<std::string> key = database.KeyForWrite({}, "t", Row("ann", at));
        if (!key.has_value() || !database.Increment({}, "t", *key, "d", "n").has_value()) {
          ++failures;
        }
      }
      --writing;
    });
  }
  std::thread rewriter([&] {
    do {
      if (!database.RewriteKeys("t").has_value()) ++failures;
    } while (writing > 0);
  });
  const auto sum = [&](const Snapshot& snapshot) {
    const ReadOptions read{.snapshot = &snapshot};
    const RowKeyEpochs keys = twins.Keys(read);
    auto cursor = database.Scan(read, "t", *keys.InFieldOrder({}));
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    int rows = 0, total = 0;
    for (; cursor->Next(); ++rows) {
      BOOST_REQUIRE_EQUAL((*keys.Decode(cursor->row().key()))[1].value, std::to_string(rows));
      total += std::stoi(std::string(*cursor->row().Find("d", "n")));
    }
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(rows, kRows);
    return total;
  };
  int before = 0;
  while (writing > 0) {
    const Snapshot snapshot = *database.TakeSnapshot();
    const int total = sum(snapshot);
    BOOST_TEST(total >= before);
    before = total;
  }
  for (std::thread& thread : writers) thread.join();
  rewriter.join();
  BOOST_TEST(failures.load() == 0);
  BOOST_TEST(sum(*database.TakeSnapshot()) == 2 * kWrites);
  BOOST_TEST(twins.Rewrite().closed);
  BOOST_TEST(sum(*database.TakeSnapshot()) == 2 * kWrites);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
