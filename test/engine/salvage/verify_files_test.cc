// What verify says of a database that does not open: all that is damaged and what each costs. And
// of one that opens, but whose catalog forgot sequences.
#define BOOST_TEST_DYN_LINK
#include "engine/salvage/verify_files.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "engine/backup/staged_database.h"
#include "engine/storage/files.h"
#include "engine/storage/storage.h"
#include "test/engine/copied_database.h"
#include "test/engine/salvage/salvage_world.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

/// A killed database: two store files and a log with frames. `name` finds one file of a kind.
struct KilledDatabase {
  KilledDatabase() {
    TestEngine engine(91, nullptr);
    BOOST_REQUIRE(engine.Open().ok());
    BOOST_REQUIRE(engine->CreateTable(SimpleTable()).ok());
    for (int round = 0; round < 3; ++round) {
      for (int i = 0; i < 20; ++i) {
        const std::string row = "row" + std::to_string(100 + 20 * round + i);
        BOOST_REQUIRE(engine.Put(row, "c", std::to_string(i), Durability::kSynced).ok());
      }
      if (round < 2) BOOST_REQUIRE(engine->Flush("t").ok());
    }
    for (const std::string& name : *(*engine.disk.OpenDirectory("db", false))->List()) {
      files[name] = *engine.disk.Content("db", name);
    }
    engine.Kill();
  }
  std::string Newest(const std::string& prefix) const {
    std::string newest;
    for (const auto& [name, content] : files) {
      const bool is_longer = name.size() > newest.size();
      if (name.starts_with(prefix) && (is_longer || name > newest)) newest = name;
    }
    return newest;
  }
  void Flip(const std::string& name, size_t at) {
    char& byte = files.at(name)[at];
    byte = static_cast<char>(byte ^ 4);
  }
  VerifyReport Verify(bool deep = true) const {
    const auto disk = DiskWith(files);
    VerifyReport report;
    const Status status = engine::VerifyFiles(*disk->OpenDirectory("db", false), deep, &report);
    BOOST_REQUIRE_MESSAGE(status.ok(), status.ToString());
    return report;
  }
  FileContents files;
};

const Finding* Find(const VerifyReport& report, const std::string& file, FindingEffect effect) {
  const auto found =
      std::find_if(report.findings.begin(), report.findings.end(),
                   [&](const Finding& one) { return one.file == file && one.effect == effect; });
  return found == report.findings.end() ? nullptr : &*found;
}

std::string Text(const VerifyReport& report) {
  std::string text;
  for (const Finding& finding : report.findings) {
    text += std::string(NameOf(finding.effect)) + " " + finding.text + "\n";
  }
  return text;
}

BOOST_FIXTURE_TEST_SUITE(VerifyFilesSuite, KilledDatabase)

BOOST_AUTO_TEST_CASE(ASoundDatabaseHasNoFindings) {
  const VerifyReport report = Verify();
  BOOST_TEST(report.findings.size() == 0u,
             (report.findings.empty() ? "" : report.findings.front().text));
  BOOST_TEST(report.rows == 40u);
  BOOST_TEST(report.cells == 100u);  // 60 of them in the log.
}

BOOST_AUTO_TEST_CASE(DamageEverywhereIsFoundEverywhere) {
  const std::string store = Newest("store-"), log = Newest("log-"), manifest = Newest("manifest-");
  Flip(store, 200);
  Flip(log, 400);
  Flip(manifest, 300);
  files["ROOT"][4200] = static_cast<char>(files["ROOT"][4200] ^ 1);
  files["ROOT"][8300] = static_cast<char>(files["ROOT"][8300] ^ 1);
  const VerifyReport report = Verify();
  const Finding* rows = Find(report, store, FindingEffect::kRows);
  BOOST_REQUIRE(rows != nullptr);
  BOOST_TEST(rows->kind == "rows");
  BOOST_TEST(rows->offset.has_value());
  BOOST_TEST(rows->expected.size() == 16u);
  BOOST_TEST(rows->found.size() == 16u);
  const Finding* group = Find(report, log, FindingEffect::kRows);
  BOOST_REQUIRE(group != nullptr);
  BOOST_TEST(group->offset.has_value());
  BOOST_TEST(group->text.find("operations are good") != std::string::npos, group->text);
  BOOST_TEST((Find(report, manifest, FindingEffect::kAccess) != nullptr));
  BOOST_TEST((Find(report, "ROOT", FindingEffect::kAccess) != nullptr));
  BOOST_TEST(report.files == 3u);  // Two store files and the segment.
}

BOOST_AUTO_TEST_CASE(FilesThatAreGoneAreNamed) {
  const std::string store = Newest("store-"), log = Newest("log-");
  files.erase(store);
  files.erase(log);
  const VerifyReport report = Verify();
  BOOST_TEST((Find(report, store, FindingEffect::kRows) != nullptr));
  BOOST_TEST((Find(report, log, FindingEffect::kRows) != nullptr));
}

