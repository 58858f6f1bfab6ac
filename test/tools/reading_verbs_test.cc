// Verbs that read write nothing, not a byte: of a closed database, of one that crashed, beside a
// process that writes, and on a file system that is mounted read-only.
#define BOOST_TEST_DYN_LINK
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tandem/tandem.h"
#include "test/support/temporary_directory.h"
#include "test/tools/program.h"

namespace tandem::test {
namespace {

namespace fs = std::filesystem;

constexpr int kRows = 300;

// What a file is, its last change included.
struct FileState {
  std::string content;
  int64_t changed_nanos = 0;
  bool operator==(const FileState&) const = default;
};
using DirectoryState = std::map<std::string, FileState>;

DirectoryState StateOf(const std::string& directory) {
  DirectoryState state;
  for (const auto& entry : fs::directory_iterator(directory)) {
    struct stat status {};
    BOOST_REQUIRE_EQUAL(stat(entry.path().c_str(), &status), 0);
    std::ifstream file(entry.path(), std::ios::binary);
    FileState& found = state[entry.path().filename()];
    found.content.assign(std::istreambuf_iterator<char>(file), {});
    found.changed_nanos = status.st_ctim.tv_sec * int64_t{1'000'000'000} + status.st_ctim.tv_nsec;
  }
  return state;
}

// Makes a database of one table with an index; the last rows are in the log alone when it is not
// closed.
std::unique_ptr<Database> Written(const std::string& path) {
  Options options;
  options.create_if_missing = true;
  auto database = Database::Open(path, options);
  BOOST_REQUIRE(database.has_value());
  TableOptions table;
  table.name = "t";
  table.families = {{.name = "f"}};
  table.indexes = {{"by_v", {{"f", "v"}}}};
  BOOST_REQUIRE((*database)->CreateTable(table).ok());
  for (int row = 0; row < kRows; ++row) {
    WriteBatch batch;
    batch.Put("t", "row" + std::to_string(1000 + row), "f", "v", std::to_string(row % 10));
    BOOST_REQUIRE((*database)->Write({}, batch).ok());
    if (row == kRows / 2) BOOST_REQUIRE((*database)->Flush("t").ok());
  }
  return std::move(*database);
}

// Every verb that reads, each with its exit code.
void RunReadingVerbs(const std::string& path) {
  const std::vector<std::vector<std::string>> verbs = {
      {"info", path},
      {"regions", path},
      {"du", path, "t", "--exact"},
      {"compact", path, "--dry-run"},
      {"get", path, "t", "row1001"},
      {"scan", path, "t"},
      {"query", path, "t", "v = '3'"},
      {"query", path, "t", "v >= '3'", "--order-by", "by_v:desc", "--limit", "5"},
      {"count", path, "t", "v = '3'"},
      {"explain", path, "t", "v = '3'"},
      {"verify", path},
      {"verify", path, "--deep"},
      {"export", path, "t"},
      {"split-keys", "auto:4", "--database", path, "--table", "t"},
      {"simulate", "--splits", "auto:4", "--database", path, "--table", "t"},
      {"emulate", "--database", path, "--table", "t", "--like", path, "--like-table", "t"},
      {"dump", path + "/ROOT"}};
  for (const std::vector<std::string>& verb : verbs) {
    const ProgramRun run = RunProgram(verb);
    BOOST_TEST(run.exit_code == 0, verb[0] << " exits " << run.exit_code << ": " << run.err);
    BOOST_TEST(!run.out.empty(), verb[0]);
    if (verb[0] == "count") BOOST_TEST(run.out.find("30") != std::string::npos, run.out);
  }
}

void CheckThatNothingChanges(const std::string& path) {
  const DirectoryState before = StateOf(path);
  RunReadingVerbs(path);
  const DirectoryState after = StateOf(path);
  BOOST_TEST(after.size() == before.size());
  for (const auto& [name, state] : before) {
    const auto found = after.find(name);
    BOOST_REQUIRE_MESSAGE(found != after.end(), name << " is gone");
    BOOST_TEST((found->second.content == state.content), name << " has other bytes");
    BOOST_TEST(found->second.changed_nanos == state.changed_nanos, name << " was touched");
  }
}

// After its last write a writer goes on in the background, as with the end of its log.
void WaitUntilQuiet(const std::string& path) {
  DirectoryState before;
  for (int look = 0; look < 100; ++look) {
    const DirectoryState now = StateOf(path);
    if (now == before) return;
    before = now;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

// A writer in a process of its own that has the database open until this ends.
class LiveWriter {
 public:
  explicit LiveWriter(const std::string& path) {
    int ready[2];
    BOOST_REQUIRE_EQUAL(pipe(ready), 0);
    process_ = fork();
    BOOST_REQUIRE(process_ >= 0);
    if (process_ == 0) {
      const auto database = Written(path);
      [[maybe_unused]] const auto written = write(ready[1], "x", 1);
      while (true) pause();
    }
    close(ready[1]);
    char byte = 0;
    is_ready_ = read(ready[0], &byte, 1) == 1;
    close(ready[0]);
  }
  LiveWriter(const LiveWriter&) = delete;
  LiveWriter& operator=(const LiveWriter&) = delete;
  ~LiveWriter() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  bool is_ready() const { return is_ready_; }

 private:
  pid_t process_ = -1;
  bool is_ready_ = false;
};

// A directory seen again through a mount that is read-only, where this process may mount one.
class ReadOnlyMount {
 public:
  ReadOnlyMount(const std::string& directory, std::string place) : place_(std::move(place)) {
    fs::create_directory(place_);
    is_mounted_ =
        mount(directory.c_str(), place_.c_str(), nullptr, MS_BIND, nullptr) == 0 &&
        mount(nullptr, place_.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) == 0;
  }
  ReadOnlyMount(const ReadOnlyMount&) = delete;
  ReadOnlyMount& operator=(const ReadOnlyMount&) = delete;
  ~ReadOnlyMount() { umount2(place_.c_str(), MNT_DETACH); }
  bool is_mounted() const { return is_mounted_; }

 private:
  std::string place_;
  bool is_mounted_ = false;
};

BOOST_AUTO_TEST_SUITE(reading_verbs)

BOOST_AUTO_TEST_CASE(WriteNothingToAClosedDatabase) {
  const TemporaryDirectory place;
  const std::string path = place.Path("db");
  BOOST_REQUIRE(Written(path)->Close().ok());
  CheckThatNothingChanges(path);
}

BOOST_AUTO_TEST_CASE(WriteNothingBesideAWriterAndAfterItDied) {
  const TemporaryDirectory place;
  const std::string path = place.Path("db");
  {
    const LiveWriter writer(path);
    BOOST_REQUIRE(writer.is_ready());
    WaitUntilQuiet(path);
    CheckThatNothingChanges(path);
    const ProgramRun second = RunProgram({"put", path, "t", "x", "f:v=1"});
    BOOST_TEST(second.exit_code == 6, second.err);
  }
  CheckThatNothingChanges(path);
}

BOOST_AUTO_TEST_CASE(WorkOnAReadOnlyMount) {
  const TemporaryDirectory place;
  const std::string path = place.Path("db");
  { const LiveWriter writer(path); }
  const ReadOnlyMount mount(path, place.Path("mounted"));
  if (!mount.is_mounted()) {
    std::printf("reading from a read-only mount is not tested: no right to mount one\n");
    return;
  }
  CheckThatNothingChanges(place.Path("mounted"));
  const ProgramRun refused = RunProgram({"put", place.Path("mounted"), "t", "x", "f:v=1"});
  BOOST_TEST(refused.exit_code != 0);
  BOOST_TEST(refused.err.find("ead-only") != std::string::npos, refused.err);
}

BOOST_AUTO_TEST_CASE(CreateNoPath) {
  const TemporaryDirectory place;
  const std::string path = place.Path("absent");
  for (const std::vector<std::string>& verb :
       std::vector<std::vector<std::string>>{{"info", path},
                                             {"get", path, "t", "x"},
                                             {"scan", path, "t"},
                                             {"query", path, "t", "v = '3'"},
                                             {"verify", path},
                                             {"export", path, "t"}}) {
    BOOST_TEST(RunProgram(verb).exit_code == 3, verb[0]);
    BOOST_TEST(!fs::exists(path), verb[0]);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
