// A reader while a writer works: the files that it may read stay until it is gone, files that are
// newer do not, and the writer knows who holds them.
#define BOOST_TEST_DYN_LINK
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "tandem/tandem.h"
#include "test/engine/copied_database.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {
namespace {

size_t StoreFiles(TestEngine* engine) {
  size_t stores = 0;
  for (const std::string& name : *(*engine->disk.OpenDirectory("db", false))->List()) {
    stores += name.starts_with("store-");
  }
  return stores;
}

struct Fixture : TestEngine {
  Fixture() {
    tuning.compaction_runs = 100;
    BOOST_REQUIRE(Open().ok());
    BOOST_REQUIRE((**this).CreateTable(SimpleTable()).ok());
    Grow("a");
    Grow("b");
  }
  void Grow(const std::string& row) {
    BOOST_REQUIRE(Put(row, "c", "1").ok());
    BOOST_REQUIRE((**this).Flush("t").ok());
    executor.Drain();
  }
  DatabaseInfo Info() { return (**this).Info(); }
};

BOOST_AUTO_TEST_SUITE(ReaderLock)

BOOST_AUTO_TEST_CASE(WhatAReaderMayReadStays) {
  Fixture writer;
  auto reader = std::make_unique<CopiedDatabase>(&writer.disk, "db", /*read_only=*/true);
  BOOST_REQUIRE_EQUAL(reader->Rows(), "a{c=1} b{c=1}");
  BOOST_REQUIRE(writer->Compact("t").ok());
  BOOST_CHECK_EQUAL(writer.FileCount(), 1u);
  BOOST_CHECK_EQUAL(StoreFiles(&writer), 3u);
  BOOST_CHECK_GE(writer.Info().held_files, 2u);
  BOOST_CHECK_EQUAL(writer.Info().readers.size(), 1u);
  BOOST_CHECK_EQUAL(reader->Rows(), "a{c=1} b{c=1}");
  BOOST_CHECK_EQUAL(reader->Findings(), "");
  // It goes with the reader, at the next commit.
  reader.reset();
  BOOST_CHECK(writer.Info().readers.empty());
  writer.Grow("c");
  BOOST_CHECK_EQUAL(StoreFiles(&writer), 2u);
  BOOST_CHECK_EQUAL(writer.Info().held_files, 0u);
}

// A reader that stays for ever costs the space of what it can read and no more.
BOOST_AUTO_TEST_CASE(WhatIsNewerThanAReaderGoesAtOnce) {
  Fixture writer;
  CopiedDatabase reader(&writer.disk, "db", /*read_only=*/true);
  for (const int rounds : {4, 64}) {
    for (int i = 0; i < rounds; ++i) {
      writer.Grow("x");
      BOOST_REQUIRE(writer->Compact("t").ok());
    }
    BOOST_CHECK_LE(StoreFiles(&writer), 3u);
    BOOST_CHECK_LE(writer.Info().held_files, 5u);
  }
  BOOST_CHECK_EQUAL(reader.Rows(), "a{c=1} b{c=1}");
}

BOOST_AUTO_TEST_CASE(WhatIsHeldOutlivesTheWriterAndGoesWithALaterOne) {
  Fixture writer;
  auto reader = std::make_unique<CopiedDatabase>(&writer.disk, "db", /*read_only=*/true);
  BOOST_REQUIRE(writer->Compact("t").ok());
  BOOST_REQUIRE(writer.Close().ok());
  BOOST_REQUIRE(writer.Open().ok());
  BOOST_CHECK_EQUAL(StoreFiles(&writer), 3u);
  BOOST_CHECK_EQUAL(reader->Rows(), "a{c=1} b{c=1}");
  reader.reset();
  BOOST_REQUIRE(writer.Close().ok());
  BOOST_REQUIRE(writer.Open().ok());
  BOOST_CHECK_EQUAL(StoreFiles(&writer), 1u);
  BOOST_CHECK_EQUAL(writer.Rows(), "a{c=1} b{c=1}");
}

// With fewer descriptors than files, after the writer has merged all of them away.
BOOST_AUTO_TEST_CASE(AReaderWithFewDescriptorsReadsOn) {
  Fixture writer;
  for (int i = 0; i < 20; ++i) writer.Grow("r" + std::to_string(100 + i));
  Options options;
  options.read_only = true;
  engine::Tuning tuning = SmallTuning();
  tuning.open_files_max = 4;
  tuning.rings_max = 1;
  tuning.block_cache_bytes = 64 << 10;
  const auto random = base::NewSeededRandom(3);
  const engine::Environment environment{.file_system = &writer.disk,
                                        .clock = &writer.clock,
                                        .random = random.get(),
                                        .executor = &writer.executor};
  writer.disk.TakeOpenFiles();
  const uint64_t before = writer.disk.TakeOpenFiles().most;
  auto reader = engine::Engine::Open("db", options, tuning, environment);
  BOOST_REQUIRE(reader.has_value());
  BOOST_REQUIRE(writer->Compact("t").ok());
  BOOST_REQUIRE_EQUAL(writer.FileCount(), 1u);
  const uint64_t from_writer = 30;  // The merge opens all of its inputs.
  for (int round = 0; round < 2; ++round) {
    Result<Cursor> cursor = (*reader)->Scan({}, "t", {});
    BOOST_REQUIRE(cursor.has_value());
    int rows = 0;
    while (cursor->Next()) ++rows;
    BOOST_CHECK_EQUAL(cursor->status().ToString(), "OK");
    BOOST_CHECK_EQUAL(rows, 22);
  }
  BOOST_CHECK_LE((*reader)->GetStatistics().open_files.files, 3u);
  BOOST_CHECK_LE(writer.disk.TakeOpenFiles().most, before + from_writer);
}

BOOST_AUTO_TEST_CASE(OnARealDiskTheReaderHasAProcessId) {
  const TemporaryDirectory temporary;
  const std::string path = temporary.Path("db");
  Options options;
  options.create_if_missing = true;
  options.memory_bytes = 8 << 20;
  auto writer = Database::Open(path, options);
  BOOST_REQUIRE(writer.has_value());
  BOOST_REQUIRE((*writer)->CreateTable(SimpleTable()).ok());
  const auto grow = [&](const std::string& row) {
    WriteBatch batch;
    batch.Put("t", row, "d", "c", "1");
    BOOST_REQUIRE((*writer)->Write({}, batch).ok());
    BOOST_REQUIRE((*writer)->Flush("t").ok());
  };
  const auto stores = [&] {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      count += entry.path().filename().string().starts_with("store-");
    }
    return count;
  };
  grow("a");
  grow("b");
  options.create_if_missing = false;
  options.read_only = true;
  auto reader = Database::Open(path, options);
  auto another = Database::Open(path, options);
  BOOST_REQUIRE_MESSAGE(reader.has_value(), reader.status().ToString());
  BOOST_REQUIRE(another.has_value());
  BOOST_REQUIRE((*writer)->Compact("t").ok());
  BOOST_CHECK_EQUAL(stores(), 3);
  const DatabaseInfo info = *(*writer)->Info();
  BOOST_REQUIRE_EQUAL(info.readers.size(), 1u);  // Both are this process.
  BOOST_CHECK_EQUAL(info.readers[0], getpid());
  const auto row = (*reader)->Get({}, "t", "a");
  BOOST_CHECK(row.has_value() && row->has_value());
  reader->reset();
  grow("c");
  BOOST_CHECK_EQUAL(stores(), 4);
  another->reset();
  grow("d");
  BOOST_CHECK_EQUAL(stores(), 3);
  BOOST_CHECK((*writer)->Info()->readers.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
