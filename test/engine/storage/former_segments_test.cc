// Lives that end without a close leave segments of the log. However many there were, a database
// opens under few descriptors and keeps few of them.
#define BOOST_TEST_DYN_LINK
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>
#include <vector>

#include "engine/storage/files.h"
#include "engine/storage/storage.h"
#include "test/engine/test_engine.h"
#include "test/support/print.h"
#include "test/support/temporary_directory.h"
#include "test/support/test_random.h"
#include "wal/operation.h"

namespace tandem::test {
namespace {

constexpr size_t kFormerMax = 16;

// What a directory holds. Reserved space after the frames of a log does not count.
struct Holdings {
  size_t segments = 0, files = 0;
  uint64_t manifest_bytes = 0, log_bytes = 0;
};

Holdings HoldingsOf(SimulatedDisk* disk) {
  const auto directory = *disk->OpenDirectory("db", false);
  Holdings holdings;
  for (const engine::LocalFile& file : *engine::ListLocalFiles(directory.get())) {
    const std::string content = *disk->Content("db", file.name);
    const uint64_t bytes = content.find_last_not_of('\0') + 1;
    ++holdings.files;
    if (file.kind == engine::LocalFileKind::kSegment) {
      ++holdings.segments;
      holdings.log_bytes += bytes;
    }
    if (file.kind == engine::LocalFileKind::kManifest) holdings.manifest_bytes += bytes;
  }
  return holdings;
}

// Opens, writes row `life` % 50 and dies.
uint64_t LiveAndDie(TestEngine* engine, int life) {
  const uint64_t before = engine->disk.control().operation_count();
  BOOST_TEST_REQUIRE(engine->Open().ToString() == "OK");
  const uint64_t operations = engine->disk.control().operation_count() - before;
  if (life == 0) BOOST_TEST_REQUIRE((*engine)->CreateTable(SimpleTable()).ToString() == "OK");
  const std::string row = "row" + std::to_string(life % 50);
  BOOST_TEST_REQUIRE(engine->Put(row, "c", std::to_string(life)).ToString() == "OK");
  engine->Kill();
  return operations;
}

BOOST_AUTO_TEST_SUITE(FormerSegments)

BOOST_AUTO_TEST_CASE(AThousandCrashLoopsLeaveFewSegments) {
  TestEngine engine;
  engine.tuning.memstore_bytes = 4 << 20;  // No flush helps.
  uint64_t operations_early = 0, operations_late = 0;
  Holdings early, late;
  const int lives = static_cast<int>(Trials(1100));
  for (int life = 0; life < lives; ++life) {
    const uint64_t operations = LiveAndDie(&engine, life);
    const Holdings holdings = HoldingsOf(&engine.disk);
    BOOST_TEST_REQUIRE(holdings.segments <= kFormerMax + 1);
    if (life < 64) {
      operations_early = std::max(operations_early, operations);
      early.manifest_bytes = std::max(early.manifest_bytes, holdings.manifest_bytes);
      early.files = std::max(early.files, holdings.files);
    } else {
      operations_late = std::max(operations_late, operations);
      late.manifest_bytes = std::max(late.manifest_bytes, holdings.manifest_bytes);
      late.files = std::max(late.files, holdings.files);
    }
  }
  BOOST_TEST(late.files <= early.files);
  BOOST_TEST(late.manifest_bytes <= early.manifest_bytes + 64);
  BOOST_TEST(operations_late <= operations_early + 8);
  BOOST_TEST_REQUIRE(engine.Open().ToString() == "OK");
  for (int life = lives - 50; life < lives; ++life) {
    BOOST_TEST(engine.Value("row" + std::to_string(life % 50), "c") == std::to_string(life));
  }
  const Result<VerifyReport> report = engine->Verify(true);
  BOOST_TEST_REQUIRE(report.status().ToString() == "OK");
  BOOST_TEST(report->findings.empty());
  BOOST_TEST(engine.Close().ToString() == "OK");
  BOOST_TEST(HoldingsOf(&engine.disk).segments == 1u);
}

// Frames of which every operation is in files are not carried along.
BOOST_AUTO_TEST_CASE(WhatIsFlushedIsNotRewritten) {
  TestEngine engine;
  TableOptions second = SimpleTable();
  second.name = "u";
  BOOST_TEST_REQUIRE(engine.Open().ToString() == "OK");
  BOOST_TEST_REQUIRE(engine->CreateTable(SimpleTable()).ToString() == "OK");
  BOOST_TEST_REQUIRE(engine->CreateTable(second).ToString() == "OK");
  BOOST_TEST_REQUIRE(engine.Put("kept", "c", "1").ToString() == "OK");
  const std::string large(8'000, 'v');
  for (size_t life = 0; life <= kFormerMax; ++life) {
    if (life > 0) BOOST_TEST_REQUIRE(engine.Open().ToString() == "OK");
    WriteBatch batch;
    batch.Put("u", "row", "d", "v", large);
    BOOST_TEST_REQUIRE(engine.Write(batch).ToString() == "OK");
    BOOST_TEST_REQUIRE(engine->Flush("u").ToString() == "OK");
    engine.Kill();
  }
  BOOST_TEST(HoldingsOf(&engine.disk).log_bytes > kFormerMax * large.size());
  BOOST_TEST_REQUIRE(engine.Open().ToString() == "OK");
  BOOST_TEST(HoldingsOf(&engine.disk).log_bytes < 1'000u);
  engine.Kill();
  BOOST_TEST_REQUIRE(engine.Open().ToString() == "OK");
  BOOST_TEST(engine.Rows() == "kept{c=1}");
  BOOST_TEST(engine.Rows("u") == "row{v=" + large + "}");
  const uint64_t sequence = engine->Info().last_sequence;
  BOOST_TEST(sequence == kFormerMax + 2);
}

// When nothing of the log is needed any more, no segment takes the place of the old ones.
BOOST_AUTO_TEST_CASE(ALogThatIsAllInFilesGoes) {
  TestEngine engine;
  engine.tuning.log_segment_bytes = 1;
  engine.tuning.memstore_bytes = 1 << 10;
  BOOST_TEST_REQUIRE(engine.Open().ToString() == "OK");
  BOOST_TEST_REQUIRE(engine->CreateTable(SimpleTable()).ToString() == "OK");
  for (int i = 0; i < 20; ++i) {
    BOOST_TEST_REQUIRE(engine.Put("row", "c", std::to_string(i)).ToString() == "OK");
  }
  // The files go in, and the edit that would remove the segments does not.
  engine.disk.control().SetHook([&](const DiskEvent& event) {
    if (event.operation == DiskOperation::kRemove) engine.disk.control().PowerOffAt(1);
  });
  (void)engine->Flush("t");
  engine.disk.control().SetHook(nullptr);
  engine.disk.control().PowerOn();
  engine.Kill();
  engine.tuning = SmallTuning();
  for (int i = 0; i < 3; ++i) {
    BOOST_TEST_REQUIRE(engine.Open().ToString() == "OK");
    BOOST_TEST(engine.Rows() == "row{c=19}");
    BOOST_TEST(HoldingsOf(&engine.disk).segments <= kFormerMax + 1);
    engine.Kill();
  }
}

// Without space for the one segment the open goes on with the many, and a later one tries again.
BOOST_AUTO_TEST_CASE(AFullDiskPutsTheRewritingOff) {
  for (uint64_t at = 1; at < 24; ++at) {
    TestEngine engine;
    engine.tuning.memstore_bytes = 4 << 20;
    for (int life = 0; life <= static_cast<int>(kFormerMax); ++life) LiveAndDie(&engine, life);
    // The rewritten segment is the first that the open creates after its manifest.
    uint64_t creations = 0;
    bool armed = false;
    engine.disk.control().SetHook([&](const DiskEvent& event) {
      const bool is_segment = event.name.starts_with("log-");
      creations += event.operation == DiskOperation::kCreate && is_segment ? 1 : 0;
      if (creations != 1 || armed) return;
      armed = true;
      engine.disk.control().InjectFault({.operations = {DiskOperation::kWrite},
                                         .at = at,
                                         .status = Status::NoSpace("injected: full")});
    });
    const Status status = engine.Open();
    engine.disk.control().SetHook(nullptr);
    const bool has_struck = engine.disk.control().has_struck();
    engine.disk.control().ClearFaults();
    if (!has_struck) {
      BOOST_TEST(at > 2u);
      break;
    }
    if (status.ok()) {
      BOOST_TEST(engine.Value("row7", "c") == "7");
      BOOST_TEST(engine.Put("more", "c", "x").ToString() == "OK");
    }
    engine.Kill();
    BOOST_TEST_REQUIRE(engine.Open().ToString() == "OK");
    BOOST_TEST(engine.Value("row7", "c") == "7");
    engine.Kill();
    BOOST_TEST_REQUIRE(engine.Open().ToString() == "OK");
    BOOST_TEST(HoldingsOf(&engine.disk).segments <= kFormerMax + 1);
    engine.Kill();
  }
}

// Runs `work` in a process of its own that may hold that many descriptors; whether it says that all
// is well.
bool InChild(rlim_t descriptors, const std::function<bool()>& work) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{descriptors, descriptors};
    const bool fits = setrlimit(RLIMIT_NOFILE, &limit) == 0;
    _exit(fits && work() ? 0 : 1);  // As a process that is killed: nothing is closed.
  }
  int outcome = 0;
  return child > 0 && waitpid(child, &outcome, 0) == child && WIFEXITED(outcome) &&
         WEXITSTATUS(outcome) == 0;
}

class RealDatabase {
 public:
  RealDatabase() : file_system_(base::NewPosixFileSystem()), random_(base::NewSystemRandom()) {}

