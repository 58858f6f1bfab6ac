// A record has declarations as RowKeySchema prints them.
#include "engine/row_key_record.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/quote.h"
#include "base/status_macros.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

Result<std::string> Printed(std::string_view declaration) {
  if (declaration.empty()) return std::string();
  ASSIGN_OR_RETURN(const RowKeySchema schema, RowKeySchema::Parse(declaration));
  return schema.ToString();
}

Status OfTable(const format::TableRecord& table, const Status& status) {
  if (status.ok()) return status;
  return Status(status.code(),
                "table " + base::Quote(table.name) + ": " + std::string(status.message()));
}

}  // namespace

Status SetRowKeyIn(std::string_view declaration, bool has_cells, format::TableRecord* table) {
  ASSIGN_OR_RETURN(std::string text, Printed(declaration));
  if (has_cells) {
    if (text == table->row_key) return {};
    const std::string now = table->row_key.empty() ? "bytes" : table->row_key;
    return Status::Unsupported("table " + base::Quote(table->name) +
                               " has cells under row keys of " + base::Quote(now) +
                               ", which another row key would not fit");
  }
  table->row_key = std::move(text);
  table->former_row_keys.clear();
  return {};
}

Status SetRowKeysIn(const TableOptions& options, format::TableRecord* table) {
  RETURN_IF_ERROR(SetRowKeyIn(options.row_key, /*has_cells=*/false, table));
  if (options.former_row_keys.empty()) return {};
  ASSIGN_OR_RETURN(const RowKeyEpochs keys,
                   RowKeyEpochs::Parse(options.row_key, options.former_row_keys));
  for (size_t i = 1; i < keys.schemas().size(); ++i) {
    table->former_row_keys.push_back(keys.schemas()[i].ToString());
  }
  return {};
}

Status ChangeRowKeyIn(std::string_view declaration, bool has_cells, format::TableRecord* table) {
  if (!has_cells || table->row_key.empty()) return SetRowKeyIn(declaration, has_cells, table);
  ASSIGN_OR_RETURN(std::string text, Printed(declaration));
  if (text == table->row_key) return {};
  if (text.empty()) return SetRowKeyIn(declaration, has_cells, table);
  std::vector<std::string> former = {table->row_key};
  std::ranges::copy_if(table->former_row_keys, std::back_inserter(former),
                       [&text](const std::string& other) { return other != text; });
  if (former.size() > kFormerRowKeysMax) {
    return Status::InvalidArgument("table " + base::Quote(table->name) + " has " +
                                   std::to_string(kFormerRowKeysMax) +
                                   " former row keys, the limit: its keys have to be rewritten "
                                   "before they change again");
  }
  RETURN_IF_ERROR(OfTable(*table, RowKeyEpochs::Parse(text, former).status()));
  table->row_key = std::move(text);
  table->former_row_keys = std::move(former);
  return {};
}

}  // namespace tandem::engine
