// See stock.h.
#include "tools/stress/stock.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "tools/stress/finding.h"
#include "tools/stress/loads.h"
#include "tools/stress/schema.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

using test::ModelCell;
using test::ModelRow;
using tools::Format;

Result<std::vector<ModelRow>> ReadStock(const Stressed& stressed, const Snapshot* snapshot) {
  ReadOptions read;
  read.snapshot = snapshot;
  stressed.Begin("scan of stock");
  auto rows = ReadAll(stressed.database->Scan(read, kStock, {}));
  if (!rows.has_value()) return In("stock: scan", rows.error());
  return rows;
}

std::vector<ModelRow> RowsOfShelf(const std::vector<ModelRow>& rows, uint32_t thread) {
  const std::string name = ShelfName(thread);
  std::vector<ModelRow> found;
  std::ranges::copy_if(rows, std::back_inserter(found), [&](const ModelRow& row) {
    const auto cell = std::ranges::find(row.cells, "shelf", &ModelCell::qualifier);
    return cell != row.cells.end() && cell->value == name;
  });
  return found;
}

/// The generations of all shelves; 0 where one is empty.
Result<std::vector<uint64_t>> GenerationsIn(const std::string& where,
                                            const std::vector<ModelRow>& rows, uint32_t threads) {
  std::vector<uint64_t> generations(threads);
  size_t known = 0;
  for (uint32_t thread = 0; thread < threads; ++thread) {
    const std::vector<ModelRow> found = RowsOfShelf(rows, thread);
    if (found.empty()) continue;
    known += found.size();
    const auto generation = static_cast<uint64_t>(found.front().cells.front().timestamp);
    RETURN_IF_ERROR(
        SameRows(Format("{}: {} at generation {}", where, ShelfName(thread), generation),
                 ShelfAt(thread, generation), found));
    generations[thread] = generation;
  }
  if (known == rows.size()) return generations;
  return Mismatch(where, "rows of shelves", Format("{} others", rows.size() - known));
}

Status CheckByIndex(const Stressed& stressed, const Snapshot& snapshot, uint32_t thread,
                    const std::vector<ModelRow>& expected) {
  ReadOptions read;
  read.snapshot = &snapshot;
  const Predicate predicate = Predicate::Equal("d:shelf", ShelfName(thread));
  const std::string where = "stock: " + predicate.ToString() + " at a snapshot";
  stressed.Begin("query of a shelf");
  const auto found = ReadAll(stressed.database->Query(read, kStock, predicate));
  if (!found.has_value()) return In(where, found.error());
  RETURN_IF_ERROR(SameRows(where + ", compared with a scan", expected, *found));
  stressed.Begin("count of a shelf");
  const auto count = stressed.database->Count(read, kStock, predicate);
  if (!count.has_value()) return In(where, count.error());
  return CheckBetween(where + ": counted", found->size(), found->size(), *count);
}

/// A truncation that was cut off has happened, unless a shelf is there that it would have taken.
void SettleTruncation(Expected* expected, const StockBounds& bounds,
                      const std::vector<uint64_t>& found) {
  TruncationState& truncations = expected->header().truncations;
  truncations.is_claimed = 0;
  if (truncations.begun == truncations.ended) return;
  for (uint32_t thread = 0; thread < found.size(); ++thread) {
    if (found[thread] == 0 || bounds.shelves[thread].write.ended > bounds.last.began) continue;
    truncations.begun = truncations.ended.load();
    return;
  }
  truncations.stamps[truncations.begun % kTruncations].ended = expected->NextStamp();
  truncations.ended = truncations.begun.load();
}

/// A shelf that is known again, with a generation that nobody has seen.
Status BeginAnew(const Stressed& stressed, uint32_t thread, uint64_t generation) {
  ShelfState& shelf = stressed.expected->thread(thread).shelf;
  Stamps& write = shelf.writes[generation % kEntries];
  if (write.ended == 0) write.ended = stressed.expected->NextStamp();
  shelf.acked = generation;
  shelf.kept = generation;
  return WriteShelf(stressed, thread, Durability::kWritten);
}

}  // namespace

Status CheckStock(const Stressed& stressed) {
  StockBounds bounds = BeginStockBounds(stressed.expected);
  ASSIGN_OR_RETURN(const std::vector<ModelRow> rows, ReadStock(stressed, nullptr));
  EndStockBounds(stressed.expected, &bounds);
  const std::string where = "stock: scan";
  ASSIGN_OR_RETURN(const auto found, GenerationsIn(where, rows, stressed.workload->thread_count()));
  return CheckShelves(where, bounds, found);
}

Status CheckStockAt(const Stressed& stressed, const Snapshot& snapshot, const StockBounds& bounds,
                    uint32_t thread) {
  ASSIGN_OR_RETURN(const std::vector<ModelRow> rows, ReadStock(stressed, &snapshot));
  const std::string where = "stock: scan at a snapshot";
  ASSIGN_OR_RETURN(const auto found, GenerationsIn(where, rows, stressed.workload->thread_count()));
  RETURN_IF_ERROR(CheckShelves(where, bounds, found));
  return CheckByIndex(stressed, snapshot, thread, RowsOfShelf(rows, thread));
}

Status CheckAllStock(const Stressed& stressed) {
  StockBounds bounds = BeginStockBounds(stressed.expected);
  stressed.Begin("snapshot");
  const auto snapshot = stressed.database->TakeSnapshot();
  if (!snapshot.has_value()) return In("snapshot", snapshot.error());
  EndStockBounds(stressed.expected, &bounds);
  for (uint32_t thread = 0; thread < stressed.workload->thread_count(); ++thread) {
    RETURN_IF_ERROR(CheckStockAt(stressed, *snapshot, bounds, thread));
  }
  return {};
}

Status RecoverStock(const Stressed& stressed) {
  Expected& expected = *stressed.expected;
  const std::string where = "after recovery: scan of stock";
  ASSIGN_OR_RETURN(const std::vector<ModelRow> rows, ReadStock(stressed, nullptr));
  ASSIGN_OR_RETURN(const auto found, GenerationsIn(where, rows, stressed.workload->thread_count()));
  StockBounds bounds = BeginStockBounds(&expected);
  EndStockBounds(&expected, &bounds);
  for (uint32_t thread = 0; thread < found.size(); ++thread) {
    bounds.shelves[thread] = SurvivingBounds(expected.thread(thread).shelf, found[thread]);
  }
  RETURN_IF_ERROR(CheckShelves(where, bounds, found));
  SettleTruncation(&expected, bounds, found);
  for (uint32_t thread = 0; thread < found.size(); ++thread) {
    RETURN_IF_ERROR(BeginAnew(stressed, thread, bounds.shelves[thread].low));
  }
  return CheckAllStock(stressed);
}

void KeepStock(const Stressed& stressed) {
  for (uint32_t thread = 0; thread < stressed.workload->thread_count(); ++thread) {
    ShelfState& shelf = stressed.expected->thread(thread).shelf;
    shelf.kept = shelf.acked.load();
  }
}

}  // namespace tandem::stress
