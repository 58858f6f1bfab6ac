// See the header.
#include "test/engine/backup/numbered_rows.h"

#include <boost/test/unit_test.hpp>
#include <cstdio>

namespace tandem::test {
namespace {

std::string Key(char region, int writer, uint64_t number) {
  char key[40];
  std::snprintf(key, sizeof(key), "%c-%d-%010llu", region, writer,
                static_cast<unsigned long long>(number));
  return key;
}

}  // namespace

Result<std::unique_ptr<Database>> OpenNumbered(const std::string& path, bool read_only) {
  Options options;
  options.create_if_missing = !read_only;
  options.read_only = read_only;
  options.memory_bytes = 8 << 20;
  auto opened = Database::Open(path, options);
  if (!opened || read_only) return opened;
  TableOptions table;
  table.name = "t";
  table.families = {{.name = "d"}};
  table.indexes = {{"number", {{"d", "number", ColumnType::kUint64, false}}}};
  table.split_keys = {"m"};
  const Status status = (*opened)->CreateTable(table);
  if (!status.ok() && status.code() != StatusCode::kAlreadyExists) return status;
  return opened;
}

Status WriteNumbered(Database* database, int writer, uint64_t number, Durability durability) {
  WriteBatch batch;
  for (const char region : {'a', 'z'}) {
    const std::string key = Key(region, writer, number);
    batch.Put("t", key, "d", "number", std::to_string(number));
    batch.Put("t", key, "d", "pad", std::string(200, region));
  }
  return database->Write({.durability = durability}, batch);
}

uint64_t CountNumbered(Database* database, int writer) {
  uint64_t counts[2] = {0, 0};
  for (int side = 0; side < 2; ++side) {
    const char region = side == 0 ? 'a' : 'z';
    const std::string prefix = Key(region, writer, 0).substr(0, 4);
    Result<Cursor> cursor = database->Scan({}, "t", {.prefix = prefix});
    BOOST_REQUIRE_MESSAGE(cursor.has_value(), cursor.status().ToString());
    while (cursor->Next()) {
      const std::string number = std::to_string(counts[side]);
      BOOST_REQUIRE_EQUAL(cursor->row().key(), Key(region, writer, counts[side]));
      BOOST_REQUIRE(cursor->row().Find("d", "number") == std::string_view(number));
      ++counts[side];
    }
    BOOST_REQUIRE_MESSAGE(cursor->status().ok(), cursor->status().ToString());
  }
  BOOST_REQUIRE_EQUAL(counts[0], counts[1]);
  return counts[0];
}

std::string FindingsOf(Database* database) {
  const Result<VerifyReport> report = database->Verify(/*deep=*/true);
  if (!report) return report.error().ToString();
  std::string text;
  for (const Finding& finding : report->findings) text += finding.text + "\n";
  return text;
}

}  // namespace tandem::test
