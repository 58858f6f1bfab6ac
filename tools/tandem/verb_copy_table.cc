// copy-table: a table's rows under another design of row keys, in a new table of the same database.
// Rows are read as of now, with all versions, and come into the new table by one bulk load, so it
// has all of them or is not there. Then both are compared by rows, cells and a digest.
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/quote.h"
#include "base/status_macros.h"
#include "format/hash.h"
#include "tandem/bulk_load.h"
#include "tandem/row_key.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/database_access.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/output.h"
#include "tools/tandem/verbs.h"

namespace tandem::tools {
namespace {

constexpr uint64_t kBatchBytes = 1 << 20;

// What a table holds, whatever its keys are made of: equal for equal rows in any order.
struct Content {
  uint64_t rows = 0, cells = 0, digest = 0;

  bool operator==(const Content&) const = default;
};

void AppendSized(std::string_view bytes, std::string* out) {
  out->append(std::to_string(bytes.size())).append(":").append(bytes);
}

// Fields come in the order of their names, which no key changes.
void AddRow(const std::vector<RowKeyField>& fields, const RowView& row, Content* content) {
  std::map<std::string, std::string> by_name;
  for (const RowKeyField& field : fields) by_name.emplace(field.name, field.value);
  std::string bytes;
  for (const auto& [name, value] : by_name) {
    AppendSized(name, &bytes);
    AppendSized(value, &bytes);
  }
  for (const Cell& cell : row.cells()) {
    AppendSized(cell.family, &bytes);
    AppendSized(cell.qualifier, &bytes);
    AppendSized(std::to_string(cell.timestamp), &bytes);
    AppendSized(cell.value, &bytes);
  }
  ++content->rows;
  content->cells += row.cells().size();
  content->digest += format::Hash64(bytes);
}

// One copy, of which a new table is left if it is complete.
class TableMove {
 public:
  TableMove(Database* database, const CopyTableOptions& options, const Context& context)
      : database_(*database), options_(options), context_(context) {}

  Status Run();
  const Content& content() const { return content_; }

 private:
  Status Prepare();
  Status Copy();
  Status AddUniqueIndexes();
  Status Verify();
  Result<Cursor> AllOf(const std::string& table) const;
  Result<std::vector<RowKeyField>> FieldsOf(std::string_view key) const;

