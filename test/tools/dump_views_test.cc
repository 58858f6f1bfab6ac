// The views of dump: filters, single blocks, histograms, keys over a whole database, several files,
// damage that is passed over, and memory that does not grow with the file.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "tandem/tandem.h"
#include "test/support/temporary_directory.h"
#include "test/tools/program.h"
#include "test/tools/require_ok.h"

namespace tandem::test {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

Lines LinesOf(const std::string& text) {
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The records of a dump in tsv, without the line of names.
Lines Dumped(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "dump");
  arguments.insert(arguments.end(), {"--output", "tsv"});
  const ProgramRun run = RunProgram(arguments);
  BOOST_CHECK_MESSAGE(run.exit_code == 0, run.err);
  Lines lines = LinesOf(run.out);
  if (!lines.empty()) lines.erase(lines.begin());
  return lines;
}

std::string Field(const std::string& line, size_t number) {
  std::istringstream fields(line);
  std::string field;
  for (size_t i = 0; i <= number; ++i) std::getline(fields, field, '\t');
  return field;
}

std::string RowName(int row) {
  const std::string digits = std::to_string(row);
  return "r" + std::string(4 - digits.size(), '0') + digits;
}

/// A closed database with two families, an index, a wide row, an overflow value, in one store file.
class VariedDatabase {
 public:
  static constexpr int kRows = 2000;
  VariedDatabase() : path_(directory_.Path("db")) {
    Options options;
    options.create_if_missing = true;
    auto database = Database::Open(path_, options);
    RequireOk(database.status());
    TableOptions table;
    table.name = "t";
    table.families = {{.name = "d", .max_versions = 3}, {.name = "e"}};
    table.indexes = {{"city", {{"d", "city"}}}};
    RequireOk((*database)->CreateTable(table));
    Fill(**database);
    RequireOk((*database)->Flush("t"));
    RequireOk((*database)->Close());
  }
  const std::string& path() const { return path_; }
  std::string StoreFile() const {
    for (const auto& entry : fs::directory_iterator(path_)) {
      if (entry.path().filename().string().starts_with("store-")) return entry.path();
    }
    return {};
  }

