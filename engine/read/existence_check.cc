// Looking at a row family by family, column by column, until a visible cell is found.
#include "engine/read/existence_check.h"

#include "base/status_macros.h"
#include "engine/read/visible_column.h"

namespace tandem::engine {

Result<bool> ExistenceCheck::ExistsElsewhere(const RowLocations& locations) {
  for (const format::FamilyRecord& family : context_->schema.table->families) {
    if (family.dropped || context_->schema.DecodesFamily(family.id)) continue;
    ASSIGN_OR_RETURN(const bool shows, ShowsCells(locations, family.id));
    if (shows) return true;
  }
  return false;
}

Result<bool> ExistenceCheck::Exists(const RowLocations& locations) {
  for (const format::FamilyRecord& family : context_->schema.table->families) {
    if (family.dropped) continue;
    ASSIGN_OR_RETURN(const bool shows, ShowsCells(locations, family.id));
    if (shows) return true;
  }
  return false;
}

Result<bool> ExistenceCheck::ShowsCells(const RowLocations& locations, format::FamilyId family) {
  ColumnSet columns;
  columns.AddFamily(family);
  ASSIGN_OR_RETURN(const RowColumns row,
                   OpenColumns(context_->schema, locations, columns, blocks_));
  while (true) {
    ASSIGN_OR_RETURN(const bool more, row.stream->Next());
    if (!more) return false;
    AssignVisible(*row.stream, context_->schema, &cells_, &visible_);
    if (!visible_.empty()) return true;
  }
}

}  // namespace tandem::engine
