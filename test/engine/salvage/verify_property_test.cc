// Verify and salvage of every database that can be made: random families, indexes of all types,
// several of them over one column, values at the ends of their types, timestamps at the ends of
// theirs. Both end with a report, which finds nothing; of a damaged one too.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <string>
#include <vector>

#include "format/coding.h"
#include "test/engine/copied_database.h"
#include "test/engine/salvage/salvage_world.h"
#include "test/support/print.h"

namespace tandem::test {
namespace {

constexpr ColumnType kTypes[] = {
    ColumnType::kBytes,    ColumnType::kText,     ColumnType::kInt64,     ColumnType::kUint64,
    ColumnType::kDouble,   ColumnType::kBool,     ColumnType::kTimestamp, ColumnType::kInt64Be,
    ColumnType::kUint64Be, ColumnType::kDoubleBe, ColumnType::kBoolBe,    ColumnType::kTimestampBe};

std::string BigEndian(uint64_t number) {
  std::string bytes;
  format::AppendU64(&bytes, __builtin_bswap64(number));
  return bytes;
}
std::string BigEndian(double number) { return BigEndian(std::bit_cast<uint64_t>(number)); }

/// Values at the ends of all types. What a column's indexes do not take is refused.
const std::vector<std::string>& EdgeValues() {
  using Doubles = std::numeric_limits<double>;
  static const std::vector<std::string> values = {
      "",
      "0",
      "-0",
      "007",
      "1",
      "-1",
      "9223372036854775807",
      "-9223372036854775808",
      "18446744073709551615",
      "1.7976931348623157e308",
      "-1.7976931348623157e308",
      "5e-324",
      "1e21",
      "0.1",
      "true",
      "false",
      "inf",
      "nan",
      "1970-01-01T00:00:00Z",
      "9999-12-31T23:59:59.999999Z",
      "text 'quoted' \\ \xc3\xa4",
      "NULL",
      std::string(2'000, 'a'),
      std::string(1, '\0'),
      std::string(1, '\1'),
      std::string("\0\xff\0\1", 4),
      std::string(8, '\0'),
      std::string(8, '\xff'),
      BigEndian(Doubles::infinity()),
      BigEndian(-Doubles::infinity()),
      BigEndian(Doubles::max()),
      BigEndian(Doubles::lowest()),
      BigEndian(Doubles::denorm_min()),
      BigEndian(Doubles::quiet_NaN()),
      BigEndian(-0.0),
      BigEndian(1.5),
  };
  return values;
}

/// A database of one random table, "t", with a region or three. Threads: one.
class AnyDatabase {
 public:
  explicit AnyDatabase(TestRandom* random) : engine(random->Next(), nullptr), random_(*random) {
    engine.tuning.memstore_bytes = 1 << 20;
    engine.tuning.memstores_total_bytes = 16 << 20;
    BOOST_REQUIRE(engine.Open().ok());
    BOOST_REQUIRE(engine->CreateTable(RandomTable()).ok());
  }

  /// One write, flush or merge.
  void Step() {
    const uint64_t kind = random_.Below(20);
    if (kind == 0) {
      BOOST_REQUIRE(engine->Flush("t").ok());
    } else if (kind == 1) {
      BOOST_REQUIRE(engine->Compact("t").ok());
    } else {
      Write(kind);
    }
    engine.executor.Drain();
  }

  TestEngine engine;
  uint64_t accepted = 0;

 private:
  TableOptions RandomTable() {
    TableOptions table;
    table.name = "t";
    families_ = 1 + random_.Below(3);
    for (size_t i = 0; i < families_; ++i) {
      table.families.push_back(
          {.name = Family(i),
           .max_versions = random_.OneIn(2) ? 1u : 3u,
           .ttl_micros = random_.OneIn(4) ? 1'000'000 : 0,
           .compression = random_.OneIn(2) ? Compression::kNone : Compression::kZstd,
           .block_size_bytes = 512});
    }
    const size_t indexes = random_.Below(9);
    for (size_t i = 0; i < indexes; ++i) {
      const ColumnType type = kTypes[random_.Below(std::size(kTypes))];
      const IndexColumn column{Family(random_.Below(families_)), Column(), type, random_.OneIn(3)};
      const auto is_alike = [text = column.ToString()](const IndexOptions& index) {
        return index.columns[0].ToString() == text;
      };
      if (std::ranges::any_of(table.indexes, is_alike)) continue;
      table.indexes.push_back({"index" + std::to_string(i), {column}});
    }
    if (random_.OneIn(3)) table.split_keys = {"r3", "r6"};
    return table;
  }

  void Write(uint64_t kind) {
    WriteBatch batch;
    const std::string row = "r" + std::to_string(random_.Below(10));
    const std::string family = Family(random_.Below(families_)), column = Column();
    if (kind == 2) {
      batch.DeleteRow("t", row, Timestamp());
    } else if (kind == 3) {
      batch.DeleteFamily("t", row, family, Timestamp());
    } else if (kind == 4) {
      batch.DeleteColumn("t", row, family, column, Timestamp());
    } else if (kind == 5) {
      batch.DeleteCell("t", row, family, column, Timestamp());
    } else {
      const std::string& value = EdgeValues()[random_.Below(EdgeValues().size())];
      batch.Put("t", row, family, column, value, Timestamp());
    }
    const Status status = engine.Write(batch, Durability::kSynced);
    BOOST_REQUIRE_MESSAGE(status.ok() || status.code() == StatusCode::kInvalidArgument,
                          status.ToString());
    accepted += status.ok() ? 1 : 0;
  }

  std::optional<int64_t> Timestamp() {
    constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
    const int64_t any[] = {kMax, kMax - 1, -kMax - 1, 0, -1, 1, 5};
    if (random_.OneIn(2)) return std::nullopt;
    return any[random_.Below(std::size(any))];
  }
  static std::string Family(size_t i) { return std::string(1, static_cast<char>('d' + i)); }
  std::string Column() { return random_.OneIn(8) ? "" : "c" + std::to_string(random_.Below(3)); }

  TestRandom& random_;
  size_t families_ = 1;
};

FileContents FilesOf(const SimulatedDisk& disk) {
  FileContents files;
  auto& all = const_cast<SimulatedDisk&>(disk);
  for (const std::string& name : *(*all.OpenDirectory("db", false))->List()) {
    files[name] = *all.Content("db", name);
  }
  return files;
}

BOOST_AUTO_TEST_SUITE(VerifyPropertySuite)

BOOST_AUTO_TEST_CASE(VerifyAndSalvageEndWithAReportOfEveryDatabase) {
  TestRandom random("VerifyPropertySuite");
  const size_t databases = Trials(40);
  uint64_t accepted = 0;
  for (size_t i = 0; i < databases; ++i) {
    AnyDatabase database(&random);
    const uint64_t steps = 20 + random.Below(150);
    for (uint64_t step = 0; step < steps; ++step) database.Step();
    accepted += database.accepted;
    BOOST_TEST_CONTEXT("database " << i) {
      const auto report = database.engine->Verify(/*deep=*/true);
      BOOST_REQUIRE_MESSAGE(report.has_value(), report.status().ToString());
      BOOST_TEST(report->findings.size() == 0u,
                 (report->findings.empty() ? "" : report->findings.front().text));
      const std::string rows = database.engine.Rows();
      const auto disk = DiskWith(FilesOf(database.engine.disk));
      const auto salvaged = SalvageOn(disk.get());
      BOOST_REQUIRE_MESSAGE(salvaged.has_value(), salvaged.status().ToString());
      BOOST_TEST(
          salvaged->verified.findings.size() == 0u,
          (salvaged->verified.findings.empty() ? "" : salvaged->verified.findings.front().text));
      BOOST_TEST(!salvaged->lost_something());
      CopiedDatabase copy(disk.get(), "copy", /*read_only=*/true, &database.engine.clock);
      BOOST_TEST(copy.Rows() == rows);
    }
  }
  BOOST_TEST(accepted > databases);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace tandem::test