 private:
  void Fill(Database& database) {
    WriteBatch batch;
    for (int i = 0; i < kRows; ++i) {
      batch.Put("t", RowName(i), "d", "city", "c" + std::to_string(i % 5), 10);
      batch.Put("t", RowName(i), "d", "text", std::string(100, 'x'), 10);
      if (i % 3 == 0) batch.Put("t", RowName(i), "e", "note", "n", 11);
    }
    for (int i = 0; i < 3000; ++i) {
      batch.Put("t", "wide", "d", "q" + std::to_string(i), std::string(50, 'w'), 12);
    }
    batch.Put("t", "zfar", "d", "big", std::string(200'000, 'f'), 13);
    RequireOk(database.Write({}, batch));
  }

  TemporaryDirectory directory_;
  std::string path_;
};

BOOST_AUTO_TEST_SUITE(dump_views)

BOOST_AUTO_TEST_CASE(RowsAreChosenByKeyRangePrefixFamilyAndLimit) {
  const VariedDatabase database;
  const std::string file = database.StoreFile();
  const auto cells = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {file, "--section", "cells"});
    return Dumped(std::move(options));
  };
  const Lines one = cells({"--key", "r0003"});
  BOOST_REQUIRE_EQUAL(one.size(), 3);
  BOOST_CHECK_EQUAL(Field(one[0], 1) + Field(one[0], 3) + Field(one[2], 2), "r0003citye");
  BOOST_CHECK_EQUAL(cells({"--key", "r0003", "--family", "e"}).size(), 1);
  BOOST_CHECK_EQUAL(cells({"--key", "r00031"}).size(), 0);
  BOOST_CHECK_EQUAL(cells({"--start", "r0010", "--end", "r0020", "--family", "d"}).size(), 20);
  BOOST_CHECK_EQUAL(cells({"--prefix", "r012", "--family", "d"}).size(), 20);
  BOOST_CHECK_EQUAL(cells({"--limit", "7"}).size(), 7);
  BOOST_CHECK_EQUAL(cells({}).size(), 2 * 2000 + 667 + 3000 + 1);
  BOOST_CHECK_EQUAL(RunProgram({"dump", file, "--key", "a", "--prefix", "a"}).exit_code, 2);
}

BOOST_AUTO_TEST_CASE(IndexKeysAreChosenByRow) {
  const VariedDatabase database;
  const std::string file = database.StoreFile();
  const Lines all = Dumped({file, "--index", "city"});
  BOOST_CHECK_EQUAL(all.size(), 2000);
  Lines expected;
  for (const std::string& line : all) {
    const std::string row = Field(line, 3);
    if (row >= "r0100" && row < "r0150") expected.push_back(line);
  }
  BOOST_CHECK(Dumped({file, "--index", "city", "--start", "r0100", "--end", "r0150"}) == expected);
  BOOST_CHECK_EQUAL(expected.size(), 50);
  BOOST_CHECK_EQUAL(Dumped({file, "--index", "city", "--key", "zz"}).size(), 0);
}

BOOST_AUTO_TEST_CASE(BlocksCoverTheSectionsAndEachIsTakenApart) {
  const VariedDatabase database;
  const std::string file = database.StoreFile();
  std::set<std::string> kinds;
  uint64_t end = 0;
  for (const std::string& block : Dumped({file, "--section", "blocks"})) {
    kinds.insert(Field(block, 3));
    const uint64_t offset = std::stoull(Field(block, 2));
    BOOST_CHECK_GE(offset, end);
    end = offset + std::stoull(Field(block, 6));
    const std::string last = std::to_string(end - 1);
    BOOST_CHECK_GE(std::stoull(Field(block, 5)) + 32, std::stoull(Field(block, 6)));
    // Its last byte leads to the block.
    BOOST_CHECK_EQUAL(Field(Dumped({file, "--at", last, "--records", "block"}).at(0), 2),
                      std::to_string(offset));
  }
  for (const char* kind : {"rows", "chunk", "wide-head", "value", "index-leaf", "block-index",
                           "dictionary", "postings", "bitmap", "filter", "key-hashes", "schema"}) {
    BOOST_CHECK_MESSAGE(kinds.contains(kind), kind);
  }
}

BOOST_AUTO_TEST_CASE(TheContentOfARowBlockIsItsCells) {
  const VariedDatabase database;
  const std::string file = database.StoreFile();
  const Lines cells = Dumped({file, "--section", "cells", "--family", "d"});
  Lines found;
  for (const std::string& block : Dumped({file, "--section", "blocks", "--family", "d"})) {
    if (Field(block, 3) != "rows") continue;
    const Lines in_block = Dumped({file, "--at", Field(block, 2), "--records", "cell"});
    found.insert(found.end(), in_block.begin(), in_block.end());
  }
  const auto is_of_wide = [](const std::string& line) { return Field(line, 1) == "wide"; };
  Lines expected = cells;
  std::erase_if(expected, is_of_wide);
  BOOST_CHECK(found == expected);
}

BOOST_AUTO_TEST_CASE(HistogramsCountEveryCellOnce) {
  const VariedDatabase database;
  std::map<std::string, uint64_t> totals;
  for (const std::string& line : Dumped({database.StoreFile(), "--section", "histograms"})) {
    totals[Field(line, 0) + " " + Field(line, 1)] += std::stoull(Field(line, 4));
  }
  BOOST_CHECK_EQUAL(totals["key_bytes \\N"], 2002);
  BOOST_CHECK_EQUAL(totals["value_bytes d"], 2 * 2000 + 3000 + 1);
  BOOST_CHECK_EQUAL(totals["cells_of_a_row d"], 2002);
  BOOST_CHECK_EQUAL(totals["cells_of_a_row e"], 667);
  BOOST_CHECK_EQUAL(totals["versions_of_a_column d"], 2 * 2000 + 3000 + 1);
  BOOST_CHECK_EQUAL(totals["entries_of_a_value city"], 5);
}

BOOST_AUTO_TEST_CASE(AKeyIsFoundInEveryFileThatHasIt) {
  const TemporaryDirectory directory;
  const std::string path = directory.Path("db");
  const std::string index = "x=d:x";
  BOOST_REQUIRE_EQUAL(RunProgram({"create", path, "t", "--index", index}).exit_code, 0);
  auto database = Database::Open(path);
  RequireOk(database.status());
  const auto put = [&](const char* row, const char* value, int64_t timestamp) {
    WriteBatch batch;
    batch.Put("t", row, "d", "x", value, timestamp);
    RequireOk((*database)->Write({}, batch));
  };
  put("k", "1", 1);
  put("a", "9", 1);
  put("z", "9", 1);
  RequireOk((*database)->Flush("t"));
  put("k", "2", 2);
  put("m", "2", 2);
  std::multiset<std::string> found;
  const Lines lines = Dumped({path, "--find-key", "k"});
  for (const std::string& line : lines) {
    found.insert(Field(line, 1) + " " + Field(line, 9) + " " + Field(line, 10));
  }
  BOOST_CHECK(found.contains("data 1 \\N"));
  BOOST_CHECK(found.contains("index x 1 current part"));
  BOOST_CHECK(found.contains("operations 1 flushed: replay skips it"));
  BOOST_CHECK(found.contains("operations 2 in a memstore after replay"));
  BOOST_CHECK_EQUAL(lines.size(), 7);  // Beside them region, filter and key hashes.
  const Lines missing = Dumped({path, "--find-key", "l"});
  BOOST_CHECK_EQUAL(missing.size(), 2);  // The region, and the file that has keys around it.
}

BOOST_AUTO_TEST_CASE(SeveralFilesAreMarkedAndOneBadFileHidesNoOther) {
  const VariedDatabase database;
  std::vector<std::string> arguments = {"dump"};
  for (const auto& entry : fs::directory_iterator(database.path())) {
    arguments.push_back(entry.path());
  }
  const size_t files = arguments.size() - 1;
  const std::string foreign = database.path() + "/../foreign";
  std::ofstream(foreign) << std::string(500, 'x');
  arguments.insert(arguments.begin() + 1, foreign);
  arguments.insert(arguments.end(), {"--records", "header", "--output", "tsv"});
  const ProgramRun run = RunProgram(arguments);
  BOOST_CHECK_EQUAL(run.exit_code, 4);
  std::set<std::string> marked;
  for (const std::string& line : LinesOf(run.out)) marked.insert(Field(line, 0));
  BOOST_CHECK_EQUAL(marked.size(), files + 1);  // "file" of the line of names.
  const ProgramRun json = RunProgram({"dump", database.StoreFile(), "--output", "jsonl"});
  BOOST_CHECK(json.out.starts_with("{\"kind\":\"dump\",\"version\":1}\n"));
}

// A row block, the block index and a piece of a wide row are damaged in turn.
BOOST_AUTO_TEST_CASE(WhatIsGoodBehindADamagedBlockIsPrinted) {
  const VariedDatabase database;
  const std::string file = database.StoreFile();
  std::ostringstream sound;
  sound << std::ifstream(file, std::ios::binary).rdbuf();
  const Lines all = Dumped({file, "--section", "cells"});
  size_t damaged = 0;
  std::set<std::string> kinds_tried;
  for (const std::string& block : Dumped({file, "--section", "blocks"})) {
    const std::string kind = Field(block, 3);
    const bool is_wanted = kind == "rows" || kind == "block-index" || kind == "chunk";
    if (!is_wanted || !kinds_tried.insert(kind + Field(block, 1)).second) continue;
    ++damaged;
    std::string bytes = sound.str();
    bytes[std::stoull(Field(block, 2)) + 36] ^= 1;
    std::ofstream(file, std::ios::binary) << bytes;
    const ProgramRun run = RunProgram({"dump", file, "--section", "cells", "--output", "tsv"});
    BOOST_CHECK_EQUAL(run.exit_code, 4);
    Lines rest = LinesOf(run.out);
    rest.erase(rest.begin());
    BOOST_CHECK_GT(rest.size(), all.size() / 4);
    BOOST_CHECK_LE(rest.size(), all.size());
    const std::multiset<std::string> known(all.begin(), all.end());
    for (const std::string& line : rest) BOOST_CHECK(known.contains(line));
    const ProgramRun blocks = RunProgram({"dump", file, "--section", "blocks"});
    BOOST_CHECK_EQUAL(blocks.exit_code, 4);
    BOOST_CHECK(blocks.out.find("no good block") != std::string::npos);
  }
  BOOST_CHECK_GE(damaged, 5);
}

BOOST_AUTO_TEST_CASE(DifferencesOfTwoCatalogsAreListed) {
  const TemporaryDirectory directory;
  const std::string path = directory.Path("db"), copy = directory.Path("copy");
  BOOST_REQUIRE_EQUAL(RunProgram({"create", path, "t"}).exit_code, 0);
  BOOST_REQUIRE_EQUAL(RunProgram({"checkpoint", path, copy}).exit_code, 0);
  BOOST_REQUIRE_EQUAL(RunProgram({"create", path, "u", "--index", "x=d:x"}).exit_code, 0);
  const ProgramRun run = RunProgram({"manifest", "diff", copy, path, "--output", "tsv"});
  BOOST_REQUIRE_EQUAL(run.exit_code, 0);
  BOOST_CHECK(run.out.find("added\ttable\t2\tname\t\\N\tu\n") != std::string::npos);
  BOOST_CHECK(run.out.find("added\tindex\tu.x\tcolumns\t\\N\td:x:bytes\n") != std::string::npos);
  BOOST_CHECK(run.out.find("changed\tdatabase\t\tnext_table_id\t2\t3\n") != std::string::npos);
  const ProgramRun same = RunProgram({"manifest", "diff", path, path, "--output", "tsv"});
  BOOST_CHECK_EQUAL(LinesOf(same.out).size(), 1);
  BOOST_CHECK_EQUAL(RunProgram({"manifest", "show", path, path}).exit_code, 2);
}

BOOST_AUTO_TEST_CASE(TheRecordOfABackupIsDumped) {
  const VariedDatabase database;
  const std::string backups = database.path() + "-backups";
  BOOST_REQUIRE_EQUAL(RunProgram({"backup", database.path(), backups}).exit_code, 0);
  const std::string record = backups + "/backup-1";
  BOOST_CHECK_EQUAL(Field(Dumped({record, "--records", "backup"}).at(0), 0), "1");
  BOOST_CHECK_EQUAL(Dumped({record, "--records", "family"}).size(), 2);
  BOOST_CHECK_EQUAL(Dumped({record, "--records", "file"}).size(), 1);
}

/// Whether the program ends well in 40 MiB of its own memory.
bool DumpsInBoundedMemory(const std::string& arguments) {
  const char* const program = std::getenv("TANDEM");
  const std::string command = "ulimit -d 40960; exec " +
                              std::string(program == nullptr ? "build/tandem" : program) +
                              " dump " + arguments + " > /dev/null";
  return std::system(command.c_str()) == 0;
}

/// A database of one store file with `rows` rows of about 1 KiB that do not shrink.
std::string LargeStoreFile(const std::string& path, int rows) {
  Options options;
  options.create_if_missing = true;
  auto database = Database::Open(path, options);
  RequireOk(database.status());
  TableOptions table;
  table.name = "t";
  table.families = {{.name = "d", .compression = Compression::kNone}};
  table.indexes = {{"kind", {{"d", "kind"}}}};
  RequireOk((*database)->CreateTable(table));
  for (int i = 0; i < rows;) {
    WriteBatch batch;
    for (int end = i + 1000; i < end; ++i) {
      const std::string key = std::to_string(10'000'000 + i);
      batch.Put("t", key, "d", "kind", i % 3 == 0 ? "rare" : "common");
      batch.Put("t", key, "d", "text", std::string(1000, static_cast<char>('a' + i % 26)));
    }
    RequireOk((*database)->Write({.durability = Durability::kMemory}, batch));
  }
  RequireOk((*database)->Flush("t"));
  RequireOk((*database)->Compact("t"));
  RequireOk((*database)->Close());
  for (const auto& entry : fs::directory_iterator(path)) {
    if (entry.path().filename().string().starts_with("store-")) return entry.path();
  }
  return {};
}

BOOST_AUTO_TEST_CASE(MemoryDoesNotGrowWithTheFile) {
  const TemporaryDirectory directory;
  const std::string file = LargeStoreFile(directory.Path("large"), 70'000);
  BOOST_REQUIRE_GT(fs::file_size(file), 65'000'000);
  for (const char* view : {"--section cells", "--section blocks", "--index kind",
                           "--section histograms", "--at 50000000", "--hex --limit 1000000"}) {
    BOOST_CHECK_MESSAGE(DumpsInBoundedMemory(file + " " + view), view);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
