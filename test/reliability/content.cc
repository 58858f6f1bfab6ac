// See content.h.
#include "test/reliability/content.h"

#include <functional>
#include <limits>

#include "base/status_macros.h"

namespace tandem::reliability {
namespace {

constexpr size_t kShownBytes = 40;
constexpr size_t kTextBytes = 700;

std::string ValueText(const std::string& value) {
  if (value.size() <= kShownBytes) return test::Shown(value);
  std::string text = std::to_string(value.size()) + " bytes of hash ";
  return text += std::to_string(std::hash<std::string>()(value) % 1'000'000'007);
}

}  // namespace

std::string TextOf(const std::vector<test::ModelRow>& rows) {
  std::string text;
  for (const test::ModelRow& row : rows) {
    text.append(ValueText(row.key)).append("{");
    for (const test::ModelCell& cell : row.cells) {
      text.append(" ").append(cell.family).append(":").append(ValueText(cell.qualifier));
      text.append("@").append(std::to_string(cell.timestamp));
      text.append("=").append(ValueText(cell.value));
    }
    text.append(" } ");
  }
  return text;
}

Result<std::vector<test::ModelRow>> ReadAll(Result<Cursor> cursor) {
  if (!cursor.has_value()) return cursor.error();
  std::vector<test::ModelRow> rows;
  while (cursor->Next()) rows.emplace_back(cursor->row());
  RETURN_IF_ERROR(cursor->status());
  return rows;
}

Result<std::map<std::string, Content>> ReadSnapshots(engine::Engine* engine,
                                                     const std::vector<TableOptions>& tables) {
  std::map<std::string, Content> contents;
  ASSIGN_OR_RETURN(const auto snapshots, engine->ListSnapshots());
  for (const NamedSnapshotInfo& info : snapshots) {
    ASSIGN_OR_RETURN(const Snapshot snapshot, engine->OpenSnapshot(info.name));
    ASSIGN_OR_RETURN(contents[info.name], ReadContent(engine, tables, &snapshot));
  }
  return contents;
}

Result<Content> ReadContent(engine::Engine* engine, const std::vector<TableOptions>& tables,
                            const Snapshot* snapshot) {
  Content content;
  ReadOptions read;
  read.snapshot = snapshot;
  read.versions = std::numeric_limits<uint32_t>::max();
  for (const TableOptions& table : tables) {
    Result<Cursor> cursor = engine->Scan(read, table.name, {});
    if (cursor.status().code() == StatusCode::kNotFound) continue;
    ASSIGN_OR_RETURN(const auto rows, ReadAll(std::move(cursor)));
    content[table.name] = TextOf(rows);
  }
  return content;
}

std::string Cut(const std::string& text) {
  return text.size() <= kTextBytes ? text : text.substr(0, kTextBytes) + "...";
}

}  // namespace tandem::reliability
