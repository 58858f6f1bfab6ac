// Choosing how groups are made, and making them of rows.
#include "engine/group/aggregate.h"

#include <algorithm>
#include <utility>

#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/group/counted_groups.h"
#include "engine/group/groups.h"
#include "engine/parallel/parted_rows.h"
#include "engine/predicate/bind_column.h"
#include "engine/query/count.h"
#include "engine/query/few_rows.h"
#include "engine/query/query.h"
#include "engine/query/reader.h"
#include "format/functions.h"
#include "format/registry/registered.h"
#include "index/key.h"
#include "index/put_key.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

using Kind = AggregateKind;

// Groups that a maker appends at a time.
constexpr size_t kGroupsMax = 32;

Result<format::IndexColumnRecord> BindGrouped(const std::string& text,
                                              const format::TableRecord& table,
                                              const format::FunctionRegistry& functions) {
  const Result<ParsedColumn> parsed = ParseWholeColumn(text);
  if (!parsed.has_value()) {
    return Status::InvalidArgument("column " + base::Quote(text) + ": " +
                                   std::string(parsed.error().message()));
  }
  if (parsed->is_row_key) {
    return Status::InvalidArgument(
        "_row: rows neither group by their keys, nor are these computed");
  }
  ASSIGN_OR_RETURN(format::IndexColumnRecord column, BindColumn(*parsed, table, &functions));
  if (!format::IsMultiValued(column)) return column;
  return Status::InvalidArgument(format::Described(column) +
                                 " has several values: a row would be in several groups");
}

bool IsNumber(ColumnType type) {
  switch (TextType(type)) {
    case ColumnType::kInt64:
    case ColumnType::kUint64:
    case ColumnType::kDouble:
      return true;
    default:
      return false;
  }
}

Result<GroupSpec::Value> BindValue(const Aggregation& asked, const format::TableRecord& table,
                                   const format::FunctionRegistry& functions) {
  GroupSpec::Value value{.kind = asked.kind, .column = {}};
  if (asked.kind == Kind::kRows) {
    if (asked.column.empty()) return value;
    return Status::InvalidArgument("a number of rows is of no column: count " +
                                   base::Quote(asked.column) + " with kCount");
  }
  ASSIGN_OR_RETURN(value.column, BindGrouped(asked.column, table, functions));
  const bool is_sum = asked.kind == Kind::kSum || asked.kind == Kind::kAverage;
  if (!is_sum || IsNumber(value.column->type)) return value;
  return Status::InvalidArgument(
      format::Described(*value.column) + " is " + std::string(ColumnTypeName(value.column->type)) +
      ": only int64, uint64 and double are summed; cast it (" +
      TextOf(value.column->functions, value.column->qualifier) + "::int64)");
}

// Without rows there is still the one group of all rows.
std::vector<Group> AllOf(const GroupSpec& spec, std::vector<Group> groups) {
  if (groups.empty() && spec.keys.empty()) {
    groups.push_back({{}, std::vector<Accumulator>(spec.values.size())});
  }
  return groups;
}

/// All groups of the rows, from a table in memory.
class CollectedGroups final : public GroupMaker {
 public:
  CollectedGroups(const std::shared_ptr<const GroupSpec>& spec, const ReadResources& resources,
                  std::shared_ptr<ReadMeter> meter, std::unique_ptr<RowSource> rows)
      : spec_(spec), table_(*spec, resources, std::move(meter)), rows_(std::move(rows)) {}

  Result<bool> Next(std::vector<Group>* groups) override {
    if (rows_ == nullptr) return false;
    {
      RowReader rows(std::move(rows_));
      RowView row;
      while (true) {
        ASSIGN_OR_RETURN(const bool more, rows.Next(&row));
        if (!more) break;
        RETURN_IF_ERROR(table_.Add(row));
      }
    }
    *groups = AllOf(*spec_, table_.TakeSorted());
    return !groups->empty();
  }

