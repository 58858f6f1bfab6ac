// CopyTable: the copy has the rows of the table at the moment when writers are moved over, and no
// write is lost or made twice.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tandem/row_key.h"
#include "test/api/small_database.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

using Fields = std::vector<RowKeyField>;

constexpr const char* kFrom = "user:text, n:int64";
constexpr const char* kTo = "salt(8), n:int64 desc, user:text";

Fields FieldsOf(int row) {
  return {{"user", "user" + std::to_string(row % 7)}, {"n", std::to_string(row)}};
}
std::string KeyOf(const char* declaration, int row) {
  return *RowKeySchema::Parse(declaration)->Encode(FieldsOf(row));
}

/// By the number of the row: "family:qualifier=value@timestamp ...".
using Rows = std::map<int, std::string>;

class Copied {
 public:
  explicit Copied(const std::function<void(TableOptions*)>& change = nullptr)
      : database(OpenSmall(directory.path())) {
    TableOptions table{.name = "t", .families = {{.name = "d", .max_versions = 3}, {.name = "e"}}};
    table.indexes = {{.name = "by_c", .columns = {{.qualifier = "c"}}}};
    table.row_key = kFrom;
    if (change != nullptr) change(&table);
    BOOST_REQUIRE_EQUAL(database->CreateTable(table).ToString(), "OK");
  }

  Status Put(int row, const std::string& value) { return PutUnder(KeyOf(kFrom, row), value); }
  Status PutUnder(const std::string& key, const std::string& value) {
    WriteBatch batch;
    batch.Put("t", key, "d", "c", value);
    return database->Write({}, batch);
  }
  Rows RowsOf(const std::string& table, const char* declaration) {
    ReadOptions read;
    read.versions = UINT32_MAX;
    const RowKeySchema keys = *RowKeySchema::Parse(declaration);
    auto cursor = database->Scan(read, table, {});
    BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
    Rows rows;
    while (cursor->Next()) {
      const auto fields = keys.Decode(cursor->row().key());
      BOOST_REQUIRE_EQUAL(fields.status().ToString(), "OK");
      const auto n = std::ranges::find(*fields, "n", &RowKeyField::name);
      std::string& text = rows[std::stoi(n->value)];
      for (const Cell& cell : cursor->row().cells()) {
        text.append(cell.family).append(":").append(cell.qualifier).append("=");
        text.append(cell.value).append("@").append(std::to_string(cell.timestamp)).append(" ");
      }
    }
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    return rows;
  }
  void CheckEqual() { BOOST_TEST((RowsOf("t", kFrom) == RowsOf("copy", kTo))); }
  std::string Refusal(const CopyTableOptions& options) {
    return database->CopyTable("t", "copy", options).status().ToString();
  }
  bool HasCopy() { return database->Scan({}, "copy", {}).has_value(); }

  TemporaryDirectory directory;
  std::unique_ptr<Database> database;
};

// Random puts, further versions, and deletes of each kind.
void Change(Copied* table, TestRandom* random, int rows, int count) {
  for (int i = 0; i < count; ++i) {
    const std::string key = KeyOf(kFrom, static_cast<int>(random->Below(rows)));
    const std::string qualifier(1, static_cast<char>('a' + random->Below(4)));
    WriteBatch batch;
    switch (random->Below(8)) {
      case 0:
        batch.DeleteRow("t", key);
        break;
      case 1:
        batch.DeleteColumn("t", key, "d", qualifier);
        break;
      case 2:
        batch.DeleteCell("t", key, "d", qualifier);
        break;
      case 3:
        batch.Put("t", key, "e", qualifier, std::to_string(i), 5);  // Older than a delete.
        break;
      default:
        batch.Put("t", key, "d", qualifier, std::to_string(i));
    }
    BOOST_REQUIRE_EQUAL(table->database->Write({}, batch).ToString(), "OK");
    if (random->Below(200) == 0) BOOST_REQUIRE(table->database->Flush("t").ok());
  }
}

BOOST_AUTO_TEST_SUITE(copy_table)

