// The other table may be left of an earlier time that failed.
#include "tools/simulation/table_copy.h"

#include "base/status_macros.h"

namespace tandem::test {

Status CopyOntoItself(engine::Engine* engine, const std::string& table, uint64_t* number) {
  std::string path;
  Status status;
  do {
    path = "copy-" + std::to_string(++*number);
    status = engine->ExportFiles(table, path, {}).status();
  } while (status.code() == StatusCode::kAlreadyExists);
  RETURN_IF_ERROR(status);
  RETURN_IF_ERROR(engine->Attach(table, path, {}).status());
  const std::string other = table + std::string(kRestoredSuffix);
  status = engine->RestoreTable(path, table, {.as = other}).status();
  if (status.code() != StatusCode::kAlreadyExists) RETURN_IF_ERROR(status);
  return engine->DropTable(other);
}

}  // namespace tandem::test
