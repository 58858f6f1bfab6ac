// The rows that have a given entry in an index: what a unique index asks before a row gets it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "engine/region/view.h"
#include "engine/source/read_resources.h"
#include "format/schema.h"
#include "tandem/status.h"

namespace tandem::engine {

/// A row of the view that has the entry `key` and that `counts` is true of; nullopt: none has. It
/// is the answer of a query for the values of all columns, decided on the merged rows. Requires:
/// `key` has a value for each column of the index. Errors: kCorruption, kIoError.
Result<std::optional<std::string>> FindHolder(const ReadResources& resources, const TableView& view,
                                              const format::IndexRecord& index,
                                              std::string_view key,
                                              const std::function<bool(std::string_view)>& counts);

}  // namespace tandem::engine