BOOST_AUTO_TEST_CASE(TheCopyHasAllVersionsUnderItsKeys) {
  Copied table;
  TestRandom random("copy_table");
  Change(&table, &random, 200, 3000);
  const auto report = table.database->CopyTable("t", "copy", {.row_key = kTo});
  BOOST_REQUIRE_EQUAL(report.status().ToString(), "OK");
  const Rows rows = table.RowsOf("t", kFrom);
  BOOST_TEST(report->rows == rows.size());
  BOOST_TEST(report->passes == 2u);
  BOOST_TEST(report->changed_rows == 0u);
  table.CheckEqual();
  const auto info = table.database->Info();
  BOOST_REQUIRE(info.has_value());
  BOOST_TEST(info->tables.back().options.indexes.size() == 1u);
  for (const char* value : {"1", "2", "17"}) {
    const Predicate predicate = Predicate::Equal("c", value);
    BOOST_TEST(*table.database->Count({}, "t", predicate) ==
               *table.database->Count({}, "copy", predicate));
  }
  BOOST_REQUIRE(table.Put(1, "after").ok());  // The table takes writes again.
  const auto verified = table.database->Verify(true);
  BOOST_REQUIRE(verified.has_value());
  BOOST_TEST(verified->findings.empty());
}

constexpr int kWriters = 3;

// Writes to the table until one of its writes is refused, and then to the copy. It has rows of its
// own and knows what it has written.
class Writer {
 public:
  Writer(Copied* table, const std::atomic<bool>* over, int number)
      : table_(*table), over_(*over), number_(number) {}

  void Run() {
    TestRandom random("copy_table writer");
    for (int i = 0; after_ < kWritesAfter && problem_.empty(); ++i) {
      Write(static_cast<int>(random.Below(kRowsOfEach)) * kWriters + number_,
            random.Below(5) == 0 ? std::nullopt : std::optional(std::to_string(i)));
    }
  }
  /// What it has met; empty: nothing wrong.
  const std::string& problem() const { return problem_; }
  /// "value/sum of increments" by row; empty: it was deleted.
  const std::map<int, std::string>& expected() const { return expected_; }

 private:
  static constexpr int kRowsOfEach = 300, kWritesAfter = 200;

  // nullopt: deletes the row.
  void Write(int row, const std::optional<std::string>& value) {
    Status status;
    do {
      const bool is_over = over_.load();
      const std::string name = is_over ? "copy" : "t";
      const std::string key = KeyOf(is_over ? kTo : kFrom, row);
      WriteBatch batch;
      if (value.has_value()) {
        batch.Put(name, key, "d", "c", *value);
        batch.Increment(name, key, "e", "n", 1);
      } else {
        batch.DeleteRow(name, key);
      }
      status = table_.database->Write({}, batch);
      after_ += is_over ? 1 : 0;
      if (is_over && !status.ok()) break;
    } while (status.code() == StatusCode::kConflict);
    if (!status.ok()) problem_ = status.ToString();
    std::string& text = expected_[row];
    if (!value.has_value()) return text.clear();
    const int sum = text.empty() ? 0 : std::stoi(text.substr(text.find('/') + 1));
    text = *value + "/" + std::to_string(sum + 1);
  }

  Copied& table_;
  const std::atomic<bool>& over_;
  const int number_;
  int after_ = 0;
  std::string problem_;
  std::map<int, std::string> expected_;
};

std::string StoredIn(Copied* table, int row) {
  const auto stored = table->database->Get({}, "copy", KeyOf(kTo, row));
  BOOST_REQUIRE_EQUAL(stored.status().ToString(), "OK");
  if (!stored->has_value()) return {};
  const std::string value((*stored)->Find("d", "c").value_or("?"));
  return value + "/" + std::string((*stored)->Find("e", "n").value_or("?"));
}

