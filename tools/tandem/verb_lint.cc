// lint: what a sample of row keys, or a table, says about its design.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "tools/row_keys/key_lint.h"
#include "tools/row_keys/read_lint.h"
#include "tools/row_keys/table_lint.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/key_arguments.h"
#include "tools/tandem/output.h"
#include "tools/tandem/progress.h"
#include "tools/tandem/query_log.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

using row_keys::KeyFigures;
using row_keys::KeyLint;
using row_keys::LintFinding;
using row_keys::TableLint;

constexpr uint64_t kRowsBetweenLooks = 4096;

struct Report {
  KeyFigures keys;
  std::vector<Property> sizes;  ///< Of a row, on average.
  std::vector<LintFinding> findings;
};

Value OrUnknown(const std::optional<double>& share) {
  return share.has_value() ? Value(Rounded(*share)) : Value();
}

Value PerRow(uint64_t bytes, uint64_t rows) {
  return rows == 0 ? Value()
                   : Value(Rounded(static_cast<double>(bytes) / static_cast<double>(rows)));
}

Status ReadRows(const LintOptions& options, const Context& context, Database* database,
                const std::string& table, TableLint* lint) {
  ReadOptions read;
  read.pieces = true;
  read.cancelled = context.interrupted;
  ScanOptions scan;
  scan.limit = options.source.keys;
  ASSIGN_OR_RETURN(Cursor cursor, database->Scan(read, table, scan));
  Progress progress(context);
  while (cursor.Next()) {
    lint->Add(cursor.row());
    if (lint->rows() % kRowsBetweenLooks == 0) progress.Update(lint->rows(), lint->raw_bytes(), 0);
  }
  return cursor.status();
}

/// What the rows of the table in files take, each part shared by their number.
Result<std::vector<Property>> SizesOf(Database* database, const TableInfo& table,
                                      const TableLint& lint) {
  const auto usage = database->GetSpaceUsage({.table = table.options.name, .cancelled = nullptr});
  if (!usage.has_value()) return usage.error();
  uint64_t rows = 0, stored = 0, indexed = 0;
  for (const RegionInfo& region : table.regions) rows += region.rows;
  for (const SpacePart& part : usage->parts) {
    if (part.table != table.options.name) continue;
    if (part.kind == SpaceKind::kRows) stored += part.bytes;
    if (part.kind == SpaceKind::kIndex) indexed += part.bytes;
  }
  return std::vector<Property>{{"raw_bytes_per_row", PerRow(lint.raw_bytes(), lint.rows())},
                               {"stored_bytes_per_row", PerRow(stored, rows)},
                               {"index_bytes_per_row", PerRow(indexed, rows)}};
}

Status AddReads(const LintOptions& options, const Context& context, const TableInfo& table,
                std::vector<LintFinding>* findings) {
  if (options.queries.empty()) return {};
  ASSIGN_OR_RETURN(const LoggedQueries log,
                   ReadQueryLog(options.queries, table.options.name, context));
  row_keys::ReadLint lint(table.options);
  for (const AdvisedQuery& query : log.queries) lint.Add(query);
  std::ranges::move(lint.Findings(), std::back_inserter(*findings));
  return {};
}

Result<Report> LintTable(const LintOptions& options, const Context& context) {
  const KeySourceArguments& source = options.source;
  ASSIGN_OR_RETURN(const auto database, OpenForReading(source.database, context));
  ASSIGN_OR_RETURN(const TableInfo table, FindTable(*database, source.from_table));
  TableLint lint(source.seed);
  RETURN_IF_ERROR(ReadRows(options, context, database.get(), table.options.name, &lint));
  Report report{.keys = lint.Finish(), .sizes = {}, .findings = {}};
  ASSIGN_OR_RETURN(report.sizes, SizesOf(database.get(), table, lint));
  report.findings = row_keys::FindingsOf(report.keys);
  std::ranges::move(lint.FindingsOn(table), std::back_inserter(report.findings));
  RETURN_IF_ERROR(AddReads(options, context, table, &report.findings));
  return report;
}

Result<Report> LintKeys(const LintOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const auto source, OpenKeys(options.source, context));
  KeyLint lint(options.source.seed);
  int64_t number = 0;
  RETURN_IF_ERROR(ForEachKey(options.source, context, source.get(),
                             [&](const row_keys::WeightedKey& key) -> Status {
                               lint.Add(key.key, ++number);
                               return {};
                             }));
  Report report{.keys = lint.Finish(), .sizes = {}, .findings = {}};
  report.findings = row_keys::FindingsOf(report.keys);
  return report;
}

void WriteFindings(const Report& report, RecordWriter* writer) {
  writer->Begin("finding", {"level", "rule", "subject", "finding"});
  for (const LintFinding& finding : report.findings) {
    const bool is_warning = finding.level == LintFinding::Level::kWarning;
    writer->Add({is_warning ? "warning" : "hint", finding.rule, finding.subject, finding.text});
  }
  writer->End();
}

void WriteFigures(const Report& report, RecordWriter* writer) {
  const KeyFigures& keys = report.keys;
  std::vector<Property> properties = {{"keys", keys.keys},
                                      {"shortest_bytes", keys.shortest_bytes},
                                      {"mean_bytes", Rounded(keys.mean_bytes())},
                                      {"longest_bytes", keys.longest_bytes},
                                      {"common_prefix_bytes", keys.common_prefix.size()},
                                      {"sampled", keys.sampled},
                                      {"rising_share", OrUnknown(keys.rising_share)},
                                      {"hottest_share", OrUnknown(keys.hottest_share)}};
  std::ranges::copy(report.sizes, std::back_inserter(properties));
  writer->AddProperties("keys", properties);
}

}  // namespace

Result<ExitCode> RunVerb(const LintOptions& options, const Context& context) {
  const bool is_table = !options.source.database.empty() && !options.source.from_table.empty();
  if (!is_table && !options.queries.empty()) {
    return Status::InvalidArgument("--queries: expected --database and --table besides");
  }
  ASSIGN_OR_RETURN(const Report report,
                   is_table ? LintTable(options, context) : LintKeys(options, context));
  const std::unique_ptr<RecordWriter> writer = NewRecordWriter(options.output, context.out);
  // csv, tsv and raw hold one kind of records.
  if (options.output == OutputMode::kTable || options.output == OutputMode::kJsonLines) {
    WriteFigures(report, writer.get());
  }
  WriteFindings(report, writer.get());
  const bool warns = std::ranges::any_of(report.findings, [](const LintFinding& finding) {
    return finding.level == LintFinding::Level::kWarning;
  });
  return warns ? ExitCode::kFindings : ExitCode::kDone;
}

}  // namespace tandem::tools
