// Rows of another table, as a cursor returns them, on their way into the files of a load: names of
// families become ids of the table that is loaded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/jobs/load_files.h"
#include "format/cell/cell.h"
#include "tandem/row.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: one at a time.
class RowLoader {
 public:
  /// `checks_values`: refuses a value that does not fit an index, as a write does; otherwise it is
  /// absent for the index. `files` outlives it.
  RowLoader(LoadFiles* files, bool checks_values)
      : files_(*files), checks_values_(checks_values), table_(*files->table()) {}

  /// Adds a row or the next piece of one. Requires: the pieces of a row have its families in the
  /// order of their ids here. Errors, which end the load: kCorruption (keys do not rise),
  /// kInvalidArgument (a family that the table lacks; a value), those of the writer.
  Status Add(const RowView& view);
  uint64_t rows() const { return rows_; }
  uint64_t cells() const { return cell_count_; }

 private:
  Status Begin(const RowView& view);
  Status Convert(const RowView& view);
  Status FindFamily(std::string_view name);

  LoadFiles& files_;
  const bool checks_values_;
  const format::TableRecord& table_;
  format::StoreFileWriter* writer_ = nullptr;  // Of the current row.
  bool in_pieces_ = false;
  std::vector<format::Cell> cells_;
  std::string_view family_name_;  // Of `family_`, in the table's record.
  format::FamilyId family_;
  uint64_t rows_ = 0, cell_count_ = 0;
};

}  // namespace tandem::engine
