// The rows of many clusters, one cluster after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/read/row_iterator.h"
#include "engine/read/row_source.h"
#include "engine/source/row_windows.h"

namespace tandem::engine {

/// Of how many rows of the file the hits are found at once, so that a read holds a part of what all
/// reads may hold however many they are, if they lie anywhere. Errors: kCorruption, kIoError.
Result<uint32_t> RowsOfHeldHits(const ReadContext& context, const FileSource& source,
                                const AccessPath& access);

/// Threads: one at a time. Lifetime: context, clusters and access outlive it.
class ConcatenatingIterator {
 public:
  /// All rows of the clusters, or those that `access` (if not null) leads to. `reverse` requires
  /// that `access` is null.
  ConcatenatingIterator(ReadContext* context, std::span<const Cluster> clusters,
                        const AccessPath* access, bool reverse = false)
      : context_(context),
        clusters_(clusters),
        access_(access),
        reverse_(reverse),
        first_rows_(access == nullptr ? 0 : access->first_rows) {}
  /// The rows of the iterator alone.
  ConcatenatingIterator(ReadContext* context, std::unique_ptr<RowIterator> iterator)
      : ConcatenatingIterator(context, {}, /*access=*/nullptr) {
    iterator_ = std::move(iterator);
  }

  /// As RowIterator; before the first row. Many iterators that begin and then move wait for their
  /// first reads together.
  Status Begin();
  /// Moves to the next row that satisfies the context's predicate; false at the end. Errors:
  /// kOverBudget (see RowPieces), kCorruption, kIoError, kCancelled.
  Result<bool> Next();
  /// As Next, for a row that is not asked for: it counts as passed over.
  Result<bool> PassOver();
  /// As of RowIterator.
  Result<bool> NextBatch(size_t rows_max, format::RowBatch* batch);
  /// Lifetime: until Next.
  std::string_view key() const { return iterator_->key(); }
  /// As of RowIterator.
  std::span<const format::Cell> visible() const { return iterator_->visible(); }
  std::optional<RowView> PlainView() { return iterator_->PlainView(); }
  Result<RowView> View() { return iterator_->View(); }
  Result<RowView> NextPiece() { return iterator_->NextPiece(); }

 private:
  Result<bool> OpenNext();
  Result<const Cluster*> NextCluster();
  Result<bool> BeginWindows(const Cluster& cluster);
  Result<std::unique_ptr<RowIterator>> Open();
  Result<std::unique_ptr<RowIterator>> OpenNextPart();

  ReadContext* context_;
  std::span<const Cluster> clusters_;
  const AccessPath* access_;
  bool reverse_;
  uint64_t first_rows_;      // That are left of those that the access begins with.
  size_t next_ = 0;          // Of the clusters.
  bool is_covered_ = false;  // The last of them comes from records.
  /// Of a cluster of several sources with many hits: these are found for some keys after the other.
  std::optional<RowWindows> windows_;
  std::vector<Cluster> window_;       // The clusters of the current one,
  size_t next_of_window_ = 0;         // and the next of them.
  const Cluster* cluster_ = nullptr;  // That iterator_ is of.
  /// For a single file whose hits are collected in parts: the current part, the rows of the next
  /// one and at most, and where the last one ends.
  std::unique_ptr<FileSource> part_;
  uint32_t part_rows_ = 0, part_rows_max_ = 0, parts_end_ = 0;
  std::unique_ptr<RowIterator> iterator_;
};

/// The rows of a chain in its order, projected, but for the first ones, up to a limit (0: none).
class LimitIterator final : public RowSource {
 public:
  /// `skipped`, where given, outlives this and counts the rows that were passed over.
  LimitIterator(ConcatenatingIterator chain, uint64_t limit, uint64_t offset = 0,
                uint64_t* skipped = nullptr)
      : chain_(std::move(chain)),
        left_(limit == 0 ? UINT64_MAX : limit),
        offset_(offset),
        skipped_(skipped) {}
  Status Begin() override { return chain_.Begin(); }
  Result<bool> NextBatch(format::RowBatch* batch) override;

 private:
  // A read that is given up early has decoded few rows in vain.
  static constexpr size_t kFirstRows = 4;

  Result<bool> Skip();

  ConcatenatingIterator chain_;
  uint64_t left_;
  uint64_t offset_;  // Rows to pass over.
  uint64_t* const skipped_;
  size_t rows_ = kFirstRows;  // Of the next batch.
  bool continues_ = false;    // The row that was given last has more pieces.
};

}  // namespace tandem::engine
