// Functions of the program: indexes and conditions call them, and a database that is opened without
// them, or with another version, reads on, refuses writes, and answers as a scan does.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tandem/tandem.h"
#include "test/api/index_fixture.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

using Apply = std::function<std::optional<std::string>(std::string_view)>;

std::shared_ptr<const RegisteredFunction> Version(uint64_t version, Apply apply) {
  return std::make_shared<const RegisteredFunction>(
      RegisteredFunction{.version = version, .apply = std::move(apply)});
}

// The letters without vowels; absent without any.
std::optional<std::string> Consonants(std::string_view value) {
  std::string kept;
  for (const char c : value) {
    if (c == '!') throw std::runtime_error("a shout");
    if (c == '?') throw 7;
    if (std::string_view("aeiou").find(c) == std::string_view::npos) kept += c;
  }
  return kept.empty() ? std::nullopt : std::optional(kept);
}

// The sum of the digits; absent without any.
std::optional<std::string> DigitSum(std::string_view value) {
  int sum = 0, digits = 0;
  for (const char c : value) {
    if (c < '0' || c > '9') continue;
    sum += c - '0';
    ++digits;
  }
  return digits == 0 ? std::nullopt : std::optional(std::to_string(sum));
}

struct CallFixture : IndexFixture {
  CallFixture() : IndexFixture({.name = "t", .families = {{.name = "d", .max_versions = 2}}}) {
    options.functions = {{"consonants", Version(3, Consonants)}, {"digits", Version(1, DigitSum)}};
    Reopen();
  }

