// See schema.h.
#include "tools/stress/schema.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tools/stress/expected.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

using test::ColumnPlan;
using test::Dice;
using test::Mix;
using test::TablePlan;
using test::ValueKind;

std::vector<std::string> SplitKeys(std::vector<std::string> keys) {
  std::ranges::sort(keys);
  std::vector<std::string> splits;
  for (const size_t quarter : {1, 2, 3}) {
    const std::string& key = keys[keys.size() * quarter / 4];
    if (splits.empty() || splits.back() != key) splits.push_back(key);
  }
  return splits;
}

TableOptions North(uint64_t seed, const std::vector<std::string>& keys) {
  constexpr uint32_t kBlockSizes[] = {512, 1024, 4096, 8192};
  const auto block_size = [&](uint64_t what) { return kBlockSizes[Mix(seed, what) % 4]; };
  const auto packing = [&](uint64_t what) {
    return Mix(seed, what) % 2 == 0 ? Compression::kZstd : Compression::kNone;
  };
  TableOptions north;
  north.name = kNorth;
  north.families = {{.name = "d", .compression = packing(1), .block_size_bytes = block_size(2)},
                    {.name = "h",
                     .max_versions = 3,
                     .compression = packing(3),
                     .block_size_bytes = block_size(4)},
                    {.name = "w", .compression = packing(5), .block_size_bytes = block_size(6)}};
  north.indexes = {
      {"gen", {{"d", "gen", ColumnType::kInt64}}},
      {"word", {{"d", "word", ColumnType::kText}}},
      {"tag", {{"h", "tag", ColumnType::kBytes, true}}},
      {"size", {{"w", "size", ColumnType::kInt64, true}}},
      {"start",
       {{.family = "d",
         .qualifier = "word",
         .functions = {Function::Substring(1, 2), Function::Upper()}}}},
      {"bucket", {{.family = "h", .qualifier = "tag", .functions = {Function::Bucket(7)}}}},
      {"trigrams", {{.family = "d", .qualifier = "word", .functions = {Function::Trigrams()}}}},
      {"parts", {{.family = "h", .qualifier = "tag", .functions = {Function::Split("a")}}}},
      {"word_size",
       {{.family = "d",
         .qualifier = "word",
         .functions = {Function::Concat(
             {ConcatPart::Value(), ConcatPart::Text("-"), ConcatPart::Column("w", "size")})}}}},
      {"columns", {{.family = "h", .functions = {Function::MapKeys()}}}},
      {"word_gen", {{"d", "word", ColumnType::kText}, {"d", "gen", ColumnType::kInt64, true}}},
      {"key", {{.functions = {Function::Bucket(5)}, .is_row_key = true}}},
      {"tag_key",
       {{"h", "tag", ColumnType::kBytes},
        {.functions = {Function::SubstringBytes(2, 3)}, .is_row_key = true}}},
      {"size_tag_word",
       {{"w", "size", ColumnType::kInt64},
        {"h", "tag", ColumnType::kBytes},
        {"d", "word", ColumnType::kText}}},
      {.name = "small_words",
       .columns = {{"d", "word", ColumnType::kText}},
       .where = "w:size < 1000 OR h:tag IS NULL"}};
  north.split_keys = SplitKeys(keys);
  return north;
}

TableOptions MirrorOf(TableOptions north) {
  TableOptions south = std::move(north);
  south.name = kSouth;
  south.split_keys.clear();
  for (FamilyOptions& family : south.families) {
    family.compression =
        family.compression == Compression::kZstd ? Compression::kNone : Compression::kZstd;
    family.block_size_bytes = 8704 - family.block_size_bytes;
  }
  // Without its index a column would compare as bytes.
  for (IndexOptions& index : south.indexes) {
    for (IndexColumn& column : index.columns) column.descending = !column.descending;
  }
  return south;
}

TableOptions Loose() {
  TableOptions loose;
  loose.name = kLoose;
  loose.families = {{.name = "d", .max_versions = 2}};
  loose.indexes = {{"word", {{"d", "word", ColumnType::kText}}}};
  return loose;
}

}  // namespace

TableOptions NewSums() {
  TableOptions sums;
  sums.name = kSums;
  sums.families = {{.name = "d", .block_size_bytes = 512}};
  sums.indexes = {{"sum", {{"d", "sum", ColumnType::kInt64}}}};
  sums.split_keys = {SumKey(kCounters / 2)};
  sums.observers = {kEchoObserver};
  return sums;
}

