// Links the files of a load: no row of theirs is in the table before, and then all are.
//
// Steps of LinkLoad, each of which a crash may follow:
//   1. to 3. Those of RunFlushed (flushed_regions.h): every older operation on the regions is in
//      older files, and the load is alone in the commit queue.
//   4. Each run takes one sequence, which is that of all its cells. The ends of its files, with
//      that sequence, are written; everything before them was written and synced already.
//   5. One catalog edit adds the files to the regions, as their newest runs, and the regions'
//      versions and the visible sequence follow. If the table has global indexes, the edit gives
//      them empty tables for their entries as well, and the record that says so shows before the
//      sequence does: a read that sees the rows does without these indexes until a task has built
//      them again (docs/decisions/0061-a-load-rebuilds-global-indexes.md).
// LinkNewTable adds the table by the same edit: it has no older operations, so only steps 4 and 5
// are left, alone in the commit queue as well.
// Files that no edit names are removed when the database is opened.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/commit/write_stops.h"
#include "engine/jobs/flushed_regions.h"
#include "engine/jobs/load_files.h"
#include "engine/jobs/schema_editor.h"
#include "engine/region/region_set.h"
#include "engine/runtime/background.h"
#include "tandem/status.h"

namespace tandem::engine {

/// What loads need; all outlive them.
struct LoadWork : FlushWork {
  BackgroundJobs* jobs = nullptr;
  uint64_t sort_bytes = 80 << 20;        ///< What sorting one load takes.
  const SchemaEditor* schema = nullptr;  ///< Adds tables for the entries of global indexes.
  WriteStops* stops = nullptr;           ///< Tables that take no load now.
  /// Makes what background work needs of a new table.
  std::function<void(const Table&)> prepare;
};

/// The regions that the table has at each time. Lifetime: `regions` outlives the result.
LoadFiles::RegionOf RegionsOfTable(const RegionSet& regions,
                                   std::shared_ptr<const format::TableRecord> table);

/// The table of that name, for rows to be loaded into it. Errors: kNotFound, kInvalidArgument (it
/// has observers, which a load would pass by).
Result<std::shared_ptr<const Table>> FindForLoad(const RegionSet& regions, std::string_view name);

/// Puts the rows of the runs, oldest first, into their table; there is one run at least. Requires:
/// LoadFiles::Complete. The global indexes of the table have to be built afterwards. Errors:
/// kNotFound (the table was dropped or truncated), kInvalidArgument (it got observers), kConflict
/// (writes of the table waited, and so did the load: WriteStops), kReadOnly, kNoSpace, kIoError.
Status LinkLoad(const LoadWork& work, std::span<LoadFiles* const> runs);

/// Adds the table of `files`, with a region from each of `starts` to the next one, and their rows.
/// Requires: LoadFiles::Complete; the table's id was reserved. Errors: kAlreadyExists, kReadOnly,
/// kNoSpace, kIoError.
Status LinkNewTable(const LoadWork& work, const std::vector<std::string>& starts, LoadFiles* files);

}  // namespace tandem::engine
