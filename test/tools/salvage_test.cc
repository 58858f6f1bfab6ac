// Salvage of databases that are damaged in one place: what the report names is exactly what the
// copy lacks, and whatever byte is flipped the copy never holds what was not written.
#define BOOST_TEST_DYN_LINK
#include "engine/salvage/salvage.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/clock.h"
#include "base/file_system.h"
#include "base/random.h"
#include "engine/engine.h"
#include "engine/runtime/background.h"
#include "format/block/section_table.h"
#include "format/frame.h"
#include "format/row/data_section.h"
#include "store_file/store_file.h"
#include "test/support/temporary_directory.h"
#include "test/support/test_random.h"
#include "test/tools/program.h"
#include "test/tools/require_ok.h"
#include "wal/log.h"

namespace tandem::test {
namespace {

namespace fs = std::filesystem;

constexpr int kOldRows = 60, kNewRows = 20, kLoggedRows = 8;

std::string RowKey(int i) { return "row-" + std::to_string(100 + i); }

/// Files, clock and threads of one test.
class World {
 public:
  World()
      : file_system_(base::NewPosixFileSystem()),
        clock_(base::NewSystemClock()),
        random_(base::NewSeededRandom(7)) {
    auto executor = engine::NewThreadPool(1, clock_.get());
    BOOST_REQUIRE(executor.has_value());
    executor_ = *std::move(executor);
    tuning_.section_alignment = 64;
    tuning_.memstore_bytes = 1 << 20;
    tuning_.block_cache_bytes = 4 << 20;
    tuning_.log_segment_bytes = 64 << 10;
  }

  engine::Environment environment() const {
    return {file_system_.get(), clock_.get(), random_.get(), executor_.get()};
  }
  const engine::Tuning& tuning() const { return tuning_; }
  base::FileSystem& file_system() const { return *file_system_; }

  std::unique_ptr<engine::Engine> Open(const std::string& path) const {
    Options options;
    options.create_if_missing = true;
    auto engine = engine::Engine::Open(path, options, tuning_, environment());
    RequireOk(engine.status());
    return *std::move(engine);
  }

  Result<engine::SalvageReport> Salvage(const std::string& from, const std::string& to) const {
    return Salvage({.source = from, .destination = to});
  }
  Result<engine::SalvageReport> Salvage(const engine::SalvageOptions& options) const {
    return engine::Salvage(options, tuning_, environment(), nullptr);
  }

 private:
  std::unique_ptr<base::FileSystem> file_system_;
  std::unique_ptr<base::Clock> clock_;
  std::unique_ptr<base::RandomSource> random_;
  std::unique_ptr<base::Executor> executor_;
  engine::Tuning tuning_;
};

TableOptions SampleTable() {
  TableOptions table;
  table.name = "t";
  table.families.push_back({.name = "d", .max_versions = 3, .block_size_bytes = 512});
  table.families.push_back({.name = "e", .block_size_bytes = 512});
  table.indexes.push_back({"size", {{"d", "size", ColumnType::kInt64, false}}});
  return table;
}

void AddRow(WriteBatch* batch, int i, int64_t timestamp) {
  batch->Put("t", RowKey(i), "d", "size", std::to_string(i % 7), timestamp);
  batch->Put("t", RowKey(i), "d", "name",
             "name " + std::to_string(i) + " of " + std::to_string(timestamp), timestamp);
  if (i % 3 == 0) batch->Put("t", RowKey(i), "e", "note", std::string(40, 'n'), timestamp);
}

/// Two store files, the newer with deletions, and writes that are in the log alone: copied from
/// under a live database.
std::string MakeDatabase(const World& world, const TemporaryDirectory& directory) {
  const std::string live = directory.Path("live"), path = directory.Path("db");
  auto engine = world.Open(live);
  RequireOk(engine->CreateTable(SampleTable()));
  WriteBatch old;
  for (int i = 0; i < kOldRows; ++i) AddRow(&old, i, 1000 + i);
  RequireOk(engine->Write({}, old));
  RequireOk(engine->Flush("t"));
  WriteBatch newer;
  for (int i = 0; i < kNewRows; ++i) AddRow(&newer, i * 2, 5000 + i);
  newer.DeleteRow("t", RowKey(7));
  newer.DeleteColumn("t", RowKey(11), "d", "name", 9000);
  RequireOk(engine->Write({}, newer));
  RequireOk(engine->Flush("t"));
  for (int i = 0; i < kLoggedRows; ++i) {
    WriteBatch logged;
    AddRow(&logged, kOldRows + i, 9000 + i);
    RequireOk(engine->Write({.durability = Durability::kSynced}, logged));
  }
  fs::copy(live, path);
  RequireOk(engine->Close());
  return path;
}

std::set<std::string> Lines(const std::string& text) {
  std::set<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.insert(line);
  return lines;
}

/// Every cell that is visible, one a line: row, family, column, timestamp, value.
std::set<std::string> Cells(const std::string& path) {
  const ProgramRun run = RunProgram({"export", path, "t", "--format", "tsv"});
  BOOST_REQUIRE_MESSAGE(run.exit_code == 0, run.err);
  return Lines(run.out);
}

std::string RowOf(const std::string& cell) { return cell.substr(0, cell.find('\t')); }

void Flip(const fs::path& path, uint64_t offset) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset));
  const char byte = static_cast<char>(file.get() ^ 0x10);
  file.seekp(static_cast<std::streamoff>(offset));
  file.put(byte);
}

