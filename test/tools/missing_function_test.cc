// What the program says of a table whose index calls a function that it has not: it reads, checks,
// copies and drops, and refuses to write.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/tandem.h"
#include "test/support/temporary_directory.h"
#include "test/tools/program.h"
#include "test/tools/require_ok.h"

namespace tandem::test {
namespace {

std::optional<std::string> FirstByte(std::string_view value) {
  return value.empty() ? std::nullopt : std::optional(std::string(value.substr(0, 1)));
}

struct MissingFunctionFixture {
  MissingFunctionFixture() : path(directory.Path("db")) {
    Options options;
    options.create_if_missing = true;
    options.functions["first"] = std::make_shared<const RegisteredFunction>(
        RegisteredFunction{.version = 2, .apply = FirstByte});
    auto opened = Database::Open(path, options);
    RequireOk(opened.status());
    Database& database = **opened;
    IndexOptions by_name{.name = "by_name", .columns = {{"", "name"}}};
    IndexOptions by_first = by_name;
    by_first.name = "by_first";
    by_first.columns[0].functions = {Function::Call("first")};
    RequireOk(database.CreateTable(
        {.name = "t", .families = {{.name = "d"}}, .indexes = {by_first, by_name}}));
    for (const char* name : {"ann", "bob", "ada"}) {
      WriteBatch batch;
      batch.Put("t", name, "d", "name", name, 5);
      RequireOk(database.Write({}, batch));
    }
    RequireOk(database.Close());
  }

  std::string Said(const std::vector<std::string>& arguments, int exit_code = 0) {
    const ProgramRun run = RunProgram(arguments);
    BOOST_TEST(run.exit_code == exit_code, run.err);
    return run.out + run.err;
  }
  void CheckSays(const std::vector<std::string>& arguments, std::string_view part,
                 int exit_code = 0) {
    const std::string said = Said(arguments, exit_code);
    BOOST_TEST(said.find(part) != std::string::npos, said << " lacks " << part);
  }

  TemporaryDirectory directory;
  std::string path;
};

constexpr std::string_view kWhy = "function 'first' of version 2 is not registered";

BOOST_FIXTURE_TEST_SUITE(missing_functions, MissingFunctionFixture)

BOOST_AUTO_TEST_CASE(TheTableIsRead) {
  CheckSays({"query", path, "t", "name = 'bob'"}, "bob");
  CheckSays({"query", path, "t", "name = 'bob'", "--index", "by_first"}, kWhy, 2);
  CheckSays({"query", path, "t", "call('first', name) = 'a'"},
            "function 'first' is not registered: this program has registered none", 2);
  CheckSays({"explain", path, "t", "name = 'bob'"}, kWhy);
  CheckSays({"scan", path, "t"}, "ada");
  CheckSays({"info", path}, kWhy);
  CheckSays({"index", "list", path, "t"}, "call('first', d:name)");
  CheckSays({"index", "list", path, "t"}, kWhy);
  Said({"index", "stats", path, "t"});
  Said({"export", path, "t"});
}

BOOST_AUTO_TEST_CASE(TheTableIsNotWritten) {
  CheckSays({"put", path, "t", "x", "d:other=y"},
            "table 't' has the index 'by_first', whose entries this program cannot make, so writes "
            "are refused: " +
                std::string(kWhy),
            7);
  CheckSays({"index", "build", path, "t", "by_first"}, kWhy, 7);
  CheckSays({"index", "create", path, "t", "second=call('first', d:name)"},
            "index 'second': function 'first' is not registered", 2);
  Said({"index", "drop", path, "t", "by_first"});
  Said({"put", path, "t", "x", "d:other=y"});
}

BOOST_AUTO_TEST_CASE(TheTableIsCheckedAndCopied) {
  const std::string left_out =
      "tandem: table 't': index 'by_first' is not checked: " + std::string(kWhy);
  CheckSays({"verify", path, "--deep"}, left_out);
  CheckSays({"index", "verify", path, "t", "by_first"}, left_out);
  Said({"compact", path, "t"});
  CheckSays({"verify", path, "--deep"}, left_out);
  Said({"checkpoint", path, directory.Path("checkpoint")});
  CheckSays({"verify", directory.Path("checkpoint"), "--deep"}, left_out);
  Said({"salvage", path, directory.Path("salvaged")});
  CheckSays({"query", directory.Path("salvaged"), "t", "name = 'bob'"}, "bob");
  CheckSays({"info", directory.Path("salvaged")}, kWhy);
  Said({"emulate", "--generator", "sequence", "--keys", "2000", "--like", path, "--like-table",
        "t"});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
