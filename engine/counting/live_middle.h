// The middle of the rows that a read sees, without reading them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/region/overlaps.h"
#include "engine/region/view.h"
#include "tandem/status.h"

namespace tandem::engine {

/// The first row that has at least half of the view's rows before it, and one at least. nullopt:
/// there are fewer than two, or they cannot be counted (engine/source/counted.h), or some would
/// have to be read for that, those of memstores among them. `memory` bounds what is built; may be
/// null. Errors: kCorruption, kIoError.
Result<std::optional<std::string>> FindLiveMiddle(const TableView& view,
                                                  const std::shared_ptr<OverlapMemory>& memory);

}  // namespace tandem::engine
