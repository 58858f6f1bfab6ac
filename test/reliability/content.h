// What tables hold, as text that can be compared and shown: every row with every version of every
// cell, from the engine or from the model.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "tools/simulation/model.h"

namespace tandem::reliability {

/// By table; a table that does not exist has no entry. Long values are shown by size and hash.
using Content = std::map<std::string, std::string>;

std::string TextOf(const std::vector<test::ModelRow>& rows);

/// All rows that a read with `read` gives. Errors: those of reading.
Result<std::vector<test::ModelRow>> ReadAll(Result<Cursor> cursor);

/// Of those of `tables` that exist, now or at the snapshot. Errors: those of reading.
Result<Content> ReadContent(engine::Engine* engine, const std::vector<TableOptions>& tables,
                            const Snapshot* snapshot = nullptr);

/// By name, what each named snapshot shows of `tables`. Errors: those of reading.
Result<std::map<std::string, Content>> ReadSnapshots(engine::Engine* engine,
                                                     const std::vector<TableOptions>& tables);

/// `text`, cut where it is longer than a reader wants.
std::string Cut(const std::string& text);

}  // namespace tandem::reliability
