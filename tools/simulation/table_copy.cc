// The other table may be left of an earlier time that failed.
#include "tools/simulation/table_copy.h"

#include "base/status_macros.h"

namespace tandem::test {
namespace {

// Whether a read of the table sees that many rows.
Status CheckRows(engine::Engine* engine, const std::string& table, uint64_t expected) {
  ASSIGN_OR_RETURN(Cursor cursor, engine->Scan({}, table, {}));
  uint64_t found = 0;
  while (cursor.Next()) ++found;
  RETURN_IF_ERROR(cursor.status());
  if (found == expected) return {};
  return Status::Corruption("of " + std::to_string(expected) + " rows that were restored, " +
                            std::to_string(found) + " are read");
}

// A value that is older than an index may not fit it, and a unique index takes no files; nothing is
// attached then.
bool IsRefused(const Status& status) {
  if (status.code() != StatusCode::kInvalidArgument) return false;
  const std::string_view message = status.message();
  if (message.find(" has the unique index ") != std::string_view::npos) return true;
  return message.find(" does not fit the index type ") != std::string_view::npos ||
         message.ends_with("the limit of an indexed value");
}

}  // namespace

Status CopyOntoItself(engine::Engine* engine, const std::string& table, uint64_t* number) {
  std::string path;
  Status status;
  do {
    path = "copy-" + std::to_string(++*number);
    status = engine->ExportFiles(table, path, {}).status();
  } while (status.code() == StatusCode::kAlreadyExists);
  RETURN_IF_ERROR(status);
  const Status attached = engine->Attach(table, path, {}).status();
  if (!IsRefused(attached)) RETURN_IF_ERROR(attached);
  const std::string other = table + std::string(kRestoredSuffix);
  const Result<TableCopy> copy = engine->RestoreTable(path, table, {.as = other});
  if (copy.has_value()) RETURN_IF_ERROR(CheckRows(engine, other, copy->rows));
  if (copy.status().code() != StatusCode::kAlreadyExists) RETURN_IF_ERROR(copy.status());
  return engine->DropTable(other);
}

}  // namespace tandem::test
