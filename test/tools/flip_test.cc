// One bit changed in bytes of every file of a small closed database, padding included: verify finds
// each one, and no read prints anything that was not written. Of all bytes the suite `flip` of
// build/reliability does this; here the program runs four times for each.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/random.h"
#include "engine/engine.h"
#include "engine/runtime/background.h"
#include "test/support/temporary_directory.h"
#include "test/support/test_random.h"
#include "test/tools/program.h"
#include "test/tools/require_ok.h"

namespace tandem::test {
namespace {

namespace fs = std::filesystem;

WriteBatch SmallBatch(int from, int to) {
  WriteBatch batch;
  for (int i = from; i < to; ++i) {
    const std::string row = "row-" + std::to_string(i);
    batch.Put("t", row, "d", "size", std::to_string(i % 5), 1000 + i);
    batch.Put("t", row, "d", "name", "name of " + std::to_string(i), 1000 + i);
  }
  return batch;
}

/// A database of one table with two files and an index, closed, its sections at multiples of 64.
void MakeDatabase(const std::string& path) {
  const auto file_system = base::NewPosixFileSystem();
  const auto clock = base::NewSystemClock();
  const auto random = base::NewSeededRandom(1);
  auto executor = engine::NewThreadPool(1, clock.get());
  BOOST_REQUIRE(executor.has_value());
  const engine::Environment environment{file_system.get(), clock.get(), random.get(),
                                        executor->get()};
  engine::Tuning tuning;
  tuning.section_alignment = 64;
  Options options;
  options.create_if_missing = true;
  auto engine = engine::Engine::Open(path, options, tuning, environment);
  RequireOk(engine.status());
  TableOptions table;
  table.name = "t";
  table.families.push_back({.name = "d"});
  table.indexes.push_back({"size", {{"d", "size", ColumnType::kInt64, false}}});
  RequireOk((*engine)->CreateTable(table));
  RequireOk((*engine)->Write({}, SmallBatch(0, 12)));
  RequireOk((*engine)->Flush("t"));
  WriteBatch batch = SmallBatch(8, 16);
  batch.DeleteColumn("t", "row-3", "d", "name", 5000);
  RequireOk((*engine)->Write({}, batch));
  RequireOk((*engine)->Close());
}

/// A file whose bytes can be changed and restored.
class Victim {
 public:
  explicit Victim(const fs::path& path)
      : file_(path, std::ios::in | std::ios::out | std::ios::binary) {}
  void Flip(uint64_t offset, int bit) {
    file_.seekg(static_cast<std::streamoff>(offset));
    const char byte = static_cast<char>(file_.get() ^ (1 << bit));
    file_.seekp(static_cast<std::streamoff>(offset));
    file_.put(byte);
    file_.flush();
  }

 private:
  std::fstream file_;
};

struct Reads {
  std::vector<std::vector<std::string>> commands;
  std::vector<ProgramRun> expected;
};

/// What each read prints must be what it printed before, or nothing and exit 4.
void CheckReads(const Reads& reads, const std::string& where) {
  for (size_t i = 0; i < reads.commands.size(); ++i) {
    const ProgramRun found = RunProgram(reads.commands[i]);
    const ProgramRun& expected = reads.expected[i];
    if (found.exit_code == expected.exit_code && found.out == expected.out) continue;
    // Rows that were printed before the damage was met are right, too.
    const bool refused = found.exit_code == 4 && expected.out.starts_with(found.out);
    BOOST_CHECK_MESSAGE(refused, where << ": " << reads.commands[i][0] << " exits "
                                       << found.exit_code << ": " << found.err << found.out);
  }
}

BOOST_AUTO_TEST_SUITE(flipped_bits)

BOOST_AUTO_TEST_CASE(FlippedBitsAreFoundAndNeverRead) {
  TestRandom random("flip");
  const TemporaryDirectory directory;
  const std::string path = directory.Path("db");
  MakeDatabase(path);
  Reads reads;
  reads.commands = {{"scan", path, "t", "--output", "jsonl"},
                    {"get", path, "t", "row-7", "--output", "jsonl"},
                    {"query", path, "t", "size = 3", "--output", "jsonl"}};
  for (const auto& command : reads.commands) {
    reads.expected.push_back(RunProgram(command));
    BOOST_REQUIRE_EQUAL(reads.expected.back().exit_code, 0);
  }
  const ProgramRun clean = RunProgram({"verify", path, "--deep"});
  BOOST_REQUIRE_MESSAGE(clean.exit_code == 0, clean.out << clean.err);
  const uint64_t stride = 48 * Stride(5);
  uint64_t flips = 0;
  for (const auto& entry : fs::directory_iterator(path)) {
    Victim victim(entry.path());
    for (uint64_t at = random.Below(stride); at < entry.file_size(); at += stride) {
      const int bit = static_cast<int>(random.Below(8));
      const std::string where = entry.path().filename().string() + " offset " + std::to_string(at) +
                                " bit " + std::to_string(bit);
      victim.Flip(at, bit);
      const ProgramRun verified = RunProgram({"verify", path});
      BOOST_CHECK_MESSAGE(verified.exit_code == 8 && !verified.out.empty(),
                          where << ": verify exits " << verified.exit_code);
      CheckReads(reads, where);
      victim.Flip(at, bit);
      ++flips;
    }
  }
  std::printf("counters: %llu flips\n", static_cast<unsigned long long>(flips));
  BOOST_CHECK_EQUAL(RunProgram({"verify", path, "--deep"}).exit_code, 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
