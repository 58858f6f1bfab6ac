// See small_world_plan.h.
#include "test/model/small_world_plan.h"

#include <algorithm>

namespace tandem::test {
namespace {

const std::vector<std::string> kColumns = {"a", "b", "c"};
const std::vector<std::pair<std::string, std::string>> kJoined = {{"a", "b"}, {"c", "a"}};

const Functions kCalled = {Function::Call("even")};  // 2 and "1 2".
const Functions kParts = {Function::Split(" ")};
// 0 of "y", 1 of the other rows.
const Functions kKeyPart = {Function::SplitPart("y", 1), Function::Length()};

// With two families the column "c" is the second one's.
std::string FamilyOf(bool two_families, const std::string& column) {
  return two_families && column == "c" ? "m" : "d";
}

IndexColumn ColumnOf(const SmallWorld& world, const std::string& name, bool descending) {
  return {FamilyOf(world.two_families, name), name, ColumnType::kBytes, descending};
}

Functions JoinedWith(const SmallWorld& world, const std::string& name) {
  return {Function::Concat(
      {ConcatPart::Value(), ConcatPart::Column(FamilyOf(world.two_families, name), name)})};
}

// concat(a, b), concat(c, a) with b, and b with concat(a, b).
void AddJoinedIndexes(const SmallWorld& world, std::vector<IndexOptions>* indexes) {
  std::vector<IndexColumn> joined;
  for (const auto& [name, with] : kJoined) {
    IndexColumn& column = joined.emplace_back(ColumnOf(world, name, name == "c"));
    column.functions = JoinedWith(world, with);
  }
  indexes->push_back({"joined", {joined[0]}});
  indexes->push_back({"joined_b", {joined[1], ColumnOf(world, "b", false)}});
  indexes->push_back({"b_joined", {ColumnOf(world, "b", true), joined[0]}});
  if (world.includes) {
    indexes->back().include = {{FamilyOf(world.two_families, "c"), "c"}};
  }
  if (!world.lists) return;
  joined[0].functions.insert(joined[0].functions.end(), kParts.begin(), kParts.end());
  indexes->push_back({"joined_parts", {joined[0]}});
}

void AddPartialIndexes(const SmallWorld& world, TablePlan* plan) {
  Dice partial(world.partial);
  for (uint64_t count = world.partial == 0 ? 0 : 1 + partial.Below(3); count > 0; --count) {
    IndexOptions index{"partial_" + std::to_string(count),
                       {ColumnOf(world, partial.Pick(kColumns), partial.Chance(30))}};
    const std::string& second = partial.Pick(kColumns);
    if (second != index.columns[0].qualifier && partial.Chance(40)) {
      index.columns.push_back(ColumnOf(world, second, partial.Chance(30)));
    }
    if (world.lists && index.columns.size() == 1 && partial.Chance(40)) {
      index.columns[0].functions = kParts;
    }
    index.where = RandomWhere(&partial, *plan);
    const bool is_there = std::ranges::any_of(plan->options.indexes, [&](const auto& other) {
      return other.ToString() == index.ToString();
    });
    if (!is_there) plan->options.indexes.push_back(std::move(index));
  }
}

void AddGlobalIndexes(const SmallWorld& world, std::vector<IndexOptions>* indexes) {
  const auto add = [&](IndexOptions index) {
    index.placement = IndexPlacement::kGlobal;
    indexes->push_back(std::move(index));
  };
  add({"global_a", {ColumnOf(world, "a", false)}});
  add({"global_c", {ColumnOf(world, "c", true)}});
  // Cells of an index over several columns do not expire.
  if (world.ttl_micros != 0) return;
  add({"global_b_c", {ColumnOf(world, "b", false), ColumnOf(world, "c", true)}});
}

void AddCallingIndexes(const SmallWorld& world, std::vector<IndexOptions>* indexes) {
  IndexColumn called = ColumnOf(world, "a", false);
  called.functions = kCalled;
  indexes->push_back({"by_call_of_a", {called}});
  indexes->push_back({"by_call_of_a_b", {called, ColumnOf(world, "b", true)}});
  IndexOptions partial{"partial_called", {ColumnOf(world, "b", false)}};
  partial.where = "call('even', d:a) IS NOT NULL";
  indexes->push_back(std::move(partial));
  if (!world.globals) return;
  IndexOptions global{"global_call_of_a", {called}};
  global.placement = IndexPlacement::kGlobal;
  indexes->push_back(std::move(global));
}

// On the qualifiers and values of a family, alone and two at a time.
void AddMapPredicates(bool two_families, std::vector<Predicate>* leaves,
                      std::vector<Predicate>* all) {
  std::vector<Predicate> of_maps;
  for (const char* family : {"d:", "m:"}) {
    for (const std::string& qualifier : kColumns) {
      of_maps.push_back(Predicate::Equal(family, qualifier).WithFunctions({Function::MapKeys()}));
    }
    of_maps.push_back(Predicate::GreaterOrEqual(family, "b").WithFunctions({Function::MapKeys()}));
    of_maps.push_back(Predicate::IsNull(family).WithFunctions({Function::MapKeys()}));
    of_maps.push_back(Predicate::Equal(family, "1").WithFunctions({Function::MapValues()}));
    of_maps.push_back(Predicate::NotEqual(family, "1").WithFunctions({Function::MapValues()}));
    of_maps.push_back(Predicate::Less(family, "5").WithFunctions({Function::MapValues()}));
    leaves->push_back(of_maps.front());
    if (!two_families) break;
  }
  for (size_t i = 0; i < of_maps.size(); ++i) {
    all->push_back(of_maps[i]);
    all->push_back(Predicate::Not(of_maps[i]));
    for (size_t j = 0; j < i; ++j) {
      all->push_back(Predicate::And({of_maps[i], of_maps[j]}));
      all->push_back(Predicate::And({of_maps[i], Predicate::Not(of_maps[j])}));
      all->push_back(Predicate::Or({of_maps[i], of_maps[j]}));
    }
  }
  leaves->push_back(of_maps.back());
}

}  // namespace

TablePlan PlanOf(const SmallWorld& world) {
  TablePlan plan;
  plan.options.name = "w";
  plan.options.split_keys = world.split_keys;
  for (const char* family : {"d", "m"}) {
    plan.options.families.push_back({.name = family,
                                     .max_versions = world.max_versions,
                                     .ttl_micros = world.ttl_micros,
                                     .block_size_bytes = 512});
    if (!world.two_families) break;
  }
  for (const std::string& column : kColumns) {
    const std::string family = FamilyOf(world.two_families, column);
    plan.columns.push_back({.qualifier = column, .family = family});
    plan.options.indexes.push_back({"by_" + column, {{family, column, ColumnType::kBytes, false}}});
  }
  const auto column = [&](const char* name, bool descending) {
    return ColumnOf(world, name, descending);
  };
  plan.options.indexes.push_back(
      {"by_all", {column("a", false), column("b", false), column("c", false)}, world.unique_all});
  plan.options.indexes.front().unique = world.unique_a;
  plan.options.indexes.push_back({"by_c_a", {column("c", true), column("a", false)}});
  if (world.includes) {
    const std::string of_c = FamilyOf(world.two_families, "c");
    std::vector<IndexOptions>& indexes = plan.options.indexes;
    indexes[0].include = {{"d", "b"}};
    indexes[1].include = {{"d", "a"}, {of_c, "c"}};
    indexes[4].include = {{"d", "b"}};
  }
  if (world.keys) {
    const IndexColumn part{.type = ColumnType::kInt64, .functions = kKeyPart, .is_row_key = true};
    plan.options.indexes.push_back({"by_key", {part}});
    plan.options.indexes.push_back({"by_key_a", {part, column("a", true)}});
    plan.options.indexes.push_back({"by_b_key", {column("b", false), part}});
    if (world.includes) plan.options.indexes.back().include = {{"d", "a"}};
  }
  if (world.maps) {
    for (const FamilyOptions& family : plan.options.families) {
      const auto add = [&](const char* name, Functions functions) {
        plan.options.indexes.push_back(
            {name + family.name, {{.family = family.name, .functions = std::move(functions)}}});
      };
      add("by_columns_of_", {Function::MapKeys()});
      add("by_values_of_", {Function::MapValues()});
    }
  }
  plan.keys = kSmallRows;
  plan.values = {"1", "2"};
  if (world.lists) {
    plan.values.push_back("1 2");
    for (const char* name : {"a", "c"}) {
      IndexColumn parts = column(name, /*descending=*/name == kColumns[2]);
      parts.functions = kParts;
      plan.options.indexes.push_back({std::string("by_parts_of_") + name, {std::move(parts)}});
    }
  }
  AddPartialIndexes(world, &plan);
  if (world.calls) AddCallingIndexes(world, &plan.options.indexes);
  if (world.joined) AddJoinedIndexes(world, &plan.options.indexes);
  if (world.globals) AddGlobalIndexes(world, &plan.options.indexes);
  plan.timestamps = world.rising ? Timestamps::kNone : Timestamps::kSmall;
  plan.puts = 58;
  return plan;
}

void AddJoinedPredicates(const SmallWorld& world, std::vector<Predicate>* all) {
  for (const auto& [name, with] : kJoined) {
    const std::string column = FamilyOf(world.two_families, name) + ":" + name;
    const std::string b = FamilyOf(world.two_families, "b") + ":b";
    std::vector<Predicate> joined = {Predicate::Equal(column, "11"), Predicate::Equal(column, "12"),
                                     Predicate::Greater(column, "12"), Predicate::IsNull(column)};
    for (Predicate& leaf : joined) {
      leaf = leaf.WithFunctions(JoinedWith(world, with));
      all->push_back(leaf);
      all->push_back(Predicate::Not(leaf));
      all->push_back(Predicate::And({leaf, Predicate::Equal(b, "1")}));
      all->push_back(Predicate::And({leaf, Predicate::Greater(b, "1")}));
      all->push_back(Predicate::Or({leaf, Predicate::Equal(b, "2")}));
    }
    if (!world.lists) continue;
    Functions parts = JoinedWith(world, with);
    parts.insert(parts.end(), kParts.begin(), kParts.end());
    all->push_back(Predicate::Equal(column, "2").WithFunctions(parts));
    all->push_back(Predicate::Not(Predicate::Equal(column, "12").WithFunctions(parts)));
  }
}

std::vector<Predicate> SmallPredicates(const SmallWorld& world) {
  const bool two_families = world.two_families, lists = world.lists, keys = world.keys;
  const bool calls = world.calls, maps = world.maps;
  std::vector<Predicate> leaves, all;
  if (maps) AddMapPredicates(two_families, &leaves, &all);
  if (keys) {
    for (const Predicate& leaf :
         {Predicate::Equal("_row", "1"), Predicate::Less("_row", "1"), Predicate::IsNull("_row")}) {
      leaves.push_back(leaf.WithFunctions(kKeyPart));
    }
  }
  if (calls) {
    leaves.push_back(Predicate::Equal("d:a", "2").WithFunctions(kCalled));
    leaves.push_back(Predicate::IsNotNull("d:a").WithFunctions(kCalled));
  }
  for (const std::string& name : kColumns) {
    const std::string column = FamilyOf(two_families, name) + ":" + name;
    for (const char* value : {"1", "2"}) leaves.push_back(Predicate::Equal(column, value));
    leaves.push_back(Predicate::IsNull(column));
    if (!lists || name == "b") continue;
    std::vector<Predicate> parts = {Predicate::Equal(column, "1"), Predicate::Equal(column, "2"),
                                    Predicate::Greater(column, "0")};
    for (Predicate& part : parts) part = part.WithFunctions(kParts);
    leaves.insert(leaves.end(), parts.begin(), parts.end());
    for (const Predicate& not_first : {parts[0], Predicate::Not(parts[0])}) {
      for (const Predicate& not_second : {parts[1], Predicate::Not(parts[1])}) {
        all.push_back(Predicate::And({not_first, not_second}));
        all.push_back(Predicate::Or({not_first, not_second}));
      }
    }
  }
  if (world.joined) AddJoinedPredicates(world, &all);
  const std::string a = FamilyOf(two_families, "a") + ":a", c = FamilyOf(two_families, "c") + ":c";
  for (const char* value : {"1", "2"}) {
    all.push_back(
        Predicate::Tuple({Predicate::Greater(a, value), Predicate::Greater("_row", "y")}));
    all.push_back(
        Predicate::Tuple({Predicate::LessOrEqual(c, value), Predicate::LessOrEqual(a, "1")}));
    all.push_back(
        Predicate::Tuple({Predicate::Between(a, "1", value), Predicate::Between(c, value, "1")}));
    all.push_back(Predicate::Not(all.back()));
  }
  for (const Predicate& leaf : leaves) {
    all.push_back(leaf);
    all.push_back(Predicate::Not(leaf));
    for (const Predicate& other : leaves) {
      if (leaf.qualifier() >= other.qualifier()) continue;
      all.push_back(Predicate::And({leaf, other}));
      all.push_back(Predicate::Or({leaf, other}));
      all.push_back(Predicate::And({leaf, Predicate::Not(other)}));
      for (const Predicate& third : leaves) {
        if (other.qualifier() >= third.qualifier()) continue;
        all.push_back(Predicate::And({leaf, other, third}));
        all.push_back(Predicate::And({leaf, Predicate::Or({other, third})}));
      }
    }
  }
  return all;
}

std::string SmallStep::Describe() const {
  constexpr const char* kNames[] = {
      "write",         "flush", "compact",  "run one job",     "take snapshot", "release snapshot",
      "advance clock", "alter", "truncate", "change an index", "reopen",        "crash",
      "kill"};
  std::string text = kNames[static_cast<int>(kind)];
  for (const ModelOperation& operation : batch) text += "; " + operation.Describe();
  if (synced) text += "; synced";
  if (kind == Kind::kAlter || kind == Kind::kChangeIndex) text += " by " + std::to_string(argument);
  if (kind == Kind::kAdvanceClock) text += " by " + std::to_string(argument % 4);
  return text;
}

uint64_t SmallWorld::operation_count() const {
  uint64_t count = 0;
  for (const SmallStep& step : steps) count += step.batch.size();
  return count;
}

std::string SmallWorld::Describe() const {
  std::string text =
      "max_versions " + std::to_string(max_versions) + ", ttl " + std::to_string(ttl_micros) +
      (switches_memstores ? ", a memstore for every batch" : "") +
      (two_families ? ", two families" : "") + (rising ? ", rising timestamps" : "") +
      (lists ? ", lists" : "") + (unique_a ? ", by_a unique" : "") +
      (unique_all ? ", by_all unique" : "") + (includes ? ", included columns" : "") +
      (globals ? ", global indexes" : "") + (keys ? ", parts of keys" : "") +
      (calls ? ", calls" : "") + (joined ? ", joined columns" : "") + (maps ? ", maps" : "") +
      (loads ? ", loads" : "");
  for (const IndexOptions& index : PlanOf(*this).options.indexes) {
    if (!index.where.empty()) text += ", " + index.name + " over " + index.ToString();
  }
  for (const std::string& key : split_keys) text += ", a region from " + key;
  for (const SmallStep& step : steps) text += "\n    " + step.Describe();
  return text;
}

}  // namespace tandem::test
