// See oracle.h.
#include "test/reliability/oracle.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/status_macros.h"
#include "engine/storage/files.h"
#include "engine/storage/storage.h"
#include "format/functions.h"
#include "tools/simulation/table_copy.h"

namespace tandem::reliability {
namespace {

using test::ModelRow;
using PredicateKind = Predicate::Kind;

constexpr size_t kValuesMax = 3;

const std::string& FamilyOf(const TableOptions& table, const std::string& name) {
  return name.empty() ? table.families[0].name : name;
}

std::string ColumnText(const TableOptions& table, const IndexColumn& column) {
  return FamilyOf(table, column.family) + ":" + column.qualifier;
}

// Of a comparison of the condition that an absent value satisfies, the column is of one of
// `families`. `negated`: under an odd number of NOTs.
bool HasNullOf(const Predicate& condition, const TableOptions& table,
               const std::set<std::string>& families, bool negated = false) {
  if (condition.kind() == PredicateKind::kAnd || condition.kind() == PredicateKind::kOr ||
      condition.kind() == PredicateKind::kNot) {
    return std::ranges::any_of(condition.children(), [&](const Predicate& child) {
      return HasNullOf(child, table, families, negated ^ (condition.kind() == PredicateKind::kNot));
    });
  }
  const bool is_true_of_null = condition.kind() == PredicateKind::kIsNull;
  return is_true_of_null != negated && families.contains(FamilyOf(table, condition.family()));
}

// Those whose cells may be gone without a trace: they expire, or were cut by limits that the family
// has no more (docs/decisions/0038).
std::set<std::string> VanishingFamilies(const TableInfo& table) {
  std::set<std::string> families;
  for (const FamilyOptions& family : table.options.families) {
    if (family.ttl_micros != 0) families.insert(family.name);
  }
  for (const FormerLimits& limits : table.former_limits) families.insert(limits.family);
  return families;
}

// The row that shows that a database works after all; no workload has it.
const char kProbeRow[] = "~probe";

class IndexCheck {
 public:
  // `vanishing`: of the table's families.
  IndexCheck(engine::Engine* engine, const TableOptions& table, const IndexOptions& index,
             const std::set<std::string>& vanishing)
      : engine_(*engine), table_(table), index_(index) {
    if (index.where.empty()) return;
    misses_rows_ = HasNullOf(Predicate::Parse(index.where).value(), table, vanishing);
  }

  std::string Run() {
    const std::string column = ColumnText(table_, index_.columns[0]);
    const Functions& functions = index_.columns[0].functions;
    const auto has_value = Predicate::IsNotNull(column).WithFunctions(functions);
    Result<std::vector<ModelRow>> rows = Rows(has_value, {.no_index = true});
    if (!rows.has_value()) return rows.error().ToString();
    std::string reason = Compare(has_value, *rows);
    std::set<std::string> values;
    for (const ModelRow& row : *rows) {
      if (values.size() < kValuesMax) values.insert(ValueIn(row));
    }
    for (const std::string& value : values) {
      const auto equal = Predicate::Equal(column, value).WithFunctions(functions);
      Result<std::vector<ModelRow>> expected = Rows(equal, {.no_index = true});
      if (!expected.has_value()) return expected.error().ToString();
      if (reason.empty()) reason = Compare(equal, *expected);
    }
    if (reason.empty() && index_.columns.size() > 1) reason = CompareTogether(*rows);
    return reason.empty() ? CompareOrdered(*rows) : reason;
  }

