// The local storage in ordinary life, on the real disk and the simulated one.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <string>
#include <utility>
#include <vector>

#include "engine/storage/files.h"
#include "engine/storage/storage.h"
#include "test/engine/storage/storage_workload.h"
#include "test/support/print.h"
#include "test/support/sample_records.h"
#include "test/support/temporary_directory.h"
#include "tools/simulation/simulated_disk.h"

namespace tandem::test {
namespace {

using engine::Storage;
using format::CatalogEdit;
using format::FileNumber;

struct Simulated {
  SimulatedDisk disk;
  StorageModel model;
  OpenedForTest opened = OpenStorage(&disk, kDatabasePath);

  Simulated() { BOOST_TEST_REQUIRE(opened.status.ToString() == "OK"); }
  Storage& storage() { return *opened.storage; }
  void Reopen(const OpenForTest& how = {}) {
    opened.storage.reset();
    opened = OpenStorage(&disk, kDatabasePath, how);
  }
};

BOOST_AUTO_TEST_SUITE(LocalStorageSuite)

BOOST_AUTO_TEST_CASE(AWorkloadComesBackAfterACleanClose) {
  TemporaryDirectory directory;
  const auto file_system = base::NewPosixFileSystem();
  const std::string path = directory.Path("db");
  StorageModel model;
  OpenedForTest opened = OpenStorage(file_system.get(), path);
  BOOST_TEST_REQUIRE(opened.status.ToString() == "OK");
  BOOST_TEST(!opened.was_closed);
  StorageWorkload workload(opened.storage.get(), &model);
  workload.Run();
  BOOST_TEST(workload.errors() == 0u);
  BOOST_TEST(opened.storage->CloseCleanly().ToString() == "OK");
  for (int i = 0; i < 3; ++i) {
    opened.storage.reset();
    opened = OpenStorage(file_system.get(), path);
    BOOST_TEST(model.Contradiction(opened, true) == "");
    BOOST_TEST(opened.was_closed);
    BOOST_TEST(opened.replay.torn_bytes == 0u);
    BOOST_TEST(opened.storage->CloseCleanly().ToString() == "OK");
  }
}

BOOST_AUTO_TEST_CASE(AWorkloadComesBackWithoutAClose) {
  TemporaryDirectory directory;
  const auto file_system = base::NewPosixFileSystem();
  const std::string path = directory.Path("db");
  StorageModel model;
  OpenedForTest opened = OpenStorage(file_system.get(), path);
  StorageWorkload(opened.storage.get(), &model).Run();
  for (int i = 0; i < 3; ++i) {
    opened.storage.reset();
    opened = OpenStorage(file_system.get(), path);
    BOOST_TEST(model.Contradiction(opened, true) == "");
    BOOST_TEST(!opened.was_closed);
  }
}

BOOST_AUTO_TEST_CASE(WhereNoDatabaseIsNoneIsFound) {
  SimulatedDisk disk;
  BOOST_TEST((OpenStorage(&disk, "db", {.create = false}).status.code() == StatusCode::kNotFound));
  (void)*disk.OpenDirectory("db", true);
  BOOST_TEST((OpenStorage(&disk, "db", {.create = false}).status.code() == StatusCode::kNotFound));
  BOOST_TEST((OpenStorage(&disk, "db", {.create = false, .read_only = true}).status.code() ==
              StatusCode::kNotFound));
}

BOOST_AUTO_TEST_CASE(ASecondOwnerIsRefusedAndAReaderIsNot) {
  Simulated db;
  BOOST_TEST((OpenStorage(&db.disk, kDatabasePath).status.code() == StatusCode::kBusy));
  const OpenedForTest reader = OpenStorage(&db.disk, kDatabasePath, {.read_only = true});
  BOOST_TEST(reader.status.ToString() == "OK");
}

BOOST_AUTO_TEST_CASE(AForeignFileIsNoDatabaseAndStays) {
  SimulatedDisk disk;
  disk.SetContent("db", "ROOT", "somebody's notes");
  BOOST_TEST((OpenStorage(&disk, "db").status.code() == StatusCode::kCorruption));
  BOOST_TEST(*disk.Content("db", "ROOT") == "somebody's notes");
}

BOOST_AUTO_TEST_CASE(ALostRootIsNotCreatedAnew) {
  Simulated db;
  BOOST_TEST(db.storage().CloseCleanly().ToString() == "OK");
  db.opened.storage.reset();
  BOOST_TEST(db.disk.RemoveDurably(kDatabasePath, "ROOT").ToString() == "OK");
  BOOST_TEST((OpenStorage(&db.disk, kDatabasePath).status.code() == StatusCode::kCorruption));
  BOOST_TEST((OpenStorage(&db.disk, kDatabasePath, {.create = false}).status.code() ==
              StatusCode::kCorruption));
}

BOOST_AUTO_TEST_CASE(APreparedRollCreatesNothing) {
  Simulated db;
  BOOST_TEST(db.storage().PrepareRoll().ToString() == "OK");
  BOOST_TEST(db.storage().PrepareRoll().ToString() == "OK");
  db.disk.control().SetTracing(true);
  BOOST_TEST(db.storage().RollLog().ToString() == "OK");
  for (const DiskEvent& event : db.disk.control().TakeTrace()) {
    BOOST_TEST((event.operation != DiskOperation::kCreate), Describe(event));
  }
  BOOST_TEST(db.storage().RollLog().ToString() == "OK");
  BOOST_TEST(ListingContradiction(&db.disk, db.storage().catalog()) == "");
}

BOOST_AUTO_TEST_CASE(APreparedFileThatIsNotNeededGoes) {
  Simulated db;
  BOOST_TEST(db.storage().PrepareRoll().ToString() == "OK");
  BOOST_TEST(ListingContradiction(&db.disk, db.storage().catalog()) != "");
  BOOST_TEST(db.storage().CloseCleanly().ToString() == "OK");
  BOOST_TEST(ListingContradiction(&db.disk, db.storage().catalog()) == "");
  db.Reopen();
  BOOST_TEST(db.storage().PrepareRoll().ToString() == "OK");
  db.Reopen();
  BOOST_TEST_REQUIRE(db.opened.status.ToString() == "OK");
  BOOST_TEST(ListingContradiction(&db.disk, db.storage().catalog()) == "");
}

// After a close, a segment that is newer than those which ROOT names is damage.
BOOST_AUTO_TEST_CASE(ACloseIsNotCleanWhileAnUnusedSegmentStays) {
  Simulated db;
  BOOST_TEST(db.storage().PrepareRoll().ToString() == "OK");
  db.disk.control().InjectFault({.operations = {DiskOperation::kRemove}});
  BOOST_TEST((db.storage().CloseCleanly().code() == StatusCode::kIoError));
  db.Reopen();
  BOOST_TEST_REQUIRE(db.opened.status.ToString() == "OK");
  BOOST_TEST(!db.opened.was_closed);
}

// What PrepareRoll has made goes with the failure, but for a file that cannot be removed.
BOOST_AUTO_TEST_CASE(AFileThatCouldNotBeRemovedGoesAtTheClose) {
  Simulated db;
  db.disk.control().InjectFault(
      {.operations = {DiskOperation::kPreallocate}, .status = Status::NoSpace("injected")});
  db.disk.control().InjectFault({.operations = {DiskOperation::kRemove}});
  BOOST_TEST((db.storage().PrepareRoll().code() == StatusCode::kNoSpace));
  BOOST_TEST(db.storage().CloseCleanly().ToString() == "OK");
  db.Reopen();
  BOOST_TEST_REQUIRE(db.opened.status.ToString() == "OK");
  BOOST_TEST(db.opened.was_closed);
}

// Segments have rising numbers, so a file that was prepared beside a roll is of no use after it.
BOOST_AUTO_TEST_CASE(AFileThatWasPreparedBesideARollIsNotUsed) {
  Simulated db;
  bool has_rolled = false;
  db.disk.control().SetHook([&](const DiskEvent& event) {
    if (event.operation != DiskOperation::kPreallocate || std::exchange(has_rolled, true)) return;
    BOOST_TEST(db.storage().RollLog().ToString() == "OK");
  });
  BOOST_TEST(db.storage().PrepareRoll().ToString() == "OK");
  db.disk.control().SetHook(nullptr);
  BOOST_TEST(has_rolled);
  BOOST_TEST(db.storage().RollLog().ToString() == "OK");
  BOOST_TEST(ListingContradiction(&db.disk, db.storage().catalog()) == "");
}

BOOST_AUTO_TEST_CASE(APreparedRollThatFindsNoSpaceLeavesNothing) {
  Simulated db;
  db.disk.control().InjectFault(
      {.operations = {DiskOperation::kPreallocate}, .status = Status::NoSpace("injected")});
  BOOST_TEST((db.storage().PrepareRoll().code() == StatusCode::kNoSpace));
  BOOST_TEST(ListingContradiction(&db.disk, db.storage().catalog()) == "");
  BOOST_TEST(db.storage().RollLog().ToString() == "OK");
}

BOOST_AUTO_TEST_CASE(AnotherEpochIsRefused) {
  Simulated db;
  BOOST_TEST((db.storage().CommitEdits(2, {}).code() == StatusCode::kConflict));
  BOOST_TEST(db.storage().CommitEdits(1, {}).ToString() == "OK");
}

BOOST_AUTO_TEST_CASE(AnEditThatDoesNotFitChangesNothing) {
  Simulated db;
  CatalogEdit edit;
  edit.remove_tables.push_back(format::TableId(4));
  BOOST_TEST((db.storage().CommitEdits(1, edit).code() == StatusCode::kInvalidArgument));
  StorageWorkload workload(&db.storage(), &db.model);
  workload.Run();
  BOOST_TEST(workload.errors() == 0u);
}

BOOST_AUTO_TEST_CASE(CountersNeverShrink) {
  Simulated db;
  CatalogEdit edit;
  edit.counters.emplace();
  edit.counters->last_sequence = 70;
  BOOST_TEST(db.storage().CommitEdits(1, edit).ToString() == "OK");
  edit.counters->last_sequence = 60;
  edit.counters->last_timestamp = 5;
  BOOST_TEST(db.storage().CommitEdits(1, edit).ToString() == "OK");
  const format::CatalogCounters counters = db.storage().catalog().counters;
  BOOST_TEST(counters.last_sequence == 70u);
  BOOST_TEST(counters.last_timestamp == 5);
  BOOST_TEST(counters.next_file_number > 1u);
}

BOOST_AUTO_TEST_CASE(NumbersAreReservedAndNeverGivenTwice) {
  Simulated db;
  std::set<uint64_t> given;
  for (int life = 0; life < 4; ++life) {
    for (int i = 0; i < 100; ++i) {
      const auto file = db.storage().CreateFile();
      BOOST_REQUIRE(file.has_value());
      BOOST_TEST(given.insert(file->number.value).second);
      BOOST_TEST(file->number.value < db.storage().catalog().counters.next_file_number);
    }
    if (life % 2 == 0) BOOST_TEST(db.storage().CloseCleanly().ToString() == "OK");
    db.opened.storage.reset();
    db.disk.Crash({.kept = CrashPolicy::Kept::kNone});
    db.Reopen();
    BOOST_TEST_REQUIRE(db.opened.status.ToString() == "OK");
  }
}

BOOST_AUTO_TEST_CASE(FilesOfTheDatabaseCannotBeDeletedOthersCan) {
  Simulated db;
  StorageWorkload(&db.storage(), &db.model).Run();
  const format::Catalog catalog = db.storage().catalog();
  BOOST_REQUIRE(!catalog.files.empty());
  const FileNumber used = catalog.files.begin()->first;
  BOOST_TEST((db.storage().DeleteFile(used).code() == StatusCode::kInvalidArgument));
  BOOST_TEST((db.storage().DeleteFile(db.storage().current_segment()).code() ==
              StatusCode::kInvalidArgument));
  const FileNumber fresh = db.storage().CreateFile()->number;
  BOOST_TEST(db.storage().DeleteFile(fresh).ToString() == "OK");
  BOOST_TEST(db.storage().DeleteFile(fresh).ToString() == "OK");
  BOOST_TEST((db.storage().OpenFile(fresh).status().code() == StatusCode::kNotFound));
  BOOST_TEST(ListingContradiction(&db.disk, db.storage().catalog()) == "");
}

BOOST_AUTO_TEST_CASE(EmptySegmentsDoNotGather) {
  Simulated db;
  for (int i = 0; i < 5; ++i) {
    if (i % 2 == 0) BOOST_TEST(db.storage().CloseCleanly().ToString() == "OK");
    db.Reopen();
    BOOST_TEST_REQUIRE(db.opened.status.ToString() == "OK");
    BOOST_TEST(db.storage().catalog().segments.size() == 1u);
    BOOST_TEST(ListingContradiction(&db.disk, db.storage().catalog()) == "");
  }
}

BOOST_AUTO_TEST_CASE(ManySegmentsCloseAndOpen) {
  Simulated db;
  StorageWorkload workload(&db.storage(), &db.model);
  for (size_t i = 0; i < format::kRootSegmentsMax + 20; ++i) {
    BOOST_TEST(workload.RunOnce().ToString() == "OK");
    BOOST_TEST(db.storage().RollLog().ToString() == "OK");
  }
  BOOST_TEST(db.storage().log_bytes() > 120 * 200u);
  BOOST_TEST(db.storage().CloseCleanly().ToString() == "OK");
  db.Reopen();
  BOOST_TEST(db.model.Contradiction(db.opened, true) == "");
}

BOOST_AUTO_TEST_CASE(TheLogsSizeFollowsItsSegments) {
  Simulated db;
  const uint64_t before = db.storage().log_bytes();
  StorageWorkload workload(&db.storage(), &db.model);
  BOOST_TEST(workload.RunOnce().ToString() == "OK");
  BOOST_TEST(db.storage().log_bytes() == before + format::FrameBytes(30));
  const FileNumber old = db.storage().current_segment();
  BOOST_TEST(db.storage().RollLog().ToString() == "OK");
  BOOST_TEST((db.storage().current_segment() > old));
  BOOST_TEST(db.storage().segment_bytes() == wal::kSegmentHeaderBytes);
  CatalogEdit edit;
  edit.remove_segments.push_back(old);
  BOOST_TEST(db.storage().CommitEdits(1, edit).ToString() == "OK");
  BOOST_TEST(db.storage().log_bytes() == wal::kSegmentHeaderBytes);
  BOOST_TEST(db.disk.Content(kDatabasePath, engine::SegmentName(old)).status().ToString() != "OK");
}

BOOST_AUTO_TEST_CASE(AReaderSeesAPrefixAndKeepsItsFiles) {
  Simulated db;
  StorageWorkload workload(&db.storage(), &db.model);
  workload.Run();
  const OpenedForTest reader = OpenStorage(&db.disk, kDatabasePath, {.read_only = true});
  BOOST_TEST(db.model.Contradiction(reader, true) == "");
  // The writer drops everything that the reader holds.
  CatalogEdit edit;
  const format::Catalog catalog = db.storage().catalog();
  edit.remove_tables.push_back(format::TableId(1));
  for (const auto& [id, region] : catalog.regions) edit.remove_regions.push_back(id);
  for (const auto& [number, file] : catalog.files) edit.remove_files.push_back(number);
  BOOST_TEST(db.storage().CommitEdits(1, edit).ToString() == "OK");
  for (FileNumber number : edit.remove_files) {
    BOOST_TEST(db.storage().DeleteFile(number).ToString() == "OK");
  }
  BOOST_TEST(db.model.Contradiction(reader, true) == "");
  BOOST_TEST((reader.storage->CommitEdits(1, {}).code() == StatusCode::kReadOnly));
  BOOST_TEST((reader.storage->CreateFile().status().code() == StatusCode::kReadOnly));
  BOOST_TEST((reader.storage->WriteLog().code() == StatusCode::kReadOnly));
  BOOST_TEST(reader.storage->CloseCleanly().ToString() == "OK");
}

BOOST_AUTO_TEST_CASE(AReaderOpensBesideAWriterAtEveryMoment) {
  Simulated db;
  uint64_t opens = 0;
  bool inside = false;
  db.disk.control().SetHook([&](const DiskEvent&) {
    if (inside) return;
    inside = true;
    const OpenedForTest reader = OpenStorage(&db.disk, kDatabasePath, {.read_only = true});
    BOOST_TEST(db.model.Contradiction(reader, false) == "");
    ++opens;
    inside = false;
  });
  StorageWorkload(&db.storage(), &db.model).Run();
  BOOST_TEST(opens > 50u);
  BOOST_TEST(db.storage().CloseCleanly().ToString() == "OK");
  db.Reopen();
  BOOST_TEST(db.model.Contradiction(db.opened, true) == "");
}

// The reader is interrupted at every one of its steps by a writer that works.
BOOST_AUTO_TEST_CASE(AWriterGoesOnAtEveryMomentOfAReader) {
  for (uint64_t step = 1; step < 30; ++step) {
    Simulated db;
    BOOST_TEST(StorageWorkload(&db.storage(), &db.model).RunOnce().ToString() == "OK");
    if (step % 2 == 0) {
      BOOST_TEST(db.storage().CloseCleanly().ToString() == "OK");
      db.Reopen();
    }
    uint64_t count = 0;
    db.disk.control().SetHook([&](const DiskEvent&) {
      if (++count != step) return;
      StorageWorkload(&db.storage(), &db.model).Run();
    });
    const OpenedForTest reader = OpenStorage(&db.disk, kDatabasePath, {.read_only = true});
    db.disk.control().SetHook(nullptr);
    BOOST_TEST(reader.status.ToString() == "OK");
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
