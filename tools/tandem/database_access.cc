// Names are looked up only after something was not found, so that success costs nothing.
#include "tools/tandem/database_access.h"

#include <algorithm>
#include <vector>

#include "base/status_macros.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/file_probe.h"
#include "tools/tandem/findings_output.h"
#include "tools/tandem/format_text.h"
#include "tools/tandem/output.h"
#include "tools/tandem/suggest.h"

namespace tandem::tools {
namespace {

Options BaseOptions(const Context& context) {
  Options options;
  options.listener = context.listener;
  options.slow_query_micros = context.slow_query_micros;
  if (context.verbose) {
    options.log = [err = context.err](std::string_view line) {
      WriteBytes(err, "tandem: " + std::string(line) + "\n");
    };
  }
  return options;
}

/// Opens; an error says which path and what is there.
Result<std::unique_ptr<Database>> OpenNamed(const std::string& path, const Options& options) {
  auto database = Database::Open(path, options);
  if (database.has_value()) return database;
  const Status& error = database.error();
  if (IsRegularFile(path)) {
    return Status::InvalidArgument(Format(
        "{}: a file; expected the directory of a database ('tandem dump' reads files)", path));
  }
  if (error.code() == StatusCode::kNotFound) {
    const bool named = error.message().find(path) != std::string_view::npos;
    return Status::NotFound(Format("{}{}; 'tandem create' makes a database",
                                   named ? "" : path + ": ", error.message()));
  }
  return error;
}

/// The same, and says what a log has lost at its end.
Result<std::unique_ptr<Database>> OpenTorn(const std::string& path, const Options& options,
                                           const Context& context) {
  auto database = OpenNamed(path, options);
  const uint64_t torn_bytes = database ? (*database)->GetStatistics().torn_bytes : 0;
  if (torn_bytes > 0) WriteBytes(context.err, "tandem: " + TornText(path, torn_bytes) + "\n");
  return database;
}

Status NoSuch(std::string_view what, std::string_view name, const std::vector<std::string>& known) {
  const std::string nearest = DidYouMean(name, known);
  if (!nearest.empty() || known.empty()) {
    return Status::NotFound(Format("{} '{}' does not exist{}", what, EscapeBytes(name), nearest));
  }
  std::string list;
  constexpr size_t kListed = 12;
  for (size_t i = 0; i < std::min(known.size(), kListed); ++i) {
    list += (i == 0 ? "" : ", ") + EscapeBytes(known[i]);
  }
  if (known.size() > kListed) list += ", ...";
  return Status::NotFound(
      Format("{} '{}' does not exist; there are: {}", what, EscapeBytes(name), list));
}

std::vector<std::string> TableNames(const DatabaseInfo& info) {
  std::vector<std::string> names;
  for (const TableInfo& table : info.tables) names.push_back(table.options.name);
  return names;
}

}  // namespace

Result<std::unique_ptr<Database>> OpenForReading(const std::string& path, const Context& context) {
  Options options = BaseOptions(context);
  options.read_only = true;
  return OpenNamed(path, options);
}

Result<std::unique_ptr<Database>> OpenForWriting(const std::string& path, const Context& context,
                                                 bool create_if_missing) {
  Options options = BaseOptions(context);
  options.create_if_missing = create_if_missing;
  return OpenTorn(path, options, context);
}

Result<std::unique_ptr<Database>> OpenForBuilding(const std::string& path, const Context& context,
                                                  uint64_t bytes_per_second) {
  Options options = BaseOptions(context);
  options.index_build_bytes_per_second = bytes_per_second;
  return OpenTorn(path, options, context);
}

Result<std::unique_ptr<Database>> OpenAcceptingClock(const std::string& path,
                                                     const Context& context) {
  Options options = BaseOptions(context);
  options.accept_clock = true;
  return OpenNamed(path, options);
}

Result<TableInfo> FindTable(Database& database, std::string_view table) {
  ASSIGN_OR_RETURN(DatabaseInfo info, database.Info());
  for (TableInfo& candidate : info.tables) {
    if (candidate.options.name == table) return std::move(candidate);
  }
  return NoSuch("table", table, TableNames(info));
}

Status WithSuggestion(Database& database, std::string_view table, Status status) {
  if (status.code() != StatusCode::kNotFound) return status;
  const auto found = FindTable(database, table);
  if (!found.has_value()) return found.error();
  if (status.message().find("no family") == std::string_view::npos) return status;
  std::string families;
  for (const FamilyOptions& family : found->options.families) {
    families += (families.empty() ? "" : ", ") + EscapeBytes(family.name);
  }
  return Status::NotFound(Format("{}; its families: {}", status.message(), families));
}

Result<Snapshot> FindSnapshot(Database& database, std::string_view name) {
  Result<Snapshot> snapshot = database.OpenSnapshot(name);
  if (snapshot.has_value() || snapshot.error().code() != StatusCode::kNotFound) return snapshot;
  ASSIGN_OR_RETURN(const auto known, database.ListSnapshots());
  std::vector<std::string> names;
  for (const NamedSnapshotInfo& info : known) names.push_back(info.name);
  return NoSuch("snapshot", name, names);
}

Status CheckIndexName(const TableInfo& table, std::string_view index) {
  std::vector<std::string> names;
  for (const IndexOptions& known : table.options.indexes) names.push_back(known.name);
  if (std::ranges::find(names, index) != names.end()) return {};
  return NoSuch("index", index, names);
}

Status CheckFamilyName(const TableInfo& table, std::string_view family) {
  std::vector<std::string> names;
  for (const FamilyOptions& known : table.options.families) names.push_back(known.name);
  if (family.empty() || std::ranges::find(names, family) != names.end()) return {};
  return NoSuch("family", family, names);
}

}  // namespace tandem::tools
