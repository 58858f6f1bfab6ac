// The oracle finds nothing in a sound database and every damage to a store file, whichever byte it
// strikes.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>

#include "base/random.h"
#include "engine/engine.h"
#include "engine/storage/files.h"
#include "engine/storage/storage.h"
#include "test/support/print.h"
#include "tools/simulation/inline_executor.h"
#include "tools/simulation/manual_clock.h"
#include "tools/simulation/simulated_disk.h"

namespace tandem::engine {
namespace {

/// A database with three files and a memstore, on a simulated disk.
struct SoundDatabase {
  SoundDatabase() : random(base::NewSeededRandom(5)), executor(clock) {
    tuning.section_alignment = 64;
    tuning.block_cache_bytes = 0;  // Every read reaches the disk.
    BOOST_REQUIRE(Open().ok());
    TableOptions options;
    options.name = "t";
    options.families = {{.name = "d", .max_versions = 2, .block_size_bytes = 512}};
    options.indexes = {{"by_a", {{"", "a", ColumnType::kText, false}}},
                       {"by_n", {{"", "n", ColumnType::kInt64, true}}}};
    BOOST_REQUIRE(engine->CreateTable(options).ok());
    for (int round = 0; round < 4; ++round) {
      WriteBatch batch;
      for (int i = 0; i < 60; ++i) {
        const std::string row = "row" + std::to_string(100 + i * (round + 1));
        batch.Put("t", row, "d", "a", "value " + std::to_string(i % 5));
        if (i % 2 == 0) batch.Put("t", row, "d", "n", std::to_string(i - 20));
        if (i % 7 == 0) batch.DeleteColumn("t", row, "d", "n");
      }
      BOOST_REQUIRE(engine->Write({}, batch).ok());
      if (round < 3) BOOST_REQUIRE(engine->Flush("t").ok());
    }
  }

  Status Open() {
    Options options;
    options.create_if_missing = true;
    auto opened = Engine::Open("db", options, tuning, {&disk, &clock, random.get(), &executor});
    if (opened.has_value()) engine = std::move(*opened);
    return opened.status();
  }

  std::vector<FileInfo> Files() { return engine->Info().tables[0].regions[0].files; }

  test::SimulatedDisk disk;
  test::ManualClock clock;
  std::unique_ptr<base::RandomSource> random;
  test::InlineExecutor executor;
  Tuning tuning;
  std::unique_ptr<Engine> engine;
};

BOOST_FIXTURE_TEST_SUITE(verify, SoundDatabase)

BOOST_AUTO_TEST_CASE(SoundDatabasesHaveNoFindings) {
  for (const bool deep : {false, true}) {
    const auto report = engine->Verify(deep);
    BOOST_REQUIRE(report.has_value());
    BOOST_TEST(report->findings.empty());
    if (!report->findings.empty()) BOOST_TEST_MESSAGE(report->findings[0].text);
    BOOST_TEST(report->files == 3u);
    BOOST_TEST(report->rows == 180u);
    BOOST_TEST((report->index_entries > 0) == deep);
  }
}

BOOST_AUTO_TEST_CASE(DamageUnderALiveDatabaseIsFound) {
  const std::string name = StoreFileName(format::FileNumber(Files()[1].number));
  const std::string content = *disk.Content("db", name);
  for (size_t at = 0; at < content.size(); at += 97) {
    std::string damaged = content;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    disk.SetContent("db", name, damaged);
    const auto report = engine->Verify(false);
    BOOST_REQUIRE_MESSAGE(!report.has_value() || !report->findings.empty(),
                          "byte " << at << " of " << name << " was changed silently");
  }
  disk.SetContent("db", name, content);
  BOOST_TEST(engine->Verify(true)->findings.empty());
}

BOOST_AUTO_TEST_CASE(FindingsNameTheFile) {
  const std::string name = StoreFileName(format::FileNumber(Files()[2].number));
  std::string content = *disk.Content("db", name);
  content[200] = static_cast<char>(content[200] ^ 1);
  disk.SetContent("db", name, content);
  const auto report = engine->Verify(true);
  BOOST_REQUIRE(report.has_value());
  BOOST_REQUIRE(!report->findings.empty());
  BOOST_TEST(report->findings[0].text.find(name) != std::string::npos);
  BOOST_TEST(report->files == 3u);
}

BOOST_AUTO_TEST_CASE(OneIndexIsChecked) {
  const auto sound = engine->VerifyIndex("t", "by_n");
  BOOST_REQUIRE(sound.has_value());
  BOOST_TEST(sound->findings.empty());
  BOOST_TEST(sound->files == 3u);
  BOOST_TEST(sound->rows == 180u);
  BOOST_TEST(sound->index_entries > 60u);
  BOOST_TEST((engine->VerifyIndex("t", "none").error().code() == StatusCode::kNotFound));
  BOOST_TEST((engine->VerifyIndex("none", "by_n").error().code() == StatusCode::kNotFound));

  // Each flipped byte of the file is either no part of the index and of rows, or found.
  const std::string name = StoreFileName(format::FileNumber(Files()[1].number));
  const std::string content = *disk.Content("db", name);
  int found = 0;
  for (size_t at = 0; at < content.size(); at += 53) {
    std::string damaged = content;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    disk.SetContent("db", name, damaged);
    const auto report = engine->VerifyIndex("t", "by_n");
    found += !report.has_value() || !report->findings.empty();
  }
  BOOST_TEST(found > 10);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::engine