 private:
  const std::shared_ptr<const GroupSpec> spec_;
  GroupTable table_;
  std::unique_ptr<RowSource> rows_;  // Null: they were read.
};

/// All groups of the rows of a query that several threads read.
class FoldedGroups final : public GroupMaker {
 public:
  FoldedGroups(const std::shared_ptr<const GroupSpec>& spec, std::shared_ptr<const Query> query)
      : spec_(spec), query_(std::move(query)) {}

  Result<bool> Next(std::vector<Group>* groups) override {
    const std::shared_ptr<const Query> query = std::exchange(query_, nullptr);
    if (query == nullptr) return false;
    GroupFold fold(*spec_, query->context->resources);
    RETURN_IF_ERROR(FoldParted(PartsOf(*query), &fold));
    ASSIGN_OR_RETURN(std::vector<Group> all, fold.TakeSorted());
    *groups = AllOf(*spec_, std::move(all));
    return !groups->empty();
  }

 private:
  const std::shared_ptr<const GroupSpec> spec_;
  std::shared_ptr<const Query> query_;  // Null: its rows were read.
};

/// The groups of rows that come in their order.
class OrderedGroups final : public GroupMaker {
 public:
  OrderedGroups(const std::shared_ptr<const GroupSpec>& spec, std::unique_ptr<RowSource> rows)
      : spec_(spec), row_(*spec), rows_(std::move(rows)) {}

  Result<bool> Next(std::vector<Group>* groups) override {
    RowView row;
    while (groups->size() < kGroupsMax && !at_end_) {
      ASSIGN_OR_RETURN(const bool more, rows_.Next(&row));
      at_end_ = !more;
      if (more) row_.KeyOf(row, &key_);
      if (open_.has_value() && (at_end_ || key_ != open_->key)) {
        groups->push_back(*std::exchange(open_, std::nullopt));
      }
      if (at_end_) break;
      if (!open_.has_value()) {
        open_ = Group{key_, std::vector<Accumulator>(spec_->values.size())};
      }
      row_.AddTo(row, &open_->values);
    }
    return !groups->empty();
  }

 private:
  const std::shared_ptr<const GroupSpec> spec_;
  GroupedRow row_;
  RowReader rows_;
  std::optional<Group> open_;  // That the last row is of.
  bool at_end_ = false;
  std::string key_;
};

/// Groups that are there.
class KnownGroups final : public GroupMaker {
 public:
  explicit KnownGroups(std::vector<Group> groups) : groups_(std::move(groups)) {}
  Result<bool> Next(std::vector<Group>* groups) override {
    groups->swap(groups_);
    groups_.clear();
    return !groups->empty();
  }

 private:
  std::vector<Group> groups_;
};

std::unique_ptr<RowSource> Alone(std::shared_ptr<const GroupSpec> spec,
                                 std::unique_ptr<GroupMaker> maker) {
  std::vector<std::unique_ptr<GroupMaker>> makers;
  makers.push_back(std::move(maker));
  return NewGroupSource(std::move(spec), std::move(makers));
}

/// Looks for a way to make the groups of a request, the cheapest one first.
class GroupOpener {
 public:
  GroupOpener(const QueryRequest& request, GroupSpec spec, TableView view, GroupPlan* plan)
      : request_(request),
        spec_(std::make_shared<const GroupSpec>(std::move(spec))),
        view_(std::move(view)),
        plan_(*plan) {}

  Result<std::unique_ptr<RowSource>> Open() {
    std::unique_ptr<RowSource> source;
    if (spec_->keys.empty()) {
      ASSIGN_OR_RETURN(source, OpenWhole());
    } else {
      ASSIGN_OR_RETURN(source, OpenCounted());
      if (source == nullptr) {
        ASSIGN_OR_RETURN(source, OpenInOrder());
      }
    }
    if (source != nullptr) return source;
    plan_.text = "collected in memory";
    QueryOptions query = request_.query;
    // One that is asked for the order of groups, and cannot give it, leads to no rows.
    const bool is_of_order = !query.use_indexes.empty() && !spec_->keys.empty() &&
                             IndexInOrderOf(spec_->keys) != nullptr;
    if (is_of_order) query.use_indexes.clear();
    return Collect(With(request_.options, query));
  }

