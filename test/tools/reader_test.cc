// The reader in tools/reader, written from docs/format.md alone, against the program's own readers:
// what it lists of random databases is what dump prints of the same files, and what export prints
// where nothing but the visible cells is stored. And it refuses what it must not read.
#define BOOST_TEST_DYN_LINK
#include <sys/wait.h>

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "format/hash.h"
#include "tandem/tandem.h"
#include "test/support/temporary_directory.h"
#include "test/support/test_random.h"
#include "test/tools/program.h"
#include "test/tools/reader_history.h"
#include "test/tools/require_ok.h"
#include "test/tools/shell.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/json.h"

namespace tandem::test {
namespace {

namespace fs = std::filesystem;

constexpr int kRounds = 2;
constexpr int kFlips = 16;
constexpr int kListedRows = 9'000;

bool IsThere() {
  const std::string answer = OutputOf(
      "python3 -c \"import ctypes; ctypes.CDLL('libzstd.so.1'); ctypes.CDLL('libxxhash.so.0'); "
      "print('there')\" 2>/dev/null");
  if (answer == "there\n") return true;
  std::printf("skipped: the reader needs python3, libzstd.so.1 and libxxhash.so.0\n");
  return false;
}

/// Runs the reader. Requires: arguments without quotes.
ProgramRun RunReader(const std::vector<std::string>& arguments) {
  TemporaryDirectory directory;
  std::string command = "python3 tools/reader/tandem_reader.py";
  for (const std::string& argument : arguments) command += " '" + argument + "'";
  const std::string code = directory.Path("code"), err = directory.Path("err");
  ProgramRun run;
  run.out = OutputOf("{ " + command + "; echo $? >" + code + "; } 2>" + err);
  std::ifstream(code) >> run.exit_code;
  std::getline(std::ifstream(err), run.err, '\0');
  return run;
}

std::string OutputOfReader(const std::vector<std::string>& arguments) {
  const ProgramRun run = RunReader(arguments);
  BOOST_REQUIRE_MESSAGE(run.exit_code == 0, run.err);
  BOOST_CHECK_EQUAL(run.err, "");
  return run.out;
}

std::string OutputOfProgram(const std::vector<std::string>& arguments) {
  const ProgramRun run = RunProgram(arguments);
  BOOST_REQUIRE_MESSAGE(run.exit_code == 0, run.err);
  return run.out;
}

/// The reader's lines by file, each as dump prints it: without what says where the file belongs.
std::map<std::string, std::string> LinesByFile(const std::string& text) {
  std::map<std::string, std::string> lines_of;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t begin = line.find(",\"table\""), file = line.find(",\"file\":", begin);
    const size_t end = line.find(',', file + 1);
    BOOST_REQUIRE(file != line.npos && end != line.npos);
    const std::string number = line.substr(file + 8, end - file - 8);
    lines_of["store-" + number] += line.erase(begin, end - begin) + "\n";
  }
  return lines_of;
}

/// Compares what the reader said with a dump of each store file.
void CheckLines(const std::string& path, const std::string& text,
                const std::vector<std::string>& part) {
  auto lines_of = LinesByFile(text);
  const size_t listed = lines_of.size();
  size_t found = 0;
  for (const auto& entry : fs::directory_iterator(path)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("store-")) continue;
    found += lines_of.contains(name) ? 1 : 0;
    std::string dumped =
        OutputOfProgram({"dump", entry.path(), part[0], part[1], "--output", "jsonl"});
    dumped.erase(0, dumped.find('\n') + 1);  // The version of what dump prints.
    BOOST_CHECK_MESSAGE(lines_of[name] == dumped, name << " " << part[1]);
  }
  BOOST_CHECK_GT(found, 0);
  BOOST_CHECK_EQUAL(found, listed);  // No lines of other files.
}

void CheckAgainstDump(const std::string& path, const std::vector<std::string>& indexes) {
  CheckLines(path, OutputOfReader({"rows", path, "t"}), {"--section", "cells"});
  for (const std::string& index : indexes) {
    CheckLines(path, OutputOfReader({"index", path, "t", index}), {"--index", index});
  }
}

