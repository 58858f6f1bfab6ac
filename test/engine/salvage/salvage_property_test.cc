// Salvage of random databases under random damage: what the copy holds was acknowledged, what it
// lacks lies in a range that the report names, what comes back although it was deleted is reported
// as uncertain, and the copy verifies.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "engine/storage/files.h"
#include "test/engine/copied_database.h"
#include "test/engine/salvage/salvage_world.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

struct Damage {
  std::string text;
  bool hit_catalog = false, hit_data = false;
};

bool IsCatalog(const std::string& name) { return name == "ROOT" || name.starts_with("manifest-"); }

// A segment is preallocated; what follows its last frame is no data.
size_t UsedBytes(const std::string& content) {
  const size_t last = content.find_last_not_of('\0');
  return last == std::string::npos ? 0 : last + 1;
}

std::string NameOf(const FileContents& files, TestRandom* random) {
  auto at = files.begin();
  std::advance(at, static_cast<ptrdiff_t>(random->Below(files.size())));
  return at->first;
}

void Overwrite(std::string* content, TestRandom* random) {
  const size_t used = std::max<size_t>(UsedBytes(*content), 1);
  const size_t at = random->Below(used);
  const size_t size = std::min<size_t>(1 + random->Below(3000), used - at);
  for (size_t i = 0; i < size; ++i) (*content)[at + i] = static_cast<char>(random->Next());
}

void DamageOne(FileContents* files, TestRandom* random, Damage* damage) {
  const std::string name = NameOf(*files, random);
  std::string& content = files->at(name);
  (IsCatalog(name) ? damage->hit_catalog : damage->hit_data) = true;
  const size_t used = std::max<size_t>(UsedBytes(content), 1);
  const uint64_t kind = random->Below(10);
  damage->text += " " + std::to_string(kind) + ":" + name;
  if (kind < 4) {
    const size_t at = random->Below(used);
    content[at] = static_cast<char>(content[at] ^ (1 << random->Below(8)));
  } else if (kind < 6) {
    Overwrite(&content, random);
  } else if (kind < 7) {
    content.resize(random->Below(used));
  } else if (kind < 8) {
    files->erase(name);
  } else if (kind < 9) {  // Another name for the same file.
    std::string moved = std::move(content);
    files->erase(name);
    (*files)["found-" + std::to_string(random->Below(100))] = std::move(moved);
  } else {
    std::swap(content, files->at(NameOf(*files, random)));
    damage->hit_catalog = damage->hit_data = true;
  }
}

std::string Told(const engine::SalvageReport& report) {
  std::string text = "report:";
  for (const std::string& edit : report.lost_edits) text += "\n  " + edit;
  for (const auto& lost : report.lost) text += "\n  lost " + lost.file + " " + lost.reason;
  for (const auto& hole : report.holes) {
    text += "\n  hole " + hole.segment + " after " + std::to_string(hole.after_sequence) + " " +
            hole.reason;
  }
  for (const auto& note : report.orphans) text += "\n  orphan " + note.file + " " + note.what;
  for (const auto& note : report.repaired) text += "\n  repaired " + note.file + " " + note.what;
  return text;
}

bool HasStore(const FileContents& files) {
  return std::any_of(files.begin(), files.end(),
                     [](const auto& file) { return file.first.starts_with("store-"); });
}

BOOST_AUTO_TEST_SUITE(SalvagePropertySuite)

BOOST_AUTO_TEST_CASE(WhatIsCopiedWasWrittenAndWhatIsNotIsListed) {
  TestRandom random("SalvagePropertySuite");
  const size_t databases = Trials(8), damages = 10;
  uint64_t lossless = 0, refused = 0, trials = 0;
  for (size_t i = 0; i < databases; ++i) {
    SalvageWorld world(&random);
    const uint64_t steps = 30 + random.Below(60);
    for (uint64_t step = 0; step < steps; ++step) world.Step();
    const FileContents files = world.Files();
    for (size_t j = 0; j < damages; ++j) {
      FileContents damaged = files;
      Damage damage;
      for (uint64_t k = 0; k <= random.Below(3); ++k) DamageOne(&damaged, &random, &damage);
      const bool orphans = random.OneIn(2);
      const std::string where = "database " + std::to_string(i) + ", damage " + std::to_string(j) +
                                (orphans ? ", orphans" : "") + ":" + damage.text;
      BOOST_TEST_CONTEXT(where) {
        const auto disk = DiskWith(damaged);
        const auto report = SalvageOn(disk.get(), orphans);
        ++trials;
        if (!report.has_value()) {
          // Nothing can be proved only where no catalog is left, or no file.
          BOOST_TEST((damage.hit_catalog || !HasStore(files)), report.status().ToString());
          ++refused;
          continue;
        }
        std::vector<std::string> wrong = Judge(world, *report, disk.get());
        // Nobody can list files that are gone with all that named them.
        if (!report->lost_edits.empty() && damage.hit_data) {
          std::erase_if(wrong, [](const std::string& text) { return text.starts_with("missing"); });
        }
        BOOST_TEST(wrong.size() == 0u,
                   wrong.size() << " wrong, the first: " << (wrong.empty() ? "" : wrong.front()));
        if (!wrong.empty()) BOOST_TEST_MESSAGE(Told(*report));
        const bool lost_rows = !report->lost.empty() || !report->holes.empty();
        // A catalog that lost edits may name a segment that was given up since.
        const bool may_have_hole = !report->lost_edits.empty();
        if (orphans && !damage.hit_data) {
          BOOST_TEST((report->lost.empty() && (may_have_hole || !lost_rows)), Told(*report));
        }
        lossless += lost_rows ? 0 : 1;
      }
    }
  }
  BOOST_TEST_MESSAGE(trials << " trials, " << lossless << " without a loss, " << refused
                            << " refused");
  // Shares that few trials need not have.
  if (trials < 80) return;
  BOOST_TEST(lossless > 0u);
  BOOST_TEST(refused < trials / 4 + 1);
}