 private:
  // Of a partial index, those of its rows.
  Result<std::vector<ModelRow>> Rows(const Predicate& predicate, const QueryOptions& query) {
    if (index_.where.empty()) return ReadAll(engine_.Query({}, table_.name, predicate, query));
    ASSIGN_OR_RETURN(Predicate where, Predicate::Parse(index_.where));
    const Predicate all = Predicate::And({predicate, std::move(where)});
    return ReadAll(engine_.Query({}, table_.name, all, query));
  }
  // Of each row what all columns of the index have that are present, at once.
  std::string CompareTogether(const std::vector<ModelRow>& rows) {
    for (const ModelRow& row : rows) {
      std::vector<Predicate> conditions;
      for (const IndexColumn& column : index_.columns) {
        const std::string value = ValueIn(row, column);
        const std::string name = ColumnText(table_, column);
        conditions.push_back(
            (value.empty() ? Predicate::IsNotNull(name) : Predicate::Equal(name, value))
                .WithFunctions(column.functions));
      }
      const Predicate all = Predicate::And(std::move(conditions));
      Result<std::vector<ModelRow>> expected = Rows(all, {.no_index = true});
      if (!expected.has_value()) return expected.error().ToString();
      std::string reason = Compare(all, *expected);
      if (!reason.empty()) return reason;
    }
    return "";
  }
  std::string ValueIn(const ModelRow& row) const { return ValueIn(row, index_.columns[0]); }
  static std::string ValueIn(const ModelRow& row, const IndexColumn& column) {
    if (test::AreOfFamily(column.functions)) return ValueOfFamily(row, column);
    for (const test::ModelCell& cell : row.cells) {
      if (cell.qualifier != column.qualifier) continue;
      std::string made = cell.value;
      const std::optional<std::vector<std::string_view>> joined = JoinedIn(row, column);
      if (!joined.has_value()) return "";
      if (format::AreMultiValued(column.functions)) {
        format::ValueList values;
        format::ApplyMultiValued(column.functions, cell.value, cell.timestamp, &values, *joined);
        return values.empty() ? "" : std::string(values[values.size() - 1]);
      }
      if (column.functions.empty() ||
          format::ApplyFunctions(column.functions, cell.value, cell.timestamp, &made, *joined)) {
        return made;
      }
    }
    return "";
  }
  // Of the columns that concat joins; nullopt: the row lacks one.
  static std::optional<std::vector<std::string_view>> JoinedIn(const ModelRow& row,
                                                               const IndexColumn& column) {
    std::vector<std::string_view> values;
    for (const Function& function : column.functions) {
      for (const ConcatPart& part : function.parts) {
        if (part.kind != ConcatPart::Kind::kColumn) continue;
        const auto found =
            std::ranges::find(row.cells, part.qualifier, &test::ModelCell::qualifier);
        if (found == row.cells.end()) return std::nullopt;
        values.push_back(found->value);
      }
    }
    return values;
  }
  static std::string ValueOfFamily(const ModelRow& row, const IndexColumn& column) {
    std::string value;
    format::ValueList values;
    for (const test::ModelCell& cell : row.cells) {
      if (cell.family != column.family) continue;
      const bool is_key = column.functions.front().kind == FunctionKind::kMapKeys;
      format::ApplyMultiValued(column.functions, is_key ? cell.qualifier : cell.value,
                               cell.timestamp, &values);
      if (!values.empty()) value = values[0];
    }
    return value;
  }
  std::string Compare(const Predicate& predicate, const std::vector<ModelRow>& expected) {
    Result<std::vector<ModelRow>> found = Rows(predicate, {.use_index = index_.name});
    // A load may have begun to build it anew.
    const bool may_refuse = index_.placement == IndexPlacement::kGlobal;
    const bool is_refused = found.status().code() == StatusCode::kInvalidArgument;
    const std::string what = "index " + index_.name + ", " + predicate.ToString() + ": ";
    if (misses_rows_ && !is_refused) return what + "is asked though it may miss rows";
    if (is_refused && (may_refuse || misses_rows_)) found = Rows(predicate, {});
    if (!found.has_value()) return what + found.error().ToString();
    if (*found == expected) return "";
    return what + "found " + Cut(TextOf(*found)) + ", the scan " + Cut(TextOf(expected));
  }
  // All rows by the index, which orders them otherwise.
  std::string CompareOrdered(std::vector<ModelRow> expected) {
    if (format::AreMultiValued(index_.columns[0].functions)) return "";
    Result<std::vector<ModelRow>> found = Rows({}, {.order_by = index_.name});
    const std::string what = "ordered by index " + index_.name + ": ";
    if (!found.has_value()) return what + found.error().ToString();
    const auto by_key = [](const ModelRow& a, const ModelRow& b) { return a.key < b.key; };
    std::sort(found->begin(), found->end(), by_key);
    std::sort(expected.begin(), expected.end(), by_key);
    if (*found == expected) return "";
    return what + "found " + Cut(TextOf(*found)) + ", the scan " + Cut(TextOf(expected));
  }

