// Every way of reading, with overlaps and without, over random histories, beside the reference
// model. Small worlds (three rows, three columns of one to three families, few values, timestamps
// in any order) find the bugs; larger ones fill blocks and windows.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "engine/verify/view.h"
#include "test/engine/read_world.h"
#include "test/support/print.h"
#include "test/support/test_random.h"

namespace tandem::test {
namespace {

const std::vector<std::string> kFamilies = {"f", "g", "h"};
const std::vector<std::string> kColumns = {"a", "b", "c"};
const std::vector<std::string> kValues = {"1", "2", "10"};

struct Scale {
  size_t rows = 3;
  size_t steps = 25;
  size_t values = 3;
  size_t puts_per_step = 1;
  size_t payloads = 0;  // Columns of large values, without an index.
};

WorldOptions RandomOptions(TestRandom& random, size_t families) {
  WorldOptions options;
  for (size_t i = 0; i < families; ++i) {
    FamilyOptions& family = options.families.emplace_back();
    family.name = kFamilies[i];
    family.block_size_bytes = 512;
    family.max_versions = static_cast<uint32_t>(1 + random.Below(3));
    family.ttl_micros = random.OneIn(3 * families) ? 6 : 0;
    family.compression = random.OneIn(2) ? Compression::kNone : Compression::kZstd;
  }
  const bool descending = random.OneIn(3);
  const std::string& second = kFamilies[random.Below(families)];
  options.indexes.push_back({"by_a", {{"", "a", ColumnType::kText, false}}});
  options.indexes.push_back({"by_b", {{second, "b", ColumnType::kInt64, descending}}});
  options.chain_cells_max = static_cast<uint32_t>(1 + random.Below(8));
  options.cache_bytes = random.OneIn(3) ? 0 : random.OneIn(2) ? 1 << 20 : 1 << 15;
  return options;
}

// One random world: its history and the questions asked about it.
class Trial {
 public:
  Trial(TestRandom& random, const Scale& scale)
      : random_(random),
        scale_(scale),
        families_(1 + random.Below(3)),
        world_(RandomOptions(random, families_)) {}

  void Run() {
    for (size_t i = 0; i < scale_.steps; ++i) Step();
    FindOverlaps();
    for (const ReadWorld::Moment& moment : world_.Moments()) Check(moment);
    if (scale_.payloads > 0) CheckVerifies();
  }

 private:
  std::string RowKey() {
    const uint64_t row = random_.Below(scale_.rows);
    if (scale_.rows <= 3) return std::string(1, static_cast<char>('p' + row));
    return "row" + std::to_string(100'000 + row * 7);
  }
  const std::string& Family() { return kFamilies[random_.Below(families_)]; }
  // As predicates name it.
  std::string ColumnNamed(const std::string& qualifier) {
    const std::string& family = Family();
    if (family == kFamilies[0] && random_.OneIn(2)) return qualifier;
    return family + ":" + qualifier;
  }
  // A column: mostly one of the three that may be indexed.
  std::string Column() {
    if (scale_.payloads > 0 && random_.OneIn(2)) return Payload();
    return kColumns[random_.Below(kColumns.size())];
  }
  std::string Payload() { return "p" + std::to_string(random_.Below(scale_.payloads)); }
  // Some make rows wide together, some overflow.
  std::string PayloadValue() {
    const char letter = static_cast<char>('x' + random_.Below(3));
    const uint64_t size = random_.OneIn(8) ? 60'000 + random_.Below(200'000) : random_.Below(9000);
    return std::string(size, letter);
  }
  std::string Value() {
    if (scale_.values <= kValues.size()) return kValues[random_.Below(scale_.values)];
    return std::to_string(random_.Below(scale_.values));
  }

  // Mostly a value that rows have; otherwise one that no row can have if the column is indexed.
  std::string Literal(const std::string& qualifier) {
    static const std::vector<std::string> kFarIntegers = {
        "9223372036854775808", "-9223372036854775809", "99999999999999999999999", "+2", "-0"};
    if (!random_.OneIn(12)) return Value();
    if (qualifier == "b") return kFarIntegers[random_.Below(kFarIntegers.size())];
    return random_.OneIn(2) ? "1\xff" : Value() + std::string(2000 + random_.Below(200), '0');
  }

  // Of all files in half of the worlds, of none or some in the others.
  void FindOverlaps() {
    const uint64_t leaves_out_one_in = random_.Below(3);
    if (leaves_out_one_in == 1) return;
    for (size_t region = 0; region < world_.region_count(); ++region) {
      world_.BuildOverlaps(region, &random_, leaves_out_one_in);
    }
  }

