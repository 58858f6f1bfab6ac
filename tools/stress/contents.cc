// See contents.h.
#include "tools/stress/contents.h"

#include <limits>
#include <vector>

#include "format/hash.h"
#include "tools/stress/finding.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

using test::ModelCell;
using test::ModelRow;
using tools::Format;

constexpr uint64_t kFirstContent = 2;

uint64_t HashOf(const std::vector<ModelRow>& rows) {
  uint64_t hash = rows.size();
  const auto add = [&hash](std::string_view bytes) { hash = format::Hash64(bytes, hash); };
  for (const ModelRow& row : rows) {
    add(row.key);
    for (const ModelCell& cell : row.cells) {
      add(cell.family);
      add(cell.qualifier);
      add(std::to_string(cell.timestamp));
      add(cell.value);
    }
  }
  return hash < kFirstContent ? hash + kFirstContent : hash;
}

std::string TextOf(uint64_t content) {
  if (content == kNothing) return "nothing";
  return content == EmptyContent() ? "no rows" : Format("content {:016x}", content);
}

}  // namespace

Result<uint64_t> ContentOf(const Stressed& stressed, const std::string& table,
                           const Snapshot* snapshot) {
  ReadOptions read;
  read.snapshot = snapshot;
  read.versions = std::numeric_limits<uint32_t>::max();
  stressed.Begin("scan of a whole table");
  const auto rows = ReadAll(stressed.database->Scan(read, table, {}));
  if (!rows.has_value()) return rows.error();
  return HashOf(*rows);
}

uint64_t EmptyContent() { return HashOf({}); }

Status RecoverContent(const std::string& where, uint64_t found, ContentState* state) {
  const auto is_found = [found](uint64_t content) {
    return content == found || (content == kUnread && found != kNothing);
  };
  if (!is_found(state->now) && !is_found(state->next)) {
    return Mismatch("after recovery: " + where,
                    TextOf(state->now) + " or, where it was being changed, " + TextOf(state->next),
                    TextOf(found));
  }
  state->now = found;
  state->next = found;
  return {};
}

}  // namespace tandem::stress
