// See tables.h.
#include "test/model/tables.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "format/functions.h"

namespace tandem::test {
namespace {

constexpr const char* kText = "section";
constexpr const char* kInteger = "size";
constexpr const char* kBytes = "tag";
constexpr const char* kPlain = "note";  // No index; neither has the column without a name.

IndexOptions Index(std::string name, const char* family, const char* qualifier, ColumnType type,
                   const std::vector<IndexColumn>& more = {}) {
  IndexOptions index{std::move(name), {{family, qualifier, type, false}}};
  index.columns.insert(index.columns.end(), more.begin(), more.end());
  return index;
}

FamilyOptions Family(Dice* dice, std::string name, uint32_t max_versions, int64_t ttl_micros) {
  return {.name = std::move(name),
          .max_versions = max_versions,
          .ttl_micros = ttl_micros,
          .compression = dice->Chance(50) ? Compression::kZstd : Compression::kNone,
          .block_size_bytes = dice->Chance(50) ? 512u : 4096u};
}

// Includes the columns in the index of that name, of the first family.
void Include(const char* name, const std::vector<const char*>& qualifiers, TablePlan* plan) {
  const auto index = std::ranges::find(plan->options.indexes, name, &IndexOptions::name);
  for (const char* qualifier : qualifiers) index->include.push_back({.qualifier = qualifier});
}

TablePlan NewTable(Dice* dice, std::string name, std::vector<FamilyOptions> families) {
  TablePlan plan;
  plan.options.name = std::move(name);
  plan.columns = {{.qualifier = kText, .kind = ValueKind::kText, .weight = 2},
                  {.qualifier = kInteger, .kind = ValueKind::kInteger, .weight = 2},
                  {.qualifier = kBytes, .kind = ValueKind::kBytes, .weight = 2},
                  {.qualifier = kPlain},
                  {.qualifier = ""}};
  plan.options.families = std::move(families);
  plan.options.indexes = {Index("by_section", "", kText, ColumnType::kText),
                          Index("by_size", "", kInteger, ColumnType::kInt64),
                          Index("by_tag", "", kBytes, ColumnType::kBytes),
                          Index("by_tag_falling", "", kBytes, ColumnType::kBytes)};
  plan.options.indexes[1].columns[0].descending = dice->Chance(50);
  plan.options.indexes[3].columns[0].descending = true;
  IndexOptions lower = Index("by_lower_section", "", kText, ColumnType::kBytes);
  lower.columns[0].functions = {Function::Substring(1, 2), Function::Lower()};
  plan.options.indexes.push_back(std::move(lower));
  IndexOptions bucket = Index("by_bucket_of_tag", "", kBytes, ColumnType::kInt64);
  bucket.columns[0].functions = {Function::Bucket(5)};
  plan.options.indexes.push_back(std::move(bucket));
  IndexOptions even = Index("by_even_section", "", kText, ColumnType::kBytes);
  even.columns[0].functions = {Function::Call("even"), Function::Upper()};
  plan.options.indexes.push_back(std::move(even));
  IndexOptions digits = Index("by_digits_of_tag", "", kBytes, ColumnType::kInt64);
  digits.columns[0].functions = {Function::Call("digits")};
  digits.columns.push_back({"", kInteger, ColumnType::kInt64, dice->Chance(50)});
  plan.options.indexes.push_back(std::move(digits));
  IndexOptions words = Index("by_words", "", kText, ColumnType::kBytes);
  words.columns[0].functions = {Function::Words()};
  plan.options.indexes.push_back(std::move(words));
  IndexOptions parts = Index("by_parts_of_tag", "", kBytes, ColumnType::kBytes);
  parts.columns[0].functions = {Function::Split("a")};
  parts.columns[0].descending = dice->Chance(50);
  plan.options.indexes.push_back(std::move(parts));
  plan.options.indexes.push_back(
      Index("by_section_size", "", kText, ColumnType::kText, {{"", kInteger, ColumnType::kInt64}}));
  plan.options.indexes.push_back(Index(
      "by_size_tag_section", "", kInteger, ColumnType::kInt64,
      {{"", kBytes, ColumnType::kBytes, true}, {"", kText, ColumnType::kText, dice->Chance(50)}}));
  Include("by_section", {kInteger, kPlain}, &plan);
  Include("by_size", {kBytes, kText}, &plan);
  Include("by_tag_falling", {"", kText}, &plan);
  Include("by_lower_section", {kInteger}, &plan);
  Include("by_section_size", {kBytes, ""}, &plan);
  return plan;
}

// Indexes over what concat makes of several columns, of several families if there are some.
void AddJoined(Dice* dice, TablePlan* plan) {
  const std::string other = plan->options.families.back().name;
  const auto joined = [&](const char* qualifier, const char* with) {
    IndexColumn column{.qualifier = qualifier, .descending = dice->Chance(30)};
    column.functions = {Function::Concat(
        {ConcatPart::Value(), ConcatPart::Text("1"), ConcatPart::Column(other, with)})};
    return column;
  };
  IndexOptions one{"by_joined", {joined(kText, kBytes)}};
  if (dice->Chance(50)) {
    one.columns[0].functions.push_back(dice->Chance(40) ? Function::Split("a") : Function::Upper());
  }
  IndexOptions two{"by_two_joined", {joined(kInteger, kText)}};
  two.columns.insert(dice->Chance(50) ? two.columns.begin() : two.columns.end(),
                     {.qualifier = kBytes, .descending = dice->Chance(30)});
  if (dice->Chance(30)) two.include = {{.qualifier = kPlain}, {.qualifier = ""}};
  if (dice->Chance(30)) two.where = RandomWhere(dice, *plan);
  plan->options.indexes.push_back(std::move(one));
  plan->options.indexes.push_back(std::move(two));
}

// Over the qualifiers and the values of families.
void AddIndexesOfFamilies(Dice* dice, std::vector<TablePlan>* tables) {
  const auto add = [](std::string name, const char* family, Functions functions, ColumnType type,
                      TablePlan* plan) {
    IndexOptions index = Index(std::move(name), family, "", type);
    index.columns[0].functions = std::move(functions);
    plan->options.indexes.push_back(std::move(index));
  };
  add("by_d_columns", "d", {Function::MapKeys()}, ColumnType::kBytes, &(*tables)[0]);
  add("by_w_columns", "w", {Function::MapKeys()}, ColumnType::kText, &(*tables)[1]);
  add("by_m_numbers", "m", {Function::MapValues()}, ColumnType::kInt64, &(*tables)[1]);
  (*tables)[1].options.indexes.back().columns[0].descending = dice->Chance(50);
  add("by_k_columns", "k", {Function::MapKeys()}, ColumnType::kBytes, &(*tables)[2]);
  add("by_d_starts", "d", {Function::MapValues(), Function::Substring(1, 2)}, ColumnType::kText,
      &(*tables)[2]);
  add("by_large_columns", "w", {Function::MapKeys(), Function::Upper()}, ColumnType::kText,
      &(*tables)[4]);
  // Of the beginnings alone: longer values would be refused, and none would be large.
  add("by_large_values", "d", {Function::MapValues(), Function::SubstringBytes(1, 2)},
      ColumnType::kText, &(*tables)[4]);
}

void Split(Dice* dice, TablePlan* plan) {
  std::set<std::string> keys;
  for (uint64_t count = dice->Below(4); count > 0; --count) keys.insert(dice->Pick(plan->keys));
  plan->options.split_keys.assign(keys.begin(), keys.end());
}

}  // namespace

TablePlan WithoutCalls(TablePlan plan) {
  std::erase_if(plan.options.indexes, [](const IndexOptions& index) {
    return index.ToString().find("call('") != std::string::npos;
  });
  return plan;
}

std::vector<TablePlan> NewTables(Dice* dice, uint64_t rows) {
  std::vector<TablePlan> tables = {
      NewTable(dice, "one", {Family(dice, "d", 1, 0)}),
      NewTable(dice, "three",
               {Family(dice, "d", 3, 0), Family(dice, "m", 1, 0), Family(dice, "w", 2, 0)}),
      NewTable(dice, "brief", {Family(dice, "d", 2, 200'000), Family(dice, "k", 1, 0)}),
      NewTable(dice, "unlogged", {Family(dice, "d", 1, 0)}),
      NewTable(dice, "large", {Family(dice, "d", 2, 0), Family(dice, "w", 1, 0)}),
  };
  for (TablePlan& plan : tables) {
    plan.keys = NewKeys(dice, rows);
    plan.casts = true;
    plan.functions = true;
    // Where timestamps go back, an index over several columns is asked for the first one alone.
    if (dice->Chance(50)) plan.timestamps = Timestamps::kNone;
  }
  tables[1].options.indexes.push_back(Index("by_m_size", "m", kInteger, ColumnType::kInt64));
  tables[1].options.indexes.push_back(Index("by_w_section", "w", kText, ColumnType::kText));
  tables[1].options.indexes.push_back(Index("by_m_tag_d_size", "m", kBytes, ColumnType::kBytes,
                                            {{"", kInteger, ColumnType::kInt64, true}}));
  tables[1].options.indexes.push_back(Index("by_unique_section_tag", "", kText, ColumnType::kText,
                                            {{"", kBytes, ColumnType::kBytes, true}}));
  tables[1].options.indexes.back().unique = true;
  tables[1].options.indexes.push_back(Index("by_unique_m_size", "m", kInteger, ColumnType::kInt64));
  tables[1].options.indexes.back().unique = true;
  tables[1].options.indexes.back().include = {{"w", kText}, {"", kInteger}};
  IndexOptions trigrams = Index("by_trigrams", "w", kText, ColumnType::kBytes);
  trigrams.columns[0].functions = {Function::Trigrams()};
  tables[1].options.indexes.push_back(std::move(trigrams));
  Split(dice, &tables[1]);
  for (TablePlan& plan : tables) {
    IndexColumn key{.functions = RandomKeyFunctions(dice), .is_row_key = true};
    key.type = *format::TypeOfFunctions(key.functions, std::nullopt);
    key.descending = dice->Chance(30);
    plan.options.indexes.push_back({"by_key", {key}});
    if (dice->Chance(50)) Include("by_key", {kInteger, kText}, &plan);
    IndexOptions tag = Index("by_key_tag", "", kBytes, ColumnType::kBytes);
    tag.columns.insert(dice->Chance(70) ? tag.columns.begin() : tag.columns.end(), key);
    plan.options.indexes.push_back(std::move(tag));
    IndexOptions one = Index("by_part_of_size", "", kInteger, ColumnType::kInt64);
    one.where = RandomWhere(dice, plan);
    IndexOptions two = Index("by_part_of_tag_section", "", kBytes, ColumnType::kBytes,
                             {{"", kText, ColumnType::kText, dice->Chance(50)}});
    two.where = RandomWhere(dice, plan);
    plan.options.indexes.push_back(std::move(one));
    plan.options.indexes.push_back(std::move(two));
    IndexOptions called = Index("by_part_called", "", kPlain, ColumnType::kBytes);
    called.columns[0].functions = {Function::Call("twice")};
    called.where = RandomWhere(dice, plan) + " OR call('even', d:section) = 'b'";
    plan.options.indexes.push_back(std::move(called));
    AddJoined(dice, &plan);
  }
  AddIndexesOfFamilies(dice, &tables);
  tables[2].timestamps = Timestamps::kExpiring;
  tables[2].options.indexes.push_back(Index("by_k_tag", "k", kBytes, ColumnType::kBytes));
  tables[2].options.indexes.push_back(Index("by_k_size_d_tag", "k", kInteger, ColumnType::kInt64,
                                            {{"", kBytes, ColumnType::kBytes}}));
  tables[2].options.indexes.back().include = {{"k", kBytes}, {"", kPlain}};
  tables[3].unlogged = true;
  tables[3].keys = NewKeys(dice, std::min<uint64_t>(rows, 60));
  tables[4].large_puts = 30;
  tables[4].keys = NewKeys(dice, 6);
  for (const uint64_t number : {3, 250}) {
    tables[4].columns.push_back({.qualifier = LargeColumn(number)});
  }
  return tables;
}

}  // namespace tandem::test