  void Reopen() {
    if (database != nullptr) BOOST_REQUIRE_EQUAL(database->Close().ToString(), "OK");
    database.reset();
    Open();
  }
  void ReopenWith(decltype(Options::functions) functions) {
    options.functions = std::move(functions);
    Reopen();
  }
  // What a crash would leave: all rows are in the log.
  void CrashAndOpenWith(decltype(Options::functions) functions) {
    std::filesystem::copy(directory.Path("db"), directory.Path("crashed"),
                          std::filesystem::copy_options::recursive);
    BOOST_REQUIRE_EQUAL(database->Close().ToString(), "OK");
    database.reset();
    std::filesystem::remove_all(directory.Path("db"));
    std::filesystem::rename(directory.Path("crashed"), directory.Path("db"));
    options.functions = std::move(functions);
    Open();
  }
  void Create(IndexOptions index) {
    BOOST_REQUIRE_EQUAL(database->CreateIndex("t", index).ToString(), "OK");
    for (int i = 0; IsBuilding(index.name) && i < 1000; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  bool IsBuilding(const std::string& name) {
    const Result<DatabaseInfo> info = database->Info();
    BOOST_REQUIRE_MESSAGE(info.has_value(), info.status().ToString());
    const std::vector<IndexInfo>& indexes = info->tables.at(0).indexes;
    const auto index =
        std::ranges::find(indexes, name, [](const IndexInfo& each) { return each.options.name; });
    return index != indexes.end() && index->is_building;
  }
  Status Put(const std::string& row, const std::string& qualifier, const std::string& value) {
    WriteBatch batch;
    batch.Put("t", row, "d", qualifier, value);
    return database->Write({}, batch);
  }
  void PutSome() {
    for (const auto& [row, name] : std::vector<std::pair<std::string, std::string>>{
             {"a", "anna"}, {"b", "nina"}, {"c", "aei"}, {"d", "bob"}, {"e", "!"}, {"f", "?nn"}}) {
      BOOST_REQUIRE_EQUAL(Put(row, "name", name).ToString(), "OK");
      BOOST_REQUIRE_EQUAL(Put(row, "n", row + "1" + std::to_string(row[0] - 'a')).ToString(), "OK");
    }
  }
  std::string RowsBy(std::string_view text, const std::string& index) {
    return Rows(text, {.use_index = index});
  }
  void WaitForFiles(const std::string& index) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (InfoOf(index).files_older > 0) {
      BOOST_REQUIRE(std::chrono::steady_clock::now() < end);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  IndexInfo InfoOf(const std::string& name) {
    const auto info = database->Info();
    for (const IndexInfo& index : info->tables.front().indexes) {
      if (index.options.name == name) return index;
    }
    BOOST_FAIL("no index " << name);
    return {};
  }
};

const std::string kRefused =
    "Unsupported: table 't' has the index 'by_c', whose entries this program cannot make, so "
    "writes are refused: ";
const std::string kAdvice =
    "; register that function when opening (Options::functions), or drop the index ('tandem index "
    "drop DB t by_c')";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(registered_functions, CallFixture)

BOOST_AUTO_TEST_CASE(IndexesAndConditionsCallThem) {
  Create(IndexOf("by_c", "call('consonants', name)"));
  Create(IndexOf("by_n", "call('digits', n)::int64 DESC"));
  PutSome();
  AtEachStage([&] {
    BOOST_TEST(RowsBy("call('consonants', name) = 'nn'", "by_c") == "a b ");
    BOOST_TEST(RowsBy("call('consonants', name) PREFIX 'n'", "by_c") == "a b ");
    BOOST_TEST(RowsBy("call('consonants', name) IS NULL", "by_c") == "c e f ");
    BOOST_TEST(Rows("NOT call('consonants', name) = 'nn'") == "c d e f ");
    BOOST_TEST(RowsBy("call('digits', n)::int64 > 4", "by_n") == "e f ");
    BOOST_TEST(RowsBy("call('digits', n)::int64 BETWEEN 1 AND 2", "by_n") == "a b ");
    BOOST_TEST(Rows("call('consonants', name) = 'nn' AND call('digits', n)::int64 = 2") == "b ");
    BOOST_TEST(Rows("upper(call('consonants', name)) = 'BB'") == "d ");
    BOOST_TEST(Rows("call('digits', call('consonants', n)) = '1'") == "a ");
    BOOST_TEST(Rows("length(call('consonants', name)) = 2") == "a b d ");
  });
}

BOOST_AUTO_TEST_CASE(TheirTextIsReadAndPrinted) {
  const auto predicate = Predicate::Parse("CALL('it''s', lower(d:name)) = 'x'");
  BOOST_REQUIRE(predicate.has_value());
  BOOST_TEST(predicate->ToString() == "call('it''s', lower(d:name)) = 'x'");
  BOOST_TEST(IndexOf("i", "call('consonants', name)::double DESC").columns[0].ToString() ==
             "call('consonants', name)::double DESC");
  const auto error = [](std::string_view text) {
    return Predicate::Parse(text).status().ToString();
  };
  BOOST_TEST(error("call(name) = 'x'").find("a function's name in quotes") != std::string::npos);
  BOOST_TEST(error("call('', name) = 'x'").find("expected the name of a function") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(OnesThatAreNotRegisteredAreNamed) {
  const auto predicate = Predicate::Parse("call('soundex', name) = 'S530'").value();
  const std::string expected =
      "InvalidArgument: function 'soundex' is not registered: this program has registered "
      "'consonants', 'digits'";
  BOOST_TEST(database->Query({}, "t", predicate).status().ToString() == expected);
  BOOST_TEST(database->Count({}, "t", predicate).status().ToString() == expected);
  BOOST_TEST(database->Explain({}, "t", predicate).status().ToString() == expected);
  BOOST_TEST(database->Prepare("t", predicate).status().ToString() == expected);
  BOOST_TEST(database->CheckAndMutate({}, "t", "a", predicate, WriteBatch()).status().ToString() ==
             expected);
  AggregateOptions groups{.group_by = {"call('soundex', name)"}, .values = {{}}};
  BOOST_TEST(database->Aggregate({}, "t", Predicate(), groups).status().ToString() == expected);
  BOOST_TEST(database->CreateIndex("t", IndexOf("i", "call('soundex', name)")).ToString() ==
             "InvalidArgument: index 'i': function 'soundex' is not registered: this program has "
             "registered 'consonants', 'digits'");
  IndexOptions partial = IndexOf("i", "name");
  partial.where = "call('soundex', name) = 'x'";
  BOOST_TEST(database->CreateIndex("t", partial).ToString() ==
             "InvalidArgument: index 'i': WHERE: function 'soundex' is not registered: this "
             "program has registered 'consonants', 'digits'");
  ReopenWith({});
  BOOST_TEST(database->Query({}, "t", predicate).status().ToString() ==
             "InvalidArgument: function 'soundex' is not registered: this program has registered "
             "none (Options::functions)");
}

BOOST_AUTO_TEST_CASE(WhatIsRegisteredIsChecked) {
  const auto opened = [&](decltype(Options::functions) functions) {
    Options with = SmallOptions();
    with.functions = std::move(functions);
    return Database::Open(directory.Path("other"), with).status().ToString();
  };
  BOOST_TEST(opened({{"f", nullptr}}) == "InvalidArgument: function 'f' is null");
  BOOST_TEST(opened({{"f", Version(1, nullptr)}}) == "InvalidArgument: function 'f' is null");
  BOOST_TEST(opened({{"", Version(1, DigitSum)}}) ==
             "InvalidArgument: function '' has an invalid name");
  BOOST_TEST(opened({{"f", Version(0, DigitSum)}}) ==
             "InvalidArgument: function 'f' has version 0, expected one from 1");
}

BOOST_AUTO_TEST_CASE(TheyServeEveryKindOfIndex) {
  Create(
      {.name = "both",
       .columns =
           IndexColumn::ParseList("call('consonants', name), call('digits', n)::int64").value()});
  IndexOptions covering = IndexOf("covering", "call('consonants', name)");
  covering.include = {{.family = "d", .qualifier = "n"}};
  Create(covering);
  IndexOptions partial = IndexOf("partial", "n");
  partial.where = "call('consonants', name) = 'nn'";
  Create(partial);
  Create(IndexOf("words", "words(call('consonants', name))"));
  Create(IndexOf("key", "call('digits', _row)::int64"));
  IndexOptions global = IndexOf("global", "call('consonants', other)");
  global.placement = IndexPlacement::kGlobal;
  Create(global);
  PutSome();
  BOOST_REQUIRE(Put("r25", "other", "oslo").ok());
  BOOST_REQUIRE(Put("r16", "other", "sola").ok());
  BOOST_REQUIRE(Put("r34", "other", "aa").ok());
  AtEachStage([&] {
    const std::string both = "call('consonants', name) = 'nn' AND call('digits', n)::int64 = 2";
    BOOST_TEST(Rows(both, {.use_index = "both"}) == "b ");
    ReadOptions read;
    read.columns = {{.family = "d", .qualifier = "n"}};
    BOOST_TEST(Rows("call('consonants', name) = 'nn'", {.use_index = "covering"}, read) == "a b ");
    BOOST_TEST(Rows("call('consonants', name) = 'nn' AND n = 'b11'", {.use_index = "partial"}) ==
               "b ");
    BOOST_TEST(Rows("words(call('consonants', name)) = 'bb'", {.use_index = "words"}) == "d ");
    BOOST_TEST(Rows("call('digits', _row)::int64 = 7", {.use_index = "key"}) == "r16 r25 r34 ");
    BOOST_TEST(Rows("call('digits', _row)::int64 IS NULL", {.use_index = "key"}) == "a b c d e f ");
    BOOST_TEST(Rows("call('consonants', other) = 'sl'", {.use_index = "global"}) == "r16 r25 ");
  });
  AggregateOptions groups{.group_by = {"call('consonants', name)"}, .values = {{}}};
  auto cursor = database->Aggregate({}, "t", Predicate(), groups);
  BOOST_REQUIRE_MESSAGE(cursor.has_value(), cursor.status().ToString());
  size_t rows = 0;
  while (cursor->Next()) ++rows;
  BOOST_TEST(rows == 3u);
}

BOOST_AUTO_TEST_CASE(AUniqueIndexOverOneRefusesDuplicates) {
  IndexOptions unique = IndexOf("by_c", "call('consonants', name)");
  unique.unique = true;
  Create(unique);
  const auto report = database->EnforceUnique("t", "by_c");
  BOOST_REQUIRE_MESSAGE(report.has_value(), report.status().ToString());
  BOOST_REQUIRE(Put("a", "name", "anna").ok());
  BOOST_TEST(Put("b", "name", "nina").code() == StatusCode::kAlreadyExists);
  BOOST_TEST(Put("b", "name", "bob").ok());
  BOOST_TEST(Put("c", "name", "aei").ok());
  BOOST_TEST(Put("d", "name", "e").ok());
  ReopenWith({});
  BOOST_TEST(database->EnforceUnique("t", "by_c").status().code() == StatusCode::kUnsupported);
}

BOOST_AUTO_TEST_CASE(WithoutThemTheTableIsReadAndNotWritten) {
  Create(IndexOf("by_c", "call('consonants', name)"));
  PutSome();
  ReopenWith({{"digits", Version(1, DigitSum)}});
  const std::string why = "function 'consonants' of version 3 is not registered";
  BOOST_TEST(InfoOf("by_c").unusable == why);
  const std::string refused = kRefused + why + kAdvice;
  BOOST_TEST(Put("x", "other", "y").ToString() == refused);
  WriteBatch batch;
  batch.Put("t", "x", "d", "other", "y");
  BOOST_TEST(database->CheckAndMutate({}, "t", "a", Predicate(), batch).status().ToString() ==
             refused);
  auto transaction = database->Begin();
  BOOST_REQUIRE(transaction.has_value());
  BOOST_TEST(transaction->Put("t", "x", "d", "other", "y").ToString() == refused);
  BOOST_TEST(database->BeginBulkLoad("t").status().ToString() == refused);
  BOOST_TEST(database->IncrementColumns({}, "t", "x", "d", std::vector<ColumnDelta>{{"i", 1}})
                 .status()
                 .ToString() == refused);
  BOOST_TEST(Rows("name = 'bob'") == "d ");
  BOOST_TEST(Rows("n PREFIX 'a'") == "a ");
  const auto explained = Explained("name = 'bob'");
  BOOST_TEST(explained.index.empty());
  BOOST_TEST(std::ranges::count(explained.rejected, "index by_c: " + why) == 1);
  QueryOptions query{.use_index = "by_c"};
  BOOST_TEST(database->Query({}, "t", Predicate::Parse("name = 'bob'").value(), query)
                 .status()
                 .ToString() == "InvalidArgument: index 'by_c' cannot serve the predicate: " + why);
  query = {};
  query.order_by = "by_c";
  BOOST_TEST(database->Query({}, "t", Predicate(), query).status().ToString() ==
             "InvalidArgument: index 'by_c' gives no order: " + why);
  VerifyOk();
  const auto verified = database->VerifyIndex("t", "by_c");
  BOOST_REQUIRE(verified.has_value());
  BOOST_TEST(verified->findings.empty());
  BOOST_TEST(database->Compact("t").ToString() == "OK");
  BOOST_TEST(database->Checkpoint(directory.Path("copy")).ToString() == "OK");
  BOOST_REQUIRE_EQUAL(database->DropIndex("t", "by_c").ToString(), "OK");
  BOOST_TEST(Put("x", "other", "y").ToString() == "OK");
}

BOOST_AUTO_TEST_CASE(AnotherVersionIsAsNone) {
  Create(IndexOf("by_c", "call('consonants', name)"));
  PutSome();
  BOOST_REQUIRE(database->Flush("t").ok());
  // Vowels only.
  const Apply vowels = [](std::string_view value) -> std::optional<std::string> {
    std::string kept;
    for (const char c : value) {
      if (std::string_view("aeiou").find(c) != std::string_view::npos) kept += c;
    }
    return kept;
  };
  ReopenWith({{"consonants", Version(4, vowels)}});
  const std::string why =
      "function 'consonants' is registered with version 4, and it has version 3: drop it and "
      "create it again";
  BOOST_TEST(InfoOf("by_c").unusable == why);
  BOOST_TEST(Put("x", "name", "y").ToString() == kRefused + why + kAdvice);
  BOOST_TEST(RowsBy("call('consonants', name) = 'aa'", "") == "a ");
  BOOST_TEST(RowsBy("call('consonants', name) = 'nn'", "") == "");
  VerifyOk();
  BOOST_REQUIRE_EQUAL(database->DropIndex("t", "by_c").ToString(), "OK");
  Create(IndexOf("by_c", "call('consonants', name)"));
  AtEachStage([&] {
    BOOST_TEST(RowsBy("call('consonants', name) = 'aa'", "by_c") == "a ");
    BOOST_TEST(RowsBy("call('consonants', name) = ''", "by_c") == "e f ");
  });
}

// What is in the log when a database is opened without the function goes to files without it.
BOOST_AUTO_TEST_CASE(FilesWrittenWithoutThemAreScannedAndRebuilt) {
  const auto functions = options.functions;
  Create(IndexOf("by_c", "call('consonants', name)"));
  Create(IndexOf("key", "call('digits', _row)::int64"));
  IndexOptions partial = IndexOf("partial", "n");
  partial.where = "call('consonants', name) = 'nn'";
  Create(partial);
  Create(IndexOf("plain", "name"));
  PutSome();
  BOOST_REQUIRE(Put("r7", "name", "u").ok());
  CrashAndOpenWith({});
  BOOST_TEST(Rows("name PREFIX 'n'") == "b ");
  BOOST_REQUIRE_EQUAL(database->Flush("t").ToString(), "OK");
  BOOST_TEST(InfoOf("by_c").files_without == 1u);
  BOOST_TEST(InfoOf("key").files_without == 1u);
  BOOST_TEST(InfoOf("partial").files_without == 1u);
  BOOST_TEST(InfoOf("plain").files_without == 0u);
  VerifyOk();
  ReopenWith(functions);
  const auto check = [&] {
    BOOST_TEST(Rows("call('consonants', name) = 'nn'", {.use_index = "by_c"}) == "a b ");
    BOOST_TEST(Rows("call('consonants', name) IS NULL", {.use_index = "by_c"}) == "c e f r7 ");
    BOOST_TEST(Rows("call('digits', _row)::int64 = 7", {.use_index = "key"}) == "r7 ");
    BOOST_TEST(Rows("call('consonants', name) = 'nn' AND n > 'a'", {.use_index = "partial"}) ==
               "a b ");
  };
  check();
  WaitForFiles("by_c");
  BOOST_TEST(InfoOf("by_c").files_without == 0u);
  BOOST_TEST(InfoOf("key").files_without == 0u);
  BOOST_TEST(InfoOf("partial").files_without == 0u);
  check();
  VerifyOk();
}

// A file is copied with a section that it lacks, of an index that is older than those it has.
BOOST_AUTO_TEST_CASE(AnOlderIndexIsRebuiltBesideAYoungerOne) {
  const auto functions = options.functions;
  Create(IndexOf("by_c", "call('consonants', name)"));
  Create(IndexOf("plain", "name"));
  PutSome();
  CrashAndOpenWith({});
  BOOST_REQUIRE_EQUAL(database->Flush("t").ToString(), "OK");
  BOOST_TEST(InfoOf("by_c").files_without == 1u);
  BOOST_TEST(InfoOf("plain").files_without == 0u);
  ReopenWith(functions);
  WaitForFiles("by_c");
  AtEachStage([&] {
    BOOST_TEST(InfoOf("by_c").files_without == 0u);
    BOOST_TEST(RowsBy("call('consonants', name) = 'nn'", "by_c") == "a b ");
    BOOST_TEST(RowsBy("name > 'b'", "plain") == "b d ");
  });
}

BOOST_AUTO_TEST_CASE(ALongResultIsAbsentOrRefused) {
  const Apply repeat = [](std::string_view value) -> std::optional<std::string> {
    return std::string(static_cast<size_t>(std::stoul(std::string(value))), 'x');
  };
  ReopenWith({{"repeat", Version(1, repeat)}});
  Create(IndexOf("by_r", "call('repeat', n)"));
  Create(IndexOf("by_l", "length(call('repeat', n))"));
  BOOST_TEST(Put("a", "n", "3000").code() == StatusCode::kInvalidArgument);
  BOOST_REQUIRE_EQUAL(database->DropIndex("t", "by_r").ToString(), "OK");
  BOOST_REQUIRE(Put("a", "n", "3000").ok());
  BOOST_REQUIRE(Put("b", "n", "65536").ok());
  BOOST_REQUIRE(Put("c", "n", "65537").ok());
  BOOST_REQUIRE(Put("d", "n", "none").ok());
  Create(IndexOf("by_r", "call('repeat', n)"));
  AtEachStage([&] {
    BOOST_TEST(Rows("length(call('repeat', n)) = 3000") == "a ");
    BOOST_TEST(Rows("length(call('repeat', n)) = 65536") == "b ");
    BOOST_TEST(Rows("length(call('repeat', n)) IS NULL") == "c d ");
    BOOST_TEST(Rows("call('repeat', n) IS NULL") == "a b c d ");
  });
}

BOOST_AUTO_TEST_CASE(VerifyReportsAResultThatChanged) {
  const auto offset = std::make_shared<std::atomic<int>>(0);
  const Apply shifted = [offset](std::string_view value) -> std::optional<std::string> {
    std::string made(value);
    for (char& c : made) c = static_cast<char>(c + offset->load());
    return made;
  };
  ReopenWith({{"shifted", Version(1, shifted)}});
  Create(IndexOf("by_s", "call('shifted', name)"));
  PutSome();
  BOOST_REQUIRE(database->Flush("t").ok());
  VerifyOk();
  *offset = 1;
  const auto report = database->VerifyIndex("t", "by_s");
  BOOST_REQUIRE(report.has_value());
  const std::string expected =
      "index 'by_s': function 'shifted' returns another value than when the file was written";
  BOOST_TEST(std::ranges::any_of(report->findings, [&](const Finding& finding) {
    return finding.text.find(expected) != std::string::npos &&
           finding.effect == FindingEffect::kDerived;
  }));
  // Merges make all entries again.
  BOOST_REQUIRE_EQUAL(Put("b", "name", "z").ToString(), "OK");
  BOOST_REQUIRE_EQUAL(database->Compact("t").ToString(), "OK");
  VerifyOk();
}

BOOST_AUTO_TEST_CASE(ATableIsCopiedWithAndWithoutThem) {
  Create(IndexOf("by_c", "call('consonants', name)"));
  IndexOptions partial = IndexOf("partial", "n");
  partial.where = "call('consonants', name) = 'nn'";
  Create(partial);
  PutSome();
  const auto functions = options.functions;
  for (const bool is_registered : {true, false}) {
    const std::string name = is_registered ? "with" : "without";
    if (!is_registered) ReopenWith({});
    const auto exported = database->ExportFiles("t", directory.Path("export_" + name));
    BOOST_REQUIRE_MESSAGE(exported.has_value(), exported.status().ToString());
    BOOST_TEST(exported->rows == 6u);
    const auto restored =
        database->RestoreTable(directory.Path("export_" + name), "t", {.as = "t_" + name});
    BOOST_REQUIRE_MESSAGE(restored.has_value(), restored.status().ToString());
    WriteBatch batch;
    batch.Put("t_" + name, "x", "d", "name", "y");
    const StatusCode expected = is_registered ? StatusCode::kOk : StatusCode::kUnsupported;
    BOOST_TEST((database->Write({}, batch).code() == expected));
    const auto attached = database->Attach("t", directory.Path("export_" + name));
    BOOST_TEST((attached.status().code() == expected));
  }
  ReopenWith(functions);
  for (const char* const name : {"t_with", "t_without", "t"}) {
    const auto count =
        database->Count({}, name, Predicate::Parse("call('consonants', name) = 'nn'").value(),
                        {.use_index = "by_c"});
    BOOST_REQUIRE_MESSAGE(count.has_value(), count.status().ToString());
    BOOST_TEST(*count == 2u);
  }
  VerifyOk();
}

BOOST_AUTO_TEST_CASE(AGlobalIndexWaitsForItsFunction) {
  IndexOptions global = IndexOf("by_c", "call('consonants', name)");
  global.placement = IndexPlacement::kGlobal;
  Create(global);
  PutSome();
  const auto functions = options.functions;
  ReopenWith({});
  const std::string why = "function 'consonants' of version 3 is not registered";
  BOOST_TEST(InfoOf("by_c").unusable == why);
  BOOST_TEST(Put("x", "name", "y").ToString() == kRefused + why + kAdvice);
  BOOST_TEST(Rows("name = 'bob'") == "d ");
  VerifyOk();
  ReopenWith(functions);
  BOOST_TEST(Put("x", "name", "nun").ToString() == "OK");
  BOOST_TEST(Rows("call('consonants', name) = 'nn'", {.use_index = "by_c"}) == "a b x ");
  VerifyOk();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
