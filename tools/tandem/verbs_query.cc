// query, explain and count.
#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "format/value_text.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/declarations.h"
#include "tools/tandem/explanation_output.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/read_arguments.h"
#include "tools/tandem/slow_log.h"
#include "tools/tandem/unknown_columns.h"
#include "tools/tandem/verbs.h"
#include "tools/tandem/write_rows.h"

namespace tandem::tools {
namespace {

/// A question as the engine takes it.
struct Question {
  Predicate predicate;
  QueryOptions query;
  ReadOptions read;
  std::vector<SelectedField> fields;  ///< That are printed; empty: all.
  bool orders_by_columns = false;
};

Result<Question> QuestionOf(const QueryVerbOptions& options) {
  Question question;
  if (!options.predicate.empty()) {
    ASSIGN_OR_RETURN(question.predicate, Predicate::Parse(options.predicate));
  }
  ASSIGN_OR_RETURN(OrderText order, ParseOrder(options.order_by));
  question.query.order_by = std::move(order.index);
  question.query.descending = order.descending;
  question.orders_by_columns = order.is_columns;
  RETURN_IF_ERROR(
      SetPage(options.page, options.limit, &question.query.offset, &question.query.limit));
  ASSIGN_OR_RETURN(question.query.use_indexes, ParseIndexNames(options.index));
  question.query.no_index = options.no_index;
  question.query.no_scan = options.no_scan;
  question.query.any_version = options.any_version;
  question.query.after = options.page.after;
  question.query.before = options.page.before;
  ReadArguments read = options.read;
  ASSIGN_OR_RETURN(Selection selection, ParseSelection(std::exchange(read.columns, {})));
  ASSIGN_OR_RETURN(question.read, ReadOptionsOf(read));
  question.read.columns = std::move(selection.columns);
  question.read.families = std::move(selection.families);
  question.query.expressions = std::move(selection.expressions);
  question.fields = std::move(selection.fields);
  ASSIGN_OR_RETURN(question.read.budget, BudgetOf(options.budget));
  return question;
}

/// Adds what the fields of the row key say to the predicate, whose text a log keeps, and the order
/// of the fields to the query.
Status AddFields(const FieldArguments& fields, const TableRead& from, Question* question) {
  if (fields.empty()) return {};
  ASSIGN_OR_RETURN(const OptionalRowKey row_key, RowKeyOf(from));
  ASSIGN_OR_RETURN(Predicate condition, ConditionOf(fields, row_key));
  RETURN_IF_ERROR(tools::AddFields(fields, row_key, &question->query));
  question->predicate =
      question->predicate.kind() == Predicate::Kind::kTrue
          ? std::move(condition)
          : Predicate::And({std::move(condition), std::move(question->predicate)});
  return {};
}

/// Refuses a table or an index that does not exist before the engine is asked.
Status CheckNames(Database& database, const QueryVerbOptions& options, const Question& question) {
  if (options.index.empty() && question.query.order_by.empty()) return {};
  if (!options.read.snapshot.empty()) return {};  // The engine knows the indexes of then.
  ASSIGN_OR_RETURN(const TableInfo table, FindTable(database, options.table));
  for (const std::string& index : question.query.use_indexes) {
    RETURN_IF_ERROR(CheckIndexName(table, index));
  }
  const std::string& order = question.query.order_by;
  if (order.empty() || question.orders_by_columns) return {};
  const auto begins_with = [&order](const IndexOptions& index) {
    return index.columns.front().qualifier == order;
  };
  if (std::ranges::any_of(table.options.indexes, begins_with)) return {};  // The engine knows it.
  return CheckIndexName(table, order);
}

// Which columns a predicate names that no row has, of the present alone.
void SayUnknownColumns(const char* verb, Database& database, const Question& question,
                       const QueryVerbOptions& options, const Context& context) {
  if (!options.read.snapshot.empty()) return;
  SayUnknownColumns(database, {verb, options.table, question.predicate}, context);
}

/// Adds what is computed of each of the columns, which are named in its heading.
Status AddValues(AggregateKind kind, std::string_view name, const std::string& text,
                 AggregateOptions* groups, std::vector<std::string>* headings) {
  if (text.empty()) return {};
  const auto columns = IndexColumn::ParseList(text);
  if (!columns.has_value()) {
    return Status::InvalidArgument(
        Format("--{} '{}': {}", name, EscapeBytes(text), columns.error().message()));
  }
  for (IndexColumn column : *columns) {
    column.descending = false;
    groups->values.push_back({kind, column.ToString()});
    headings->push_back(Format("{}({})", name, column.ToString()));
  }
  return {};
}

/// The groups that were asked for, and the headings of their columns.
Result<AggregateOptions> GroupsOf(const QueryVerbOptions& options, const Question& question,
                                  std::vector<std::string>* headings) {
  const GroupArguments& asked = options.groups;
  AggregateOptions groups;
  groups.limit = options.limit;
  groups.use_indexes = question.query.use_indexes;
  groups.no_index = options.no_index;
  groups.no_scan = options.no_scan;
  groups.any_version = options.any_version;
  if (!asked.by.empty()) {
    const auto columns = IndexColumn::ParseList(asked.by);
    if (!columns.has_value()) {
      return Status::InvalidArgument(
          Format("--by '{}': {}", EscapeBytes(asked.by), columns.error().message()));
    }
    groups.descending = columns->front().descending;
    for (IndexColumn column : *columns) {
      if (column.descending != groups.descending) {
        return Status::InvalidArgument(
            Format("--by '{}': all columns rise, or all fall", EscapeBytes(asked.by)));
      }
      column.descending = false;
      groups.group_by.push_back(column.ToString());
      headings->push_back(column.ToString());
    }
  }
  groups.values.push_back({AggregateKind::kRows, {}});
  headings->push_back("rows");
  RETURN_IF_ERROR(AddValues(AggregateKind::kCount, "present", asked.present, &groups, headings));
  RETURN_IF_ERROR(AddValues(AggregateKind::kMin, "min", asked.min, &groups, headings));
  RETURN_IF_ERROR(AddValues(AggregateKind::kMax, "max", asked.max, &groups, headings));
  RETURN_IF_ERROR(AddValues(AggregateKind::kSum, "sum", asked.sum, &groups, headings));
  RETURN_IF_ERROR(AddValues(AggregateKind::kAverage, "average", asked.average, &groups, headings));
  return groups;
}

/// Counts, and sums that fit, are numbers.
Value ValueOf(AggregateKind kind, const std::optional<std::string_view>& text) {
  if (!text.has_value()) return {};
  const bool is_count = kind == AggregateKind::kRows || kind == AggregateKind::kCount;
  if (!is_count && kind != AggregateKind::kSum) return *text;
  const std::optional<int64_t> number = format::ParseInt64(*text);
  return number.has_value() ? Value(*number) : Value(*text);
}

Result<ExitCode> WriteGroups(Database& database, const Question& question,
                             const QueryVerbOptions& options, const Context& context) {
  const TableRead from{database, options.table, options.read.snapshot};
  std::vector<std::string> headings;
  ASSIGN_OR_RETURN(const AggregateOptions asked, GroupsOf(options, question, &headings));
  auto groups = database.Aggregate(question.read, options.table, question.predicate, asked);
  if (!groups.has_value()) return WithSuggestion(from, groups.error());
  const std::unique_ptr<RecordWriter> writer = NewRecordWriter(options.output, context.out);
  writer->Begin("group", std::move(headings));
  std::vector<Value> values;
  uint64_t written = 0;
  while (groups->Next()) {
    values.clear();
    for (const std::optional<std::string_view>& key : groups->keys()) {
      values.push_back(key.has_value() ? Value(*key) : Value());
    }
    for (size_t i = 0; i < asked.values.size(); ++i) {
      values.push_back(ValueOf(asked.values[i].kind, groups->values()[i]));
    }
    writer->Add(values);
    ++written;
  }
  writer->End();
  RETURN_IF_ERROR(groups->status());
  if (written == 0) SayUnknownColumns("count", database, question, options, context);
  return ExitCode::kDone;
}

Result<ExitCode> WriteCount(Database& database, const Question& question,
                            const QueryVerbOptions& options, const Context& context) {
  const TableRead from{database, options.table, options.read.snapshot};
  const auto count =
      database.Count(question.read, options.table, question.predicate, question.query);
  if (!count.has_value()) return WithSuggestion(from, count.error());
  if (*count == 0) SayUnknownColumns("count", database, question, options, context);
  if (options.output == OutputMode::kTable || options.output == OutputMode::kRaw) {
    WriteBytes(context.out, Value(*count).Bytes() + "\n");
  } else {
    const Property property{"count", *count};
    NewRecordWriter(options.output, context.out)->AddProperties("count", {&property, 1});
  }
  return ExitCode::kDone;
}

Result<ExitCode> RunQuery(const QueryVerbOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(Question question, QuestionOf(options));
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  RETURN_IF_ERROR(CheckNames(*database, options, question));
  const TableRead from{*database, options.table, options.read.snapshot};
  RETURN_IF_ERROR(AddFields(options.fields, from, &question));
  ASSIGN_OR_RETURN(const auto snapshot, ReadAtSnapshot(options.read, *database, &question.read));
  if (options.count) return WriteCount(*database, question, options, context);
  ReadOptions read = question.read;
  read.pieces = question.query.expressions.empty();  // These are of whole rows.
  auto cursor = database->Query(read, options.table, question.predicate, question.query);
  if (!cursor.has_value()) return WithSuggestion(from, cursor.error());
  ASSIGN_OR_RETURN(RowLayout layout, LayoutOf(options.output, read, from));
  layout.fields = std::move(question.fields);
  ASSIGN_OR_RETURN(const uint64_t rows,
                   PrintRows(&*cursor, std::move(layout), options.page.token, context));
  if (rows == 0) SayUnknownColumns("query", *database, question, options, context);
  return ExitCode::kDone;
}

Result<ExitCode> RunCount(const CountOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(Question question, QuestionOf(options));
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  RETURN_IF_ERROR(CheckNames(*database, options, question));
  const TableRead from{*database, options.table, options.read.snapshot};
  RETURN_IF_ERROR(AddFields(options.fields, from, &question));
  ASSIGN_OR_RETURN(const auto snapshot, ReadAtSnapshot(options.read, *database, &question.read));
  if (!options.groups.empty()) return WriteGroups(*database, question, options, context);
  return WriteCount(*database, question, options, context);
}

/// Runs the verb and logs its query if it is slow. What the verb returns comes first.
template <typename Options, typename Run>
Result<ExitCode> RunLogged(const Options& options, const Context& context, const Run& run) {
  std::shared_ptr<SlowLog> log;
  ASSIGN_OR_RETURN(const Context logged, WithSlowLog(options.slow, context, &log));
  const Result<ExitCode> result = run(options, logged);
  if (log != nullptr && result.has_value()) RETURN_IF_ERROR(log->Close());
  return result;
}

}  // namespace

Result<ExitCode> RunVerb(const QueryVerbOptions& options, const Context& context) {
  return RunLogged(options, context, RunQuery);
}

Result<ExitCode> RunVerb(const ExplainOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(Question question, QuestionOf(options));
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForReading(options.path, context));
  RETURN_IF_ERROR(CheckNames(*database, options, question));
  const TableRead from{*database, options.table, options.read.snapshot};
  RETURN_IF_ERROR(AddFields(options.fields, from, &question));
  ASSIGN_OR_RETURN(const auto snapshot, ReadAtSnapshot(options.read, *database, &question.read));
  std::vector<std::string> headings;
  ASSIGN_OR_RETURN(const AggregateOptions groups, GroupsOf(options, question, &headings));
  const auto explanation =
      options.groups.empty()
          ? database->Explain(question.read, options.table, question.predicate, question.query)
          : database->ExplainAggregate(question.read, options.table, question.predicate, groups);
  if (!explanation.has_value()) return WithSuggestion(from, explanation.error());
  const bool is_empty = explanation->rows == 0 && explanation->groups == 0;
  if (is_empty) SayUnknownColumns("explain", *database, question, options, context);
  WriteExplanation(*explanation, options.output, context.out);
  return ExitCode::kDone;
}

Result<ExitCode> RunVerb(const CountOptions& options, const Context& context) {
  return RunLogged(options, context, RunCount);
}

}  // namespace tandem::tools