  engine::Engine& engine_;
  const TableOptions& table_;
  const IndexOptions& index_;
  // Rows may come to satisfy its WHERE without an operation, when a cell is gone: it serves no
  // query (docs/decisions/0041).
  bool misses_rows_ = false;
};

std::string CheckSnapshots(Machine* machine, const Expectation& expectation) {
  const auto snapshots = ReadSnapshots(&machine->engine(), expectation.workload->tables);
  if (!snapshots.has_value()) return "a snapshot cannot be read: " + snapshots.error().ToString();
  return expectation.history->SnapshotContradiction(*snapshots);
}

std::string CheckContent(Machine* machine, const Expectation& expectation, Content* content) {
  const DatabaseInfo info = machine->engine().Info();
  if (info.read_only) return "opened read-only: " + info.read_only_reason;
  Result<Content> read = ReadContent(&machine->engine(), expectation.workload->tables);
  if (!read.has_value()) return "a scan fails: " + read.error().ToString();
  *content = *std::move(read);
  std::string reason = expectation.history->Contradiction(*content, expectation.killed);
  return reason.empty() ? CheckSnapshots(machine, expectation) : reason;
}

Status Probe(Machine* machine, const Content& content) {
  machine->clock().Advance(1'000'000);
  for (const auto& [table, text] : content) {
    WriteBatch batch;
    batch.Put(table, kProbeRow, "", "probe", "works");
    RETURN_IF_ERROR(machine->engine().Write({.durability = Durability::kSynced}, batch));
  }
  RETURN_IF_ERROR(machine->engine().Flush({}));
  RETURN_IF_ERROR(machine->Close());
  return machine->Open();
}

// The probe is there as one more row, the last of each table.
std::string CheckProbed(Machine* machine, const Workload& workload, const Content& before) {
  Result<Content> after = ReadContent(&machine->engine(), workload.tables);
  if (!after.has_value()) return "a scan after working on fails: " + after.error().ToString();
  if (after->size() != before.size()) return "a table came or went by working on";
  for (const auto& [table, text] : *after) {
    const std::string& old = before.at(table);
    const bool grew = text.starts_with(old) && text.find(kProbeRow, old.size()) < text.size();
    if (!grew) return "after working on, " + table + " has " + Cut(text) + ", before " + Cut(old);
  }
  if (machine->engine().Info().recovered_operations == 0) return "";
  return "a clean close left operations to recover";
}

}  // namespace

std::string CheckIndexes(engine::Engine* engine, const Workload& workload) {
  const Result<VerifyReport> report = engine->Verify(true);
  if (!report.has_value()) return "verify fails: " + report.status().ToString();
  if (!report->findings.empty()) return "verify finds: " + report->findings[0].text;
  std::map<std::string, std::set<std::string>> existing;  // With the families that may lose cells.
  for (const TableInfo& table : engine->Info().tables) {
    existing[table.options.name] = VanishingFamilies(table);
  }
  for (const TableOptions& table : workload.tables) {
    const auto found = existing.extract(table.name);
    if (found.empty()) continue;
    if (!found.mapped().empty() && !workload.Alters(table.name)) {
      return table.name + ": family " + *found.mapped().begin() + " has limits of nobody";
    }
    for (const IndexOptions& index : table.indexes) {
      std::string reason = IndexCheck(engine, table, index, found.mapped()).Run();
      if (!reason.empty()) return table.name + ": " + reason;
    }
  }
  std::erase_if(existing,
                [](const auto& table) { return table.first.ends_with(test::kRestoredSuffix); });
  return existing.empty() ? "" : "table " + existing.begin()->first + " was never asked for";
}

std::string CheckDirectory(Machine* machine) {
  machine->executor().Drain();
  const DatabaseInfo info = machine->engine().Info();
  std::set<std::string> expected = {"ROOT"};
  uint64_t unlisted = 0;  // Files with the entries of global indexes.
  for (const TableInfo& table : info.tables) {
    for (const IndexInfo& index : table.indexes) {
      if (index.options.placement == IndexPlacement::kGlobal) unlisted += index.files;
    }
    for (const RegionInfo& region : table.regions) {
      for (const FileInfo& file : region.files) {
        expected.insert(engine::StoreFileName(format::FileNumber(file.number)));
        if (file.max_sequence <= info.last_sequence) continue;
        return "sequences went back to " + std::to_string(info.last_sequence) + ", file " +
               std::to_string(file.number) + " has " + std::to_string(file.max_sequence);
      }
    }
  }
  for (const NamedSnapshotInfo& snapshot : info.named_snapshots) {
    for (const uint64_t file : snapshot.files) {
      expected.insert(engine::StoreFileName(format::FileNumber(file)));
    }
  }
  const auto directory = machine->files().OpenDirectory(kDatabasePath, false);
  if (!directory.has_value()) return directory.error().ToString();
  const Result<std::vector<std::string>> names = (*directory)->List();
  if (!names.has_value()) return names.error().ToString();
  uint64_t manifests = 0, segments = 0;
  for (const std::string& name : *names) {
    if (name.starts_with("manifest-")) {
      ++manifests;
    } else if (name.starts_with("log-")) {
      ++segments;
    } else if (expected.erase(name) == 0) {
      if (unlisted == 0) return "file " + name + " is left over";
      --unlisted;
    }
  }
  if (!expected.empty()) return "file " + *expected.begin() + " is missing";
  if (unlisted > 0) return std::to_string(unlisted) + " files with entries are missing";
  if (manifests != 1) return std::to_string(manifests) + " manifests";
  if (segments == info.log_segments) return "";
  return std::to_string(segments) + " log segments, " + std::to_string(info.log_segments) +
         " in use";
}

std::string Examine(Machine* machine, const Expectation& expectation) {
  Content content;
  std::string reason = CheckContent(machine, expectation, &content);
  if (reason.empty()) reason = CheckIndexes(&machine->engine(), *expectation.workload);
  if (reason.empty()) reason = CheckDirectory(machine);
  if (!reason.empty() || !expectation.works_on) return reason;
  const Status status = Probe(machine, content);
  if (!status.ok()) return "does not work on: " + status.ToString();
  reason = CheckProbed(machine, *expectation.workload, content);
  if (reason.empty()) reason = CheckSnapshots(machine, expectation);
  if (reason.empty()) reason = CheckIndexes(&machine->engine(), *expectation.workload);
  return reason.empty() ? CheckDirectory(machine) : reason;
}

}  // namespace tandem::reliability
