// See tables.h.
#define BOOST_TEST_DYN_LINK
#include "test/growth/tables.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "test/support/print.h"

namespace tandem::test {

std::string RowKey(uint64_t row) {
  const std::string digits = std::to_string(row);
  return "row" + std::string(8 - digits.size(), '0') + digits;
}

void CreateTable(TestEngine* engine) {
  BOOST_REQUIRE_EQUAL(engine->Open().ToString(), "OK");
  BOOST_REQUIRE_EQUAL((**engine).CreateTable(SimpleTable()).ToString(), "OK");
}

void PutRows(TestEngine* engine, uint64_t n, uint64_t hits) {
  constexpr uint64_t kBatch = 100;
  for (uint64_t begin = 0; begin < n; begin += kBatch) {
    WriteBatch batch;
    for (uint64_t row = begin; row < std::min(begin + kBatch, n); ++row) {
      const bool is_hit = row % (n / hits) == 0;
      const std::string key = RowKey(row);
      batch.Put("t", key, "d", "c", is_hit ? "hit" : "other" + key);
      batch.Put("t", key, "d", "payload", key + std::string(100, 'x'));
    }
    BOOST_REQUIRE_EQUAL(engine->Write(batch).ToString(), "OK");
    engine->executor.Drain();
  }
}

void OpenColdTable(TestEngine* engine, uint64_t n, uint64_t hits) {
  CreateTable(engine);
  PutRows(engine, n, hits);
  BOOST_REQUIRE_EQUAL((**engine).Compact("t").ToString(), "OK");
  engine->executor.Drain();
  BOOST_REQUIRE_EQUAL(engine->Close().ToString(), "OK");
  BOOST_REQUIRE_EQUAL(engine->Open().ToString(), "OK");
}

namespace {

std::vector<DiskEvent> TraceOf(TestEngine* engine, const std::function<void()>& work) {
  engine->disk.control().SetTracing(true);
  (void)engine->disk.control().TakeTrace();
  work();
  std::vector<DiskEvent> trace = engine->disk.control().TakeTrace();
  engine->disk.control().SetTracing(false);
  return trace;
}

}  // namespace

uint64_t ReadsOf(TestEngine* engine, const std::function<void()>& work) {
  const std::vector<DiskEvent> trace = TraceOf(engine, work);
  return static_cast<uint64_t>(std::count_if(
      trace.begin(), trace.end(),
      [](const DiskEvent& event) { return event.operation == DiskOperation::kRead; }));
}

uint64_t ManifestSyncsOf(TestEngine* engine, const std::function<void()>& work) {
  const std::vector<DiskEvent> trace = TraceOf(engine, work);
  return static_cast<uint64_t>(std::ranges::count_if(trace, [](const DiskEvent& event) {
    return event.operation == DiskOperation::kDataSync && event.name.starts_with("manifest-");
  }));
}

IoBytes IoBytesOf(TestEngine* engine, const std::function<void()>& work) {
  IoBytes bytes;
  for (const DiskEvent& event : TraceOf(engine, work)) {
    if (event.operation == DiskOperation::kWrite) {
      bytes.written += event.size;
      if (event.name.starts_with("log-")) bytes.written_to_log += event.size;
    }
    if (event.operation != DiskOperation::kRead) continue;
    bytes.read += event.size;
    if (event.name.starts_with("store-")) bytes.read_of_stores += event.size;
    if (event.name.starts_with("log-")) bytes.read_of_log += event.size;
  }
  return bytes;
}

NamedFiles FilesNamed(TestEngine* engine, std::string_view prefix) {
  const auto directory = engine->disk.OpenDirectory("db", false);
  BOOST_REQUIRE(directory.has_value());
  const auto names = (*directory)->List();
  BOOST_REQUIRE(names.has_value());
  NamedFiles found;
  for (const std::string& name : *names) {
    if (!name.starts_with(prefix)) continue;
    const auto content = engine->disk.Content("db", name);
    BOOST_REQUIRE(content.has_value());
    ++found.count;
    found.bytes += content->size();
  }
  return found;
}

uint64_t RowsOf(Result<Cursor> cursor) {
  BOOST_REQUIRE_EQUAL(cursor.status().ToString(), "OK");
  uint64_t rows = 0;
  while (cursor->Next()) ++rows;
  BOOST_REQUIRE_EQUAL(cursor->status().ToString(), "OK");
  return rows;
}

}  // namespace tandem::test
