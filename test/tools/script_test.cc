// Every verb and every bad input, as scripts in test/tools/scripts.
//
// `tandem WORDS` runs the program with the input as its standard input. Its output is stdout, then
// the lines of stderr after "err: ", then "exit N" unless N is 0. Other commands:
//   file NAME         writes the input into a file of that name
//   bytes NAME COUNT  writes a file of COUNT bytes
//   people NAME COUNT writes a CSV file of COUNT records with five cities and a hundred ages
//   flip FILE OFFSET  changes one bit (a negative offset counts from the end)
//   cut FILE BYTES    cuts a file to BYTES bytes
//   hold DB           keeps a database open for writing, until `release`
//   exists PATH       says whether there is anything at PATH
// In words $DB is a database of the script, $DIR its directory, $STORE, $LOG and $MANIFEST the
// newest file of that kind in $DB. In output these come back; what changes from run
// to run is replaced (normalise.h).
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <memory>

#include "tandem/tandem.h"
#include "test/support/script_runner.h"
#include "test/support/temporary_directory.h"
#include "test/tools/normalise.h"
#include "test/tools/program.h"

namespace tandem::test {
namespace {

namespace fs = std::filesystem;

class ScriptWorld {
 public:
  std::string Answer(const ScriptCommand& command);

 private:
  std::string Path(const std::string& name) const { return directory_.Path(name); }
  std::string Newest(const std::string& prefix) const;
  std::string Expand(std::string word) const;
  std::string Collapse(std::string text) const;
  std::string RunTandem(const ScriptCommand& command);
  void Flip(const std::string& path, int64_t offset);

  TemporaryDirectory directory_;
  std::unique_ptr<Database> held_;
};

/// The file PREFIX-N with the largest N in the database.
std::string ScriptWorld::Newest(const std::string& prefix) const {
  std::string newest = "none";
  long number = -1;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(Path("db"), ignored)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(prefix + "-")) continue;
    const long found = std::stol(name.substr(prefix.size() + 1));
    if (found > number) {
      number = found;
      newest = entry.path();
    }
  }
  return newest;
}

std::string ScriptWorld::Expand(std::string word) const {
  if (word.find('$') == std::string::npos) return word;
  ReplaceAll("$STORE", Newest("store"), &word);
  ReplaceAll("$LOG", Newest("log"), &word);
  ReplaceAll("$MANIFEST", Newest("manifest"), &word);
  ReplaceAll("$DB", Path("db"), &word);
  ReplaceAll("$DIR", directory_.path(), &word);
  return word;
}

/// Paths become names again.
std::string ScriptWorld::Collapse(std::string text) const {
  ReplaceAll(Path("db"), "$DB", &text);
  ReplaceAll(directory_.path(), "$DIR", &text);
  return Normalise(text);
}

void WritePeople(const std::string& path, size_t count) {
  std::ofstream file(path);
  file << "id,city,age,name\n";
  for (size_t i = 0; i < count; ++i) {
    file << 10'000 + i << ",city" << i * 7 % 5 << "," << i * 37 % 100 << ",name" << i << "\n";
  }
}

std::string ScriptWorld::RunTandem(const ScriptCommand& command) {
  std::vector<std::string> arguments;
  for (size_t i = 1; i < command.words.size(); ++i) {
    arguments.push_back(Expand(command.words[i]));
  }
  const ProgramRun run = RunProgram(arguments, command.input);
  std::string text = run.out;
  ReplaceAll("\r\n", "\n", &text);
  std::istringstream errors(run.err);
  for (std::string line; std::getline(errors, line);) text += "err: " + line + "\n";
  if (run.exit_code != 0) text += "exit " + std::to_string(run.exit_code) + "\n";
  return Collapse(std::move(text));
}

void ScriptWorld::Flip(const std::string& path, int64_t offset) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  if (offset < 0) offset += static_cast<int64_t>(fs::file_size(path));
  file.seekg(offset);
  const char byte = static_cast<char>(file.get() ^ 1);
  file.seekp(offset);
  file.put(byte);
}

std::string ScriptWorld::Answer(const ScriptCommand& command) {
  const std::string& name = command.words[0];
  if (name == "tandem") return RunTandem(command);
  const std::string path = command.words.size() > 1 ? Expand(command.words[1]) : "";
  if (name == "file") {
    std::ofstream(Path(path), std::ios::binary) << command.input;
  } else if (name == "bytes") {
    std::ofstream(Path(path), std::ios::binary)
        << std::string(std::stoul(command.words.at(2)), 'x');
  } else if (name == "people") {
    WritePeople(Path(path), std::stoul(command.words.at(2)));
  } else if (name == "flip") {
    Flip(path, std::stol(command.words.at(2)));
  } else if (name == "cut") {
    fs::resize_file(path, std::stoul(command.words.at(2)));
  } else if (name == "hold") {
    auto opened = Database::Open(path);
    if (!opened.has_value()) return opened.error().ToString() + "\n";
    held_ = std::move(*opened);
  } else if (name == "release") {
    held_.reset();
  } else if (name == "exists") {
    return fs::exists(path) ? "yes\n" : "no\n";
  } else {
    return "unknown command\n";
  }
  return "";
}

