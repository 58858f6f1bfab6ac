// The row keys of a table, in their order.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "tandem/database.h"
#include "tools/row_keys/key_source.h"

namespace tandem::row_keys {

/// `cancelled` outlives the source and may be null. Errors: kNotFound (the table); Next: those of a
/// cursor.
Result<std::unique_ptr<KeySource>> KeysOfTable(std::unique_ptr<Database> database,
                                               const std::string& table,
                                               const std::atomic<bool>* cancelled);

}  // namespace tandem::row_keys
