// Sequences through the API: ids come once, rise, and go on after the database was closed, killed
// or copied.
#define BOOST_TEST_DYN_LINK
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tandem/backup.h"
#include "test/api/small_database.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {
namespace {

// The first id, or the error.
std::string Next(Database& database, const std::string& name, uint64_t count = 1) {
  const Result<uint64_t> first = database.NextIds(name, count);
  return first.has_value() ? std::to_string(*first) : first.error().ToString();
}

struct WithIds {
  explicit WithIds(const SequenceOptions& options = {.name = "ids"})
      : database(OpenSmall(directory.path())) {
    BOOST_REQUIRE_EQUAL(database->CreateSequence(options).ToString(), "OK");
  }
  void Reopen() {
    BOOST_REQUIRE_EQUAL(database->Close().ToString(), "OK");
    database = OpenSmall(directory.path());
  }

  TemporaryDirectory directory;
  std::unique_ptr<Database> database;
};

BOOST_AUTO_TEST_SUITE(sequences)

BOOST_AUTO_TEST_CASE(BlocksFollowOneAnother) {
  WithIds ids;
  BOOST_TEST(Next(*ids.database, "ids") == "1");
  BOOST_TEST(Next(*ids.database, "ids", 100) == "2");
  BOOST_TEST(Next(*ids.database, "ids") == "102");
  BOOST_TEST(Next(*ids.database, "ids", 3'000'000) == "103");
  BOOST_TEST(Next(*ids.database, "ids") == "3000103");
}

// A process that takes what it needs in one call leaves no gap.
BOOST_AUTO_TEST_CASE(AFirstReservationIsWhatItsCallNeeds) {
  WithIds ids({.name = "ids", .first = 1000});
  for (uint64_t expected = 1000; expected < 1050; expected += 10) {
    BOOST_TEST(Next(*ids.database, "ids", 10) == std::to_string(expected));
    ids.Reopen();
  }
}

BOOST_AUTO_TEST_CASE(NoIdComesAgainAfterAClose) {
  WithIds ids;
  uint64_t last = 0;
  for (int life = 0; life < 5; ++life) {
    for (int i = 0; i < 100; ++i) {
      const Result<uint64_t> id = ids.database->NextIds("ids");
      BOOST_REQUIRE_EQUAL(id.status().ToString(), "OK");
      BOOST_REQUIRE_GT(*id, last);
      last = *id;
    }
    ids.Reopen();
  }
  BOOST_TEST(last < 2000u);  // Gaps are at most as large as what was used.
}

BOOST_AUTO_TEST_CASE(ThreadsGetDifferentIds) {
  WithIds ids;
  constexpr size_t kThreads = 8, kCalls = 50'000;
  std::vector<std::vector<uint64_t>> taken(kThreads);
  std::vector<std::thread> threads;
  const auto begun = std::chrono::steady_clock::now();
  for (std::vector<uint64_t>& mine : taken) {
    threads.emplace_back([&ids, &mine] {
      for (size_t i = 0; i < kCalls; ++i) {
        const Result<uint64_t> first = ids.database->NextIds("ids", 1 + i % 3);
        for (uint64_t k = 0; first.has_value() && k < 1 + i % 3; ++k) mine.push_back(*first + k);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  BOOST_TEST_MESSAGE(kThreads << " threads: " << kThreads * kCalls / took.count()
                              << " calls a second, one to three ids each");
  std::vector<uint64_t> all;
  for (const std::vector<uint64_t>& mine : taken) {
    BOOST_TEST(std::ranges::is_sorted(mine));
    all.insert(all.end(), mine.begin(), mine.end());
  }
  std::ranges::sort(all);
  BOOST_REQUIRE_EQUAL(all.size(), kThreads * (kCalls * 2 - 1));
  BOOST_TEST((std::ranges::adjacent_find(all) == all.end()));
  BOOST_TEST(all.back() == all.size());  // One process leaves no gap.
}

BOOST_AUTO_TEST_CASE(AnExhaustedSequenceSaysSo) {
  WithIds ids({.name = "ids", .first = 5, .last = 9});
  BOOST_TEST(Next(*ids.database, "ids", 3) == "5");
  const std::string refused = Next(*ids.database, "ids", 3);
  BOOST_TEST(refused ==
             "InvalidArgument: sequence 'ids' has 2 ids left, up to 9; 3 were asked for");
  BOOST_TEST(Next(*ids.database, "ids", UINT64_MAX).starts_with("InvalidArgument"));
  BOOST_TEST(Next(*ids.database, "ids", 2) == "8");
  BOOST_TEST(Next(*ids.database, "ids").starts_with("InvalidArgument: sequence 'ids' has 0 ids"));
}

BOOST_AUTO_TEST_CASE(TheLargestIdIsGivenOut) {
  WithIds ids({.name = "ids", .first = kSequenceIdMax - 2, .last = kSequenceIdMax});
  BOOST_TEST(Next(*ids.database, "ids", 2) == std::to_string(kSequenceIdMax - 2));
  ids.Reopen();
  BOOST_TEST(Next(*ids.database, "ids") == std::to_string(kSequenceIdMax));
  BOOST_TEST(Next(*ids.database, "ids").starts_with("InvalidArgument"));
  WithIds all({.name = "ids", .first = 0, .last = kSequenceIdMax});
  BOOST_TEST(Next(*all.database, "ids", UINT64_MAX) == "0");
  BOOST_TEST(Next(*all.database, "ids").starts_with("InvalidArgument"));
}

BOOST_AUTO_TEST_CASE(BadInputChangesNothing) {
  WithIds ids;
  Database& database = *ids.database;
  BOOST_TEST(Next(database, "ids", 0).starts_with("InvalidArgument"));
  BOOST_TEST(Next(database, "other").starts_with("NotFound: sequence 'other' does not exist"));
  const auto create = [&](const SequenceOptions& options) {
    return database.CreateSequence(options).ToString();
  };
  BOOST_TEST(create({.name = "ids"}).starts_with("AlreadyExists"));
  BOOST_TEST(create({.name = ""}).starts_with("InvalidArgument"));
  BOOST_TEST(create({.name = std::string(256, 'x')}).starts_with("InvalidArgument"));
  BOOST_TEST(create({.name = "a", .first = 2, .last = 1}).starts_with("InvalidArgument"));
  BOOST_TEST(create({.name = "a", .last = UINT64_MAX}).starts_with("InvalidArgument"));
  BOOST_TEST(database.DropSequence("other").ToString().starts_with("NotFound"));
  const auto listed = database.ListSequences();
  BOOST_REQUIRE_EQUAL(listed.status().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(listed->size(), 1u);
  BOOST_TEST(listed->front().next == 1u);
}

BOOST_AUTO_TEST_CASE(ADroppedSequenceIsGoneAndANewOneBeginsAnew) {
  WithIds ids;
  BOOST_TEST(Next(*ids.database, "ids", 10) == "1");
  BOOST_TEST(Next(*ids.database, "ids", 10) == "11");
  BOOST_REQUIRE_EQUAL(ids.database->DropSequence("ids").ToString(), "OK");
  BOOST_TEST(Next(*ids.database, "ids").starts_with("NotFound"));
  BOOST_REQUIRE_EQUAL(ids.database->CreateSequence({.name = "ids", .first = 7}).ToString(), "OK");
  BOOST_TEST(Next(*ids.database, "ids") == "7");
  ids.Reopen();
  BOOST_TEST(Next(*ids.database, "ids") == "8");
}

BOOST_AUTO_TEST_CASE(AListShowsWhatIsLeft) {
  WithIds ids;
  BOOST_REQUIRE_EQUAL(ids.database->CreateSequence({.name = "b", .last = 99}).ToString(), "OK");
  for (int i = 0; i < 3; ++i) Next(*ids.database, "ids", 10);
  const auto listed = ids.database->ListSequences();
  BOOST_REQUIRE_EQUAL(listed.status().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(listed->size(), 2u);
  BOOST_TEST(listed->at(0).options.name == "b");
  BOOST_TEST(listed->at(0).options.last == 99u);
  BOOST_TEST(listed->at(1).next == 31u);
  BOOST_TEST(listed->at(1).reserved == 0u);
  Next(*ids.database, "ids", 1);
  BOOST_TEST(ids.database->ListSequences()->at(1).next == 32u);
  BOOST_TEST(ids.database->ListSequences()->at(1).reserved == 39u);
}

BOOST_AUTO_TEST_CASE(AReaderTakesNoIds) {
  WithIds ids;
  BOOST_TEST(Next(*ids.database, "ids", 5) == "1");
  Options options = SmallOptions();
  options.read_only = true;
  const auto reader = OpenSmall(ids.directory.path(), options);
  BOOST_TEST(reader->ListSequences()->front().next == 6u);
  BOOST_TEST(Next(*reader, "ids").starts_with("ReadOnly"));
  BOOST_TEST(reader->CreateSequence({.name = "b"}).ToString().starts_with("ReadOnly"));
}

// What was given out before a copy does not come from it.
BOOST_AUTO_TEST_CASE(ACopyGoesOnWhereItWasTaken) {
  WithIds ids;
  const std::string checkpoint = ids.directory.path() + "-checkpoint";
  const std::string backups = ids.directory.path() + "-backups";
  const std::string restored = ids.directory.path() + "-restored";
  uint64_t last = 0;
  for (int i = 0; i < 20; ++i) last = *ids.database->NextIds("ids");
  BOOST_REQUIRE_EQUAL(ids.database->Checkpoint(checkpoint).ToString(), "OK");
  BOOST_REQUIRE_EQUAL(ids.database->Backup(backups).status().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(RestoreBackup(backups, restored).ToString(), "OK");
  for (const std::string& path : {checkpoint, restored}) {
    const auto copy = OpenSmall(path);
    const Result<uint64_t> id = copy->NextIds("ids");
    BOOST_REQUIRE_EQUAL(id.status().ToString(), "OK");
    BOOST_TEST(*id > last);
    BOOST_REQUIRE_EQUAL(copy->Close().ToString(), "OK");
  }
  BOOST_TEST(*ids.database->NextIds("ids") == last + 1);
  for (const std::string& path : {checkpoint, backups, restored}) {
    BOOST_TEST(std::system(("rm -rf '" + path + "'").c_str()) == 0);
  }
}

// A child takes ids and writes each to a pipe until it is killed.
BOOST_AUTO_TEST_CASE(NoIdComesAgainAfterAKill) {
  TemporaryDirectory directory;
  {
    const auto database = OpenSmall(directory.path());
    BOOST_REQUIRE_EQUAL(database->CreateSequence({.name = "ids"}).ToString(), "OK");
    BOOST_REQUIRE_EQUAL(database->Close().ToString(), "OK");
  }
  uint64_t last = 0;
  for (int life = 0; life < 10; ++life) {
    int ends[2];
    BOOST_REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
      const auto opened = Database::Open(directory.path(), SmallOptions());
      while (opened.has_value()) {
        const Result<uint64_t> id = (*opened)->NextIds("ids");
        if (!id.has_value() || write(ends[1], &*id, sizeof(*id)) != sizeof(*id)) break;
      }
      _exit(1);
    }
    close(ends[1]);
    uint64_t id = 0;
    for (int i = 0; i < 50 + 300 * life; ++i) {
      BOOST_REQUIRE(read(ends[0], &id, sizeof(id)) == sizeof(id));
      BOOST_REQUIRE_GT(id, last);
      last = id;
    }
    kill(child, SIGKILL);
    while (read(ends[0], &id, sizeof(id)) == sizeof(id)) {
      BOOST_REQUIRE_GT(id, last);
      last = id;
    }
    close(ends[0]);
    waitpid(child, nullptr, 0);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
