// What dump prints against the bytes and rows it is about; verify and dump of damaged single files.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tandem/tandem.h"
#include "test/support/temporary_directory.h"
#include "test/tools/program.h"
#include "test/tools/require_ok.h"
#include "tools/tandem/bytes_text.h"

namespace tandem::test {
namespace {

namespace fs = std::filesystem;

std::string ContentOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

/// A closed database of a few rows and one index.
class SmallDatabase {
 public:
  SmallDatabase() : path_(directory_.Path("db")) {
    BOOST_REQUIRE_EQUAL(
        RunProgram({"create", path_, "t", "--index", "size=d:size:int64"}).exit_code, 0);
    std::string rows = "name,size,text\n";
    for (int i = 0; i < 500; ++i) {
      rows += "r" + std::to_string(i) + "," + std::to_string(i % 7) + ",some text\n";
    }
    BOOST_REQUIRE_EQUAL(RunProgram({"import", path_, "t", "-", "--format", "csv"}, rows).exit_code,
                        0);
  }
  const std::string& path() const { return path_; }
  std::vector<fs::path> Files() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(path_)) files.push_back(entry.path());
    return files;
  }
  fs::path StoreFile() const {
    for (const fs::path& path : Files()) {
      if (path.filename().string().starts_with("store-")) return path;
    }
    return {};
  }

 private:
  TemporaryDirectory directory_;
  std::string path_;
};

/// The bytes of the hex column of `dump --hex --output csv`.
std::string BytesOf(const std::string& csv) {
  std::istringstream lines(csv);
  std::string digits, line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    for (const char c : line.substr(11, line.find(',', 11) - 11)) {
      if (c != ' ') digits += c;
    }
  }
  return *tools::DecodeHex(digits);
}

BOOST_AUTO_TEST_SUITE(dump)

BOOST_AUTO_TEST_CASE(HexIsTheWholeFile) {
  const SmallDatabase database;
  for (const fs::path& path : database.Files()) {
    const ProgramRun run = RunProgram({"dump", path, "--hex", "--output", "csv"});
    BOOST_CHECK_EQUAL(run.exit_code, 0);
    BOOST_CHECK_MESSAGE(BytesOf(run.out) == ContentOf(path), path);
  }
}

BOOST_AUTO_TEST_CASE(HexOfASectionIsItsBytes) {
  const SmallDatabase database;
  const std::string file = database.StoreFile();
  const ProgramRun run =
      RunProgram({"dump", file, "--hex", "--section", "data", "--output", "csv"});
  BOOST_REQUIRE_EQUAL(run.exit_code, 0);
  BOOST_CHECK(ContentOf(file).find(BytesOf(run.out)) != std::string::npos);
  BOOST_CHECK_EQUAL(RunProgram({"dump", file, "--hex", "--section", "dta"}).exit_code, 2);
}

BOOST_AUTO_TEST_CASE(EveryFileIsDumpedAndVerifiedAlone) {
  const SmallDatabase database;
  for (const fs::path& path : database.Files()) {
    for (const char* mode : {"table", "jsonl", "raw"}) {
      BOOST_CHECK_EQUAL(RunProgram({"dump", path, "--output", mode}).exit_code, 0);
    }
    for (const char* mode : {"csv", "tsv"}) {
      const std::vector<std::string> header = {"dump", path,        "--output",
                                               mode,   "--records", "header"};
      BOOST_CHECK_EQUAL(RunProgram(header).exit_code, 0);
      // Records of several kinds have no one line of names.
      BOOST_CHECK_EQUAL(RunProgram({"dump", path, "--output", mode}).exit_code, 2);
    }
    const ProgramRun verified = RunProgram({"verify", path, "--deep"});
    BOOST_CHECK_MESSAGE(verified.exit_code == 0, path << verified.out << verified.err);
  }
}