TableOptions NewEcho() {
  TableOptions echo;
  echo.name = kEcho;
  echo.families = {{.name = "d"}};
  return echo;
}

std::string SumKey(uint32_t counter) { return "sum-" + std::to_string(counter); }

TableOptions NewBank() {
  TableOptions bank;
  bank.name = kBank;
  bank.families = {{.name = "d", .block_size_bytes = 512}};
  bank.indexes = {{"balance", {{"d", "balance", ColumnType::kInt64}}}};
  bank.split_keys = {AccountKey(kAccounts / 2)};
  return bank;
}

std::string AccountKey(uint32_t account) { return "account-" + std::to_string(account); }

WriteBatch FirstBalances() {
  WriteBatch batch;
  const std::string balance = std::to_string(kFirstBalance);
  const std::array<ColumnValue, 2> columns = {ColumnValue{"balance", balance},
                                              ColumnValue{"moves", "0"}};
  for (uint32_t i = 0; i < kAccounts; ++i) batch.PutColumns(kBank, AccountKey(i), "d", columns);
  return batch;
}

TableOptions NewLists() {
  TableOptions lists;
  lists.name = kListsTable;
  lists.families = {{.name = "d", .block_size_bytes = 512}};
  // By the thread of the first token: the value is soon too long for an index.
  lists.indexes = {
      {"first", {{.family = "d", .qualifier = "list", .functions = {Function::Substring(1, 2)}}}}};
  lists.split_keys = {ListKey(1, 0)};
  return lists;
}

std::string ListKey(uint32_t list, uint64_t generation) {
  return tools::Format("list-{}-{:06}", list, generation);
}

TableOptions NewClaims() {
  TableOptions claims;
  claims.name = kClaims;
  claims.families = {{.name = "d", .block_size_bytes = 512}};
  claims.indexes = {{"name", {{"d", "name", ColumnType::kText}}, true}};
  claims.split_keys = {ClaimKey(1, 0), ClaimKey(2, 2)};
  return claims;
}

std::string ClaimKey(uint32_t thread, uint32_t row) {
  return tools::Format("claim-{:02}-{}", thread, row);
}

TableOptions NewStock() {
  TableOptions stock;
  stock.name = kStock;
  stock.families = {{.name = "d", .block_size_bytes = 512}, {.name = "w"}};
  stock.indexes = {{"gen", {{"d", "gen", ColumnType::kInt64}}},
                   {"shelf", {{"d", "shelf", ColumnType::kText}}}};
  constexpr uint32_t kRowsOfRegion = 4;
  for (uint32_t row = kRowsOfRegion; row < kShelfRows; row += kRowsOfRegion) {
    stock.split_keys.push_back(StockKey(0, row));
  }
  return stock;
}

// The rows of all shelves lie among each other.
std::string StockKey(uint32_t thread, uint32_t row) {
  return tools::Format("stock-{:02}-{:02}", row, thread);
}

std::vector<TablePlan> NewTables(uint64_t seed, const std::vector<std::string>& keys) {
  const std::vector<ColumnPlan> columns = {
      {.qualifier = "gen", .kind = ValueKind::kInteger, .family = "d", .weight = 3},
      {.qualifier = "word", .kind = ValueKind::kText, .family = "d", .weight = 3},
      {.qualifier = "tag", .kind = ValueKind::kBytes, .family = "h", .weight = 6},
      {.qualifier = "size", .kind = ValueKind::kInteger, .family = "w", .weight = 6},
      {.qualifier = "note"}};
  const TableOptions north = North(seed, keys);
  std::vector<TablePlan> tables;
  for (const TableOptions& options : {north, MirrorOf(north), Loose()}) {
    TablePlan& table = tables.emplace_back();
    table.options = options;
    table.functions = true;
    table.keys = keys;
    table.columns = columns;
    table.timestamps = test::Timestamps::kNone;
    table.puts = 72;
    table.unlogged = options.name == kLoose;
    table.large_puts = table.unlogged ? 0 : 2;
    table.large_family = "w";
  }
  return tables;
}

std::vector<TablePlan> NewTables(uint64_t seed, uint64_t rows) {
  Dice dice(seed);
  return NewTables(seed, test::NewKeys(&dice, rows));
}

}  // namespace tandem::stress