/// Breaks or removes what says which files the database has. Files of data stay.
void LoseCatalog(FileContents* files, TestRandom* random) {
  std::vector<std::string> manifests;
  for (const auto& [name, content] : *files) {
    if (name.starts_with("manifest-")) manifests.push_back(name);
  }
  const uint64_t kind = random->Below(4);
  if (kind == 0) files->erase("ROOT");
  for (const std::string& name : manifests) {
    std::string& content = files->at(name);
    if (kind == 1) {
      files->erase(name);
    } else {  // The first frame that is hit and all after it are lost.
      const size_t at = random->Below(UsedBytes(content));
      content[at] = static_cast<char>(content[at] ^ 16);
    }
  }
}

// Rows get other values or are deleted, at the timestamps of what the copy shows: nothing but the
// order of sequences decides. Returns what a reader has to see then.
CellValues WriteOver(CopiedDatabase* copy, const CellValues& found, TestRandom* random) {
  CellValues expected;
  std::map<std::string, bool> deleted;
  for (const auto& [cell, value] : found) {
    const auto [row, is_new] = deleted.try_emplace(cell.row, random->OneIn(2));
    WriteBatch batch;
    if (!row->second) {
      batch.Put("t", cell.row, cell.family, cell.qualifier, "7", cell.timestamp);
      expected[cell] = "7";
    } else if (is_new) {
      batch.DeleteRow("t", cell.row, std::numeric_limits<int64_t>::max());
    }
    const Status status = (*copy)->Write({.durability = Durability::kSynced}, batch);
    BOOST_REQUIRE_MESSAGE(status.ok(), status.ToString());
  }
  return expected;
}

BOOST_AUTO_TEST_CASE(LaterWritesWinInTheCopyOfADatabaseThatLostItsCatalog) {
  TestRandom random("SalvagePropertySuite/Catalog");
  const size_t databases = Trials(8), damages = 6;
  for (size_t i = 0; i < databases; ++i) {
    SalvageWorld world(&random);
    const uint64_t steps = 30 + random.Below(60);
    for (uint64_t step = 0; step < steps; ++step) world.Step();
    const format::CatalogCounters before = CatalogOf(&world.engine.disk, "db").counters;
    const uint64_t last_sequence = world.engine->Info().last_sequence;
    for (size_t j = 0; j < damages; ++j) {
      FileContents damaged = world.Files();
      LoseCatalog(&damaged, &random);
      const bool orphans = random.OneIn(2);
      BOOST_TEST_CONTEXT("database " << i << ", damage " << j << (orphans ? ", orphans" : "")) {
        const auto disk = DiskWith(damaged);
        const auto report = SalvageOn(disk.get(), orphans);
        if (!report.has_value() || report->tables == 0) continue;
        const std::vector<std::string> wrong = Judge(world, *report, disk.get());
        BOOST_TEST(wrong.size() == 0u, (wrong.empty() ? "" : wrong.front()));
        const format::CatalogCounters after = CatalogOf(disk.get(), "copy").counters;
        BOOST_TEST(after.last_sequence >= last_sequence, Told(*report));
        BOOST_TEST(after.next_table_id >= before.next_table_id);
        for (const auto& [name, content] : damaged) {
          const auto file = engine::ParseFileName(name);
          if (file.has_value()) BOOST_TEST(after.next_file_number > file->number.value);
        }
        const CellValues found = CellsOf(disk.get(), "copy");
        CopiedDatabase copy(disk.get(), "copy");
        BOOST_REQUIRE_MESSAGE(copy.status().ok(), copy.status().ToString());
        const CellValues expected = WriteOver(&copy, found, &random);
        BOOST_TEST((CellsOf(&*copy) == expected));
        BOOST_REQUIRE(copy->Compact("t").ok());
        BOOST_TEST((CellsOf(&*copy) == expected));
        BOOST_TEST(copy.Findings() == "");
        BOOST_REQUIRE(copy->Close().ok());
        BOOST_TEST((CellsOf(disk.get(), "copy") == expected));
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
