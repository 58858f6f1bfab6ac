// Reading a row that is hot in some memstores. Of each tree only what the read needs is visited:
// the newest Puts of each column that no newer source hides. Every Put of a tree is visible in its
// memstore (memstore/row_tree.h), so the markers of a tree matter only to older sources: they are
// looked up for each Put of those, and never walked.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/predicate/column_set.h"
#include "format/cell/cell.h"
#include "format/cell/cell_stream.h"
#include "format/cell/visibility.h"
#include "format/schema.h"
#include "memstore/memstore.h"
#include "memstore/row_tree.h"

namespace tandem::engine {

/// How much of each column a read needs. Lifetime: the table outlives it.
struct VersionsWanted {
  const format::TableRecord* table = nullptr;
  format::ReadPoint point;
  uint32_t versions = 1;  ///< The newest ones within the point's bounds.
};

/// The trees of one row, of several memstores. All their operations are after every change of
/// limits of the table (FormerLimits), which flushes what was before. Threads: one at a time.
class RowTrees {
 public:
  explicit RowTrees(const format::TableRecord& table) : last_limits_(table.last_limits_change()) {}
  bool empty() const { return trees_.empty(); }
  size_t count() const { return trees_.size(); }
  void Clear();
  /// Requires: RemoveHidden was not called since Clear.
  void Add(RowTreeView tree);

  /// Takes the row's cells from all other sources, recent cells of memstores and cells of files, in
  /// any order, and keeps what Keep keeps. Requires: !empty().
  void RemoveHidden(std::vector<format::Cell>* cells);
  /// Appends the cell to `*kept`, unless it is a Put that a tree hides. A Put from before the last
  /// of these changes may decide which others were visible then: it stays if a tree has another Put
  /// in its place, and after a DeleteCell that hides it. Requires: it is in no tree.
  void Keep(const format::Cell& cell, std::vector<format::Cell>* kept) const;

  /// The Put of the column at exactly that timestamp, if it is visible; else nullptr.
  const MemCell* PutAt(const format::Cell& column, int64_t timestamp) const;
  /// Puts of the column over all trees, hidden ones too.
  uint64_t CountPuts(const format::Cell& column) const;
  /// Bytes of all qualifiers and values, by walking over all of them.
  uint64_t CountBytes() const;
  /// Cells and nodes visited since Clear.
  uint64_t looked_at() const { return looked_at_; }

 private:
  friend class TreeColumns;
  // A tree, and the column that was looked up last.
  struct Tree {
    RowTreeView view;
    bool is_known = false;
    format::FamilyId family;
    std::string qualifier;
    ColumnShadow shadow;
  };
  Shadow ShadowOn(Tree* tree, const format::Cell& put) const;
  Shadow ShadowOf(size_t tree, const format::Cell& put) const;
  int64_t FamilyDeletedThrough(size_t tree, format::FamilyId family) const;

  const format::SequenceNumber last_limits_;
  mutable std::vector<Tree> trees_;   // The newest first.
  std::vector<format::Cell> recent_;  // Every cell that is newer than some tree, newest first.
  mutable uint64_t looked_at_ = 0;
};

/// The columns of one family in one tree. Threads: one at a time. Lifetime: all outlive it.
class TreeColumns {
 public:
  /// Requires: trees->RemoveHidden.
  TreeColumns(const RowTrees* trees, size_t tree, const VersionsWanted& wanted,
              const ColumnSet::Family* family);
  ~TreeColumns();

  /// Appends the versions to show of the next column, if any, sorted; false at the end. Cost:
  /// logarithmic in the tree, plus the appended cells, plus each version that a DeleteCell in a
  /// newer source hides.
  bool Next(std::vector<format::Cell>* out);

 private:
  bool IsAt(std::string_view qualifier) const;
  void Append(std::string_view qualifier, std::vector<format::Cell>* out);

  const RowTrees* trees_;
  const size_t tree_;
  const ColumnSet::Family* family_;
  uint32_t kept_ = 0, versions_ = 0;
  int64_t as_of_ = 0;
  int64_t floor_ = 0;  // Only Puts above it; the least timestamp: all.
  RowTreeCursor cursor_;
  bool has_begun_ = false;
  size_t next_ = 0;  // Of the qualifiers that are named.
};

/// The columns of one tree as a stream, in pieces. Lifetime: `columns` and the table outlive it.
std::unique_ptr<format::CellStream> NewTreeStream(std::shared_ptr<const RowTrees> trees,
                                                  size_t tree, const VersionsWanted& wanted,
                                                  const ColumnSet& columns);
/// `source` without what the trees hide.
std::unique_ptr<format::CellStream> NewShadowedStream(std::shared_ptr<const RowTrees> trees,
                                                      std::unique_ptr<format::CellStream> source);

}  // namespace tandem::engine
