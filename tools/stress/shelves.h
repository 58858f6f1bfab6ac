// What a read of the table stock may find.
//
// The rows of a thread are its shelf. It writes all of them at once, by a batch or by a bulk load,
// and any thread truncates the table beside that. So at any point in time a shelf is empty, or all
// of its rows have one generation; the generations that are multiples of eight delete the rows.
//
// Which of these it is follows from stamps. Of two things, the one that ended before the other
// began came first; otherwise either may have. A read finds a generation that was acknowledged
// before the read, or one that was begun since. It finds an empty shelf if a truncation may have
// come after that. Truncations take all shelves or none: those that were written before the first
// truncation that may or may not have come are all there, or all gone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tandem/write_batch.h"
#include "tools/simulation/model.h"
#include "tools/stress/expected.h"

namespace tandem::stress {

/// When something began and ended, as a read has seen it; both 0: it did not happen.
struct Span {
  uint64_t began = 0, ended = 0;  ///< `ended`: UINT64_MAX until then.
};

/// The generations that a shelf may have, if it is not empty.
struct ShelfBounds {
  uint64_t low = 0, high = 0;
  Span write;  ///< Of `low`.
};

struct StockBounds {
  std::vector<ShelfBounds> shelves;  ///< By thread.
  /// Truncations: the last one that had ended before the read began, the one after it, and the last
  /// one that had begun when the read ended.
  Span before, next, last;
  uint64_t truncations = 0;  ///< That had ended.
};

/// Whether a generation of a shelf deletes its rows.
bool IsCleared(uint64_t generation);
/// "shelf-00": the value of d:shelf in each row.
std::string ShelfName(uint32_t thread);
/// All rows at a generation.
std::vector<test::ModelRow> ShelfAt(uint32_t thread, uint64_t generation);
/// What makes a row of it.
void AddShelfRow(uint32_t thread, uint32_t row, uint64_t generation, WriteBatch* batch);

/// Called before the read begins, and after.
StockBounds BeginStockBounds(Expected* expected);
void EndStockBounds(Expected* expected, StockBounds* bounds);
/// What may be left of a shelf after the end of a process, where a read finds `generation` of it.
ShelfBounds SurvivingBounds(const ShelfState& shelf, uint64_t generation);

/// Whether the generations, by thread, 0 for an empty shelf, can be what a read found.
Status CheckShelves(const std::string& where, const StockBounds& bounds,
                    const std::vector<uint64_t>& found);

}  // namespace tandem::stress
