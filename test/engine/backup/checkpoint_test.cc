// Checkpoints: what is in them, that source and copy are independent, and that an error or a crash
// at any operation leaves no incomplete copy that opens.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>
#include <vector>

#include "test/engine/copied_database.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr const char* kCopy = "copy";

std::string Key(int number) { return "r" + std::to_string(1000 + number); }

// Several files, some of them merged, and rows in the log.
void Fill(TestEngine* engine) {
  BOOST_REQUIRE(engine->Open().ok());
  BOOST_REQUIRE((*engine)->CreateTable(SimpleTable(2)).ok());
  for (int i = 0; i < 60; ++i) {
    BOOST_REQUIRE(engine->Put(Key(i), "c", "v" + std::to_string(i)).ok());
    if (i % 20 == 19) BOOST_REQUIRE((*engine)->Flush("t").ok());
  }
  engine->executor.Drain();
  BOOST_REQUIRE(engine->Put(Key(1), "c", "newer", Durability::kSynced).ok());
}

uint64_t Count(std::vector<DiskEvent> trace, DiskOperation operation) {
  uint64_t count = 0;
  for (const DiskEvent& event : trace) count += event.operation == operation ? 1 : 0;
  return count;
}

// Whether "copy" on `disk` is a database, and the right one. Otherwise empty: it does not open.
std::string Look(SimulatedDisk* disk) {
  CopiedDatabase copy(disk, kCopy, /*read_only=*/true);
  const StatusCode code = copy.status().code();
  if (code == StatusCode::kNotFound || code == StatusCode::kCorruption) return "";
  return copy.Rows() + copy.Findings();
}

// Store files in the source's directory, whether the catalog names them or not.
uint64_t StoreFilesOf(TestEngine* engine) {
  uint64_t count = 0;
  for (const std::string& name : *(*engine->disk.OpenDirectory("db", false))->List()) {
    count += name.starts_with("store-") ? 1 : 0;
  }
  return count;
}

BOOST_AUTO_TEST_SUITE(CheckpointSuite)

BOOST_AUTO_TEST_CASE(EveryAcknowledgedWriteIsInIt) {
  TestEngine engine;
  Fill(&engine);
  BOOST_TEST(engine.Put("memory", "c", "1", Durability::kMemory).ok());
  BOOST_TEST(engine.Put("buffered", "c", "2", Durability::kBuffered).ok());
  const std::string rows = engine.Rows();
  const uint64_t sequence = engine->Info().last_sequence;
  BOOST_TEST(engine->Checkpoint(kCopy).ToString() == "OK");
  BOOST_TEST(engine.Put("later", "c", "3").ok());
  CopiedDatabase copy(&engine.disk, kCopy);
  BOOST_TEST(copy.Rows() == rows);
  BOOST_TEST(copy.Findings() == "");
  const DatabaseInfo info = copy->Info();
  BOOST_TEST(info.last_sequence == sequence);
  BOOST_TEST(info.recovered_operations == 0u);
  // It is durable as it is.
  const auto crashed = engine.disk.CrashedCopy({});
  BOOST_TEST(Look(crashed.get()) == rows);
}

BOOST_AUTO_TEST_CASE(SourceAndCopyLeaveEachOtherAlone) {
  TestEngine engine;
  Fill(&engine);
  const std::string rows = engine.Rows();
  engine.disk.control().SetTracing(true);
  BOOST_TEST(engine->Checkpoint(kCopy).ok());
  const std::vector<DiskEvent> trace = engine.disk.control().TakeTrace();
  BOOST_TEST(Count(trace, DiskOperation::kLink) == engine.FileCount());
  // The source replaces all of its files, and ends; then the copy does the same.
  for (int i = 0; i < 60; ++i) BOOST_TEST(engine.Put(Key(i), "c", "changed").ok());
  BOOST_TEST(engine->Compact("t").ok());
  engine.executor.Drain();
  const std::string changed = engine.Rows();
  CopiedDatabase copy(&engine.disk, kCopy);
  BOOST_TEST(copy.Rows() == rows);
  WriteBatch batch;
  batch.DeleteRow("t", Key(7));
  BOOST_TEST(copy->Write({}, batch).ok());
  BOOST_TEST(copy->Compact("t").ok());
  copy.executor().Drain();
  BOOST_TEST(copy.Rows().find(Key(7)) == std::string::npos);
  BOOST_TEST(copy.Findings() == "");
  BOOST_TEST(copy->Close().ok());
  BOOST_TEST(engine.Rows() == changed);
  BOOST_TEST(engine.Close().ok());
  BOOST_TEST(engine.Open().ok());
  BOOST_TEST(engine.Rows() == changed);
}