  Database& database_;
  const CopyTableOptions& options_;
  const Context& context_;
  std::string to_;
  TableOptions table_;                // The new one, without its unique indexes.
  std::vector<IndexOptions> unique_;  // Those.
  std::vector<RowKeyEpochs> keys_;    // Of the old table and the new one.
  Content content_;
};

Status TableMove::Run() {
  RETURN_IF_ERROR(Prepare());
  RETURN_IF_ERROR(database_.CreateTable(table_));
  Status status = Copy();
  if (status.ok()) status = AddUniqueIndexes();
  if (status.ok()) status = Verify();
  if (!status.ok()) database_.DropTable(to_).Ignore("the error of the copy is the one to tell");
  return status;
}

Status TableMove::Prepare() {
  ASSIGN_OR_RETURN(to_, ParseEscaped(options_.to));
  ASSIGN_OR_RETURN(TableInfo from, FindTable(database_, options_.table));
  table_ = std::move(from.options);
  const std::string from_key = options_.from_key.empty() ? table_.row_key : options_.from_key;
  if (from_key.empty()) {
    return Status::InvalidArgument(
        Format("the row keys of table {} are bytes; --from-key says what fields they are made of",
               base::Quote(options_.table)));
  }
  std::vector<std::string> former;
  if (options_.from_key.empty()) former = std::move(table_.former_row_keys);
  ASSIGN_OR_RETURN(RowKeyEpochs from_keys, RowKeyEpochs::Parse(from_key, former));
  keys_.push_back(std::move(from_keys));
  ASSIGN_OR_RETURN(RowKeyEpochs to_keys, RowKeyEpochs::Parse(options_.key));
  keys_.push_back(std::move(to_keys));
  const std::vector<std::string> old_fields = keys_[0].newest().fields(),
                                 fields = keys_[1].newest().fields();
  if (std::set(old_fields.begin(), old_fields.end()) != std::set(fields.begin(), fields.end())) {
    return Status::InvalidArgument(
        Format("row keys {} and {} have different fields: rows would be lost, or have no key",
               keys_[0].newest().ToString(), keys_[1].newest().ToString()));
  }
  table_.name = to_;
  table_.row_key = keys_[1].newest().ToString();
  table_.former_row_keys.clear();
  table_.split_keys.clear();
  table_.observers.clear();
  std::vector<IndexOptions> others;
  for (IndexOptions& index : table_.indexes) {
    (index.unique ? unique_ : others).push_back(std::move(index));
  }
  table_.indexes = std::move(others);
  return {};
}

Result<Cursor> TableMove::AllOf(const std::string& table) const {
  ReadOptions read;
  read.versions = UINT32_MAX;
  read.cancelled = context_.interrupted;
  return database_.Scan(read, table, {});
}

Result<std::vector<RowKeyField>> TableMove::FieldsOf(std::string_view key) const {
  Result<std::vector<RowKeyField>> fields = keys_[0].Decode(key);
  if (fields.has_value()) return fields;
  return Status::InvalidArgument(
      Format("{}; nothing was copied", std::string(fields.error().message())));
}

Status TableMove::Copy() {
  ASSIGN_OR_RETURN(Cursor rows, AllOf(options_.table));
  ASSIGN_OR_RETURN(BulkLoad load, database_.BeginBulkLoad(to_, {.any_order = true}));
  WriteBatch batch;
  uint64_t bytes = 0;
  while (rows.Next()) {
    const RowView& row = rows.row();
    ASSIGN_OR_RETURN(const std::vector<RowKeyField> fields, FieldsOf(row.key()));
    ASSIGN_OR_RETURN(const std::string key, keys_[1].newest().Encode(fields));
    AddRow(fields, row, &content_);
    for (const Cell& cell : row.cells()) {
      batch.Put(to_, key, cell.family, cell.qualifier, cell.value, cell.timestamp);
      bytes += cell.value.size() + cell.qualifier.size();
    }
    bytes += key.size();
    if (bytes < kBatchBytes) continue;
    RETURN_IF_ERROR(load.Add(batch));
    batch.Clear();
    bytes = 0;
  }
  RETURN_IF_ERROR(rows.status());
  RETURN_IF_ERROR(load.Add(batch));
  return load.Commit();
}

// A bulk load asks no unique index, so they come after it and look at all rows.
Status TableMove::AddUniqueIndexes() {
  for (const IndexOptions& index : unique_) {
    RETURN_IF_ERROR(database_.CreateIndex(to_, index));
    RETURN_IF_ERROR(database_.Compact(to_));
    ASSIGN_OR_RETURN(const UniqueReport report,
                     database_.EnforceUnique(to_, index.name, context_.interrupted));
    if (report.duplicates == 0) continue;
    return Status::AlreadyExists(Format("unique index {}: {} rows have a value that another has",
                                        base::Quote(index.name), report.duplicates));
  }
  return {};
}

Status TableMove::Verify() {
  Content copied;
  ASSIGN_OR_RETURN(Cursor rows, AllOf(to_));
  while (rows.Next()) {
    ASSIGN_OR_RETURN(const std::vector<RowKeyField> fields, keys_[1].Decode(rows.row().key()));
    AddRow(fields, rows.row(), &copied);
  }
  RETURN_IF_ERROR(rows.status());
  if (copied == content_) return {};
  return Status::Corruption(
      Format("the copy has {} rows and {} cells of {} and {}, or others: it was removed",
             copied.rows, copied.cells, content_.rows, content_.cells));
}

}  // namespace

Result<ExitCode> RunVerb(const CopyTableOptions& options, const Context& context) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Database> database, OpenForWriting(options.path, context));
  TableMove move(database.get(), options, context);
  RETURN_IF_ERROR(move.Run());
  RETURN_IF_ERROR(database->Close());
  const auto writer = NewRecordWriter(options.output, context.out);
  const Property properties[] = {{"rows", move.content().rows},
                                 {"cells", move.content().cells},
                                 {"digest", move.content().digest}};
  writer->AddProperties("summary", properties);
  return ExitCode::kDone;
}

}  // namespace tandem::tools