/// The reader's rows as export prints them in tsv. Requires: no markers.
std::string AsExported(const std::string& text) {
  std::string tsv = "row\tfamily\tcolumn\ttimestamp\tvalue\n";
  tools::JsonObjectReader json;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<tools::Field> fields;
    BOOST_REQUIRE_EQUAL(json.Read(line.data(), &fields), "");
    std::map<std::string_view, std::string> cell;
    for (const tools::Field& field : fields) {
      const bool encoded = field.name.ends_with("_b64");
      const std::string_view name = field.name.substr(0, field.name.size() - (encoded ? 4 : 0));
      cell[name] = encoded ? *tools::DecodeBase64(field.value) : std::string(field.value);
    }
    BOOST_REQUIRE_EQUAL(cell["operation"], "put");
    for (const char* name : {"row", "family", "column", "timestamp", "value"}) {
      tsv += tools::EscapeBytes(cell[name]) + (std::strcmp(name, "value") == 0 ? "\n" : "\t");
    }
  }
  return tsv;
}

void FlipByte(const fs::path& path, uint64_t offset) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(static_cast<std::streamoff>(offset));
  const char byte = static_cast<char>(file.get() ^ 0x10);
  file.seekp(static_cast<std::streamoff>(offset));
  file.put(byte);
}

void CheckRefused(const std::string& path, int exit_code) {
  const ProgramRun run = RunReader({"rows", path});
  BOOST_CHECK_EQUAL(run.exit_code, exit_code);
  BOOST_CHECK_EQUAL(run.out, "");
  BOOST_CHECK_EQUAL(std::count(run.err.begin(), run.err.end(), '\n'), 1);
}

BOOST_AUTO_TEST_SUITE(reader)

BOOST_AUTO_TEST_CASE(ListsWhatDumpPrintsOfRandomDatabases) {
  if (!IsThere()) return;
  TestRandom random("reader");
  for (int i = 0; i < kRounds; ++i) {
    TemporaryDirectory directory;
    const std::string path = directory.Path("db");
    History history(&random, path);
    history.Run();
    history.Close();
    CheckAgainstDump(path, History::IndexNames());
  }
}

BOOST_AUTO_TEST_CASE(ListsWhatExportPrintsOfCompactedDatabases) {
  if (!IsThere()) return;
  TestRandom random("reader of compacted files");
  TemporaryDirectory directory;
  const std::string path = directory.Path("db");
  History history(&random, path);
  history.Run();
  history.CompactAndClose();
  CheckAgainstDump(path, History::IndexNames());
  BOOST_CHECK(AsExported(OutputOfReader({"rows", path, "t"})) ==
              OutputOfProgram({"export", path, "t", "--format", "tsv"}));
}