BOOST_AUTO_TEST_CASE(IndexKeysAreSortedAndComplete) {
  const SmallDatabase database;
  const ProgramRun run =
      RunProgram({"dump", database.StoreFile(), "--index", "size", "--output", "tsv"});
  BOOST_REQUIRE_EQUAL(run.exit_code, 0);
  std::istringstream lines(run.out);
  std::string line, before;
  std::getline(lines, line);
  size_t count = 0;
  for (; std::getline(lines, line); ++count) {
    BOOST_CHECK_LT(before, line);  // One digit a value: the order of text is that of keys.
    before = line;
  }
  BOOST_CHECK_EQUAL(count, 500);
}

BOOST_AUTO_TEST_CASE(TheLogOfAnOpenDatabaseIsDumped) {
  const TemporaryDirectory directory;
  const std::string path = directory.Path("db");
  BOOST_REQUIRE_EQUAL(RunProgram({"create", path, "t"}).exit_code, 0);
  auto database = Database::Open(path);
  RequireOk(database.status());
  WriteBatch batch;
  batch.Put("t", "a", "d", "x", "1", 5);
  batch.DeleteColumn("t", "b", "d", "y", 6);
  batch.DeleteRow("t", "c", 7);
  RequireOk((*database)->Write({}, batch));
  std::string operations;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (!entry.path().filename().string().starts_with("log-")) continue;
    const ProgramRun run =
        RunProgram({"dump", entry.path(), "--section", "operations", "--output", "tsv"});
    BOOST_CHECK_EQUAL(run.exit_code, 0);
    operations += run.out;
    BOOST_CHECK_EQUAL(RunProgram({"verify", entry.path()}).exit_code, 0);
  }
  const std::string names =
      "sequence\ttable_id\trow\toperation\tfamily_id\tcolumn\ttimestamp\tvalue\n";
  const size_t at = operations.find("1\t1\ta\t");
  BOOST_REQUIRE(operations.starts_with(names) && at != std::string::npos);
  BOOST_CHECK_EQUAL(operations.substr(at),
                    "1\t1\ta\tput\t0\tx\t5\t1\n"
                    "2\t1\tb\tdelete-column\t0\ty\t6\t\\N\n"
                    "3\t1\tc\tdelete-family\t0\t\\N\t7\t\\N\n");
}

BOOST_AUTO_TEST_CASE(AFlippedBitInAnyFileEndsInAnErrorThatNamesIt) {
  const SmallDatabase database;
  for (const fs::path& path : database.Files()) {
    const uint64_t size = fs::file_size(path);
    for (const uint64_t at : {uint64_t{3}, uint64_t{70}, uint64_t{121}, size / 2, size - 1}) {
      std::string content = ContentOf(path);
      const std::string sound = content;
      content[at] = static_cast<char>(content[at] ^ 4);
      std::ofstream(path, std::ios::binary) << content;
      const ProgramRun verified = RunProgram({"verify", path});
      BOOST_CHECK_MESSAGE(verified.exit_code == 8 || path.filename() == "ROOT",
                          path << " offset " << at << " exits " << verified.exit_code);
      const ProgramRun dumped = RunProgram({"dump", path, "--output", "jsonl"});
      BOOST_CHECK_MESSAGE(dumped.exit_code == 4 || dumped.exit_code == 0, dumped.err);
      std::ofstream(path, std::ios::binary) << sound;
    }
  }
}

/// Damages all blocks of the sections of these kinds.
void Damage(const fs::path& path, const std::vector<std::string>& kinds) {
  std::string content = ContentOf(path);
  std::istringstream lines(
      RunProgram({"dump", path, "--section", "blocks", "--output", "tsv"}).out);
  std::set<std::string> found;
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> fields;
    std::istringstream text(line);
    for (std::string field; std::getline(text, field, '\t');) fields.push_back(field);
    if (std::find(kinds.begin(), kinds.end(), fields[0]) == kinds.end()) continue;
    content[std::stoull(fields[2]) + 33] ^= 1;  // After its header.
    found.insert(fields[0]);
  }
  BOOST_REQUIRE_EQUAL(found.size(), kinds.size());
  std::ofstream(path, std::ios::binary) << content;
}

