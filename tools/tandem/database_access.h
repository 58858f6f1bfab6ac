// Opening databases for verbs, and messages that name what the database has instead.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tandem/database.h"
#include "tools/tandem/context.h"

namespace tandem::tools {

/// Read-only: nothing is written or created, a live writer is no obstacle.
Result<std::unique_ptr<Database>> OpenForReading(const std::string& path, const Context& context);
/// Errors: those of Database::Open; kBusy names the process that has it open.
Result<std::unique_ptr<Database>> OpenForWriting(const std::string& path, const Context& context,
                                                 bool create_if_missing = false);
/// The same, building indexes at most at that rate (Options::index_build_bytes_per_second).
Result<std::unique_ptr<Database>> OpenForBuilding(const std::string& path, const Context& context,
                                                  uint64_t bytes_per_second);
/// As OpenForWriting; the wall clock counts as right (Options::accept_clock).
Result<std::unique_ptr<Database>> OpenAcceptingClock(const std::string& path,
                                                     const Context& context);

/// The table of that name. Errors: kNotFound, with the nearest name or all names.
Result<TableInfo> FindTable(Database& database, std::string_view table);
/// When `status` says that a table or a family of it was not found: the same with the nearest name
/// that exists, or with all names. Other statuses pass unchanged.
Status WithSuggestion(Database& database, std::string_view table, Status status);
/// The named snapshot. Errors: kNotFound, as FindTable.
Result<Snapshot> FindSnapshot(Database& database, std::string_view name);
/// Errors: kNotFound when the table has no index (family) of that name; with suggestion.
Status CheckIndexName(const TableInfo& table, std::string_view index);
Status CheckFamilyName(const TableInfo& table, std::string_view family);

}  // namespace tandem::tools
