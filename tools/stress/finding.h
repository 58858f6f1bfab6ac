// How the harness says that the database is wrong: as a Status, so that findings pass up like
// errors. A mismatch has a code that no call of the database answers here; an error of the database
// keeps its own code, for callers that expect errors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/row.h"
#include "tandem/status.h"
#include "tools/simulation/model.h"

namespace tandem::stress {

inline constexpr size_t kFindingLinesMax = 40;

/// The answer differs from what had to come.
Status Mismatch(std::string_view where, std::string_view expected, std::string_view found);
bool IsMismatch(const Status& status);
/// A Mismatch unless low <= found <= high.
Status CheckBetween(const std::string& where, uint64_t low, uint64_t high, uint64_t found);
/// `status` with what was done in front of its message; OK stays OK.
Status In(std::string_view where, const Status& status);

/// A row in a few hundred characters at most.
std::string Describe(const test::ModelRow& row);
std::string Describe(const std::optional<test::ModelRow>& row);
/// OK, or the first row in which the lists differ.
Status SameRows(std::string_view where, const std::vector<test::ModelRow>& expected,
                const std::vector<test::ModelRow>& found);

/// Of a finding: at most `lines_max` lines, each of at most 400 characters.
std::string Shortened(std::string_view text, size_t lines_max);

/// All rows of a cursor, those in pieces put together. Errors: the cursor's.
template <typename CursorType>
Result<std::vector<test::ModelRow>> ReadAll(Result<CursorType> cursor) {
  if (!cursor.has_value()) return cursor.error();
  std::vector<test::ModelRow> rows;
  bool continues = false;  // The row before goes on.
  while (cursor->Next()) {
    test::ModelRow row(cursor->row());
    if (continues && row.key == rows.back().key) {
      auto& cells = rows.back().cells;
      cells.insert(cells.end(), row.cells.begin(), row.cells.end());
    } else {
      rows.push_back(std::move(row));
    }
    continues = cursor->row().continues();
  }
  if (!cursor->status().ok()) return cursor->status();
  return rows;
}

}  // namespace tandem::stress