void CheckNamedOnce(const std::string& text, const std::string& what) {
  std::istringstream lines(text);
  bool is_found = false;
  for (std::string line; std::getline(lines, line);) {
    const size_t place = line.find("offset ");
    BOOST_CHECK_MESSAGE(place == line.npos || line.find("offset ", place + 1) == line.npos, line);
    is_found |= line.find(what) != line.npos;
  }
  BOOST_CHECK_MESSAGE(is_found, "no '" << what << "' in:\n" << text);
}

/// As if nothing were known of its first bytes.
void DamageHeader(const fs::path& path) {
  std::string content = ContentOf(path);
  content[60] ^= 1;
  std::ofstream(path, std::ios::binary) << content;
}

BOOST_AUTO_TEST_CASE(TheOffsetOfDamageIsNamedOnce) {
  // A family that some rows lack has a list of those that have it. Without it the family cannot be
  // opened, and its blocks are searched for.
  const TemporaryDirectory directory;
  const std::string database = directory.Path("db");
  BOOST_REQUIRE_EQUAL(
      RunProgram({"create", database, "t", "--family", "d", "--family", "e"}).exit_code, 0);
  for (const std::vector<std::string>& row :
       {std::vector<std::string>{"a", "d:x=1"}, {"b", "d:x=2", "e:x=3"}, {"c", "d:x=4"}}) {
    std::vector<std::string> put = {"put", database, "t"};
    put.insert(put.end(), row.begin(), row.end());
    BOOST_REQUIRE_EQUAL(RunProgram(put).exit_code, 0);
  }
  BOOST_REQUIRE_EQUAL(RunProgram({"compact", database, "t"}).exit_code, 0);
  fs::path path;
  for (const auto& entry : fs::directory_iterator(database)) {
    if (entry.path().filename().string().starts_with("store-")) path = entry.path();
  }
  const std::string sound = ContentOf(path);
  Damage(path, {"presence", "data"});
  CheckNamedOnce(RunProgram({"dump", path, "--section", "cells"}).err, "checksum of block");
  DamageHeader(path);
  CheckNamedOnce(RunProgram({"verify", database}).out, ": 3 rows: checksum of block");
  std::ofstream(path, std::ios::binary) << sound;
  Damage(path, {"block-index", "data"});
  CheckNamedOnce(RunProgram({"dump", path, "--section", "cells"}).err,
                 ": rows 0 to 2: the block index is broken here");
  DamageHeader(path);
  const std::string found = RunProgram({"verify", database}).out;
  CheckNamedOnce(found, ": 3 rows: the block index is broken here");
  BOOST_CHECK(found.find("offset 0:") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(help)

BOOST_AUTO_TEST_CASE(EveryHelpOpensWithAnExampleAndFitsAScreen) {
  const std::vector<std::vector<std::string>> calls = {
      {"--help"},           {"demo", "--help"},    {"version", "-h"},
      {"create", "--help"}, {"import", "--help"},  {"put", "--help"},
      {"delete", "--help"}, {"get", "--help"},     {"scan", "--help"},
      {"query", "--help"},  {"explain", "--help"}, {"count", "--help"},
      {"info", "--help"},   {"dump", "--help"},    {"verify", "--help"},
      {"flush", "--help"},  {"compact", "--help"}, {"stress", "--help"},
      {"replay", "--help"}, {"clock", "--help"},   {"drop", "--help"},
      {"rename", "--help"}, {"truncate", "--help"}};
  for (const auto& call : calls) {
    const ProgramRun run = RunProgram(call);
    BOOST_CHECK_EQUAL(run.exit_code, 0);
    BOOST_CHECK_MESSAGE(run.out.starts_with("Example: "), call[0]);
    BOOST_CHECK_LE(std::count(run.out.begin(), run.out.end(), '\n'), 40);
    std::istringstream lines(run.out);
    for (std::string line; std::getline(lines, line);) {
      BOOST_CHECK_MESSAGE(line.size() <= 100, call[0] << ": " << line);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