void Run(const char* name) {
  ScriptWorld world;
  RunScript(std::string("test/tools/scripts/") + name + ".txt",
            [&world](const ScriptCommand& command) { return world.Answer(command); });
}

BOOST_AUTO_TEST_SUITE(scripts)

BOOST_AUTO_TEST_CASE(UsageErrorsSayWhatToDo) { Run("usage"); }
BOOST_AUTO_TEST_CASE(RowsAreWrittenReadAndDeleted) { Run("rows"); }
BOOST_AUTO_TEST_CASE(ThreadsReadTheSameRows) { Run("threads"); }
BOOST_AUTO_TEST_CASE(QueriesAreAnsweredAndExplained) { Run("query"); }
BOOST_AUTO_TEST_CASE(PagesTuplesAndBudgets) { Run("pages"); }
BOOST_AUTO_TEST_CASE(SlowQueriesAreLoggedAndIndexesAdvised) { Run("advice"); }
BOOST_AUTO_TEST_CASE(FilesAreImported) { Run("import"); }
BOOST_AUTO_TEST_CASE(TablesAreExportedAndComeBack) { Run("export"); }
BOOST_AUTO_TEST_CASE(DebiansFilesAreImported) { Run("debian"); }
BOOST_AUTO_TEST_CASE(FamiliesAndThePastAreRead) { Run("families"); }
BOOST_AUTO_TEST_CASE(RegionsAreMadeAndShown) { Run("regions"); }
BOOST_AUTO_TEST_CASE(SplitKeysAreFoundAndSimulated) { Run("split_keys"); }
BOOST_AUTO_TEST_CASE(KeysAndTablesAreLinted) { Run("lint"); }
BOOST_AUTO_TEST_CASE(WhatCannotBeEmulatedIsSaid) { Run("emulate"); }
BOOST_AUTO_TEST_CASE(TablesAreDroppedTruncatedAndRenamed) { Run("schema"); }
BOOST_AUTO_TEST_CASE(FamiliesComeChangeAndGo) { Run("family_changes"); }
BOOST_AUTO_TEST_CASE(RowKeysHaveFields) { Run("row_keys"); }
BOOST_AUTO_TEST_CASE(SequencesGiveOutIds) { Run("sequences"); }
BOOST_AUTO_TEST_CASE(TablesAreCopiedToOtherRowKeys) { Run("copy_table"); }
BOOST_AUTO_TEST_CASE(RowKeysChange) { Run("row_key_epochs"); }
BOOST_AUTO_TEST_CASE(ObserversAreNames) { Run("observers"); }
BOOST_AUTO_TEST_CASE(SnapshotsAreCreatedReadAndDropped) { Run("snapshots"); }
BOOST_AUTO_TEST_CASE(IndexesComeAndGo) { Run("indexes"); }
BOOST_AUTO_TEST_CASE(FunctionsOfColumnsAreIndexed) { Run("functions"); }
BOOST_AUTO_TEST_CASE(SeveralValuesOfAColumnAreIndexed) { Run("multi_valued"); }
BOOST_AUTO_TEST_CASE(PatternsAreLookedFor) { Run("regexp"); }
BOOST_AUTO_TEST_CASE(MapsAreIndexed) { Run("maps"); }
BOOST_AUTO_TEST_CASE(SeveralColumnsAreIndexedTogether) { Run("composite"); }
BOOST_AUTO_TEST_CASE(PartsOfRowKeysAreIndexed) { Run("key_parts"); }
BOOST_AUTO_TEST_CASE(ConcatJoinsTextsAndColumns) { Run("concat"); }
BOOST_AUTO_TEST_CASE(ExpressionsAreReturnedAndOrdersHaveColumns) { Run("select"); }
BOOST_AUTO_TEST_CASE(APartialIndexLeavesOutRows) { Run("partial"); }
BOOST_AUTO_TEST_CASE(AUniqueIndexRefusesDuplicates) { Run("unique"); }
BOOST_AUTO_TEST_CASE(AnIndexAnswersWithoutRows) { Run("covering"); }
BOOST_AUTO_TEST_CASE(IndexesAreCheckedAndMeasured) { Run("index_checks"); }
BOOST_AUTO_TEST_CASE(RowsAreGroupedAndHistoriesShown) { Run("groups"); }
BOOST_AUTO_TEST_CASE(SpaceIsExplained) { Run("space"); }
BOOST_AUTO_TEST_CASE(FilesAreDumped) { Run("dump"); }
BOOST_AUTO_TEST_CASE(CopiesAreMadeAndBroughtBack) { Run("copies"); }
BOOST_AUTO_TEST_CASE(TablesGoFromOneDatabaseToAnother) { Run("table_copies"); }
BOOST_AUTO_TEST_CASE(DamageIsFoundAndNamed) { Run("damage"); }
BOOST_AUTO_TEST_CASE(DatabasesAreMadeLockedAndKeptAlone) { Run("database"); }

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
