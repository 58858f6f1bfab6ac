// Merges on a real file system: what the system's cache has of other files stays, and it gets as
// little of a merge as it had of its inputs.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "base/file_system.h"
#include "base/random.h"
#include "engine/storage/files.h"
#include "tandem/tandem.h"
#include "test/support/temporary_directory.h"

namespace tandem::test {
namespace {

constexpr uint64_t kPageBytes = base::File::kCachePageBytes;
constexpr size_t kFlushes = 3;
constexpr size_t kRowsPerFlush = 3000;  // A kilobyte each.

struct PageCacheFixture {
  PageCacheFixture() {
    Options options;
    options.create_if_missing = true;
    options.memory_bytes = 64 << 20;
    options.io = IoBackend::kPosix;
    auto opened = Database::Open(directory.path(), options);
    BOOST_REQUIRE_MESSAGE(opened.has_value(), opened.status().ToString());
    database = *std::move(opened);
    files = *file_system->OpenDirectory(directory.path(), /*create=*/false);
  }

  void Fill(const std::string& table) {
    TableOptions table_options;
    table_options.name = table;
    table_options.families.push_back({.name = "f"});
    BOOST_REQUIRE(database->CreateTable(table_options).ok());
    const auto random = base::NewSeededRandom(7);
    for (size_t flush = 0; flush < kFlushes; ++flush) {
      for (size_t row = 0; row < kRowsPerFlush; ++row) {
        std::string value(1000, '\0');
        random->Fill(value);
        WriteBatch batch;
        batch.Put(table, std::to_string(random->Next64()), "f", "q", value);
        BOOST_REQUIRE(database->Write({}, batch).ok());
      }
      BOOST_REQUIRE(database->Flush(table).ok());
    }
  }

  struct Pages {
    uint64_t all = 0, cached = 0;
  };
  // Of each store file.
  std::map<std::string, Pages> Look() {
    std::map<std::string, Pages> found;
    for (const std::string& name : *files->List()) {
      const auto parsed = engine::ParseFileName(name);
      if (!parsed.has_value() || parsed->kind != engine::LocalFileKind::kStore) continue;
      const auto opened = files->Open(name, base::OpenMode::kReadOnly);
      if (!opened.has_value()) continue;  // It has gone.
      base::File* const file = opened->get();
      Pages& pages = found[name];
      for (const bool cached : file->CachedPages(0, *file->Size())) {
        pages.all += 1;
        pages.cached += cached;
      }
    }
    return found;
  }
  uint64_t CachedPages() {
    uint64_t cached = 0;
    for (const auto& [name, pages] : Look()) cached += pages.cached;
    return cached;
  }
  // Until the pages stay out: a background job, such as the search for overlaps, may still read a
  // file. False: the file system is nothing but a cache.
  bool Evict() {
    constexpr int kRoundsMax = 100;
    constexpr auto kWait = std::chrono::milliseconds(20);
    for (int round = 0; round < kRoundsMax; ++round) {
      for (const auto& [name, pages] : Look()) {
        (*files->Open(name, base::OpenMode::kReadOnly))->DropCached(0, UINT32_MAX);
      }
      const bool is_out = CachedPages() == 0;
      std::this_thread::sleep_for(kWait);
      if (is_out && CachedPages() == 0) return true;
    }
    return false;
  }
  void ReadFile(const std::string& name) {
    const auto file = *files->Open(name, base::OpenMode::kReadOnly);
    std::string bytes(*file->Size(), '\0');
    BOOST_REQUIRE(file->Read(0, bytes).has_value());
  }

  TemporaryDirectory directory;
  std::unique_ptr<base::FileSystem> file_system = base::NewPosixFileSystem();
  std::unique_ptr<base::Directory> files;
  std::unique_ptr<Database> database;
};

BOOST_FIXTURE_TEST_SUITE(PageCacheSuite, PageCacheFixture)

BOOST_AUTO_TEST_CASE(AMergeLeavesTheCacheAsItWas) {
  Fill("other");
  const auto of_other = Look();
  Fill("t");
  if (!Evict()) {
    BOOST_TEST_MESSAGE("skipped: pages of this file system do not go");
    return;
  }
  ReadFile(of_other.begin()->first);
  const auto before = Look();
  BOOST_REQUIRE(database->Compact("t").ok());
  for (const auto& [name, pages] : Look()) {
    const auto known = before.find(name);
    if (known != before.end()) {
      BOOST_TEST(pages.cached == known->second.cached, name);
    } else {
      BOOST_TEST(pages.all > kFlushes * kRowsPerFlush * 1000 / kPageBytes);
      BOOST_TEST(pages.cached * 20 < pages.all);
    }
  }
}

BOOST_AUTO_TEST_CASE(WhatWasCachedIsStillThereAfterAMerge) {
  Fill("t");
  if (!Evict()) return;
  for (const auto& [name, pages] : Look()) ReadFile(name);
  const auto before = Look();
  BOOST_REQUIRE(database->Compact("t").ok());
  for (const auto& [name, pages] : Look()) {
    if (before.contains(name)) continue;
    BOOST_TEST(pages.cached == pages.all);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
