// Batches of the model as bulk loads.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "tandem/status.h"
#include "tools/simulation/model.h"

namespace tandem::test {

/// Whether a bulk load can take the batch, with its rows in order: puts of one table.
bool MayBeLoaded(std::span<const ModelOperation> batch);
/// Begins a bulk load, calls `begun`, adds the batch row by row, and commits. The cells have the
/// time of `begun`. Requires: MayBeLoaded(batch).
Status LoadInBulk(engine::Engine* engine, std::vector<ModelOperation> batch,
                  const std::function<void()>& begun);

}  // namespace tandem::test