std::vector<std::string> FilesOf(const std::string& path, const std::string& prefix) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(prefix)) names.push_back(name);
  }
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return names;
}

std::shared_ptr<format::StoreFile> OpenStore(const World& world, const std::string& path,
                                             const std::string& name) {
  auto directory = world.file_system().OpenDirectory(path, false);
  RequireOk(directory.status());
  auto file = (*directory)->Open(name, base::OpenMode::kReadOnly);
  RequireOk(file.status());
  auto store = format::StoreFile::Open(*std::move(file), {}, nullptr);
  RequireOk(store.status());
  return *std::move(store);
}

struct Fixture {
  Fixture() : path(MakeDatabase(world, directory)), cells(Cells(path)) {}
  std::string Copy() const { return directory.Path("copy"); }

  World world;
  TemporaryDirectory directory;
  std::string path;
  std::set<std::string> cells;
};

BOOST_AUTO_TEST_SUITE(salvage)

BOOST_FIXTURE_TEST_CASE(NothingIsLostOfASoundDatabase, Fixture) {
  const ProgramRun run = RunProgram({"salvage", path, Copy(), "--output", "jsonl"});
  BOOST_CHECK_MESSAGE(run.exit_code == 0, run.out << run.err);
  BOOST_CHECK(Cells(Copy()) == cells);
  BOOST_CHECK_EQUAL(RunProgram({"verify", Copy(), "--deep"}).exit_code, 0);
  BOOST_CHECK_EQUAL(RunProgram({"salvage", path, Copy()}).exit_code, 5);
  BOOST_CHECK_EQUAL(RunProgram({"salvage", directory.Path("none"), Copy()}).exit_code, 3);
}

