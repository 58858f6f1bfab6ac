// Many opens to read only, in processes of their own, beside a process that writes, flushes, merges
// and closes, and that is killed again and again: no healthy database is taken for a damaged one,
// and what readers see never goes back.
#define BOOST_TEST_DYN_LINK
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tandem/tandem.h"
#include "test/support/temporary_directory.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

constexpr int kReaders = 3;

// The whole number by hand: TANDEM_OPENS=10000.
int Opens() {
  const char* const opens = std::getenv("TANDEM_OPENS");
  return opens == nullptr ? 150 : std::atoi(opens);
}

Result<std::unique_ptr<Database>> OpenAt(const std::string& path, bool read_only) {
  Options options;
  options.create_if_missing = !read_only;
  options.read_only = read_only;
  options.memory_bytes = 8 << 20;
  options.background_threads = 1;
  return Database::Open(path, options);
}

// A number that rises, in two rows of two regions at once.
Status PutBoth(Database* database, uint64_t number) {
  WriteBatch batch;
  for (const char* row : {"a", "z"}) {
    batch.Put("t", row, "d", "c", std::to_string(number));
    batch.Put("t", row, "d", "pad", std::string(500, 'p'));
  }
  return database->Write({}, batch);
}

Result<uint64_t> NumberIn(Database* database, std::string_view row) {
  const auto found = database->Get({}, "t", row);
  if (!found) return found.error();
  if (!found->has_value()) return Status::NotFound("row '" + std::string(row) + "' is not there");
  const std::string_view text = (*found)->Find("d", "c").value_or("");
  uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Writes until it is killed. What it returns is why it could not.
Status WriteOn(const std::string& path) {
  while (true) {
    auto database = OpenAt(path, /*read_only=*/false);
    if (!database) return database.error();
    auto number = NumberIn(database->get(), "a");
    if (!number) return number.error();
    for (int i = 1; i <= 400; ++i) {
      const Status status = PutBoth(database->get(), ++*number);
      if (!status.ok()) return status;
      if (i % 20 == 0) {
        const Status made = i % 60 == 0 ? (*database)->Compact("t") : (*database)->Flush("t");
        if (!made.ok()) return made;
      }
    }
    const Status closed = (*database)->Close();
    if (!closed.ok()) return closed;
  }
}

Status ReadOn(const std::string& path, int opens) {
  uint64_t last = 0;
  for (int i = 0; i < opens; ++i) {
    const auto database = OpenAt(path, /*read_only=*/true);
    if (!database) return database.error();
    const auto a = NumberIn(database->get(), "a"), z = NumberIn(database->get(), "z");
    if (!a) return a.error();
    if (!z) return z.error();
    if (*a != *z) return Status::Corruption("half a batch");
    if (*a < last) return Status::Corruption("an older state than before");
    last = *a;
  }
  return {};
}

// A process that does `work`, and says on standard error why it failed.
template <typename Work>
pid_t Start(const char* what, Work&& work) {
  const pid_t child = fork();
  BOOST_REQUIRE(child >= 0);
  if (child != 0) return child;
  const Status status = work();
  if (!status.ok()) std::fprintf(stderr, "%s: %s\n", what, status.ToString().c_str());
  _exit(status.ok() ? 0 : 1);
}

BOOST_AUTO_TEST_SUITE(ReaderProcessesSuite)

BOOST_AUTO_TEST_CASE(OpensBesideAProcessThatWritesAndDiesRaiseNoAlarm) {
  TestRandom random("ReaderProcessesSuite");
  const bool has_memory = std::filesystem::exists("/dev/shm");
  const TemporaryDirectory place(has_memory ? "/dev/shm" : "");
  const std::string path = place.Path("db");
  {
    auto database = OpenAt(path, /*read_only=*/false);
    BOOST_REQUIRE(database.has_value());
    TableOptions table;
    table.name = "t";
    table.families = {{.name = "d"}};
    table.split_keys = {"m"};
    BOOST_REQUIRE((*database)->CreateTable(table).ok());
    BOOST_REQUIRE(PutBoth(database->get(), 1).ok());
    BOOST_REQUIRE((*database)->Close().ok());
  }
  const auto write = [&] { return WriteOn(path); };
  pid_t writer = Start("writer", write);
  std::vector<pid_t> readers;
  for (int i = 0; i < kReaders; ++i) {
    readers.push_back(Start("reader", [&] { return ReadOn(path, Opens() / kReaders); }));
  }
  uint64_t kills = 0, failures = 0;
  while (!readers.empty()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20 + random.Below(100)));
    int status = 0;
    // It never ends by itself.
    BOOST_TEST(waitpid(writer, &status, WNOHANG) == 0);
    kill(writer, SIGKILL);
    waitpid(writer, &status, 0);
    ++kills;
    writer = Start("writer", write);
    std::erase_if(readers, [&](pid_t reader) {
      if (waitpid(reader, &status, WNOHANG) == 0) return false;
      failures += WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
      return true;
    });
  }
  kill(writer, SIGKILL);
  waitpid(writer, nullptr, 0);
  BOOST_TEST(failures == 0u);
  BOOST_TEST_MESSAGE(Opens() << " opens beside " << kills << " lives of a writer");
  BOOST_TEST(kills > 0u);
  const auto database = OpenAt(path, /*read_only=*/false);
  BOOST_REQUIRE(database.has_value());
  BOOST_TEST((*database)->Verify(/*deep=*/true)->findings.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
