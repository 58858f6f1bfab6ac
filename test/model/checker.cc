// Compares what the engine answers with the reference model; see checker.h.
#include "test/model/checker.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "format/functions.h"
#include "tandem/limits.h"
#include "test/model/tables.h"

namespace tandem::test {
namespace {

constexpr uint32_t kAllVersions = std::numeric_limits<uint32_t>::max();

ModelRead ModelReadOf(const Moment& moment, const ReadOptions& read) {
  return {moment.now_micros, read.versions, read.columns, read.families, read.as_of, read.since};
}

bool JoinsColumns(const Function& function) {
  return std::ranges::find(function.parts, ConcatPart::Kind::kColumn, &ConcatPart::kind) !=
         function.parts.end();
}

// A tuple, or columns that concat joins.
bool HasSeveralColumns(const Predicate& predicate) {
  return predicate.kind() == Predicate::Kind::kTuple ||
         std::ranges::any_of(predicate.functions(), JoinsColumns) ||
         std::ranges::any_of(predicate.children(), HasSeveralColumns);
}

std::string Describe(const QueryOptions& query) {
  std::string text;
  if (!query.order_by.empty()) text += " order by " + query.order_by;
  if (query.descending) text += " falling";
  if (query.limit != 0) text += " limit " + std::to_string(query.limit);
  if (query.offset != 0) text += " offset " + std::to_string(query.offset);
  if (!query.use_index.empty()) text += " by index " + query.use_index;
  for (const std::string& index : query.use_indexes) text += " by index " + index;
  if (query.no_index) text += " without index";
  if (query.any_version) text += " of any version";
  return text + test::Describe(query.ranges);
}

std::string Describe(const ReadOptions& read) {
  std::string text = " versions " + std::to_string(read.versions);
  for (const ColumnName& column : read.columns) {
    text += " column " + column.family + ":" + Shown(column.qualifier);
  }
  for (const std::string& family : read.families) text += " family " + family;
  if (read.as_of.has_value()) text += " as of " + std::to_string(*read.as_of);
  if (read.since.has_value()) text += " since " + std::to_string(*read.since);
  if (read.pieces) text += " in pieces";
  if (read.threads > 1) text += " on " + std::to_string(read.threads) + " threads";
  return text + (read.snapshot != nullptr ? " at a snapshot" : "");
}

std::string Describe(const AggregateOptions& options) {
  std::string text = options.any_version ? " of any version" : "";
  for (const std::string& column : options.group_by) text += " by " + column;
  for (const Aggregation& value : options.values) {
    text += " value " + std::to_string(static_cast<int>(value.kind)) + " " + value.column;
  }
  if (options.no_index) text += " without index";
  for (const std::string& index : options.use_indexes) text += " by index " + index;
  if (options.descending) text += " falling";
  if (options.limit > 0) text += " limit " + std::to_string(options.limit);
  return text;
}

// The column as a predicate names it.
std::string TextOfColumn(IndexColumn column) {
  column.descending = false;
  const bool has_type = column.type != ColumnType::kBytes || !column.functions.empty();
  return has_type ? column.ToString() : column.ToString() + "::bytes";
}

// The columns of the predicate's conditions, but for the row key itself.
void AddColumns(const Predicate& predicate, std::vector<IndexColumn>* columns) {
  for (const Predicate& child : predicate.children()) AddColumns(child, columns);
  if (predicate.qualifier().empty() && predicate.functions().empty()) return;
  columns->push_back({.family = predicate.family(),
                      .qualifier = predicate.qualifier(),
                      .type = predicate.type().value_or(ColumnType::kBytes),
                      .functions = predicate.functions(),
                      .is_row_key = predicate.is_row_key()});
}

// The order of the index by its columns, as QueryOptions::order_by takes them; nullopt: it has to
// be named.
std::optional<std::string> OrderByColumns(const TablePlan& plan, const std::string& name) {
  const auto& indexes = plan.options.indexes;
  const auto index = std::ranges::find(indexes, name, &IndexOptions::name);
  if (index == indexes.end() || index->placement != IndexPlacement::kLocal) return std::nullopt;
  if (!index->where.empty()) return std::nullopt;
  std::string text;
  for (const IndexColumn& column : index->columns) {
    text += (text.empty() ? "" : ", ") + TextOfColumn(column);
    if (column.descending != index->columns[0].descending) text += " DESC";
  }
  return text;
}

std::vector<ModelGroup> ReadGroups(Cursor* cursor, size_t keys, const std::string& context) {
  std::vector<ModelGroup> groups;
  while (cursor->Next()) {
    ModelGroup& group = groups.emplace_back();
    const std::span<const Cell> cells = cursor->row().cells();
    for (size_t i = 0; i < cells.size(); ++i) {
      auto& part = i < keys ? group.keys : group.values;
      part.push_back(cells[i].timestamp == 0 ? std::nullopt
                                             : std::optional(std::string(cells[i].value)));
    }
  }
  RequireOk(cursor->status(), context);
  return groups;
}

void RequireSameGroups(const std::vector<ModelGroup>& expected,
                       const std::vector<ModelGroup>& found, const std::string& context) {
  const auto [e, f] = std::mismatch(expected.begin(), expected.end(), found.begin(), found.end());
  if (e == expected.end() && f == found.end()) return;
  throw Failure(context + ": group " + std::to_string(e - expected.begin()) + " of " +
                std::to_string(expected.size()) + ", expected " +
                (e == expected.end() ? "the end" : e->Describe()) + ", found " +
                (f == found.end() ? "the end" : f->Describe()));
}

}  // namespace

void RequireOk(const Status& status, const std::string& context) {
  if (!status.ok()) throw Failure(context + ": " + status.ToString());
}

std::vector<ModelRow> ReadAll(Result<Cursor> cursor, const std::string& context) {
  RequireOk(cursor.status(), context);
  std::vector<ModelRow> rows;
  bool continues = false;  // The row before goes on.
  while (cursor->Next()) {
    ModelRow row(cursor->row());
    if (!std::exchange(continues, cursor->row().continues())) {
      rows.push_back(std::move(row));
      continue;
    }
    if (row.key != rows.back().key) throw Failure(context + ": a row ends within another");
    rows.back().cells.insert(rows.back().cells.end(), row.cells.begin(), row.cells.end());
  }
  RequireOk(cursor->status(), context);
  return rows;
}

void RequireSameRows(const std::vector<ModelRow>& expected, const std::vector<ModelRow>& found,
                     const std::string& context) {
  const auto [e, f] = std::mismatch(expected.begin(), expected.end(), found.begin(), found.end());
  if (e == expected.end() && f == found.end()) return;
  throw Failure(context + ": row " + std::to_string(e - expected.begin()) + " of " +
                std::to_string(expected.size()) + ", expected " +
                (e == expected.end() ? "the end" : e->Describe()) + ", found " +
                (f == found.end() ? "the end" : f->Describe()));
}

void RequireSequences(const DatabaseInfo& info) {
  for (const TableInfo& table : info.tables) {
    for (const RegionInfo& region : table.regions) {
      for (const FileInfo& file : region.files) {
        if (file.max_sequence <= info.last_sequence) continue;
        throw Failure("file " + std::to_string(file.number) + " holds sequence " +
                      std::to_string(file.max_sequence) + ", the last one is " +
                      std::to_string(info.last_sequence));
      }
    }
  }
}

void Checker::CheckTable(const Moment& moment, const TablePlan& plan, int effort) {
  for (const bool reverse : {false, true}) {
    ScanOptions scan;
    scan.reverse = reverse;
    ReadOptions read;
    read.versions = kAllVersions;
    CheckScan(moment, plan, scan, read);
  }
  Generator generator(&dice_, &plan);
  for (int i = 0; i < effort; ++i) {
    CheckScan(moment, plan, generator.NewScan(), NewRead(moment, plan));
    CheckQuery(moment, plan, generator.NewPredicate());
  }
  CheckRows(moment, plan, 3 * effort);
  for (int i = 0; i < effort; ++i) {
    CheckAnyVersion(moment, plan, generator.NewPredicate());
    CheckGroups(moment, plan, dice_.Chance(50) ? Predicate() : generator.NewPredicate());
    if (dice_.Chance(30)) CheckExpression(moment, plan, generator.NewPredicate());
  }
  CheckManyRows(moment, plan);
  CheckIndexes(moment, plan);
}

ReadOptions Checker::NewRead(const Moment& moment, const TablePlan& plan) {
  Generator generator(&dice_, &plan);
  ReadOptions read = generator.NewRead();
  generator.BoundByTime(moment.now_micros, &read);
  read.snapshot = moment.snapshot;
  return read;
}

void Checker::CheckScan(const Moment& moment, const TablePlan& plan, const ScanOptions& scan,
                        ReadOptions read) {
  read.snapshot = moment.snapshot;
  read.pieces = dice_.Chance(50);
  CountPast(read);
  const std::string& table = plan.options.name;
  const std::string context = table + ": " + Describe(scan) + Describe(read);
  const auto found = ReadAll(moment.engine->Scan(read, table, scan), context);
  counters_.rows_read += found.size();
  RequireSameRows(moment.model->Scan(table, scan, ModelReadOf(moment, read)), found, context);
}

// A call of another version has no index, and is computed all the same.
void Checker::CheckWithoutCalls(const Moment& moment, const TablePlan& plan, bool is_version) {
  const TablePlan usable = WithoutCalls(plan);
  CheckTable(moment, usable, 1);
  const size_t left_out = plan.options.indexes.size() - usable.options.indexes.size();
  if (left_out == 0) return;
  WriteBatch batch;
  batch.Put(plan.options.name, "x", plan.options.families[0].name, "a", "1");
  const Status refused = moment.engine->Write({}, batch);
  if (refused.code() != StatusCode::kUnsupported) {
    throw Failure("a write that nobody can index: " + refused.ToString());
  }
  if (!is_version) return;
  for (const IndexOptions& index : plan.options.indexes) {
    const IndexColumn& column = index.columns[0];
    if (!format::HaveCalls(column.functions)) continue;
    const std::string& family =
        column.family.empty() ? plan.options.families[0].name : column.family;
    const std::string name = family + ":" + column.qualifier;
    const ColumnType type = *format::TypeOfFunctions(column.functions, column.type);
    CheckQuery(moment, usable, Predicate::IsNotNull(name).WithFunctions(column.functions).As(type));
    CheckQuery(moment, usable,
               Predicate::LessOrEqual(name, "2").WithFunctions(column.functions).As(type));
  }
}

void Checker::CheckRows(const Moment& moment, const TablePlan& plan, int count) {
  const std::string& table = plan.options.name;
  PinnedRow pinned;
  for (int i = 0; i < count; ++i) {
    const ReadOptions read = NewRead(moment, plan);
    CountPast(read);
    std::string key = dice_.Pick(plan.keys);
    if (dice_.Chance(10)) key += '\0';  // Most likely no row.
    const std::string context = table + ": get " + Shown(key) + Describe(read);
    const auto row = moment.engine->Get(read, table, key);
    RequireOk(row.status(), context);
    ++counters_.rows_read;
    const RowView view = row->has_value() ? (*row)->view() : RowView();
    RequireRow(moment, table, key, read, row->has_value() ? &view : nullptr, context);
    CheckPinned(moment, table, key, read, &pinned);
    // What it keeps for reads of the same columns knows nothing of their time.
    ReadOptions bounded = read;
    Generator(&dice_, &plan).BoundByTime(moment.now_micros, &bounded);
    CheckPinned(moment, table, key, bounded, &pinned);
  }
}

void Checker::CheckPinned(const Moment& moment, const std::string& table, const std::string& key,
                          const ReadOptions& read, PinnedRow* pinned) {
  const std::string context = table + ": get " + Shown(key) + Describe(read) + ", pinned";
  const auto is_there = moment.engine->GetPinned(read, table, key, pinned);
  RequireOk(is_there.status(), context);
  RequireRow(moment, table, key, read, *is_there ? &pinned->view() : nullptr, context);
}

void Checker::RequireRow(const Moment& moment, const std::string& table, const std::string& key,
                         const ReadOptions& read, const RowView* row, const std::string& context) {
  std::vector<ModelRow> expected, found;
  if (auto seen = moment.model->Get(table, key, ModelReadOf(moment, read))) {
    expected.push_back(*std::move(seen));
  }
  if (row != nullptr) found.emplace_back(*row);
  RequireSameRows(expected, found, context);
}

void Checker::CheckManyRows(const Moment& moment, const TablePlan& plan) {
  const std::string& table = plan.options.name;
  const ReadOptions read = NewRead(moment, plan);
  CountPast(read);
  std::vector<std::string> keys(dice_.Below(20));
  for (std::string& key : keys) {
    key = dice_.Pick(plan.keys);
    if (dice_.Chance(10)) key += '\0';  // Most likely no row.
  }
  const std::string context = table + ": multi-get" + Describe(read);
  const std::vector<std::string_view> wanted(keys.begin(), keys.end());
  const auto rows = moment.engine->MultiGet(read, table, wanted);
  RequireOk(rows.status(), context);
  std::vector<ModelRow> expected, found;
  for (size_t i = 0; i < keys.size(); ++i) {
    if (auto seen = moment.model->Get(table, keys[i], ModelReadOf(moment, read))) {
      expected.push_back(*std::move(seen));
    }
    if ((*rows)[i].has_value()) found.emplace_back((*rows)[i]->view());
  }
  counters_.rows_read += found.size();
  RequireSameRows(expected, found, context);
}

void Checker::CountPast(const ReadOptions& read) {
  counters_.past_reads += read.as_of.has_value() || read.since.has_value() ? 1 : 0;
}

/// An index that was asked for by name may be unable to serve a predicate; then the engine says so.
bool Checker::IsRefused(const Status& status, const QueryOptions& query) {
  const bool is_asked_for = !query.use_index.empty() || !query.use_indexes.empty();
  if (!is_asked_for || status.code() != StatusCode::kInvalidArgument) return false;
  ++counters_.index_refusals;
  return true;
}

void Checker::CheckQuery(const Moment& moment, const TablePlan& plan, const Predicate& predicate) {
  const std::string& table = plan.options.name;
  const QueryOptions query = Generator(&dice_, &plan).NewQuery(predicate);
  ReadOptions read = NewRead(moment, plan);
  read.pieces = dice_.Chance(50);
  CountPast(read);
  const std::string text = predicate.ToString();
  const std::string context =
      table + ": query " + text.substr(0, 1000) + Describe(query) + Describe(read);
  Predicate asked = predicate;
  if (dice_.Chance(20)) {  // What is written can be read back.
    auto parsed = Predicate::Parse(text);
    RequireOk(parsed.status(), context);
    asked = *std::move(parsed);
  }
  QueryOptions asked_order = query;
  // By its columns another index may give the order, one that is asked for.
  if (query.use_index.empty() && query.use_indexes.empty() && dice_.Chance(30)) {
    asked_order.order_by = OrderByColumns(plan, query.order_by).value_or(query.order_by);
  }
  auto cursor = moment.engine->Query(read, table, asked, asked_order);
  if (IsRefused(cursor.status(), query)) return;
  const auto found = ReadAll(std::move(cursor), context);
  ++counters_.queries;
  counters_.rows_read += found.size();
  RequireSameRows(moment.model->Query(table, predicate, query, ModelReadOf(moment, read)), found,
                  context);
  if (query.offset > 0 || (!read.columns.empty() && dice_.Chance(30))) {
    const auto explained = moment.engine->Explain(read, table, predicate, query);
    RequireOk(explained.status(), context + ", explained");
    counters_.rows_from_index += explained->rows_from_index;
    if (query.offset > 0) {
      ++(explained->skipped_by_reading > 0 ? counters_.offsets_read
         : query.order_by.empty()          ? counters_.offsets_by_key
                                           : counters_.offsets_in_order);
    }
    counters_.offsets_decided += explained->rows_decided_to_skip > 0 ? 1 : 0;
    counters_.live_counts += explained->has_live_counts ? 1 : 0;
    if (explained->rows != found.size()) {
      throw Failure(context + ", explained: expected " + std::to_string(found.size()) +
                    " rows, found " + std::to_string(explained->rows));
    }
  }
  if (dice_.Chance(30)) CheckPages(moment, table, predicate, query, read, found, context);
  if (dice_.Chance(50)) CheckPrepared(moment, table, predicate, query, read, found, context);
  CheckCount(moment, plan, predicate, query, context);
}

void Checker::CheckByIndexes(const Moment& moment, const TablePlan& plan,
                             const Predicate& predicate) {
  const std::string& table = plan.options.name;
  const ReadOptions read{.snapshot = moment.snapshot};
  std::optional<std::vector<ModelRow>> expected;
  for (std::string& index : IndexesOf(predicate, plan.options)) {
    QueryOptions query;
    query.use_index = std::move(index);
    const std::string context = table + ": query " + predicate.ToString() + Describe(query);
    auto cursor = moment.engine->Query(read, table, predicate, query);
    if (IsRefused(cursor.status(), query)) continue;
    if (!expected.has_value()) {
      expected = moment.model->Query(table, predicate, query, ModelReadOf(moment, read));
    }
    const auto found = ReadAll(std::move(cursor), context);
    ++counters_.queries;
    RequireSameRows(*expected, found, context);
  }
}

void Checker::CheckAnyVersion(const Moment& moment, const TablePlan& plan,
                              const Predicate& predicate) {
  const std::string& table = plan.options.name;
  QueryOptions query;
  query.any_version = true;
  query.no_index = dice_.Chance(30);
  const ReadOptions read = NewRead(moment, plan);
  const std::string context =
      table + ": query " + predicate.ToString().substr(0, 1000) + Describe(query) + Describe(read);
  auto cursor = moment.engine->Query(read, table, predicate, query);
  if (HasSeveralColumns(predicate)) {
    if (cursor.status().code() == StatusCode::kInvalidArgument) return;
    throw Failure(context + ": several columns are not refused");
  }
  const auto found = ReadAll(std::move(cursor), context);
  ++counters_.any_version_queries;
  RequireSameRows(moment.model->Query(table, predicate, query, ModelReadOf(moment, read)), found,
                  context);
  const auto counted = moment.engine->Count(read, table, predicate, query);
  RequireOk(counted.status(), context + ", counted");
  if (*counted != found.size()) {
    throw Failure(context + ", counted: expected " + std::to_string(found.size()) + ", found " +
                  std::to_string(*counted));
  }
}

void Checker::CheckGroups(const Moment& moment, const TablePlan& plan, const Predicate& predicate) {
  std::vector<IndexColumn> columns;  // Of one index after the other.
  std::vector<const IndexOptions*> usual;
  for (const IndexOptions& index : plan.options.indexes) {
    const bool is_usual = std::ranges::all_of(index.columns, [](const IndexColumn& column) {
      return column.functions.empty() &&
             (column.type == ColumnType::kBytes || column.type == ColumnType::kText ||
              column.type == ColumnType::kInt64);
    });
    if (!is_usual) continue;
    usual.push_back(&index);
    columns.insert(columns.end(), index.columns.begin(), index.columns.end());
  }
  if (usual.empty()) return;
  const std::string& table = plan.options.name;
  AggregateOptions options;
  ModelGrouping grouping;
  const IndexOptions& index = *dice_.Pick(usual);
  const size_t keys = dice_.Chance(15) ? 0 : 1 + dice_.Below(index.columns.size());
  for (size_t i = 0; i < keys; ++i) {
    grouping.keys.push_back(index.columns[i]);
    options.group_by.push_back(TextOfColumn(index.columns[i]));
  }
  const size_t values = keys == 0 ? 1 + dice_.Below(2) : dice_.Below(3);
  for (size_t i = 0; i < values; ++i) {
    const IndexColumn& column = dice_.Chance(50) ? index.columns[0] : dice_.Pick(columns);
    auto kind = static_cast<AggregateKind>(dice_.Below(5));
    if (kind == AggregateKind::kSum && column.type != ColumnType::kInt64) {
      kind = AggregateKind::kRows;
    }
    grouping.values.emplace_back(kind, column);
    options.values.push_back({kind, kind == AggregateKind::kRows ? "" : TextOfColumn(column)});
  }
  options.no_index = dice_.Chance(25);
  if (!options.no_index && dice_.Chance(30)) options.use_indexes = {index.name};
  options.descending = dice_.Chance(50);
  options.limit = dice_.Chance(30) ? 1 + dice_.Below(4) : 0;
  options.any_version = dice_.Chance(10) && !HasSeveralColumns(predicate);
  ReadOptions read;
  read.snapshot = moment.snapshot;
  if (dice_.Chance(20)) Generator(&dice_, &plan).BoundByTime(moment.now_micros, &read);
  ModelRead model_read = ModelReadOf(moment, read);
  model_read.any_version = options.any_version;
  std::vector<ModelGroup> expected = moment.model->Groups(table, predicate, grouping, model_read);
  const std::string context = table + ": groups of " + predicate.ToString().substr(0, 1000) +
                              Describe(read) + Describe(options);
  const auto has_overflow = [](const ModelGroup& group) {
    return std::ranges::find(group.values, std::optional<std::string>("overflow")) !=
           group.values.end();
  };
  if (std::ranges::any_of(expected, has_overflow)) return;
  if (options.descending) std::ranges::reverse(expected);
  if (options.limit > 0 && expected.size() > options.limit) expected.resize(options.limit);
  auto rows = moment.engine->Aggregate(read, table, predicate, options);
  const bool is_forced = !options.use_indexes.empty();
  if (is_forced && rows.status().code() == StatusCode::kInvalidArgument) {
    ++counters_.index_refusals;
    return;
  }
  RequireOk(rows.status(), context);
  const std::vector<ModelGroup> found = ReadGroups(&*rows, keys, context);
  counters_.groups += found.size();
  RequireSameGroups(expected, found, context);
}

void Checker::CheckExpression(const Moment& moment, const TablePlan& plan,
                              const Predicate& columns_of) {
  const Predicate predicate = dice_.Chance(60) ? Predicate() : columns_of;
  std::vector<IndexColumn> columns;  // Of indexes, and of the predicate.
  for (const IndexOptions& index : plan.options.indexes) {
    columns.insert(columns.end(), index.columns.begin(), index.columns.end());
  }
  AddColumns(columns_of, &columns);
  if (columns.empty()) return;
  IndexColumn column = dice_.Pick(columns);
  column.descending = false;
  const std::string& table = plan.options.name;
  QueryOptions query;
  query.expressions = {TextOfColumn(column)};
  query.no_index = dice_.Chance(30);
  const ReadOptions read = NewRead(moment, plan);
  const std::string context = table + ": query " + predicate.ToString().substr(0, 1000) +
                              Describe(query) + Describe(read) + " of " + query.expressions[0];
  std::vector<ModelRow> found =
      ReadAll(moment.engine->Query(read, table, predicate, query), context);
  // The rows without what was computed, which comes last.
  std::vector<std::pair<std::string, std::string>> values;
  std::vector<std::string> without;
  for (ModelRow& row : found) {
    const auto computed = std::ranges::find(row.cells, std::string(), &ModelCell::family);
    if (computed == row.cells.end()) without.push_back(row.key);
    for (auto cell = computed; cell != row.cells.end(); ++cell) {
      values.emplace_back(row.key, cell->value);
    }
    row.cells.erase(computed, row.cells.end());
  }
  std::vector<ModelRow> expected =
      moment.model->Query(table, predicate, {}, ModelReadOf(moment, read));
  if (read.columns.empty() && read.families.empty()) {
    for (ModelRow& row : expected) row.cells.clear();
  }
  RequireSameRows(expected, found, context);
  counters_.expression_values += values.size();
  // Conditions take a text that is too long for an index for absent.
  const auto is_long = [](const auto& value) {
    return value.second.size() > kIndexKeyBytesMax / 2;
  };
  if (std::ranges::any_of(values, is_long)) return;
  std::string name = column.is_row_key ? "_row" : column.family + ":" + column.qualifier;
  if (AreOfFamily(column.functions)) name = column.family;
  const auto keys_where = [&](Predicate typed) {
    if (!column.functions.empty()) typed = typed.WithFunctions(column.functions);
    if (column.functions.empty() || column.type != ColumnType::kBytes)
      typed = typed.As(column.type);
    std::vector<std::string> keys;
    for (const ModelRow& row : moment.model->Query(table, Predicate::And({predicate, typed}), {},
                                                   ModelReadOf(moment, read))) {
      keys.push_back(row.key);
    }
    return keys;
  };
  if (keys_where(Predicate::IsNull(name)) != without) {
    throw Failure(context + ": rows without a value are not those where it is NULL");
  }
  for (int i = 0; i < 2 && !values.empty(); ++i) {
    const auto& [key, value] = dice_.Pick(values);
    std::vector<std::string> with_value;
    for (const auto& [row, other] : values) {
      if (other == value) with_value.push_back(row);
    }
    if (keys_where(Predicate::Equal(name, value)) == with_value) continue;
    throw Failure(context + ": rows with the value " + Shown(value) + ", as row " + Shown(key) +
                  " has, are not those that equal it");
  }
}

void Checker::CheckPrepared(const Moment& moment, const std::string& table,
                            const Predicate& predicate, const QueryOptions& query,
                            const ReadOptions& read, const std::vector<ModelRow>& expected,
                            const std::string& context) {
  std::vector<std::string> values;
  const Predicate parameters = WithParameters(&dice_, predicate, &values);
  const std::string asked = context + ", prepared as " + parameters.ToString().substr(0, 1000);
  auto prepared = moment.engine->Prepare(table, parameters, query);
  // A snapshot may read a table that is gone, or whose name another one has.
  const bool may_be_gone = moment.snapshot != nullptr;
  if (may_be_gone && prepared.status().code() == StatusCode::kNotFound) return;
  RequireOk(prepared.status(), asked);
  // What a run with other values leaves must serve the next ones.
  bool are_others_bound = true;
  for (uint32_t i = 0; i < values.size(); ++i) are_others_bound &= prepared->Bind(i + 1, "1").ok();
  if (are_others_bound) (void)moment.engine->Query(read, &*prepared);
  for (uint32_t i = 0; i < values.size(); ++i) {
    const Status bound = prepared->Bind(i + 1, values[i]);
    if (may_be_gone && bound.code() == StatusCode::kInvalidArgument) return;
    RequireOk(bound, asked);
  }
  RequireSameRows(expected, ReadAll(moment.engine->Query(read, &*prepared), asked), asked);
  const auto counted = moment.engine->Count(read, &*prepared);
  RequireOk(counted.status(), asked + ", counted");
  const auto unprepared = moment.engine->Count(read, table, predicate, query);
  RequireOk(unprepared.status(), asked + ", counted without");
  if (*counted != *unprepared) {
    throw Failure(asked + ": expected a count of " + std::to_string(*unprepared) + ", found " +
                  std::to_string(*counted));
  }
}

Checker::Reading Checker::BeginReading(const Moment& moment, const TablePlan& plan,
                                       const Predicate& predicate) {
  Reading reading;
  reading.predicate = predicate;
  const QueryOptions any = Generator(&dice_, &plan).NewQuery();
  reading.query.order_by = any.order_by;
  reading.query.descending = any.descending;
  reading.query.ranges = any.ranges;
  reading.query.no_index = any.no_index;
  reading.expected =
      moment.model->Query(plan.options.name, predicate, reading.query, ModelReadOf(moment, {}));
  return reading;
}

void Checker::ReadOn(const Moment& moment, const TablePlan& plan, Reading* reading) {
  ReadOptions read;
  read.snapshot = moment.snapshot;
  QueryOptions query = reading->query;
  query.limit = 1 + dice_.Below(2);
  const size_t rest = reading->goes_back ? reading->at : reading->expected.size() - reading->at;
  if (rest > 1) query.offset = dice_.Below(2);
  reading->goes_back ? reading->at -= query.offset : reading->at += query.offset;
  (reading->goes_back ? query.before : query.after) = reading->token;
  const std::string context = plan.options.name + ": query " +
                              reading->predicate.ToString().substr(0, 1000) + Describe(query) +
                              (reading->goes_back ? ", back" : "") + " from row " +
                              std::to_string(reading->at) + " at a snapshot, later";
  Result<Cursor> cursor = moment.engine->Query(read, plan.options.name, reading->predicate, query);
  RequireOk(cursor.status(), context);
  if (!cursor->continues_exactly()) throw Failure(context + ": it is not the same state");
  std::vector<ModelRow> expected, found;
  while (cursor->Next()) found.emplace_back(cursor->row());
  RequireOk(cursor->status(), context);
  while (expected.size() < query.limit) {
    if (reading->goes_back ? reading->at == 0 : reading->at == reading->expected.size()) break;
    expected.push_back(reading->expected[reading->goes_back ? --reading->at : reading->at++]);
  }
  RequireSameRows(expected, found, context);
  ++counters_.pages;
  const bool is_end = expected.size() < query.limit;
  reading->token = *cursor->Token();
  if (!is_end) return;
  // Round it goes: the row of the token is not returned again.
  reading->goes_back = !reading->goes_back && !reading->expected.empty();
  reading->at = reading->goes_back ? reading->expected.size() - 1 : 0;
  if (!reading->goes_back) reading->token.clear();
}

void Checker::CheckPages(const Moment& moment, const std::string& table, const Predicate& predicate,
                         QueryOptions query, const ReadOptions& read,
                         const std::vector<ModelRow>& expected, const std::string& context) {
  const uint64_t most = query.limit == 0 ? UINT64_MAX : query.limit;
  const bool is_whole = query.offset == 0;  // Back come all rows before, those of an offset too.
  std::vector<ModelRow> rows;
  std::string token;
  bool is_refused = false;
  const auto add_page = [&](const std::string& what) {
    query.limit = 1 + dice_.Below(4);
    const std::string page = context + ", " + what + " after row " + std::to_string(rows.size());
    Result<Cursor> cursor = moment.engine->Query(read, table, predicate, query);
    // Whether each of several indexes serves depends on what is left to read.
    is_refused = !query.use_indexes.empty() && IsRefused(cursor.status(), query);
    if (is_refused) return false;
    RequireOk(cursor.status(), page);
    const size_t before = rows.size();
    bool continues = false;  // The row before goes on.
    while (cursor->Next()) {
      ModelRow row(cursor->row());
      if (std::exchange(continues, cursor->row().continues())) {
        std::ranges::move(row.cells, std::back_inserter(rows.back().cells));
      } else {
        rows.push_back(std::move(row));
      }
    }
    RequireOk(cursor->status(), page);
    Result<std::string> next = cursor->Token();
    RequireOk(next.status(), page);
    token = *std::move(next);
    query.offset = 0;
    ++counters_.pages;
    return rows.size() - before == query.limit;
  };
  bool more = true;
  while (more && rows.size() < most) {
    query.after = token;
    more = add_page("a page");
  }
  if (is_refused) return;
  if (rows.size() > most) {  // The query did not return the last ones of the last page.
    rows.resize(most);
    return RequireSameRows(expected, rows, context + ", by pages");
  }
  RequireSameRows(expected, rows, context + ", by pages");
  if (rows.empty() || !is_whole) return;
  rows.clear();
  query.after.clear();
  do {
    query.before = token;
    more = add_page("a page back");
  } while (more);
  if (is_refused) return;
  RequireSameRows({expected.rbegin() + 1, expected.rend()}, rows, context + ", by pages back");
}

void Checker::CheckCount(const Moment& moment, const TablePlan& plan, const Predicate& predicate,
                         QueryOptions query, const std::string& context) {
  const std::string& table = plan.options.name;
  query.limit = 0;
  query.order_by.clear();
  query.descending = false;
  ReadOptions read;
  read.snapshot = moment.snapshot;
  Generator(&dice_, &plan).BoundByTime(moment.now_micros, &read);
  CountPast(read);
  const std::string asked = context + ", counted" + Describe(read);
  const auto counted = moment.engine->Count(read, table, predicate, query);
  if (IsRefused(counted.status(), query)) return;
  RequireOk(counted.status(), asked);
  const ModelRead model_read = ModelReadOf(moment, read);
  QueryOptions in_ranges;
  in_ranges.ranges = query.ranges;
  const uint64_t all = query.ranges.empty()
                           ? moment.model->Count(table, predicate, model_read)
                           : moment.model->Query(table, predicate, in_ranges, model_read).size();
  const uint64_t expected = all - std::min(all, query.offset);
  if (*counted != expected) {
    throw Failure(asked + ": expected " + std::to_string(expected) + ", found " +
                  std::to_string(*counted));
  }
  // An AND may be asked for by several columns.
  if (predicate.kind() != Predicate::Kind::kAnd && !dice_.Chance(20)) return;
  const auto explained = moment.engine->Explain(read, table, predicate, query);
  RequireOk(explained.status(), asked + ", explained");
  counters_.single_source_by_bitmap += explained->single_source_by_bitmap;
  counters_.single_source_by_filter += explained->single_source_by_filter;
  counters_.single_source_by_key += explained->single_source_by_key;
  counters_.live_counts += explained->has_live_counts ? 1 : 0;
  if (explained->reason.find(" columns of ") != std::string::npos) {
    const bool in_order = explained->reason.find("the first alone") == std::string::npos;
    ++(in_order ? counters_.by_all_columns : counters_.by_first_column);
  }
  for (const IndexOptions& index : plan.options.indexes) {
    if (index.where.empty() || explained->index.find(index.name) == std::string::npos) continue;
    ++counters_.by_partial;
    counters_.partial_scanned += explained->files_scanned + explained->memstores_scanned > 0;
  }
  if (explained->rows != expected) {
    throw Failure(asked + ", explained: expected " + std::to_string(expected) + " rows, found " +
                  std::to_string(explained->rows));
  }
}

// All rows with an entry, by the index, with the columns that it includes.
void Checker::CheckCovered(const Moment& moment, const std::string& table,
                           const Predicate& predicate, const IndexOptions& index) {
  ReadOptions read;
  read.snapshot = moment.snapshot;
  read.columns = index.include;
  QueryOptions query;
  query.use_index = index.name;
  const std::string context =
      table + ": query " + predicate.ToString() + Describe(query) + Describe(read);
  const auto found = ReadAll(moment.engine->Query(read, table, predicate, query), context);
  RequireSameRows(moment.model->Query(table, predicate, query, ModelReadOf(moment, read)), found,
                  context);
  const auto explained = moment.engine->Explain(read, table, predicate, query);
  RequireOk(explained.status(), context + ", explained");
  counters_.rows_from_index += explained->rows_from_index;
}

void Checker::CheckIndexes(const Moment& moment, const TablePlan& plan) {
  const std::string& table = plan.options.name;
  ReadOptions read;
  read.snapshot = moment.snapshot;
  for (const IndexOptions& index : plan.options.indexes) {
    const std::string& family = index.columns[0].family;
    std::string column = (family.empty() ? "d" : family) + ":" + index.columns[0].qualifier;
    if (index.columns[0].is_row_key) column = "_row";
    for (const auto kind : {Predicate::Kind::kIsNotNull, Predicate::Kind::kIsNull}) {
      Predicate predicate = Predicate::Compare(kind, column, {})
                                .WithFunctions(index.columns[0].functions)
                                .As(index.columns[0].type);
      if (!index.where.empty()) {
        predicate = Predicate::And({std::move(predicate), Predicate::Parse(index.where).value()});
      }
      QueryOptions query;
      if (kind == Predicate::Kind::kIsNotNull) query.use_index = index.name;
      const std::string context =
          table + ": query " + predicate.ToString() + Describe(query) + Describe(read);
      auto cursor = moment.engine->Query(read, table, predicate, query);
      // Cells may expire that its predicate needs to be absent, or a load has begun to build it.
      const bool may_refuse = !index.where.empty() || index.placement == IndexPlacement::kGlobal;
      if (may_refuse && IsRefused(cursor.status(), query)) continue;
      const auto found = ReadAll(std::move(cursor), context);
      RequireSameRows(moment.model->Query(table, predicate, query, ModelReadOf(moment, read)),
                      found, context);
      ++counters_.queries;
      if (kind == Predicate::Kind::kIsNull) counters_.absent_columns += found.size();
      if (kind == Predicate::Kind::kIsNotNull && !index.include.empty()) {
        CheckCovered(moment, table, predicate, index);
      }
    }
    if (!HasOrder(index)) continue;
    QueryOptions query;
    query.order_by = index.name;
    query.descending = dice_.Chance(50);
    const std::string context = table + ": all" + Describe(query) + Describe(read);
    const auto found = ReadAll(moment.engine->Query(read, table, {}, query), context);
    RequireSameRows(moment.model->Query(table, {}, query, ModelReadOf(moment, read)), found,
                    context);
    ++counters_.queries;
  }
}

}  // namespace tandem::test
