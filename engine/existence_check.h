// Whether a row exists that shows no cell in the families that a read decodes: a row exists when
// any of its cells is visible, so the other families have to say.
#pragma once

#include <vector>

#include "engine/read_job.h"
#include "engine/row_places.h"

namespace tandem::engine {

/// Keeps the last block of each family that it looked at, so that rows asked for in order cost each
/// block once. Threads: one at a time.
class ExistenceCheck {
 public:
  explicit ExistenceCheck(ReadJob* job) : job_(job) {}

  /// Whether the row shows a cell in a family that is not decoded. Errors: kCorruption, kIoError.
  Result<bool> Exists(const RowPlaces& places);

 private:
  struct LastBlock {
    const format::DataSection* data;
    format::RowBlockRef rows;
  };

  Result<bool> ShowsCells(const RowPlaces& places, format::FamilyId family);
  Status AddCells(const RowPlaces::InFile& place, format::FamilyId family);
  Result<const format::RowBlock*> ReadBlock(const format::DataSection& data, uint32_t position);

  ReadJob* job_;
  std::vector<LastBlock> blocks_;
  std::vector<format::Cell> cells_, visible_;
};

}  // namespace tandem::engine