  void Step() {
    const uint64_t choice = random_.Below(100);
    const size_t region = random_.Below(world_.region_count());
    if (choice < 50) {
      for (size_t i = 0; i < scale_.puts_per_step; ++i) Put();
    } else if (choice < 62) {
      Delete();
    } else if (choice < 67) {
      world_.Advance(static_cast<int64_t>(1 + random_.Below(3)));
    } else if (choice < 71) {
      world_.TakeSnapshot();
    } else if (choice < 73) {
      world_.DropSnapshot(random_.Below(4));
    } else if (choice < 88) {
      world_.Flush(region);
    } else if (choice < 91) {
      world_.SwitchMemstore(region);
    } else if (choice < 93) {
      world_.BuildOverlaps(region, &random_, 2);
    } else if (choice < 98) {
      const size_t files = world_.file_count(region);
      if (files > 0) world_.Merge(region, random_.Below(files), 1 + random_.Below(files));
    } else {
      world_.Split(RowKey());
    }
  }

  void Put() {
    ModelOperation put;
    put.table = kWorldTable;
    put.row = RowKey();
    put.family = Family();
    for (const std::string& column : kColumns) {
      if (random_.OneIn(2)) put.columns.emplace_back(column, Value());
    }
    for (uint64_t i = scale_.payloads > 0 ? random_.Below(12) : 0; i > 0; --i) {
      const std::string column = Payload();
      const auto same = [&](const auto& other) { return other.first == column; };
      if (std::none_of(put.columns.begin(), put.columns.end(), same)) {
        put.columns.emplace_back(column, PayloadValue());
      }
    }
    if (put.columns.empty()) put.columns.emplace_back("a", Value());
    if (!random_.OneIn(4)) put.timestamp = static_cast<int64_t>(1 + random_.Below(12));
    world_.Apply(put);
  }

  void Delete() {
    ModelOperation operation;
    operation.table = kWorldTable;
    operation.row = RowKey();
    operation.family = Family();
    operation.kind = static_cast<ModelOperation::Kind>(1 + random_.Below(4));
    operation.columns.emplace_back(Column(), "");
    if (!random_.OneIn(4)) operation.timestamp = static_cast<int64_t>(1 + random_.Below(12));
    world_.Apply(operation);
  }

  Predicate Leaf() {
    using Kind = Predicate::Kind;
    static constexpr Kind kKinds[] = {Kind::kEqual,       Kind::kNotEqual, Kind::kLess,
                                      Kind::kLessOrEqual, Kind::kGreater,  Kind::kGreaterOrEqual,
                                      Kind::kBetween,     Kind::kIn,       Kind::kIsNull,
                                      Kind::kIsNotNull,   Kind::kEqual,    Kind::kPrefix};
    const Kind kind = kKinds[random_.Below(std::size(kKinds))];
    if (random_.OneIn(6)) {
      if (kind == Kind::kPrefix) return Predicate::Compare(kind, "_row", {RowKey().substr(0, 5)});
      if (kind == Kind::kBetween) return Predicate::Between("_row", RowKey(), RowKey());
      if (kind != Kind::kIsNull && kind != Kind::kIsNotNull) {
        return Predicate::Compare(kind, "_row", {RowKey()});
      }
    }
    if (scale_.payloads > 0 && random_.OneIn(3)) return PayloadLeaf(kind);
    const std::string& qualifier = kColumns[random_.Below(3)];
    if (kind == Kind::kPrefix) {  // Some column b holds numbers, which have none.
      const std::string column = ColumnNamed(qualifier == "b" ? "a" : qualifier);
      const bool is_outside = random_.OneIn(12);
      return Predicate::Compare(kind, column, {is_outside ? Literal("a") : Value().substr(0, 1)});
    }
    std::vector<std::string> values;
    size_t count = kind == Kind::kBetween ? 2 : kind == Kind::kIn ? random_.Below(4) : 1;
    if (kind == Kind::kIsNull || kind == Kind::kIsNotNull) count = 0;
    while (values.size() < count) values.push_back(Literal(qualifier));
    return Predicate::Compare(kind, ColumnNamed(qualifier), std::move(values));
  }

