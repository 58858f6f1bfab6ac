// Rows of one key keep their order. Every other load gets its rows in any order.
#include "tools/simulation/bulk_load.h"

#include <algorithm>

#include "base/status_macros.h"
#include "tandem/bulk_load.h"

namespace tandem::test {

bool MayBeLoaded(std::span<const ModelOperation> batch) {
  return !batch.empty() && std::all_of(batch.begin(), batch.end(), [&](const auto& operation) {
    return operation.kind == ModelOperation::Kind::kPut && operation.table == batch[0].table;
  });
}

Status LoadInBulk(engine::Engine* engine, std::vector<ModelOperation> batch,
                  const std::function<void()>& begun) {
  const bool any_order = batch.size() % 2 == 0;
  if (!any_order) {
    std::stable_sort(batch.begin(), batch.end(),
                     [](const auto& a, const auto& b) { return a.row < b.row; });
  }
  ASSIGN_OR_RETURN(BulkLoad load, engine->BeginBulkLoad(batch[0].table, {.any_order = any_order}));
  begun();
  for (const ModelOperation& operation : batch) {
    WriteBatch row;
    operation.AddTo(&row);
    RETURN_IF_ERROR(load.Add(row));
  }
  return load.Commit();
}

}  // namespace tandem::test