BOOST_AUTO_TEST_CASE(ATornTailCostsNothingAndIsTold) {
  const std::string log = Newest("log-");
  std::string& content = files.at(log);
  const size_t end = content.find_last_not_of('\0') / 8 * 8 + 8;
  content.resize(std::max(content.size(), end + 64));
  content.replace(end, 37, std::string(37, 'x'));
  const VerifyReport report = Verify();
  BOOST_REQUIRE_EQUAL(report.findings.size(), 1);
  BOOST_TEST((report.findings[0].effect == FindingEffect::kNothing));
  BOOST_TEST(report.findings[0].text == log + ": offset " + std::to_string(end) +
                                            ": 37 torn bytes: a group that a crash cut off");
}

// Every byte of a store file in turn: what it costs is said by what else finds it.
BOOST_AUTO_TEST_CASE(EffectsSayWhetherSalvageLosesRows) {
  const std::string store = Newest("store-");
  const FileContents sound = files;
  uint64_t lost = 0, kept = 0;
  for (size_t at = 3; at < sound.at(store).size(); at += 61) {
    files = sound;
    Flip(store, at);
    const VerifyReport report = Verify();
    BOOST_TEST_CONTEXT(store << " at " << at) {
      BOOST_TEST(report.findings.size() > 0u);
      const bool says_rows = std::any_of(
          report.findings.begin(), report.findings.end(),
          [](const Finding& finding) { return finding.effect == FindingEffect::kRows; });
      const auto disk = DiskWith(files);
      const auto salvaged = SalvageOn(disk.get());
      BOOST_REQUIRE(salvaged.has_value());
      BOOST_TEST(says_rows == !salvaged->lost.empty(), says_rows << ": " << Text(report));
      (says_rows ? lost : kept) += 1;
    }
  }
  BOOST_TEST(lost > 0u);
  BOOST_TEST(kept > 0u);
}

BOOST_AUTO_TEST_CASE(VerifyEndsWithAReportWhateverIsDamaged) {
  TestRandom random("VerifyFilesSuite");
  const FileContents sound = files;
  std::vector<std::string> names;
  for (const auto& [name, content] : sound) names.push_back(name);
  for (size_t trial = 0; trial < Trials(150); ++trial) {
    files = sound;
    for (uint64_t hits = 1 + random.Below(4); hits > 0; --hits) {
      const std::string name = names[random.Below(names.size())];
      if (!files.contains(name)) continue;
      std::string& content = files.at(name);
      const uint64_t kind = random.Below(6);
      if (kind == 0) {
        files.erase(name);
      } else if (kind == 1) {
        content.resize(random.Below(content.size() + 1));
      } else if (!content.empty()) {
        content[random.Below(std::min<size_t>(content.size(), 8192))] ^= 8;
      }
    }
    if (files.empty()) continue;
    const auto disk = DiskWith(files);
    VerifyReport report;
    const Status status =
        engine::VerifyFiles(*disk->OpenDirectory("db", false), /*deep=*/true, &report);
    BOOST_TEST((status.ok() || status.code() == StatusCode::kNotFound), status.ToString());
    for (const Finding& finding : report.findings) BOOST_TEST(!finding.text.empty());
  }
}

// The rows of such a copy are invisible, and what is written later may be hidden by them.
BOOST_AUTO_TEST_CASE(ASequenceAboveTheCatalogsIsFound) {
  TestEngine engine(92, nullptr);
  BOOST_REQUIRE(engine.Open().ok());
  BOOST_REQUIRE(engine->CreateTable(SimpleTable()).ok());
  BOOST_REQUIRE(engine.Put("row", "c", "1").ok());
  BOOST_REQUIRE(engine->Flush("t").ok());
  BOOST_REQUIRE(engine.Close().ok());
  // A copy whose maker took the counters from nowhere.
  format::Catalog catalog = CatalogOf(&engine.disk, "db");
  const std::string store = engine::StoreFileName(catalog.files.begin()->first);
  catalog.counters.last_sequence = 0;
  catalog.segments.clear();
  {
    const auto draft = *engine::StagedDatabase::Begin(&engine.disk, "copy");
    const auto from = *engine.disk.OpenDirectory("db", false);
    const auto file = *from->Open(store, base::OpenMode::kReadOnly);
    BOOST_REQUIRE(draft->AddCopy(store, file.get(), *file->Size()).has_value());
    const auto random = base::NewSeededRandom(5);
    BOOST_REQUIRE(draft->Finish(catalog, {}, random.get()).ok());
  }
  CopiedDatabase copy(&engine.disk, "copy", /*read_only=*/true);
  BOOST_REQUIRE_MESSAGE(copy.status().ok(), copy.status().ToString());
  BOOST_TEST(copy.Rows() == "");
  const auto report = copy->Verify(/*deep=*/false);
  BOOST_REQUIRE(report.has_value());
  const auto is_about = [](const Finding& finding) { return finding.kind == "sequence"; };
  const auto& findings = report->findings;
  BOOST_TEST(std::count_if(findings.begin(), findings.end(), is_about) == 2);  // File and region.
  BOOST_TEST((Find(*report, store, FindingEffect::kAccess) != nullptr));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