// False: writers outran the copy.
bool MoveOver(int64_t after_millis, int64_t wait_micros = 1'000'000) {
  Copied table;
  std::atomic<bool> over{false}, ends{false};
  std::vector<Writer> writers;
  for (int i = 0; i < kWriters; ++i) writers.emplace_back(&table, &over, i);
  std::vector<std::thread> threads;
  for (Writer& writer : writers) threads.emplace_back([&writer] { writer.Run(); });
  threads.emplace_back([&] {
    while (!ends.load()) {
      table.database->Flush("t").Ignore("it is another one's to test");
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(after_millis));
  bool are_equal = false;
  const auto report = table.database->CopyTable("t", "copy",
                                                {.row_key = kTo,
                                                 .switch_over =
                                                     [&] {
                                                       are_equal = table.RowsOf("t", kFrom) ==
                                                                   table.RowsOf("copy", kTo);
                                                       over.store(true);
                                                       return Status();
                                                     },
                                                 .wait_micros_max = wait_micros});
  over.store(true);
  for (int i = 0; i < kWriters; ++i) threads[i].join();
  ends.store(true);
  threads.back().join();
  if (report.status().code() == StatusCode::kBusy) return false;
  BOOST_REQUIRE_EQUAL(report.status().ToString(), "OK");
  BOOST_TEST(are_equal);
  BOOST_TEST(report->wait_micros <= wait_micros);
  BOOST_TEST_MESSAGE(report->passes << " passes, " << report->changed_rows << " rows, "
                                    << report->wait_micros << " us of waiting");
  for (const Writer& writer : writers) {
    BOOST_TEST(writer.problem() == "");
    for (const auto& [row, text] : writer.expected()) BOOST_TEST(StoredIn(&table, row) == text);
  }
  return true;
}

BOOST_AUTO_TEST_CASE(WritersMoveOverAndLoseNothing) {
  for (int trial = 0; trial < 4; ++trial) BOOST_TEST(MoveOver(20 * trial));
}

// Last passes that take too long leave rows in the copy that change again before the next one.
BOOST_AUTO_TEST_CASE(PassesThatEndEarlyLoseNothing) {
  for (int trial = 0; trial < 6; ++trial) MoveOver(15, 2'000 + 1'000 * trial);
}

// It writes more rows a second than passes copy, until it is slowed.
BOOST_AUTO_TEST_CASE(AWriterThatOutrunsTheCopyIsSlowed) {
  constexpr uint64_t kRows = 10'000, kRowsOfBatch = 500;
  Copied table;
  for (uint64_t i = 0; i < kRows; ++i) BOOST_REQUIRE(table.Put(static_cast<int>(i), "v").ok());
  std::atomic<bool> ends{false};
  Status written;
  uint64_t batches = 0;
  std::thread writer([&] {
    TestRandom random("copy_table fast writer");
    while (!ends.load() && written.ok()) {
      WriteBatch batch;
      for (uint64_t i = 0; i < kRowsOfBatch; ++i) {
        batch.Put("t", KeyOf(kFrom, static_cast<int>(random.Below(kRows))), "d", "c",
                  std::to_string(i));
      }
      written = table.database->Write({}, batch);
      ++batches;
    }
  });
  bool are_equal = false;
  const auto report = table.database->CopyTable(
      "t", "copy", {.row_key = kTo, .switch_over = [&] {
                      are_equal = table.RowsOf("t", kFrom) == table.RowsOf("copy", kTo);
                      ends.store(true);
                      return Status();
                    }});
  ends.store(true);
  writer.join();
  BOOST_REQUIRE_EQUAL(report.status().ToString(), "OK");
  BOOST_TEST((written.ok() || written.code() == StatusCode::kConflict));
  BOOST_TEST(are_equal);
  BOOST_TEST_MESSAGE(report->passes << " passes, " << report->changed_rows << " rows, " << batches
                                    << " batches, " << report->wait_micros << " us of waiting");
}

// Rows take each other's values meanwhile, so that a pass has to take all away before it puts any.
BOOST_AUTO_TEST_CASE(ValuesOfAUniqueIndexMoveBetweenRows) {
  Copied table([](TableOptions* options) { options->indexes[0].unique = true; });
  constexpr int kRows = 50;
  for (int i = 0; i < kRows; ++i) BOOST_REQUIRE(table.Put(i, std::to_string(i)).ok());
  std::atomic<bool> ends{false};
  Status written;
  std::thread writer([&] {
    for (int i = 0; !ends.load() && written.ok(); ++i) {
      WriteBatch batch;
      for (int row = 0; row < kRows; ++row) {
        batch.Put("t", KeyOf(kFrom, row), "d", "c", std::to_string((row + i) % kRows));
      }
      written = table.database->Write({}, batch);
    }
  });
  bool are_equal = false;
  const Status status =
      table.database
          ->CopyTable("t", "copy",
                      {.row_key = kTo,
                       .switch_over =
                           [&] {
                             are_equal = table.RowsOf("t", kFrom) == table.RowsOf("copy", kTo);
                             ends.store(true);
                             return Status::Unavailable("not yet");
                           }})
          .status();
  ends.store(true);
  writer.join();
  BOOST_TEST(written.ToString() == "OK");
  BOOST_TEST(status.ToString() == "Unavailable: not yet");
  BOOST_TEST(are_equal);
  BOOST_TEST(!table.HasCopy());
}

// What expires while the copy is made is in neither table.
BOOST_AUTO_TEST_CASE(CellsExpireMeanwhile) {
  Copied table([](TableOptions* options) { options->families[0].ttl_micros = 100'000; });
  for (int i = 0; i < 3000; ++i) BOOST_REQUIRE(table.Put(i, "v").ok());
  const auto report = table.database->CopyTable("t", "copy", {.row_key = kTo});
  BOOST_REQUIRE_EQUAL(report.status().ToString(), "OK");
  const Rows copy = table.RowsOf("copy", kTo), rows = table.RowsOf("t", kFrom);
  BOOST_TEST(copy.size() >= rows.size());  // The one that was read first.
}

BOOST_AUTO_TEST_CASE(RowsUnderFormerKeysAreCopiedOnce) {
  Copied table;
  TestRandom random("copy_table");
  Change(&table, &random, 100, 500);
  constexpr const char* kLater = "salt(4), user:text, n:int64";
  // Keys that begin with a letter are above those of a salt below 4.
  BOOST_REQUIRE_EQUAL(table.database->ChangeRowKey("t", kLater).ToString(), "OK");
  const Rows before = table.RowsOf("t", kFrom);
  for (int row = 0; row < 100; row += 2) {
    const auto key = table.database->KeyForWrite({}, "t", FieldsOf(row));
    BOOST_REQUIRE_EQUAL(key.status().ToString(), "OK");
  }
  const auto report = table.database->CopyTable("t", "copy", {.row_key = kTo});
  BOOST_REQUIRE_EQUAL(report.status().ToString(), "OK");
  BOOST_TEST(report->rows == before.size());
  BOOST_TEST((table.RowsOf("copy", kTo) == before));
}

BOOST_AUTO_TEST_CASE(BadCopiesAreRefused) {
  Copied table;
  BOOST_REQUIRE(table.Put(1, "v").ok());
  BOOST_TEST(table.Refusal({.row_key = "user:text"}).starts_with("InvalidArgument: row keys "));
  BOOST_TEST(table.Refusal({.row_key = "user:text n"}).find("at position") != std::string::npos);
  BOOST_TEST(table.Refusal({.row_key = kTo, .wait_micros_max = 0}) ==
             "InvalidArgument: wait_micros_max is 0, but the last pass takes some time");
  BOOST_TEST(table.database->CopyTable("none", "copy", {.row_key = kTo}).status().code() ==
             StatusCode::kNotFound);
  BOOST_TEST(table.database->CopyTable("t", "t", {.row_key = kTo}).status().code() ==
             StatusCode::kAlreadyExists);
  std::atomic<bool> cancelled{true};
  BOOST_TEST(table.Refusal({.row_key = kTo, .cancelled = &cancelled}).starts_with("Cancelled: "));
  BOOST_TEST(!table.HasCopy());
  BOOST_REQUIRE(table.PutUnder("raw", "v").ok());
  BOOST_TEST(table.Refusal({.row_key = kTo}).ends_with("; nothing was copied"));
  BOOST_TEST(!table.HasCopy());
  BOOST_TEST(table.Put(2, "v").ok());
}

BOOST_AUTO_TEST_CASE(WritesThatDoNotWaitAreToldSo) {
  Copied table;
  BOOST_REQUIRE(table.Put(1, "v").ok());
  Status no_wait;
  const auto report = table.database->CopyTable(
      "t", "copy", {.row_key = kTo, .switch_over = [&] {
                      WriteBatch batch;
                      batch.Put("t", KeyOf(kFrom, 2), "d", "c", "v");
                      no_wait = table.database->Write({.no_wait = true}, batch);
                      return Status();
                    }});
  BOOST_REQUIRE_EQUAL(report.status().ToString(), "OK");
  BOOST_TEST(no_wait.ToString() == "Busy: the last changes of table 't' are copied");
}

// A writer may have chosen the table before the program moved over.
BOOST_AUTO_TEST_CASE(WritesThatComeTooLateAreRefused) {
  Copied table;
  BOOST_REQUIRE(table.Put(1, "v").ok());
  const CopyTableOptions options{.row_key = kTo, .switch_over = [] { return Status(); }};
  BOOST_REQUIRE(table.database->CopyTable("t", "copy", options).has_value());
  const std::string refused =
      "Conflict: table 't' was copied to 'copy', and its writers moved over: this write was not "
      "made";
  BOOST_TEST(table.Put(2, "v").ToString() == refused);
  WriteBatch both;
  both.Put("copy", KeyOf(kTo, 2), "d", "c", "v");
  BOOST_TEST(table.database->Write({.no_wait = true}, both).ToString() == "OK");
  both.Put("t", KeyOf(kFrom, 2), "d", "c", "v");
  BOOST_TEST(table.database->Write({.no_wait = true}, both).ToString() == refused);
  BOOST_TEST(table.RowsOf("t", kFrom).size() == 1u);
  BOOST_TEST(table.Refusal(options).starts_with("AlreadyExists: "));
  BOOST_REQUIRE(table.database->TruncateTable("t").ok());
  BOOST_TEST(table.Put(2, "v").ToString() == "OK");
}

// A table that goes lets the writes that wait go on, and ends the copy if it was not complete.
BOOST_AUTO_TEST_CASE(ATableMayGoWhileItsWritersMoveOver) {
  for (const bool truncates : {false, true}) {
    Copied table;
    BOOST_REQUIRE(table.Put(1, "v").ok());
    std::thread writer;
    Status gone, written;
    const CopyTableOptions options{.row_key = kTo, .switch_over = [&] {
                                     std::atomic<bool> begun{false};
                                     writer = std::thread([&] {
                                       begun.store(true);
                                       written = table.Put(2, "v");
                                     });
                                     while (!begun.load()) std::this_thread::yield();
                                     std::this_thread::sleep_for(std::chrono::milliseconds(20));
                                     gone = truncates ? table.database->TruncateTable("t")
                                                      : table.database->DropTable("t");
                                     return Status();
                                   }};
    const auto report = table.database->CopyTable("t", "copy", options);
    writer.join();
    BOOST_TEST(report.status().ToString() == "OK");
    BOOST_TEST(gone.ToString() == "OK");
    BOOST_TEST(written.ToString() == (truncates ? "OK" : "NotFound: table 't' does not exist"));
    BOOST_TEST(table.RowsOf("copy", kTo).size() == 1u);
  }
}

BOOST_AUTO_TEST_CASE(AMovedTableIsNotCopiedAgain) {
  Copied table;
  BOOST_REQUIRE(table.Put(1, "v").ok());
  const CopyTableOptions options{.row_key = kTo, .switch_over = [] { return Status(); }};
  BOOST_REQUIRE(table.database->CopyTable("t", "copy", options).has_value());
  BOOST_TEST(table.database->CopyTable("t", "other", options).status().ToString() ==
             "Busy: writers of table 't' move over to another copy, or have moved");
}

BOOST_AUTO_TEST_CASE(ACopyThatNeverCatchesUpGivesUp) {
  Copied table;
  BOOST_REQUIRE(table.Put(1, "v").ok());
  BOOST_TEST(table.Refusal({.row_key = kTo, .wait_micros_max = 1}) ==
             "Busy: table 't' takes writes faster than its copy: 64 passes did not catch up");
  BOOST_TEST(!table.HasCopy());
}

// The copy takes longer than the change, as a rule.
BOOST_AUTO_TEST_CASE(AChangeOfTheTableEndsTheCopy) {
  Status status;
  for (int trial = 0; status.ok() && trial < 20; ++trial) {
    Copied table;
    for (int i = 0; i < 10'000; ++i) BOOST_REQUIRE(table.Put(i, "v").ok());
    Status dropped;
    std::thread changer([&] {
      while (!table.HasCopy()) std::this_thread::yield();
      dropped = table.database->DropFamily("t", "e");
    });
    status = table.database->CopyTable("t", "copy", {.row_key = kTo}).status();
    changer.join();
    BOOST_REQUIRE_EQUAL(dropped.ToString(), "OK");
    BOOST_TEST(table.HasCopy() == status.ok());
  }
  BOOST_TEST(status.ToString() ==
             "Conflict: table 't' was dropped, renamed, or got other families or row keys while it "
             "was copied");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
