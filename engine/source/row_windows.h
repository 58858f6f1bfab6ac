// The rows of a range, cut into windows by key, in either direction: a read that wants few rows
// from one end of the range, and has to collect the candidates of what it reads, pays for a window
// and not for the range.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/region/view.h"
#include "engine/source/sources.h"
#include "index/key.h"
#include "tandem/limits.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: one at a time. Lifetime: the view and the columns outlive it.
class RowWindows {
 public:
  /// Of a window, in rows of each source.
  struct Sizes {
    uint32_t first = 256;
    uint32_t most = kRowsPerFileMax;
  };
  /// `columns` are the families to load. `backward`: the windows come from the end of the range.
  RowWindows(const TableView& view, const ColumnSet& columns, format::KeyRange rows, bool backward)
      : RowWindows(view, columns, std::move(rows), backward, {}) {}
  /// Of the cluster's rows, which is one of the view's.
  static RowWindows OfCluster(const TableView& view, const ColumnSet& columns,
                              const Cluster& cluster, Sizes sizes);

  /// The clusters of the next window, of all sources that may hold its rows; false at the end, and
  /// `*clusters` is empty. No source has many more than a number of rows there; it grows with
  /// each window, so that a long range takes few. Errors: kCorruption, kIoError.
  Result<bool> Next(std::vector<Cluster>* clusters);
  /// The last window had very many rows: the next ones have fewer.
  void Shrink();
  /// What is left.
  const format::KeyRange& rows() const { return rows_; }

 private:
  RowWindows(const TableView& view, const ColumnSet& columns, format::KeyRange rows, bool backward,
             Sizes sizes)
      : view_(view),
        columns_(columns),
        rows_(std::move(rows)),
        backward_(backward),
        sizes_(sizes),
        window_rows_(sizes.first) {}

  const std::shared_ptr<const RegionVersion>* NextRegion() const;
  Result<std::optional<std::string>> BorderOf(const std::vector<Cluster>& clusters,
                                              const format::KeyRange& rows) const;
  void Skip(format::KeyRange window);

  const TableView& view_;
  const ColumnSet& columns_;
  format::KeyRange rows_;
  const bool backward_;
  static constexpr uint32_t kRowsMin = 64, kGrowth = 4, kShrink = 16;
  const Sizes sizes_;
  uint32_t window_rows_;  // Of the next window in each source.
};

}  // namespace tandem::engine