BOOST_FIXTURE_TEST_CASE(ABrokenBlockIsNamedWithWhatIndexesKnow, Fixture) {
  const std::string name = FilesOf(path, "store-").front();
  const auto store = OpenStore(world, path, name);
  const auto family = store->Family(format::FamilyId(0));
  RequireOk(family.status());
  RequireOk((*family)->LoadBlocks());
  BOOST_REQUIRE_GT((*family)->block_count(), 3);
  const format::DataBlock block = *(*family)->BlockAt(2);
  Flip(fs::path(path) / name, block.handle.offset + 40);

  const auto report = world.Salvage(path, Copy());
  RequireOk(report.status());
  BOOST_REQUIRE_EQUAL(report->lost.size(), 1);
  const engine::LostRange& lost = report->lost[0];
  BOOST_CHECK_EQUAL(lost.file, name);
  BOOST_CHECK_EQUAL(lost.family, "d");
  BOOST_CHECK_EQUAL(lost.offset, block.handle.offset);
  BOOST_CHECK_EQUAL(lost.rows, block.count);
  BOOST_CHECK_EQUAL(*lost.first_ordinal, block.first);
  BOOST_CHECK_EQUAL(*lost.last_ordinal, block.first + block.count - 1);
  BOOST_REQUIRE_EQUAL(lost.details.size(), block.count);
  for (const format::LostRow& row : lost.details) {
    const int i = static_cast<int>(row.ordinal);  // All old rows are in the first file.
    BOOST_CHECK(row.key_hash.has_value());
    BOOST_REQUIRE_EQUAL(row.values.size(), 1);
    BOOST_CHECK_EQUAL(row.values[0].value, std::to_string(i % 7));
    BOOST_CHECK(lost.keys.Contains(RowKey(i)));
    if (i % 3 == 0) BOOST_CHECK_EQUAL(*row.key, RowKey(i));  // Family e has it.
  }
  // What the copy lacks are the old versions of exactly these rows, in family d.
  std::set<std::string> expected;
  for (const std::string& cell : cells) {
    const int i = std::atoi(RowOf(cell).c_str() + 4) - 100;
    const bool is_lost = i >= static_cast<int>(block.first) &&
                         i < static_cast<int>(block.first + block.count) &&
                         cell.find("\td\t") != std::string::npos &&
                         cell.find("\t" + std::to_string(1000 + i) + "\t") != std::string::npos;
    if (!is_lost) expected.insert(cell);
  }
  BOOST_CHECK_LT(expected.size(), cells.size());
  BOOST_CHECK(Cells(Copy()) == expected);
  BOOST_CHECK(report->uncertain.empty());  // Nothing is older.

  const ProgramRun run = RunProgram({"salvage", path, directory.Path("two"), "--output", "jsonl"});
  BOOST_CHECK_EQUAL(run.exit_code, 8);
  BOOST_CHECK_NE(run.out.find("\"index\":\"size\""), std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(LostMarkersMakeOlderRowsUncertain, Fixture) {
  const std::string name = FilesOf(path, "store-").back();
  const auto store = OpenStore(world, path, name);
  const auto family = store->Family(format::FamilyId(0));
  RequireOk(family.status());
  RequireOk((*family)->LoadBlocks());
  const auto block = (*family)->BlockOfKey(RowKey(7));
  RequireOk(block.status());
  Flip(fs::path(path) / name, (*family)->BlockAt(*block)->handle.offset + 40);
  const auto report = world.Salvage(path, Copy());
  RequireOk(report.status());
  BOOST_REQUIRE_EQUAL(report->lost.size(), 1);
  BOOST_REQUIRE_EQUAL(report->uncertain.size(), 1);
  BOOST_CHECK(report->uncertain[0].keys.Contains(RowKey(7)));
  BOOST_CHECK_EQUAL(report->uncertain[0].because, name);
  // The deleted row is back in family d; the range says that it may be.
  const std::set<std::string> found = Cells(Copy());
  for (const std::string& cell : found) {
    if (!cells.contains(cell)) BOOST_CHECK(report->uncertain[0].keys.Contains(RowOf(cell)));
  }
  BOOST_CHECK(std::any_of(found.begin(), found.end(),
                          [](const std::string& cell) { return RowOf(cell) == RowKey(7); }));
}

BOOST_FIXTURE_TEST_CASE(DerivedSectionsAreMadeAnew, Fixture) {
  const std::string name = FilesOf(path, "store-").front();
  const auto store = OpenStore(world, path, name);
  std::set<int> kinds;
  int copies = 0;
  for (const format::SectionEntry& section : store->sections()) {
    if (section.kind == format::SectionKind::kData || section.size_bytes == 0) continue;
    kinds.insert(static_cast<int>(section.kind));
    const uint64_t offset = section.offset + 33;
    Flip(fs::path(path) / name, offset);
    const std::string copy = directory.Path("copy" + std::to_string(copies++));
    const auto report = world.Salvage(path, copy);
    RequireOk(report.status());
    BOOST_CHECK_MESSAGE(!report->lost_something(), "section of kind " << int(section.kind));
    BOOST_CHECK(!report->repaired.empty());
    BOOST_CHECK(Cells(copy) == cells);
    Flip(fs::path(path) / name, offset);
  }
  BOOST_CHECK_GE(kinds.size(), 10);
}

BOOST_FIXTURE_TEST_CASE(HeadersFootersAndTablesAreReplaced, Fixture) {
  const std::string name = FilesOf(path, "store-").front();
  const uint64_t size = fs::file_size(fs::path(path) / name);
  Flip(fs::path(path) / name, 70);          // The id in the header.
  Flip(fs::path(path) / name, size - 100);  // Both copies of the footer.
  Flip(fs::path(path) / name, size - 40);
  const auto report = world.Salvage(path, Copy());
  RequireOk(report.status());
  BOOST_CHECK(!report->lost_something());
  BOOST_CHECK_GE(report->repaired.size(), 2);
  BOOST_CHECK(Cells(Copy()) == cells);
}

BOOST_FIXTURE_TEST_CASE(AMissingFileIsLostWhole, Fixture) {
  const std::string name = FilesOf(path, "store-").back();
  fs::remove(fs::path(path) / name);
  const auto report = world.Salvage(path, Copy());
  RequireOk(report.status());
  BOOST_REQUIRE_EQUAL(report->lost.size(), 1);
  BOOST_CHECK_EQUAL(report->lost[0].file, name);
  BOOST_CHECK_EQUAL(report->lost[0].rows, kNewRows + 2);
  BOOST_CHECK_EQUAL(report->uncertain.size(), 1);
}

BOOST_FIXTURE_TEST_CASE(WithoutRootTheManifestServes, Fixture) {
  fs::remove(fs::path(path) / "ROOT");
  const ProgramRun run = RunProgram({"salvage", path, Copy()});
  BOOST_CHECK_MESSAGE(run.exit_code == 0, run.out << run.err);
  BOOST_CHECK(Cells(Copy()) == cells);
}

BOOST_FIXTURE_TEST_CASE(WithoutAnyManifestTheStoreFilesServe, Fixture) {
  fs::remove(fs::path(path) / "ROOT");
  for (const std::string& name : FilesOf(path, "manifest-")) fs::remove(fs::path(path) / name);
  const ProgramRun run = RunProgram({"salvage", path, Copy()});
  BOOST_CHECK_MESSAGE(run.exit_code == 8, run.out << run.err);
  BOOST_CHECK(Cells(Copy()) == cells);
}

BOOST_FIXTURE_TEST_CASE(NothingCanBeProvedWithoutSchemas, Fixture) {
  fs::remove(fs::path(path) / "ROOT");
  for (const std::string& name : FilesOf(path, "manifest-")) fs::remove(fs::path(path) / name);
  for (const std::string& name : FilesOf(path, "store-")) fs::remove(fs::path(path) / name);
  const ProgramRun run = RunProgram({"salvage", path, Copy()});
  BOOST_CHECK_EQUAL(run.exit_code, 4);
  BOOST_CHECK(!fs::exists(Copy()));
}

BOOST_FIXTURE_TEST_CASE(AFileBehindABrokenEditIsAnOrphan, Fixture) {
  // The edits after the first one are broken, so the newest file is not in the catalog.
  const std::string manifest = FilesOf(path, "manifest-").back();
  const uint64_t size = fs::file_size(fs::path(path) / manifest);
  Flip(fs::path(path) / manifest, size - 20);
  const auto listed = world.Salvage(path, Copy());
  RequireOk(listed.status());
  BOOST_CHECK(!listed->lost_edits.empty());
  BOOST_REQUIRE_EQUAL(listed->orphans.size(), 1);
  BOOST_CHECK_NE(listed->orphans[0].what.find("not in the catalog"), std::string::npos);
  const std::string with = directory.Path("with");
  const auto included =
      world.Salvage({.source = path, .destination = with, .include_orphans = true});
  RequireOk(included.status());
  BOOST_CHECK(Cells(with) == cells);
}

BOOST_FIXTURE_TEST_CASE(AHoleEndsTheLog, Fixture) {
  const std::string log = FilesOf(path, "log-").back();
  auto opened = world.file_system().OpenDirectory(path, false);
  RequireOk(opened.status());
  auto file = (*opened)->Open(log, base::OpenMode::kReadOnly);
  RequireOk(file.status());
  const auto header = wal::ReadSegmentHeader(file->get());
  RequireOk(header.status());
  format::FrameReader reader(file->get(), header->spec.id, wal::kSegmentHeaderBytes,
                             fs::file_size(fs::path(path) / log));
  std::vector<uint64_t> frames, sequences;
  while (true) {
    const auto frame = reader.Next();
    RequireOk(frame.status());
    if (!frame->has_value()) break;
    frames.push_back((*frame)->offset);
    sequences.push_back((*frame)->frame.first_sequence);
  }
  BOOST_REQUIRE_GE(frames.size(), kLoggedRows);
  const size_t broken = frames.size() - 4;
  Flip(fs::path(path) / log, frames[broken] + 60);

  const auto report = world.Salvage(path, Copy());
  RequireOk(report.status());
  BOOST_REQUIRE_EQUAL(report->holes.size(), 1);
  BOOST_CHECK_EQUAL(report->holes[0].segment, log);
  BOOST_CHECK_EQUAL(report->holes[0].offset, frames[broken]);
  BOOST_CHECK_EQUAL(report->holes[0].frames, 3);
  BOOST_CHECK_EQUAL(report->holes[0].first_sequence, sequences[broken + 1]);
  std::set<std::string> expected, past;
  for (const std::string& cell : cells) {
    const int i = std::atoi(RowOf(cell).c_str() + 4) - 100;
    if (i < kOldRows + kLoggedRows - 4) expected.insert(cell);
    if (i != kOldRows + kLoggedRows - 4) past.insert(cell);
  }
  // The line of column names is in both.
  BOOST_CHECK(Cells(Copy()) == expected);
  const std::string with = directory.Path("with");
  RequireOk(world.Salvage({.source = path, .destination = with, .past_holes = true}).status());
  BOOST_CHECK(Cells(with) == past);
}

/// What was ever written, as export prints it.
std::set<std::string> EverWritten(const World& world, const TemporaryDirectory& directory) {
  const std::string path = directory.Path("ever");
  auto engine = world.Open(path);
  RequireOk(engine->CreateTable(SampleTable()));
  WriteBatch all;
  for (int i = 0; i < kOldRows; ++i) AddRow(&all, i, 1000 + i);
  for (int i = 0; i < kNewRows; ++i) AddRow(&all, i * 2, 5000 + i);
  for (int i = 0; i < kLoggedRows; ++i) AddRow(&all, kOldRows + i, 9000 + i);
  RequireOk(engine->Write({}, all));
  RequireOk(engine->Close());
  return Cells(path);
}

/// Family e keeps one version, so an older one shows where the newer is lost.
bool WasWritten(const std::set<std::string>& ever, const std::string& cell) {
  if (ever.contains(cell)) return true;
  const int i = std::atoi(RowOf(cell).c_str() + 4) - 100;
  return cell == RowKey(i) + "\te\tnote\t" + std::to_string(1000 + i) + "\t" + std::string(40, 'n');
}

BOOST_FIXTURE_TEST_CASE(NoFlippedByteBringsWrongData, Fixture) {
  TestRandom random("salvage flips");
  const std::set<std::string> ever = EverWritten(world, directory);
  const int samples = std::getenv("TANDEM_QUICK") == nullptr ? 40 : 5;
  const std::string copy = Copy();
  for (const auto& entry : fs::directory_iterator(path)) {
    const std::string name = entry.path().filename();
    // A segment is preallocated; its frames are at its beginning.
    const uint64_t size = std::min<uint64_t>(entry.file_size(), 24 << 10);
    for (int i = 0; i < samples; ++i) {
      const uint64_t offset = random.Below(size);
      Flip(entry.path(), offset);
      const auto report = world.Salvage(path, copy);
      const std::string where = name + " at " + std::to_string(offset);
      BOOST_REQUIRE_MESSAGE(report.has_value(), where << ": " << report.status().ToString());
      BOOST_CHECK_MESSAGE(report->verified.findings.empty(), where);
      if (report->tables == 0) {  // The edit that made the table is lost, and this is reported.
        BOOST_CHECK_MESSAGE(!report->lost_edits.empty(), where);
        fs::remove_all(copy);
        Flip(entry.path(), offset);
        continue;
      }
      const std::set<std::string> found = Cells(copy);
      if (!report->lost_something()) BOOST_CHECK_MESSAGE(found == cells, where);
      for (const std::string& cell : found) {
        if (cells.contains(cell)) continue;
        BOOST_CHECK_MESSAGE(WasWritten(ever, cell), where << ": " << cell);
        const bool is_told = std::any_of(
            report->uncertain.begin(), report->uncertain.end(),
            [&](const engine::UncertainRange& range) { return range.keys.Contains(RowOf(cell)); });
        BOOST_CHECK_MESSAGE(is_told || !report->lost_edits.empty(), where << ": " << cell);
      }
      fs::remove_all(copy);
      Flip(entry.path(), offset);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
