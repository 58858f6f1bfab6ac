// Damage in the derived sections of files beneath an open database: every read stays what a scan
// returned before, the damage is reported once, and the file is rewritten in the background.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "store_file/store_file.h"
#include "tandem/event_listener.h"
#include "test/engine/test_engine.h"

namespace tandem::test {
namespace {

using format::SectionKind;

constexpr int kRows = 1500;

std::string Key(int i) { return "row" + std::to_string(10'000 + i); }

class Listener final : public EventListener {
 public:
  void OnBrokenSection(const BrokenSectionEvent& event) override {
    BOOST_CHECK_EQUAL(event.table, "t");
    BOOST_CHECK(!event.reason.empty());
    told.push_back(std::string(event.section) + " " + std::string(event.index));
  }
  std::vector<std::string> told;
};

/// Two runs that share keys, a memstore above them, one index.
struct World : TestEngine {
  World() {
    options.listener = listener;
    tuning.memstore_bytes = 1 << 20;  // Two flushes, two files.
    tuning.memstores_total_bytes = 4 << 20;
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    TableOptions table = SimpleTable(2);
    table.families[0].block_size_bytes = 512;
    table.indexes[0].include = {{"d", "n"}};
    BOOST_REQUIRE_EQUAL((**this).CreateTable(table).ToString(), "OK");
    // Most rows share few values, so that their postings are in a stream.
    for (int i = 0; i < kRows; ++i)
      Add(i, i % 10 == 0 ? std::to_string(i) : "v" + std::to_string(i % 3));
    Flush();
    for (int i = 0; i < 300; ++i) Add(i * 2, "w" + std::to_string(i % 2));
    for (int i = 0; i < 100; ++i) Add(i * 2, "x" + std::to_string(i % 5));
    WriteBatch deletes;
    deletes.DeleteRow("t", Key(20));
    deletes.DeleteColumn("t", Key(21), "d", "c");
    BOOST_REQUIRE_EQUAL(Write(deletes).ToString(), "OK");
    Flush();
    for (int i = 0; i < 20; ++i) Add(i * 50, "v1");
  }

  void Add(int i, const std::string& value) {
    WriteBatch batch;
    batch.Put("t", Key(i), "d", "c", value);
    batch.Put("t", Key(i), "d", "n", std::string(30, 'n'));
    BOOST_REQUIRE_EQUAL(Write(batch).ToString(), "OK");
  }
  void Flush() { BOOST_REQUIRE_EQUAL((**this).Flush("t").ToString(), "OK"); }

  std::string Query(const std::string& predicate, const QueryOptions& query,
                    const ReadOptions& read = {}) {
    auto cursor = (**this).Query(read, "t", *Predicate::Parse(predicate), query);
    if (!cursor.has_value()) return "!" + cursor.error().ToString();
    std::string text;
    while (cursor->Next()) {
      text.append(cursor->row().key());
      for (const Cell& cell : cursor->row().cells()) text.append(" ").append(cell.value);
      text += "\n";
    }
    return cursor->status().ok() ? text : "!" + cursor->status().ToString();
  }
  std::string Count(const std::string& predicate, const QueryOptions& query) {
    const auto count = (**this).Count({}, "t", *Predicate::Parse(predicate), query);
    return count.has_value() ? std::to_string(*count) : "!" + count.error().ToString();
  }

  /// The answers to questions that read all parts of an index, and to others.
  std::vector<std::string> Answers() {
    std::vector<std::string> answers;
    for (const char* predicate :
         {"c = 'v1'", "c = 'x3'", "c BETWEEN '100' AND 'v1'", "c PREFIX 'w'"}) {
      answers.push_back(Query(predicate, {.use_index = "by_c"}));
      answers.push_back(Query(predicate, {.use_index = "by_c"}, included));
      answers.push_back(Count(predicate, {.use_index = "by_c"}));
      answers.push_back(Query(predicate, {.order_by = "by_c", .use_index = "by_c"}));
      answers.push_back(
          Query(predicate, {.order_by = "by_c", .descending = true, .use_index = "by_c"}));
    }
    answers.push_back(Query("c IS NULL", {.use_index = "by_c"}));
    answers.push_back(Rows());
    answers.push_back(Value(Key(40), "c"));
    return answers;
  }
  /// The same by scans; order stays the index's.
  std::vector<std::string> Scanned() {
    std::vector<std::string> answers;
    for (const char* predicate :
         {"c = 'v1'", "c = 'x3'", "c BETWEEN '100' AND 'v1'", "c PREFIX 'w'"}) {
      answers.push_back(Query(predicate, {.no_index = true}));
      answers.push_back(Query(predicate, {.no_index = true}, included));
      answers.push_back(Count(predicate, {.no_index = true}));
      answers.push_back(Query(predicate, {.order_by = "by_c", .no_index = true}));
      answers.push_back(
          Query(predicate, {.order_by = "by_c", .descending = true, .no_index = true}));
    }
    answers.push_back(Query("c IS NULL", {.no_index = true}));
    answers.push_back(Rows());
    answers.push_back(Value(Key(40), "c"));
    return answers;
  }
  Explanation Explain() {
    const auto explained =
        (**this).Explain({}, "t", *Predicate::Parse("c = 'v1'"), {.use_index = "by_c"});
    BOOST_REQUIRE_MESSAGE(explained.has_value(), explained.status().ToString());
    return *explained;
  }

  std::vector<std::string> StoreFiles() {
    auto directory = disk.OpenDirectory("db", false);
    BOOST_REQUIRE(directory.has_value());
    const auto names = (*directory)->List();
    BOOST_REQUIRE(names.has_value());
    std::vector<std::string> files;
    for (const std::string& name : *names) {
      if (name.starts_with("store-")) files.push_back(name);
    }
    std::sort(files.begin(), files.end(), [](const std::string& a, const std::string& b) {
      return std::pair(a.size(), a) < std::pair(b.size(), b);
    });
    return files;
  }
  std::vector<format::SectionEntry> SectionsOf(const std::string& name) {
    auto directory = disk.OpenDirectory("db", false);
    BOOST_REQUIRE(directory.has_value());
    auto file = (*directory)->Open(name, base::OpenMode::kReadOnly);
    BOOST_REQUIRE(file.has_value());
    const auto store = format::StoreFile::Open(*std::move(file), {}, nullptr);
    BOOST_REQUIRE_MESSAGE(store.has_value(), store.status().ToString());
    return (*store)->sections();
  }
  void Flip(const std::string& name, uint64_t offset) {
    std::string content = *disk.Content("db", name);
    content[offset] = static_cast<char>(content[offset] ^ 4);
    disk.SetContent("db", name, content);
  }

  const std::shared_ptr<Listener> listener = std::make_shared<Listener>();
  const ReadOptions included = [] {
    ReadOptions read;
    read.columns = {{"d", "n"}};
    return read;
  }();
};

bool IsOfIndex(SectionKind kind) {
  return format::IsIndexSection(kind) || kind == SectionKind::kDigests;
}

/// Whether the section can be done without.
bool IsDerived(SectionKind kind) {
  return IsOfIndex(kind) || kind == SectionKind::kKeyHashes || kind == SectionKind::kFilter ||
         kind == SectionKind::kCleanRows || kind == SectionKind::kBlockIndexTop;
}

std::string Describe(const format::SectionEntry& section, const std::string& file) {
  return file + ", section of kind " + std::to_string(static_cast<int>(section.kind)) + " flags " +
         std::to_string(section.flags);
}

/// Everything that is read stays right; once background work is done, nothing is broken any more.
void CheckGoesOn(World& world, const std::vector<std::string>& expected, const std::string& where) {
  BOOST_CHECK_MESSAGE(world.Answers() == expected, where);
  BOOST_CHECK_MESSAGE(world.Scanned() == expected, where);
  const uint64_t broken = (*world).GetStatistics().broken_sections;
  world.executor.Drain();
  BOOST_CHECK_MESSAGE(world.Answers() == expected, where << ", rewritten");
  if (broken == 0) return;
  const Statistics statistics = (*world).GetStatistics();
  BOOST_CHECK_MESSAGE(statistics.rewritten_files > 0, where);
  BOOST_CHECK_EQUAL(world.Explain().files_scanned, 0);
  const auto verified = (*world).Verify(true);
  BOOST_REQUIRE(verified.has_value());
  for (const Finding& finding : verified->findings) BOOST_ERROR(where << ": " << finding.text);
}

BOOST_AUTO_TEST_SUITE(broken_section)

BOOST_AUTO_TEST_CASE(ReadsGoOnWithoutAnyDerivedSection) {
  std::set<SectionKind> met;
  // Another database, undamaged, gives the answers: the caches of the damaged one know nothing yet.
  const std::vector<std::string> expected = World().Scanned();
  BOOST_REQUIRE_EQUAL(World().StoreFiles().size(), 2);
  for (size_t file = 0; file < 2; ++file) {
    const size_t count = [&] {
      World world;
      return world.SectionsOf(world.StoreFiles()[file]).size();
    }();
    for (size_t i = 0; i < count; ++i) {
      World world;
      const std::string name = world.StoreFiles()[file];
      const format::SectionEntry section = world.SectionsOf(name)[i];
      if (!IsDerived(section.kind) || section.size_bytes == 0) continue;
      const std::string where = Describe(section, name);
      world.Flip(name, section.offset + section.size_bytes / 2);
      CheckGoesOn(world, expected, where);
      if (!world.listener->told.empty()) met.insert(section.kind);
    }
  }
  for (const SectionKind kind :
       {SectionKind::kIndexLeaves, SectionKind::kIndexPostings, SectionKind::kIndexDirectory,
        SectionKind::kIndexPresent, SectionKind::kIndexRecords, SectionKind::kIndexRecordDirectory,
        SectionKind::kDigests, SectionKind::kKeyHashes, SectionKind::kFilter,
        SectionKind::kCleanRows}) {
    BOOST_CHECK_MESSAGE(met.contains(kind), "kind " << static_cast<int>(kind));
  }
}

BOOST_AUTO_TEST_CASE(ABrokenIndexIsToldAndScanned) {
  World world;
  const std::string name = world.StoreFiles()[0];
  for (const format::SectionEntry& section : world.SectionsOf(name)) {
    if (section.kind == SectionKind::kIndexDirectory) world.Flip(name, section.offset + 50);
  }
  BOOST_CHECK_EQUAL(world.Explain().files_scanned, 1);
  BOOST_CHECK(world.listener->told == std::vector<std::string>{"an index by_c"});
  BOOST_CHECK(std::any_of(world.log.begin(), world.log.end(), [](const std::string& line) {
    return line.find("damage in an index of table") != std::string::npos;
  }));
  BOOST_CHECK_EQUAL((*world).GetStatistics().broken_sections, 1);
  world.Explain();
  BOOST_CHECK_EQUAL((*world).GetStatistics().broken_sections, 1);
  world.executor.Drain();
  BOOST_CHECK_EQUAL(world.Explain().files_scanned, 0);
  BOOST_CHECK_EQUAL((*world).GetStatistics().rewritten_files, 1);
}

// Where the order cannot be walked, the index that is asked for is used all the same.
BOOST_AUTO_TEST_CASE(AnIndexThatIsAskedForIsUsedWhereAFileLacksIt) {
  World world;
  const std::string expected = world.Query("n PREFIX 'n'", {.order_by = "by_c", .no_index = true});
  BOOST_REQUIRE(!expected.empty() && !expected.starts_with('!'));
  const std::string name = world.StoreFiles()[0];
  for (const format::SectionEntry& section : world.SectionsOf(name)) {
    if (section.kind == SectionKind::kIndexDirectory) world.Flip(name, section.offset + 50);
  }
  const QueryOptions forced{.order_by = "by_c", .use_index = "by_c"};
  const Predicate predicate = *Predicate::Parse("n PREFIX 'n'");
  const auto broken = world->Explain({}, "t", predicate, forced);
  BOOST_REQUIRE_MESSAGE(broken.has_value(), broken.status().ToString());
  BOOST_CHECK_EQUAL(broken->index, "by_c");
  BOOST_CHECK_EQUAL(broken->reason,
                    "use_index; sorted, since some files or memstores lack it and are scanned");
  BOOST_CHECK_EQUAL(broken->files_scanned, 1);
  BOOST_CHECK(broken->rejected.empty());
  BOOST_CHECK_EQUAL(world.Query("n PREFIX 'n'", forced), expected);
  // The planner, left alone, says that it scans.
  const auto planned = world->Explain({}, "t", predicate, {.order_by = "by_c"});
  BOOST_REQUIRE(planned.has_value());
  BOOST_CHECK_EQUAL(planned->index, "");
  BOOST_CHECK_EQUAL(planned->files_scanned, 2);

  world.executor.Drain();
  const auto rewritten = world->Explain({}, "t", predicate, forced);
  BOOST_REQUIRE(rewritten.has_value());
  BOOST_CHECK_EQUAL(rewritten->reason, "in the order of the index");
  BOOST_CHECK_EQUAL(rewritten->files_scanned, 0);
  BOOST_CHECK(rewritten->rejected.empty());
  BOOST_CHECK_EQUAL(world.Query("n PREFIX 'n'", forced), expected);
}

BOOST_AUTO_TEST_CASE(TheMarkIsFoundAgainAfterAReopen) {
  World world;
  BOOST_REQUIRE_EQUAL(world.Close().ToString(), "OK");
  const std::string name = world.StoreFiles()[0];
  for (const format::SectionEntry& section : world.SectionsOf(name)) {
    if (section.kind == SectionKind::kIndexLeaves) world.Flip(name, section.offset + 50);
  }
  world.options.read_only = true;
  BOOST_REQUIRE_EQUAL(world.Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(world.Query("c = 'v1'", {.use_index = "by_c"}),
                    world.Query("c = 'v1'", {.no_index = true}));
  world.executor.Drain();
  BOOST_CHECK_EQUAL((*world).GetStatistics().rewritten_files, 0);  // A reader writes nothing.
  BOOST_REQUIRE_EQUAL(world.Close().ToString(), "OK");
  world.options.read_only = false;
  BOOST_REQUIRE_EQUAL(world.Open().ToString(), "OK");
  BOOST_CHECK_EQUAL(world.Query("c = 'v1'", {.use_index = "by_c"}),
                    world.Query("c = 'v1'", {.no_index = true}));
  world.executor.Drain();
  BOOST_CHECK_EQUAL((*world).GetStatistics().rewritten_files, 1);
}

// As a merge: another attempt would only take space from others until a flush has found some, and
// what may pass otherwise is tried again after ten seconds.
BOOST_AUTO_TEST_CASE(ARewriteThatFailsIsTriedAsAMergeIs) {
  for (const Status& status : {Status::NoSpace("injected"), Status::OutOfMemory("injected")}) {
    World world;
    const std::string name = world.StoreFiles()[0];
    for (const format::SectionEntry& section : world.SectionsOf(name)) {
      if (section.kind == SectionKind::kIndexLeaves) world.Flip(name, section.offset + 50);
    }
    int attempts = 0;
    world.disk.control().SetHook([&](const DiskEvent& event) {
      if (event.operation != DiskOperation::kCreate || !event.name.starts_with("store-")) return;
      ++attempts;
      world.disk.control().InjectFault({.status = status});
    });
    BOOST_CHECK_EQUAL(world.Explain().files_scanned, 1);
    for (int second = 0; second < 35; ++second) {
      world.executor.Drain();
      world.clock.Advance(1'000'000);
    }
    BOOST_CHECK_EQUAL(attempts, status.code() == StatusCode::kNoSpace ? 1 : 4);
    world.disk.control().SetHook(nullptr);
    world.disk.control().ClearFaults();
    if (status.code() == StatusCode::kNoSpace) world.Flush();
    world.clock.Advance(10'000'000);
    world.executor.Drain();
    BOOST_CHECK_EQUAL((*world).GetStatistics().rewritten_files, 1);
    BOOST_CHECK_EQUAL(world.Explain().files_scanned, 0);
  }
}

BOOST_AUTO_TEST_CASE(ACompactionMakesABrokenIndexAnew) {
  World world;
  const std::vector<std::string> expected = world.Scanned();
  const std::string name = world.StoreFiles()[0];
  for (const format::SectionEntry& section : world.SectionsOf(name)) {
    if (section.kind == SectionKind::kIndexPostings) world.Flip(name, section.offset + 50);
  }
  BOOST_CHECK_EQUAL((*world).Compact("t").ToString(), "OK");
  BOOST_CHECK(world.Answers() == expected);
  BOOST_CHECK_EQUAL(world.Explain().files_scanned, 0);
}

BOOST_AUTO_TEST_CASE(BrokenRowsStayCorruption) {
  World world;
  const std::string name = world.StoreFiles()[0];
  for (const format::SectionEntry& section : world.SectionsOf(name)) {
    if (section.kind == SectionKind::kData) world.Flip(name, section.offset + 100);
  }
  BOOST_CHECK(world.Rows().find("Corruption") != std::string::npos ||
              world.Rows().find('!') != std::string::npos);
  world.executor.Drain();
  BOOST_CHECK_EQUAL((*world).GetStatistics().broken_sections, 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