  Predicate PayloadLeaf(Predicate::Kind kind) {
    using Kind = Predicate::Kind;
    const std::string column = ColumnNamed(Payload());
    if (kind == Kind::kIsNull || kind == Kind::kIsNotNull) {
      return Predicate::Compare(kind, column, {});
    }
    if (kind == Kind::kBetween) {
      return Predicate::Between(column, PayloadValue(), PayloadValue());
    }
    return Predicate::Compare(kind, column, {PayloadValue()});
  }

  Predicate RandomPredicate(int depth) {
    const uint64_t choice = random_.Below(depth == 0 ? 1 : 6);
    if (choice < 3) return Leaf();
    if (choice == 3) return Predicate::Not(RandomPredicate(depth - 1));
    std::vector<Predicate> children;
    for (uint64_t i = 2 + random_.Below(2); i > 0; --i)
      children.push_back(RandomPredicate(depth - 1));
    return choice == 4 ? Predicate::And(std::move(children)) : Predicate::Or(std::move(children));
  }

  void Compare(const std::string& what, const std::vector<ModelRow>& got,
               const std::vector<ModelRow>& want) {
    BOOST_REQUIRE_MESSAGE(
        got == want, what << "\n  got  " << DescribeRows(got) << "\n  want " << DescribeRows(want));
  }

  void Check(const ReadWorld::Moment& moment) {
    for (int i = 0; i < 4; ++i) CheckScan(moment);
    CheckGets(moment);
    for (int i = 0; i < 12; ++i) CheckQuery(moment, RandomPredicate(2));
    CheckQuery(moment, Predicate());
  }

  void CheckVerifies() {
    VerifyReport report;
    const engine::TableView view = world_.View(world_.Moments()[0]);
    const Status status = engine::VerifyView(world_.resources(), view, /*deep=*/true, &report);
    BOOST_REQUIRE_MESSAGE(status.ok(), status.ToString());
    std::string findings;
    for (const Finding& finding : report.findings) findings += finding.text + "; ";
    BOOST_REQUIRE_EQUAL(findings, "");
  }

  // Random columns and versions, the same for the model and the engine.
  void ChooseCells(ReadOptions* options, ModelRead* read) {
    if (random_.OneIn(3)) {
      options->columns.push_back({"", Column()});
      if (random_.OneIn(2)) options->columns.push_back({Family(), Column()});
    }
    if (random_.OneIn(4)) options->families.push_back(random_.OneIn(3) ? "" : Family());
    options->versions = static_cast<uint32_t>(1 + random_.Below(3));
    *read = world_.ReadOf();
    if (random_.OneIn(3)) read->as_of = static_cast<int64_t>(random_.Below(15));
    if (random_.OneIn(4)) read->since = static_cast<int64_t>(random_.Below(15));
    options->pieces = random_.OneIn(2);
    options->as_of = read->as_of;
    options->since = read->since;
    read->columns = options->columns;
    read->families = options->families;
    read->versions = options->versions;
  }

  void CheckScan(const ReadWorld::Moment& moment) {
    ScanOptions scan;
    if (random_.OneIn(2)) scan.start = RowKey();
    if (random_.OneIn(2)) scan.end = RowKey();
    if (random_.OneIn(4)) scan.prefix = RowKey().substr(0, 6);
    if (random_.OneIn(3)) scan.limit = 1 + random_.Below(scale_.rows);
    scan.reverse = random_.OneIn(2);
    ReadOptions options;
    ModelRead read;
    ChooseCells(&options, &read);
    const auto want = moment.model.Scan(kWorldTable, scan, read);
    const auto views =
        DrainViews(engine::ScanRows(world_.resources(), world_.View(moment), options, scan));
    Compare("scan", views, options.pieces ? CutIntoPieces(want) : want);
  }

  void CheckGets(const ReadWorld::Moment& moment) {
    for (size_t i = 0; i < std::min<size_t>(scale_.rows * 2, 30); ++i) {
      ReadOptions options;
      ModelRead read;
      ChooseCells(&options, &read);
      const std::string key = RowKey();
      const auto got = engine::GetRow(world_.View(moment).RegionOf(key), options, key);
      BOOST_REQUIRE_MESSAGE(got.has_value(), got.status().ToString());
      std::vector<ModelRow> rows, want;
      if (got->has_value()) rows.emplace_back((*got)->view());
      if (const auto row = moment.model.Get(kWorldTable, key, read)) want.push_back(*row);
      Compare("get " + key, rows, want);
    }
  }

