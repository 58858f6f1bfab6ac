// The read side of the engine: everything that turns a TableView into rows, counts and
// explanations. It knows nothing of commits, logs or background work.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/query/request.h"
#include "engine/query/scan.h"
#include "engine/read/row_source.h"
#include "engine/region/view.h"
#include "engine/source/read_counters.h"
#include "engine/source/read_resources.h"
#include "tandem/database.h"

namespace tandem::engine {

/// `counters`, when not null, counts blocks and cells of memstores.
Result<std::optional<Row>> GetRow(RegionView view, const ReadOptions& options, std::string_view row,
                                  ReadCounters* counters = nullptr);
/// The rows of these keys, in their order; nullopt as of Get. The regions of `view` that hold them
/// are enough. `options.pieces` is ignored.
Result<std::vector<std::optional<Row>>> GetRows(const ReadResources& resources, TableView view,
                                                ReadOptions options,
                                                std::span<const std::string_view> rows);
Result<std::unique_ptr<RowSource>> ScanRows(const ScanRequest& request, TableView view);
inline Result<std::unique_ptr<RowSource>> ScanRows(const ReadResources& resources, TableView view,
                                                   const ReadOptions& options,
                                                   const ScanOptions& scan) {
  return ScanRows({resources, options, scan, ReadLimits::Of(options, resources.clock), true},
                  std::move(view));
}

Result<std::unique_ptr<RowSource>> QueryRows(const QueryRequest& request, TableView view);
Result<uint64_t> CountRows(const QueryRequest& request, TableView view);
Result<Explanation> ExplainQuery(const QueryRequest& request, TableView view);

/// The same for a query without parameters.
inline Result<std::unique_ptr<RowSource>> QueryRows(const ReadResources& resources, TableView view,
                                                    const ReadOptions& options,
                                                    const Predicate& predicate,
                                                    const QueryOptions& query) {
  return QueryRows({resources, options, predicate, query}, std::move(view));
}
inline Result<uint64_t> CountRows(const ReadResources& resources, TableView view,
                                  const ReadOptions& options, const Predicate& predicate,
                                  const QueryOptions& query) {
  return CountRows({resources, options, predicate, query}, std::move(view));
}
inline Result<Explanation> ExplainQuery(const ReadResources& resources, TableView view,
                                        const ReadOptions& options, const Predicate& predicate,
                                        const QueryOptions& query) {
  return ExplainQuery({resources, options, predicate, query}, std::move(view));
}

/// A column that a write depends on.
struct ColumnWanted {
  format::Cell column;               ///< Its family and qualifier.
  std::optional<int64_t> timestamp;  ///< The version that a DeleteCell names.
  /// Cells that no memstore of the view has: those of its files, and newer ones.
  std::span<const format::Cell> others = {};
};

struct ColumnCells {
  std::vector<format::Cell> cells;  ///< Sorted by CellLess.
  /// If not 0, cells of memstores up to this sequence may have hidden others without being here.
  format::SequenceNumber tree_through;
};

/// The cells that decide what a write makes of the column: its own and the DeleteFamily markers of
/// its family, those of the view's memstores at its sequence and `wanted.others`. Of a hot
/// row not all: every visible version if there may be as many as are kept, else the two newest and
/// the one at `timestamp`. Does no I/O. Lifetime: the region version's.
ColumnCells CellsOfColumn(const RegionView& view, std::string_view row, const ColumnWanted& wanted);
/// Appends the same cells of all files of the view. Errors: kCorruption, kIoError. Lifetime: the
/// region version's, and that of what is added to `*pins`.
Status AppendFileCells(const RegionView& view, std::string_view row, const format::Cell& column,
                       std::vector<format::Cell>* cells,
                       std::vector<std::shared_ptr<const void>>* pins);

}  // namespace tandem::engine