BOOST_AUTO_TEST_CASE(WithoutLinksFilesAreCopiedAndCompared) {
  TestEngine engine;
  Fill(&engine);
  const std::string rows = engine.Rows();
  const DiskFault no_links{.operations = {DiskOperation::kLink},
                           .sticky = true,
                           .status = Status::Unsupported("injected: no links")};
  engine.disk.control().InjectFault(no_links);
  BOOST_TEST(engine->Checkpoint(kCopy).ToString() == "OK");
  BOOST_TEST(Look(&engine.disk) == rows);
  // Damage of the source is not copied.
  const uint64_t number = engine->Info().tables[0].regions[0].files[0].number;
  const std::string name = "store-" + std::to_string(number);
  std::string bytes = *engine.disk.Content("db", name);
  bytes[bytes.size() / 2] ^= 1;
  engine.disk.SetContent("db", name, bytes);
  const Status status = engine->Checkpoint("second");
  BOOST_TEST(status.code() == StatusCode::kCorruption);
  BOOST_TEST(status.message().find(name + ": hash of the whole file: expected ") == 0u);
  BOOST_TEST(!engine.disk.Content("second", name).has_value());
}

BOOST_AUTO_TEST_CASE(AReaderMakesOneWithWhatTheLogHolds) {
  TestEngine engine;
  Fill(&engine);
  const std::string rows = engine.Rows();
  CopiedDatabase reader(&engine.disk, "db", /*read_only=*/true);
  // The writer continues, and removes the files that the reader has open.
  for (int i = 0; i < 60; ++i) BOOST_TEST(engine.Put(Key(i), "c", "changed").ok());
  BOOST_TEST(engine->Compact("t").ok());
  engine.executor.Drain();
  BOOST_TEST(reader->Checkpoint(kCopy).ToString() == "OK");
  CopiedDatabase copy(&engine.disk, kCopy);
  BOOST_TEST(copy.Rows() == rows);
  BOOST_TEST(copy->Info().recovered_operations > 0u);
  BOOST_TEST(copy.Findings() == "");
  WriteBatch batch;
  batch.Put("t", "mine", "d", "c", "1");
  BOOST_TEST(copy->Write({}, batch).ok());
  BOOST_TEST(copy->Close().ok());
  BOOST_TEST(Look(&engine.disk) != rows);
}

BOOST_AUTO_TEST_CASE(WhatStandsThereIsToldApart) {
  TestEngine engine;
  Fill(&engine);
  BOOST_TEST(engine->Checkpoint(kCopy).ok());
  BOOST_TEST(engine->Checkpoint(kCopy).ToString() ==
             "AlreadyExists: 'copy' exists already and holds a database; name another directory");
  engine.disk.SetContent("half", "store-7", "x");
  BOOST_TEST(engine->Checkpoint("half").ToString() ==
             "AlreadyExists: 'half' exists already, without a ROOT: a copy that was not finished; "
             "remove it ('rm -r') and try again");
  engine.disk.SetContent("other", "notes.txt", "x");
  BOOST_TEST(engine->Checkpoint("other").ToString() ==
             "AlreadyExists: 'other' exists already; name a directory that does not exist");
}

BOOST_AUTO_TEST_CASE(ACrashAnywhereLeavesAllOrNothing) {
  TestEngine engine;
  Fill(&engine);
  const std::string rows = engine.Rows();
  uint64_t crashes = 0, whole = 0;
  engine.disk.control().SetHook([&](const DiskEvent& event) {
    if (event.operation == DiskOperation::kRead) return;
    ++crashes;
    for (uint64_t seed = 0; seed < 4; ++seed) {
      const CrashPolicy policy{
          .kept = seed == 0 ? CrashPolicy::Kept::kAll : CrashPolicy::Kept::kRandom,
          .seed = crashes * 10 + seed};
      const auto crashed = engine.disk.CrashedCopy(policy);
      const std::string found = Look(crashed.get());
      if (!found.empty()) ++whole;
      BOOST_TEST((found.empty() || found == rows), "crash " << crashes << ": " << found);
      // The source recovers, whatever happened to the copy.
      CopiedDatabase source(crashed.get(), "db");
      BOOST_TEST(source.Rows() == rows, "crash " << crashes);
    }
  });
  BOOST_TEST(engine->Checkpoint(kCopy).ok());
  engine.disk.control().SetHook(nullptr);
  BOOST_TEST(crashes > 30u);
  BOOST_TEST(whole > 0u);
}

