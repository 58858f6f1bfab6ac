// The visible cells of one column of a streamed row.
#pragma once

#include <vector>

#include "engine/source/read_schema.h"
#include "format/cell/cell.h"
#include "format/cell/cell_stream.h"
#include "format/cell/visibility.h"

namespace tandem::engine {

/// Makes `*visible` the visible cells of the stream's current column. `*scratch` is overwritten.
inline void AssignVisible(const format::ColumnStream& stream, const ReadSchema& schema,
                          std::vector<format::Cell>* scratch, std::vector<format::Cell>* visible) {
  scratch->assign(stream.family_deletes().begin(), stream.family_deletes().end());
  scratch->insert(scratch->end(), stream.cells().begin(), stream.cells().end());
  visible->clear();
  format::VisibleCells(*scratch, schema.table->families, schema.point, visible);
}

}  // namespace tandem::engine