  Result<std::unique_ptr<engine::Engine>> Open(bool read_only) {
    Options options;
    options.create_if_missing = !read_only;
    options.read_only = read_only;
    return engine::Engine::Open(path_, options, SmallTuning(),
                                {.file_system = file_system_.get(),
                                 .clock = &clock_,
                                 .random = random_.get(),
                                 .executor = &executor_});
  }
  // Logs values of d:c of row "row", 0 and up, each in a segment of its own. Requires: the database
  // has its table.
  bool LogInManySegments(int count) {
    engine::OpenStorageOptions options;
    options.file_system = file_system_.get();
    options.random = random_.get();
    options.path = path_;
    options.segment_bytes = 4096;
    options.former_segments_max = 1'000'000;
    const auto pass = [](const auto&) { return Status(); };
    const auto opened = engine::OpenLocalStorage(options, pass, pass);
    if (!opened || !opened->storage->Start({}).ok()) return false;
    engine::Storage& storage = *opened->storage;
    for (int i = 0; i < count; ++i) {
      wal::BatchEncoder batch;
      const std::string value = std::to_string(i);
      batch.BeginOperation(storage.catalog().tables.begin()->first, "row");
      format::Cell cell{};
      cell.qualifier = "c";
      cell.value = value;
      batch.AddCell(cell, i + 1);
      std::string payload;
      wal::AppendBatch(batch, &payload);
      storage.AppendLog({.first_sequence = static_cast<uint64_t>(i) + 1,
                         .timestamp = i + 1,
                         .count = 1,
                         .payload = payload});
      if (!storage.WriteLog().ok() || !storage.RollLog().ok()) return false;
    }
    _exit(0);
  }
  size_t SegmentCount() {
    const auto directory = *file_system_->OpenDirectory(path_, false);
    const auto files = *engine::ListLocalFiles(directory.get());
    return static_cast<size_t>(std::count_if(files.begin(), files.end(), [](const auto& file) {
      return file.kind == engine::LocalFileKind::kSegment;
    }));
  }

