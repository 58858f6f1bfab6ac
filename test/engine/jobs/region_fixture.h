// A table "t" whose regions are split and merged, on a simulated disk: "by_c" indexes d:c.
#pragma once

#include <tandem/event_listener.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "test/engine/test_engine.h"

namespace tandem::test {

struct RegionListener final : EventListener {
  void OnRegionSplit(const RegionSplitEvent& event) override {
    ids = {event.region_id, event.left_id, event.right_id};
  }
  void OnRegionsMerged(const RegionMergeEvent& event) override {
    ids = {event.region_id, event.left_id, event.right_id};
  }
  std::vector<uint64_t> ids;
};

inline std::string Key(uint64_t i) { return std::to_string(10'000 + i); }

struct RegionFixture : TestEngine {
  RegionFixture() {
    options.listener = listener;
    tuning.compaction_runs = 100;
    tuning.memstore_bytes = 16 << 20;
    tuning.memstores_total_bytes = 64 << 20;
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(engine().CreateTable(SimpleTable(2)).ToString(), "OK");
  }
  engine::Engine& engine() { return **this; }

  /// Puts of rows [first, end), "c" of them by `value`.
  void PutRows(uint64_t first, uint64_t end, const std::string& value,
               Durability durability = Durability::kWritten) {
    WriteBatch batch;
    for (uint64_t i = first; i < end; ++i) {
      batch.Put("t", Key(i), "d", "c", value + std::to_string(i % 7));
      batch.Put("t", Key(i), "d", "q", value);
    }
    BOOST_REQUIRE_EQUAL(Write(batch, durability).ToString(), "OK");
  }
  void Flush() { BOOST_REQUIRE_EQUAL(engine().Flush("t").ToString(), "OK"); }
  void Compact() { BOOST_REQUIRE_EQUAL(engine().Compact("t").ToString(), "OK"); }
  SplitResult Split(const SplitOptions& options = {}) {
    const auto result = engine().Split("t", options);
    BOOST_REQUIRE_EQUAL(result.status().ToString(), "OK");
    return *result;
  }
  std::string Refusal(const SplitOptions& options, const std::string& table = "t") {
    return engine().Split(table, options).status().ToString();
  }
  RegionMergeResult Merge(const RegionMergeOptions& options = {}) {
    const auto result = engine().MergeRegions("t", options);
    BOOST_REQUIRE_EQUAL(result.status().ToString(), "OK");
    return *result;
  }
  std::string MergeRefusal(const RegionMergeOptions& options, const std::string& table = "t") {
    return engine().MergeRegions(table, options).status().ToString();
  }
  TableInfo Info() { return engine().Info().tables[0]; }
  uint64_t StoreFiles() {
    const auto names = (*disk.OpenDirectory("db", false))->List();
    BOOST_REQUIRE(names.has_value());
    const auto is_store = [](const std::string& name) { return name.starts_with("store-"); };
    return static_cast<uint64_t>(std::count_if(names->begin(), names->end(), is_store));
  }
  std::vector<std::string> Hits(const std::string& value, const ReadOptions& read = {}) {
    std::vector<std::string> keys;
    auto cursor = engine().Query(read, "t", Predicate::Equal("c", value), {.use_index = "by_c"});
    BOOST_REQUIRE(cursor.has_value());
    while (cursor->Next()) keys.emplace_back(cursor->row().key());
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    return keys;
  }
  /// (value, row) of the entries of "by_c", sorted, by the start key of the region.
  using Entries = std::vector<std::pair<std::string, std::string>>;
  using EntriesByRegion = std::map<std::string, Entries>;
  EntriesByRegion FindEntries() {
    EntriesByRegion found;
    for (const RegionInfo& region : Info().regions) found[region.start_key];
    auto cursor = engine().Query({}, "t", Predicate::IsNotNull("c"), {.order_by = "by_c"});
    BOOST_REQUIRE(cursor.has_value());
    while (cursor->Next()) {
      const std::string row(cursor->row().key());
      Entries& entries = std::prev(found.upper_bound(row))->second;
      entries.emplace_back(*cursor->row().Find("d", "c"), row);
    }
    BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
    for (auto& [start, entries] : found) std::sort(entries.begin(), entries.end());
    return found;
  }
  void CheckSound() {
    const Result<VerifyReport> report = engine().Verify(true);
    BOOST_REQUIRE(report.has_value());
    for (const Finding& finding : report->findings) BOOST_ERROR(finding.text);
  }
  void Reopen() {
    BOOST_REQUIRE_EQUAL(Close().ToString(), "OK");
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  }
  void KillAndOpen() {
    Kill();
    BOOST_REQUIRE_EQUAL(Open().ToString(), "OK");
  }

  std::shared_ptr<RegionListener> listener = std::make_shared<RegionListener>();
};

}  // namespace tandem::test