BOOST_AUTO_TEST_CASE(AnErrorAnywhereLeavesNothingAndTheSourceGoesOn) {
  uint64_t failures = 0;
  for (uint64_t at = 1;; ++at) {
    TestEngine engine;
    Fill(&engine);
    BOOST_REQUIRE(engine->Flush("t").ok());
    engine.executor.Drain();
    const std::string rows = engine.Rows();
    const std::vector<DiskOperation> of_the_copy = {
        DiskOperation::kLink,         DiskOperation::kCreate, DiskOperation::kOpen,
        DiskOperation::kRead,         DiskOperation::kWrite,  DiskOperation::kDataSync,
        DiskOperation::kDirectorySync};
    uint64_t begun = 0;
    engine.disk.control().SetHook([&](const DiskEvent& event) {
      // From the first operation in the copy's directory on.
      if (begun == 0 && event.operation == DiskOperation::kLink) begun = 1;
      if (begun != 1) return;
      begun = 2;
      engine.disk.control().InjectFault(
          {.operations = of_the_copy, .at = at, .status = Status::NoSpace("injected: full")});
    });
    const Status status = engine->Checkpoint(kCopy);
    engine.disk.control().SetHook(nullptr);
    const bool struck = engine.disk.control().has_struck();
    engine.disk.control().ClearFaults();
    if (!struck) {
      BOOST_TEST(status.ok());
      break;
    }
    ++failures;
    BOOST_TEST(!status.ok(), "operation " << at);
    BOOST_TEST(Look(&engine.disk) == "", "operation " << at);
    const auto left = engine.disk.OpenDirectory(kCopy, false);
    BOOST_TEST((!left.has_value() || (*left)->List()->empty()), "operation " << at);
    BOOST_TEST(engine.Rows() == rows);
    BOOST_TEST(engine.Put("after", "c", "1").ToString() == "OK", "operation " << at);
    BOOST_TEST(engine->Checkpoint("again").ToString() == "OK");
  }
  BOOST_TEST(failures > 15u);
}

BOOST_AUTO_TEST_CASE(FilesThatWentMeanwhileGoAfterwards) {
  TestEngine engine;
  Fill(&engine);
  BOOST_REQUIRE(engine->Flush("t").ok());
  engine.executor.Drain();
  bool compacted = false;
  engine.disk.control().SetHook([&](const DiskEvent& event) {
    if (event.operation != DiskOperation::kLink || compacted) return;
    compacted = true;
    BOOST_TEST(engine->Compact("t").ok());
    // Nothing of that point in time is gone.
    BOOST_TEST(StoreFilesOf(&engine) > engine.FileCount());
  });
  const std::string rows = engine.Rows();
  BOOST_TEST(engine->Checkpoint(kCopy).ToString() == "OK");
  engine.disk.control().SetHook(nullptr);
  BOOST_TEST(compacted);
  BOOST_TEST(Look(&engine.disk) == rows);
  engine.executor.Drain();
  BOOST_TEST(StoreFilesOf(&engine) == engine.FileCount());
}

BOOST_AUTO_TEST_CASE(AClosedOrBrokenDatabaseSaysSo) {
  TestEngine engine;
  Fill(&engine);
  engine.disk.control().InjectFault({.operations = {DiskOperation::kDataSync}, .sticky = true});
  BOOST_TEST(!engine.Put("x", "c", "1", Durability::kSynced).ok());
  BOOST_TEST(engine->Checkpoint(kCopy).code() == StatusCode::kReadOnly);
  engine.disk.control().ClearFaults();
  BOOST_TEST(engine->Checkpoint(kCopy).code() == StatusCode::kReadOnly);
  BOOST_TEST(!engine.disk.OpenDirectory(kCopy, false).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