 private:
  // By the threads that read the rows, where there are several.
  Result<std::unique_ptr<RowSource>> Collect(const QueryRequest& request) const {
    std::unique_ptr<RowSource> rows;
    if (request.options.threads <= 1 || !GroupFold::Serves(*spec_)) {
      ASSIGN_OR_RETURN(rows, QueryRows(request, view_));
      return CollectGroups(request_, *spec_, std::move(rows));
    }
    TableView view = view_;
    ASSIGN_OR_RETURN(BoundPredicate predicate, BindQuery(request, *view.table));
    rows = OpenFewRows(request, &predicate, &view);
    if (rows != nullptr) return CollectGroups(request_, *spec_, std::move(rows));
    ASSIGN_OR_RETURN(Query prepared, PrepareQuery(request, PlanPurpose::kGroups,
                                                  std::move(predicate), std::move(view)));
    auto kept = std::make_shared<const Query>(std::move(prepared));
    if (kept->threads > 1) {
      return Alone(spec_, std::make_unique<FoldedGroups>(spec_, std::move(kept)));
    }
    rows = OpenQuery(*kept);
    rows->Keep(std::move(kept));
    return CollectGroups(request_, *spec_, std::move(rows));
  }

  bool MayUse(const std::string& index) const {
    const QueryOptions& query = request_.query;
    return !query.no_index &&
           (query.use_indexes.empty() || query.use_indexes == std::vector<std::string>{index});
  }

  // The request with other options.
  QueryRequest With(const ReadOptions& read, const QueryOptions& query) const {
    QueryRequest request{request_.resources, read, request_.predicate, query, request_.values};
    request.limits = request_.limits;
    request.no_scan = request_.no_scan;
    request.trace = request_.trace;
    return request;
  }

  // The index in whose order rows come, that begins with the columns; nullptr: none.
  const format::IndexRecord* IndexInOrderOf(
      const std::vector<format::IndexColumnRecord>& columns) const {
    for (const format::IndexRecord& index : spec_->table->indexes) {
      const bool is_usual = !index.needs_order() && index.state != format::IndexState::kDropping &&
                            MayUse(index.name) && index.columns.size() >= columns.size();
      if (!is_usual || format::IsUnusable(index)) continue;
      const bool is_same =
          std::ranges::equal(columns, std::span(index.columns).first(columns.size()),
                             [&index](const auto& wanted, const auto& has) {
                               return format::HasSameValues(wanted, has) &&
                                      has.descending == index.columns.front().descending;
                             });
      if (is_same) return &index;
    }
    return nullptr;
  }

  // The rows in the order of the index; null: some source would have to be sorted.
  Result<std::unique_ptr<RowSource>> RowsInOrder(const format::IndexRecord& index, bool descending,
                                                 uint64_t limit) const {
    QueryOptions query = request_.query;
    query.use_indexes.clear();
    query.use_index = index.name;
    query.order_by = index.name;
    query.descending = descending;
    query.limit = limit;
    ASSIGN_OR_RETURN(Query prepared,
                     PrepareQuery(With(request_.options, query), PlanPurpose::kRows, view_));
    if (!prepared.ordering->walks_index) return std::unique_ptr<RowSource>();
    const auto kept = std::make_shared<const Query>(std::move(prepared));
    std::unique_ptr<RowSource> rows = OpenQuery(*kept);
    rows->Keep(kept);
    return rows;
  }

