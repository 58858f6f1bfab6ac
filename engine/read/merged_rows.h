// Rows of several sources, merged in the order of their keys without the bytes that lead them
// (RowRange::leading_bytes). Keys of one source begin with the same bytes, and no key is in two.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/loser_tree.h"
#include "engine/read/row_source.h"
#include "format/row/row_batch.h"
#include "tandem/status.h"

namespace tandem::engine {

/// A source that may know where its next rows are before it has read them.
class BoundedRows : public RowSource {
 public:
  /// A key that none of the rows that were not given comes before, or, where they come from the
  /// last key on, that all of them come before. nullopt: it is not known, or there are none.
  /// NextBatch may give an empty batch once it is known. Lifetime: until the next call of that.
  virtual std::optional<std::string_view> bound() const = 0;
};

/// Threads: one at a time.
class MergedRows final : public RowSource {
 public:
  /// `limit` 0: none. `offset` rows are passed over first, and counted in `*passed_over` (may be
  /// null; outlives this). `reverse`: the largest key first, as the sources have them.
  MergedRows(uint64_t limit, uint64_t offset, bool reverse, uint64_t* passed_over = nullptr)
      : left_(limit == 0 ? UINT64_MAX : limit),
        limit_(limit),
        offset_(offset),
        reverse_(reverse),
        passed_over_(passed_over) {}

  /// Adds the rows of a source, whose keys begin with as many bytes that are left out. It needs no
  /// more of them than rows_asked().
  void Add(size_t lead_bytes, std::unique_ptr<RowSource> rows);
  /// The same for one that is read where its bound comes first. It may be asked for all its rows.
  void AddBounded(size_t lead_bytes, std::unique_ptr<BoundedRows> rows);
  /// Rows that the merge may take of one source; 0: all.
  uint64_t rows_asked() const {
    // Any source may have all the rows that are passed over.
    return limit_ > 0 && limit_ < UINT64_MAX - offset_ ? limit_ + offset_ : 0;
  }

  Result<bool> NextBatch(format::RowBatch* batch) override;

 private:
  // A source, and the rows that were read of it and not given yet.
  struct Part {
    size_t lead_bytes = 0;
    std::unique_ptr<RowSource> source;
    const BoundedRows* bounded = nullptr;  // The source if it is one.
    format::RowBatch batch;
    std::span<const RowView> rows;
    std::optional<std::string_view> bound;  // Of the next row, where there is none in `rows`.
    bool has_ended = false;

    bool has_row() const { return !rows.empty(); }
    /// Whether its place in the order is known.
    bool has_place() const { return has_row() || bound.has_value(); }
    std::string_view key() const { return has_row() ? rows.front().key() : *bound; }
    std::string_view rest() const { return key().substr(lead_bytes); }
    Status Fill();
    void Pop();
    void FindPlace();
  };
  struct Before {
    const MergedRows* merged;
    bool operator()(size_t a, size_t b) const { return merged->IsBefore(a, b); }
  };

  bool IsBefore(size_t a, size_t b) const;
  Status BeginParts();

  std::vector<std::unique_ptr<Part>> parts_;
  std::optional<base::LoserTree<Before>> order_;  // Of the parts, once each has its first rows.
  size_t begun_ = 0, filled_ = 0;                 // The first parts that have.
  uint64_t left_;                                 // Of the limit.
  const uint64_t limit_;
  uint64_t offset_;  // Rows to pass over.
  const bool reverse_;
  uint64_t* const passed_over_;
  bool continues_ = false;    // The row that was taken last has more pieces.
  bool passes_over_ = false;  // It is passed over.
};

}  // namespace tandem::engine