// Of 9,000 rows: lists of one row, of 2 to 64, of up to 9,000 / 32 (blocked, two groups), and
// Roaring lists of an array, a bitset and a run.
BOOST_AUTO_TEST_CASE(ListsPostingsOfEveryForm) {
  if (!IsThere()) return;
  TemporaryDirectory directory;
  const std::string path = directory.Path("db");
  OutputOfProgram({"create", path, "t", "--index", "few=d:few", "--index", "ten=d:ten:int64:desc",
                   "--index", "half=d:half:bool", "--index", "run=d:run", "--index",
                   "seven=d:seven:uint64"});
  std::string csv = "key,few,ten,half,run,seven\n";
  for (int i = 0; i < kListedRows; ++i) {
    csv += std::to_string(100'000 + i) + "," + std::to_string(i % 40 == 0 ? 7 : 1000 + i) + "," +
           std::to_string(i / 10) + "," + (i % 2 == 0 ? "true" : "false") + "," +
           (i < 5'000 ? "low" : "high") + "," + std::to_string(i % 7) + "\n";
  }
  const ProgramRun import = RunProgram({"import", path, "t", "-", "--format", "csv"}, csv);
  BOOST_REQUIRE_MESSAGE(import.exit_code == 0, import.err);
  OutputOfProgram({"compact", path, "t"});
  CheckAgainstDump(path, {"few", "ten", "half", "run", "seven"});
}

BOOST_AUTO_TEST_CASE(ListsTheEntriesOfAGlobalIndex) {
  if (!IsThere()) return;
  TemporaryDirectory directory;
  const std::string path = directory.Path("db");
  OutputOfProgram({"create", path, "t", "--column", "d:age:int64"});
  OutputOfProgram({"index", "create", path, "t", "by_age=age::int64 DESC, city", "--global"});
  OutputOfProgram({"put", path, "t", "ann", "d:age=31", "d:city=Bern", "--timestamp", "5"});
  OutputOfProgram({"put", path, "t", "bob", "d:age=7", "--timestamp", "6"});
  OutputOfProgram({"put", path, "t", "eva", "d:city=Rome", "--timestamp", "7"});  // Has no entry.
  OutputOfProgram({"put", path, "t", "ann", "d:age=32", "--timestamp", "8"});
  OutputOfProgram({"compact", path, "t"});
  OutputOfProgram({"flush", path});
  std::set<std::string> found;
  std::istringstream lines(OutputOfReader({"index", path, "t", "by_age"}));
  for (std::string line; std::getline(lines, line);) {
    const auto field = [&line](const std::string& name) {
      const size_t begin = line.find("\"" + name + "\":\"") + name.size() + 4;
      return line.substr(begin, line.find('"', begin) - begin);
    };
    BOOST_CHECK_EQUAL(field("kind"), "global_entry");
    BOOST_CHECK_EQUAL(field("index"), "by_age");
    found.insert(field("value") + " " + field("row") + " " + field("operation"));
  }
  BOOST_CHECK(found.contains("32, Bern ann put"));
  BOOST_CHECK(found.contains("7, NULL bob put"));
  for (const std::string& entry : found)
    BOOST_CHECK_MESSAGE(entry.find("eva") == entry.npos, entry);
}

BOOST_AUTO_TEST_CASE(RefusesAFlippedByteAnywhere) {
  if (!IsThere()) return;
  TestRandom random("reader of damaged files");
  TemporaryDirectory directory;
  const std::string path = directory.Path("db"), copy = directory.Path("copy");
  History history(&random, path);
  history.Run();
  history.Close();
  const std::string rows = OutputOfReader({"rows", path});
  std::vector<fs::path> names;
  for (const auto& entry : fs::directory_iterator(path)) names.push_back(entry.path().filename());
  for (int i = 0; i < kFlips; ++i) {
    fs::remove_all(copy);
    fs::copy(path, copy);
    const fs::path file = copy / names[random.Below(names.size())];
    const uint64_t offset = random.Below(fs::file_size(file));
    FlipByte(file, offset);
    BOOST_TEST_CONTEXT(file << " at " << offset) {
      // The two slots of ROOT are equal: one of them serves.
      const bool in_slot = file.filename() == "ROOT" && offset >= 4096;
      if (in_slot) {
        BOOST_CHECK(OutputOfReader({"rows", copy}) == rows);
      } else {
        CheckRefused(copy, 4);
      }
    }
  }
  fs::remove_all(copy);
  fs::copy(path, copy);
  fs::remove(copy / *std::find_if(names.begin(), names.end(), [](const fs::path& name) {
               return name.string().starts_with("store-");
             }));
  CheckRefused(copy, 4);
}

// Their files are there, and no rows of the tables.
BOOST_AUTO_TEST_CASE(ReadsThePresentBesideNamedSnapshots) {
  if (!IsThere()) return;
  TemporaryDirectory directory;
  const std::string path = directory.Path("db");
  OutputOfProgram({"create", path, "t"});
  OutputOfProgram({"put", path, "t", "a", "d:x=1"});
  OutputOfProgram({"snapshot", "create", path, "s"});
  OutputOfProgram({"snapshot", "create", path, "other"});
  OutputOfProgram({"put", path, "t", "a", "d:x=2"});
  OutputOfProgram({"compact", path});
  OutputOfProgram({"snapshot", "drop", path, "other", "--yes"});
  BOOST_CHECK_EQUAL(AsExported(OutputOfReader({"rows", path, "t"})),
                    OutputOfProgram({"export", path, "t", "--format", "tsv"}));
}

BOOST_AUTO_TEST_CASE(RefusesWhatIsNotClosedOrNotKnown) {
  if (!IsThere()) return;
  TestRandom random("reader of other databases");
  TemporaryDirectory directory;
  const std::string path = directory.Path("db"), copy = directory.Path("copy");
  CheckRefused(path, 3);
  History history(&random, path);
  CheckRefused(path, 6);
  fs::copy(path, copy);  // As a crash leaves it.
  CheckRefused(copy, 5);
  history.Close();
  BOOST_CHECK_EQUAL(OutputOfReader({"rows", path}), "");
  BOOST_CHECK_EQUAL(RunReader({"rows", path, "u"}).exit_code, 3);
  BOOST_CHECK_EQUAL(RunReader({"index", path, "t", "u"}).exit_code, 3);
  BOOST_CHECK_EQUAL(RunReader({"entries", path}).exit_code, 2);

  // An incompatible feature in the header of ROOT (4).
  std::fstream root(path + "/ROOT", std::ios::binary | std::ios::in | std::ios::out);
  std::string header(128, '\0');
  root.read(header.data(), 128);
  header[32] = 1;
  const uint64_t checksum = format::Hash64(std::string_view(header).substr(0, 120));
  std::memcpy(&header[120], &checksum, sizeof(checksum));
  root.seekp(0);
  root.write(header.data(), 128);
  root.close();
  CheckRefused(path, 7);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