  void CheckQuery(const ReadWorld::Moment& moment, const Predicate& predicate) {
    ReadOptions options;
    ModelRead read;
    ChooseCells(&options, &read);
    QueryOptions query;
    CheckQuery(moment, predicate, query, options, read);
    query.no_index = true;
    CheckQuery(moment, predicate, query, options, read);
    query = {};
    for (const char* index : {"by_a", "by_b"}) {
      query.use_index = index;
      CheckQuery(moment, predicate, query, options, read);
    }
    for (const char* index : {"by_a", "by_b"}) {
      query = {};
      query.order_by = index;
      query.descending = random_.OneIn(2);
      query.no_index = random_.OneIn(6);
      if (random_.OneIn(6)) query.use_index = random_.OneIn(2) ? "by_a" : "by_b";
      if (query.no_index) query.use_index.clear();
      if (random_.OneIn(3)) query.limit = 1 + random_.Below(scale_.rows);
      CheckQuery(moment, predicate, query, options, read);
    }
  }

  void CheckQuery(const ReadWorld::Moment& moment, const Predicate& predicate,
                  const QueryOptions& query, const ReadOptions& options, const ModelRead& read) {
    std::string what = predicate.ToString() + " sequence " + std::to_string(moment.sequence) +
                       " now " + std::to_string(world_.now()) + " use " + query.use_index +
                       " order " + query.order_by + (query.descending ? " desc" : "") +
                       (query.no_index ? " no index" : "");
    if (read.as_of.has_value()) what += " as of " + std::to_string(*read.as_of);
    if (read.since.has_value()) what += " since " + std::to_string(*read.since);
    auto source =
        engine::QueryRows(world_.resources(), world_.View(moment), options, predicate, query);
    if (!source.has_value()) {
      BOOST_REQUIRE_MESSAGE(
          source.error().code() == StatusCode::kInvalidArgument && !query.use_index.empty(),
          what << ": " << source.error().ToString());
      return;
    }
    const auto want = moment.model.Query(kWorldTable, predicate, query, read);
    Compare(what, Drain(std::move(source)), want);
    if (options.pieces) {
      Compare("pieces of " + what,
              DrainViews(engine::QueryRows(world_.resources(), world_.View(moment), options,
                                           predicate, query)),
              CutIntoPieces(want));
    }
    const auto count =
        engine::CountRows(world_.resources(), world_.View(moment), options, predicate, query);
    BOOST_REQUIRE_MESSAGE(count.has_value(), what << ": " << count.status().ToString());
    BOOST_REQUIRE_MESSAGE(*count == want.size(),
                          "count " << what << ": " << *count << ", expected " << want.size());
    const auto explained =
        engine::ExplainQuery(world_.resources(), world_.View(moment), options, predicate, query);
    BOOST_REQUIRE_MESSAGE(explained.has_value(), what << ": " << explained.status().ToString());
    BOOST_REQUIRE_EQUAL(explained->rows, want.size());
  }

  TestRandom& random_;
  Scale scale_;
  const size_t families_;
  ReadWorld world_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(reader_random)

BOOST_AUTO_TEST_CASE(SmallWorldsReadAsTheModel) {
  TestRandom random("reader_random/SmallWorldsReadAsTheModel");
  for (size_t i = 0; i < Trials(1000); ++i) Trial(random, {}).Run();
}

BOOST_AUTO_TEST_CASE(WorldsOfManyBlocksReadAsTheModel) {
  TestRandom random("reader_random/WorldsOfManyBlocksReadAsTheModel");
  Scale scale;
  scale.rows = 400;
  scale.values = 30;
  scale.puts_per_step = 60;
  for (size_t i = 0; i < Trials(6); ++i) Trial(random, scale).Run();
}

BOOST_AUTO_TEST_CASE(WorldsOfFewChangesReadAsTheModel) {
  TestRandom random("reader_random/WorldsOfFewChangesReadAsTheModel");
  Scale scale;
  scale.rows = 3000;
  scale.values = 3;
  scale.puts_per_step = 500;
  scale.steps = 20;
  for (size_t i = 0; i < Trials(2); ++i) Trial(random, scale).Run();
}

BOOST_AUTO_TEST_CASE(WorldsOfWideRowsReadAsTheModel) {
  TestRandom random("reader_random/WorldsOfWideRowsReadAsTheModel");
  Scale scale;
  scale.steps = 30;
  scale.payloads = 40;
  for (size_t i = 0; i < Trials(24); ++i) Trial(random, scale).Run();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace tandem::test