 private:
  TemporaryDirectory directory_{access("/dev/shm", W_OK) == 0 ? "/dev/shm" : ""};
  const std::string path_ = directory_.Path("db");
  ManualClock clock_;
  InlineExecutor executor_{clock_};
  std::unique_ptr<base::FileSystem> file_system_;
  std::unique_ptr<base::RandomSource> random_;
};

// Such as earlier versions left.
BOOST_AUTO_TEST_CASE(ADatabaseOfManySegmentsOpensUnderFewDescriptors) {
  constexpr int kWrites = 1'100;
  constexpr rlim_t kFew = 32;
  RealDatabase database;
  BOOST_TEST_REQUIRE(InChild(256, [&] {
    const auto engine = database.Open(false);
    return engine && (*engine)->CreateTable(SimpleTable()).ok() && (*engine)->Close().ok();
  }));
  BOOST_TEST_REQUIRE(InChild(256, [&] { return database.LogInManySegments(kWrites); }));
  BOOST_TEST(database.SegmentCount() > 1'000u);
  const auto has_row = [](engine::Engine& engine) {
    const auto row = engine.Get({}, "t", "row");
    return row.has_value() && row->has_value() &&
           (*row)->Find("d", "c").value_or("") == std::to_string(kWrites - 1);
  };
  BOOST_TEST(InChild(kFew, [&] {
    const auto engine = database.Open(true);
    return engine.has_value() && has_row(**engine);
  }));
  BOOST_TEST(database.SegmentCount() > 1'000u);
  BOOST_TEST(InChild(kFew, [&]() -> bool {
    const auto engine = database.Open(false);
    _exit(engine.has_value() && has_row(**engine) ? 0 : 1);
  }));
  BOOST_TEST(database.SegmentCount() <= 2u);
  BOOST_TEST(InChild(kFew, [&] {
    const auto engine = database.Open(false);
    return engine.has_value() && has_row(**engine) && (*engine)->Close().ok();
  }));
  BOOST_TEST(database.SegmentCount() == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
