// Which rows of a region were written after a sequence: those that have a cell with a later one in
// a memstore or a file.
//
// Files and memstores whose cells are all older are not looked at. Of the others each row is, so a
// merge of much with little shows as much work. While the sequence is registered, merges keep what
// its readers see, and so the deletes that hide it, each with its sequence: a row that is as it was
// may come as well, but none that has changed is left out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/cancellation.h"
#include "base/loser_tree.h"
#include "engine/region/view.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Their keys, ascending, each once. Threads: one at a time.
class ChangedRows {
 public:
  /// Requires: `since` is registered. Lifetime: `cancellation` outlives it.
  ChangedRows(RegionView view, format::SequenceNumber since,
              const base::Cancellation& cancellation);
  ChangedRows(const ChangedRows&) = delete;
  ChangedRows& operator=(const ChangedRows&) = delete;
  ~ChangedRows();

  /// Moves to the next key, or the first; false: there is none. Errors: those of the cancellation,
  /// kCorruption, kIoError.
  Result<bool> Next();
  /// Requires: Next returned true. Lifetime: until Next.
  std::string_view key() const { return key_; }
  /// Rows of files and memstores that were looked at.
  uint64_t rows_examined() const;

 private:
  class Source;
  class RowsOfMemstore;
  class RowsOfFile;
  struct Before {
    const std::vector<std::unique_ptr<Source>>* sources;
    bool operator()(size_t a, size_t b) const;
  };

  Status Start();

  const RegionView view_;
  std::vector<std::unique_ptr<Source>> sources_;
  std::optional<base::LoserTree<Before>> tree_;  // Empty before the first Next.
  std::string key_;
};

}  // namespace tandem::engine
