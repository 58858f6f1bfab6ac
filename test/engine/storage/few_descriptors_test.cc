// A process that may open 64 files (`ulimit -n 64`) and a database of 1,500 store files.
#define BOOST_TEST_DYN_LINK
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tandem/backup.h"
#include "tandem/tandem.h"
#include "test/engine/test_engine.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {
namespace {

// An eighth of them for sanitizers: still several times what the process may open.
const uint64_t kRegions = std::getenv("TANDEM_QUICK") == nullptr ? 1500 : 190;
constexpr rlim_t kDescriptors = 64;

std::string Key(uint64_t region) {
  std::string digits = std::to_string(region);
  return std::string(5 - digits.size(), '0') + digits;
}

// Ends the child with the line of what failed.
#define EXPECT(condition)                                                             \
  do {                                                                                \
    if (!(condition)) {                                                               \
      std::fprintf(stderr, "few_descriptors_test.cc:%d: %s\n", __LINE__, #condition); \
      _exit(1);                                                                       \
    }                                                                                 \
  } while (false)
#define EXPECT_OK(expression)                                            \
  do {                                                                   \
    const Status status_of_it = (expression);                            \
    if (!status_of_it.ok()) {                                            \
      std::fprintf(stderr, "few_descriptors_test.cc:%d: %s\n", __LINE__, \
                   status_of_it.ToString().c_str());                     \
      _exit(1);                                                          \
    }                                                                    \
  } while (false)

Result<std::unique_ptr<Database>> OpenAt(const std::string& path, bool read_only = false) {
  Options options;
  options.create_if_missing = !read_only;
  options.read_only = read_only;
  options.memory_bytes = 16 << 20;
  options.scrub_bytes_per_second = 4 << 20;
  return Database::Open(path, options);
}

uint64_t Drained(Result<Cursor> cursor) {
  EXPECT_OK(cursor.status());
  uint64_t rows = 0;
  while (cursor->Next()) ++rows;
  EXPECT_OK(cursor->status());
  return rows;
}

int OpenNow() {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    count += entry.exists() || true;
  }
  return count;
}

void Grow(Database* database, const std::string& value) {
  WriteBatch batch;
  for (uint64_t i = 0; i < kRegions; ++i) batch.Put("t", Key(i), "d", "c", value);
  EXPECT_OK(database->Write({}, batch));
  EXPECT_OK(database->Flush("t"));
}

void Work(const std::string& folder) {
  const std::string path = folder + "/db";
  TableOptions table = SimpleTable(2);
  for (uint64_t i = 1; i < kRegions; ++i) table.split_keys.push_back(Key(i));
  {
    auto opened = OpenAt(path);
    EXPECT_OK(opened.status());
    Database* const database = opened->get();
    EXPECT_OK(database->CreateTable(table));
    Grow(database, "one");
    EXPECT(database->GetStatistics().open_files.limit == kDescriptors / 2);
    EXPECT(Drained(database->Query({}, "t", Predicate::Equal("c", "one"), {})) == kRegions);
    // Cursors in the middle of their reads, each over files of its own.
    std::vector<Cursor> cursors;
    for (uint64_t i = 0; i < 200; ++i) {
      auto cursor = database->Scan({}, "t", {.start = Key(7 * i % kRegions)});
      EXPECT_OK(cursor.status());
      cursors.push_back(*std::move(cursor));
      EXPECT(cursors.back().Next());
    }
    EXPECT(OpenNow() <= static_cast<int>(kDescriptors));
    EXPECT(Drained(database->Scan({}, "t", {})) == kRegions);
    cursors.clear();
    for (uint64_t i = 0; i < kRegions; i += 10) {
      WriteBatch batch;
      batch.Put("t", Key(i), "d", "c", "two");
      EXPECT_OK(database->Write({}, batch));
    }
    EXPECT_OK(database->Flush("t"));
    EXPECT_OK(database->Compact("t"));
    EXPECT(Drained(database->Query({}, "t", Predicate::Equal("c", "two"), {})) == kRegions / 10);
    const auto report = database->Verify(true);
    EXPECT_OK(report.status());
    EXPECT(report->findings.empty() && report->files == kRegions);
    EXPECT_OK(database->Checkpoint(folder + "/copy"));
    EXPECT_OK(database->Backup(folder + "/backups").status());
    EXPECT(database->GetStatistics().open_files.reopened > kRegions);
    EXPECT(database->GetStatistics().scrub_findings == 0);
    EXPECT_OK(database->Close());
  }
  EXPECT_OK(RestoreBackup(folder + "/backups", folder + "/restored"));
  for (const char* copy : {"/db", "/copy", "/restored"}) {
    for (const bool read_only : {true, false}) {
      auto opened = OpenAt(folder + copy, read_only);
      EXPECT_OK(opened.status());
      EXPECT(Drained((*opened)->Scan({}, "t", {})) == kRegions);
      EXPECT_OK((*opened)->Close());
    }
  }
}

BOOST_AUTO_TEST_SUITE(FewDescriptors)

BOOST_AUTO_TEST_CASE(SixtyFourServeFifteenHundredFiles) {
  const TemporaryDirectory temporary;
  const pid_t child = fork();
  BOOST_REQUIRE(child >= 0);
  if (child == 0) {
    // What the test program holds open besides its streams is not the database's.
    for (int fd = 3; fd < 64; ++fd) close(fd);
    const rlimit limit{.rlim_cur = kDescriptors, .rlim_max = kDescriptors};
    EXPECT(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    Work(temporary.path());
    _exit(0);
  }
  int status = 0;
  BOOST_REQUIRE_EQUAL(waitpid(child, &status, 0), child);
  BOOST_CHECK_EQUAL(status, 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
