// The cells of a row of a damaged store file that can be proved, where some of its chunks or
// overflow values are broken. A chunk states its row and its number, so those that survive are
// found and put in order by their own bytes; what was between them is lost. A broken overflow value
// costs its cell.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "format/block/block_file.h"
#include "format/cell/cell_stream.h"
#include "format/cell/dictionary.h"
#include "format/row/row_block.h"
#include "tandem/status.h"

namespace tandem::format {

/// Columns of a row in which cells are lost; others of the same columns may have been saved.
struct LostColumns {
  std::string low;                  ///< The first of them.
  std::optional<std::string> high;  ///< The first one after them; nullopt: to the end of the row.
  uint64_t offset = 0, bytes = 0;   ///< Where the lost bytes were; 0 and 0: of a value.
  std::string reason;
};

/// Threads: one at a time. Lifetime: what it was made of outlives it.
class PartialRow : public CellStream {
 public:
  /// What was lost up to the current piece.
  const std::vector<LostColumns>& lost() const { return lost_; }

 protected:
  /// Removes the cells whose overflow values are broken from the piece. Errors: kIoError.
  Status DropBrokenValues();

  std::vector<LostColumns> lost_;
};

/// Row `slot` of a good block, or the row of a good head. Pieces hold no cell whose overflow value
/// is broken, and may be empty. Errors, also of Next: kCorruption (nothing of the row can be read),
/// kIoError.
Result<std::unique_ptr<PartialRow>> OpenPartialRow(const BlockFile& file, const Dictionary& names,
                                                   const RowBlockRef& rows, uint32_t slot);

}  // namespace tandem::format
