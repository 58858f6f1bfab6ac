// Rows of a memstore and their cells are scattered in memory: a full walk prefetches them a few
// rows ahead.
#pragma once

#include "memstore/memstore.h"

namespace tandem::engine {

/// Threads: one at a time. Lifetime: the memstore outlives it.
class RowPrefetcher {
 public:
  explicit RowPrefetcher(const Memstore* memstore) : ahead_(memstore) {}

  /// Starts ahead of a walk that begins at `row`.
  void Start(const Memstore::Iterator& row) {
    ahead_ = row;
    for (int i = 0; i < kRowsAhead; ++i) Step();
  }
  /// To be called when the walk moves to its next row.
  void Step() {
    if (!ahead_.valid()) return;
    Memstore::PrefetchCells(ahead_.row());
    ahead_.Next();
    if (ahead_.valid()) Memstore::PrefetchRow(ahead_.row());
  }

 private:
  static constexpr int kRowsAhead = 3;

  Memstore::Iterator ahead_;
};

}  // namespace tandem::engine