  // One group of all rows. Null: the rows have to be read.
  Result<std::unique_ptr<RowSource>> OpenWhole() {
    using Source = std::unique_ptr<RowSource>;
    const bool may_walk = !request_.query.any_version;
    for (const GroupSpec::Value& value : spec_->values) {
      if (value.kind == Kind::kRows) continue;
      if (!may_walk || (value.kind != Kind::kMin && value.kind != Kind::kMax)) return Source();
      if (IndexInOrderOf({*value.column}) == nullptr) return Source();
    }
    Group group{{}, std::vector<Accumulator>(spec_->values.size())};
    std::string names;
    for (size_t i = 0; i < spec_->values.size(); ++i) {
      const GroupSpec::Value& value = spec_->values[i];
      if (value.kind == Kind::kRows) {
        ASSIGN_OR_RETURN(group.values[i].count, CountRows(request_, view_));
        names += std::string(names.empty() ? "" : ", ") + "rows counted";
        continue;
      }
      const format::IndexRecord& index = *IndexInOrderOf({*value.column});
      ASSIGN_OR_RETURN(Source first, RowsInOrder(index, value.kind == Kind::kMax, 1));
      if (first == nullptr) return Source();
      ASSIGN_OR_RETURN(group.values[i], FirstOf(value, std::move(first)));
      names += (names.empty() ? "the end of index " : ", the end of index ") + index.name;
    }
    plan_ = {.text = names, .order_by = {}, .reads_rows = false, .index = {}};
    std::vector<Group> groups;
    groups.push_back(std::move(group));
    return Alone(spec_, std::make_unique<KnownGroups>(std::move(groups)));
  }

  // The minimum or maximum that the first row has.
  Result<Accumulator> FirstOf(const GroupSpec::Value& value,
                              std::unique_ptr<RowSource> rows) const {
    GroupSpec one = *spec_;
    one.values = {value};
    GroupedRow grouped(one);
    RowReader reader(std::move(rows));
    RowView row;
    std::vector<Accumulator> found(1);
    ASSIGN_OR_RETURN(const bool is_row, reader.Next(&row));
    if (is_row) grouped.AddTo(row, &found);
    return std::move(found.front());
  }

  // Null: entries do not decide, or cost more than the rows.
  Result<std::unique_ptr<RowSource>> OpenCounted() {
    using Source = std::unique_ptr<RowSource>;
    const bool is_of_past =
        request_.options.as_of.has_value() || request_.options.since.has_value();
    if (!CountsAlone(*spec_) || request_.query.any_version || is_of_past) return Source();
    ASSIGN_OR_RETURN(BoundPredicate predicate, BindQuery(request_, *view_.table));
    const format::IndexRecord* const index = IndexToCount(*spec_, predicate);
    if (index == nullptr || !MayUse(index->name)) return Source();
    const bool is_every_row = predicate.root().kind != BoundNode::Kind::kLeaf;
    if (is_every_row) {
      BoundNode present;
      present.kind = BoundNode::Kind::kLeaf;
      present.leaf.column = spec_->keys.front();
      present.leaf.values = ValueSet::All();
      predicate = BoundPredicate::Of(std::move(present));
    }
    QueryOptions query = request_.query;
    query.use_indexes.clear();
    query.use_index = index->name;
    ASSIGN_OR_RETURN(Query prepared,
                     PrepareQuery(With(request_.options, query), PlanPurpose::kCount,
                                  std::move(predicate), view_));
    ASSIGN_OR_RETURN(GroupCount count,
                     HowToCount(*index, prepared, !request_.query.use_indexes.empty()));
    const CountedBy by = count.by;
    if (by == CountedBy::kNothing) return Source();
    uint64_t absent = 0;
    if (is_every_row) {
      ASSIGN_OR_RETURN(const uint64_t present, CountMatches(prepared));
      ASSIGN_OR_RETURN(const uint64_t rows, CountEveryRow(by, prepared));
      absent = rows - present;
    }
    ASSIGN_OR_RETURN(std::unique_ptr<GroupMaker> maker,
                     CountGroups(spec_, *index, std::move(count), std::move(prepared)));
    plan_ = {.text = by == CountedBy::kValues ? "counted value by value by index " + index->name
                                              : "counted by the entries of index " + index->name,
             .order_by = {},
             .reads_rows = false,
             .index = index->name};
    std::vector<std::unique_ptr<GroupMaker>> makers;
    makers.push_back(std::move(maker));
    if (absent > 0) {
      Group group{{}, std::vector<Accumulator>(spec_->values.size())};
      format::AppendAbsentKey(spec_->keys.front(), &group.key);
      GroupedRow(*spec_).AddCounted(group.key, absent, &group.values);
      std::vector<Group> groups;
      groups.push_back(std::move(group));
      AddAbsent(std::make_unique<KnownGroups>(std::move(groups)), &makers);
    }
    return NewGroupSource(spec_, std::move(makers));
  }

