// The read side of the engine: everything that turns a TableView into rows, counts and
// explanations. It knows nothing of commits, logs or background work.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "base/file_system.h"
#include "base/memory_account.h"
#include "engine/view.h"
#include "tandem/database.h"

namespace tandem::engine {

/// What a Cursor stands on. Threads: one at a time.
class RowSource {
 public:
  virtual ~RowSource() = default;
  /// The next row, or the next piece of one; false at the end. Errors: kOverBudget (a row that is
  /// too large to be read whole), kCorruption, kIoError. Lifetime of `*row`: until the next call.
  virtual Result<bool> Next(RowView* row) = 0;
};

/// Gives queues for batches of reads; one a cursor.
struct ReadContext {
  base::FileSystem* file_system = nullptr;
  /// Budget of the block cache: a scan of more than a part of it leaves the cache as it is. 0:
  /// unknown, scans always fill it.
  uint64_t cache_bytes = 0;
  base::MemoryAccount* memory = nullptr;  ///< Counts the buffers of reads.
};

Result<std::optional<Row>> GetRow(const TableView& view, const ReadOptions& options,
                                  std::string_view row);
Result<std::unique_ptr<RowSource>> ScanRows(const ReadContext& context, TableView view,
                                            const ReadOptions& options, const ScanOptions& scan);
Result<std::unique_ptr<RowSource>> QueryRows(const ReadContext& context, TableView view,
                                             const ReadOptions& options, const Predicate& predicate,
                                             const QueryOptions& query);
Result<uint64_t> CountRows(const ReadContext& context, TableView view, const ReadOptions& options,
                           const Predicate& predicate, const QueryOptions& query);
Result<Explanation> ExplainQuery(const ReadContext& context, TableView view,
                                 const ReadOptions& options, const Predicate& predicate,
                                 const QueryOptions& query);

/// The cells of the column that `column` is of, and the DeleteFamily markers of its family, over
/// all sources of the view at the latest sequence, sorted by CellLess: what DeleteCell decides on
/// (rule 3). Lifetime: what is added to `*pins`.
Result<std::vector<format::Cell>> CellsOfColumn(const TableView& view, std::string_view row,
                                                const format::Cell& column,
                                                std::vector<std::shared_ptr<const void>>* pins);

/// The oracle over one view: regions tile the key space, every
/// file against its checksums, statistics and rows; with `deep` every index entry against the rows
/// both ways, digests, forward = reverse = point reads, and each index's answers against a scan.
/// Findings are appended; memory is bounded. Errors: what keeps it from looking (kOutOfMemory,
/// kClosed).
Status VerifyView(const ReadContext& context, const TableView& view, bool deep,
                  VerifyReport* report);

}  // namespace tandem::engine