  Result<uint64_t> CountEveryRow(CountedBy by, const Query& prepared) const {
    if (by == CountedBy::kEntries) return RowsOfSources(prepared);
    QueryOptions all = request_.query;
    all.use_indexes.clear();
    return CountRows(With(request_.options, all), view_);
  }

  // The smallest groups, those without the first column.
  void AddAbsent(std::unique_ptr<GroupMaker> absent,
                 std::vector<std::unique_ptr<GroupMaker>>* makers) const {
    makers->insert(spec_->descending ? makers->end() : makers->begin(), std::move(absent));
  }

  // Null: no index has the order, or there is no reason to read rows in it.
  Result<std::unique_ptr<RowSource>> OpenInOrder() {
    using Source = std::unique_ptr<RowSource>;
    const bool is_asked_for = !request_.query.use_indexes.empty();
    // The groups without the column come first otherwise, and to find none of them is a scan.
    const bool ends_early = spec_->limit > 0 && spec_->descending;
    if (request_.query.any_version || (!is_asked_for && !ends_early)) return Source();
    const format::IndexRecord* const index = IndexInOrderOf(spec_->keys);
    if (index == nullptr) return Source();
    // How many rows the first groups have is not known: the read may end early.
    const uint64_t limit = spec_->limit > 0 ? UINT64_MAX : 0;
    ASSIGN_OR_RETURN(Source rows, RowsInOrder(*index, spec_->descending, limit));
    if (rows == nullptr) return Source();
    plan_ = {.text = "in the order of index " + index->name,
             .order_by = index->name,
             .reads_rows = true,
             .index = {}};
    std::vector<std::unique_ptr<GroupMaker>> makers;
    makers.push_back(std::make_unique<OrderedGroups>(spec_, std::move(rows)));
    AddAbsent(std::make_unique<RowsWithout>(*this), &makers);
    return NewGroupSource(spec_, std::move(makers));
  }

  static Predicate IsAbsent(const GroupSpec& spec) {
    const format::IndexColumnRecord& column = spec.keys.front();
    Predicate absent = Predicate::IsNull(spec.table->FindFamily(column.family)->options.name + ":" +
                                         column.qualifier);
    if (!column.functions.empty()) absent = absent.WithFunctions(column.functions);
    return absent.As(column.type);
  }

  /// The groups of rows without the first column, if it is asked for them. Owns what the request
  /// refers to.
  class RowsWithout final : public GroupMaker {
   public:
    explicit RowsWithout(const GroupOpener& opener)
        : spec_(opener.spec_),
          resources_(opener.request_.resources),
          read_(opener.request_.options),
          predicate_(Predicate::And({opener.request_.predicate, IsAbsent(*spec_)})),
          query_(opener.request_.query),
          limits_(opener.request_.limits),
          no_scan_(opener.request_.no_scan),
          trace_(opener.request_.trace),
          view_(opener.view_) {
      query_.use_indexes.clear();  // It has no entry of these rows.
      if (opener.request_.values != nullptr) values_ = *opener.request_.values;
    }

    Result<bool> Next(std::vector<Group>* groups) override {
      if (groups_ == nullptr) RETURN_IF_ERROR(Open());
      return groups_->Next(groups);
    }

   private:
    Status Open() {
      QueryRequest request{resources_, read_, predicate_, query_, &values_};
      request.limits = limits_;
      request.no_scan = no_scan_;
      request.trace = trace_;
      ASSIGN_OR_RETURN(std::unique_ptr<RowSource> rows, QueryRows(request, view_));
      groups_ = std::make_unique<CollectedGroups>(
          spec_, resources_, limits_.has_value() ? limits_->meter : nullptr, std::move(rows));
      return {};
    }

    const std::shared_ptr<const GroupSpec> spec_;
    const ReadResources resources_;
    const ReadOptions read_;
    const Predicate predicate_;
    QueryOptions query_;
    ParameterValues values_;
    const std::optional<ReadLimits> limits_;
    const bool no_scan_;
    const std::shared_ptr<ReadTrace> trace_;
    const TableView view_;
    std::unique_ptr<GroupMaker> groups_;
  };

  const QueryRequest& request_;
  const std::shared_ptr<const GroupSpec> spec_;
  const TableView view_;
  GroupPlan& plan_;
};

}  // namespace

Result<GroupSpec> BindGroups(const AggregateOptions& options,
                             std::shared_ptr<const format::TableRecord> table,
                             const format::FunctionRegistry& functions) {
  if (options.group_by.empty() && options.values.empty()) {
    return Status::InvalidArgument("there is neither a column to group by nor a value to compute");
  }
  if (options.group_by.size() > kGroupColumnsMax || options.values.size() > kAggregationsMax) {
    return Status::InvalidArgument("rows group by at most " + std::to_string(kGroupColumnsMax) +
                                   " columns, and groups have at most " +
                                   std::to_string(kAggregationsMax) + " values");
  }
  GroupSpec spec{.keys = {},
                 .values = {},
                 .descending = options.descending,
                 .limit = options.limit,
                 .columns = {},
                 .table = std::move(table)};
  for (const std::string& text : options.group_by) {
    ASSIGN_OR_RETURN(spec.keys.emplace_back(), BindGrouped(text, *spec.table, functions));
  }
  for (const Aggregation& asked : options.values) {
    ASSIGN_OR_RETURN(spec.values.emplace_back(), BindValue(asked, *spec.table, functions));
  }
  const auto add = [&spec](const format::IndexColumnRecord& column) {
    const std::string& family = spec.table->FindFamily(column.family)->options.name;
    const auto is_same = [&](const ColumnName& name) {
      return name.family == family && name.qualifier == column.qualifier;
    };
    if (std::ranges::any_of(spec.columns, is_same)) return;
    spec.columns.push_back({.family = family, .qualifier = column.qualifier});
  };
  for (const format::IndexColumnRecord& key : spec.keys) key.ForEachJoined(add);
  for (const GroupSpec::Value& value : spec.values) {
    if (value.column.has_value()) value.column->ForEachJoined(add);
  }
  return spec;
}

QueryOptions RowsOf(const AggregateOptions& options) {
  QueryOptions query;
  query.use_indexes = options.use_indexes;
  query.no_index = options.no_index;
  query.no_scan = options.no_scan;
  query.any_version = options.any_version;
  return query;
}

Result<std::unique_ptr<RowSource>> OpenGroups(const QueryRequest& request, GroupSpec spec,
                                              TableView view, GroupPlan* plan) {
  return GroupOpener(request, std::move(spec), std::move(view), plan).Open();
}

std::unique_ptr<RowSource> CollectGroups(const QueryRequest& request, GroupSpec spec,
                                         std::unique_ptr<RowSource> rows) {
  auto kept = std::make_shared<const GroupSpec>(std::move(spec));
  auto maker = std::make_unique<CollectedGroups>(kept, request.resources, request.Limits().meter,
                                                 std::move(rows));
  return Alone(std::move(kept), std::move(maker));
}

}  // namespace tandem::engine
