// The base class of the iterators over the rows of one cluster.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/read/covered_rows.h"
#include "engine/read/existence_check.h"
#include "engine/read/row_builder.h"
#include "engine/read/row_locations.h"
#include "engine/read/row_pieces.h"
#include "engine/source/candidates.h"
#include "engine/source/read_context.h"
#include "engine/source/sources.h"
#include "format/row/row_batch.h"

namespace tandem::engine {

/// Threads: one at a time.
class RowIterator {
 public:
  virtual ~RowIterator() = default;
  RowIterator(const RowIterator&) = delete;
  RowIterator& operator=(const RowIterator&) = delete;

  /// Begins the reads that the first row needs, where it is known which, and does not wait for
  /// them. Errors: as Next.
  virtual Status Begin() { return {}; }
  /// Moves to the next row that exists and satisfies the context's predicate; false at the end.
  /// Errors: kOverBudget (see RowPieces), kCorruption, kIoError, kCancelled. Lifetime: key() and
  /// visible() until the next call.
  Result<bool> Next();
  std::string_view key() const { return key_; }
  /// Visible cells of the columns that decide, and of others.
  std::span<const format::Cell> visible() const { return row_.visible(); }

  /// Moves over the next such rows, at most `rows_max`, and adds them to `*batch`, which is empty;
  /// false at the end. Lifetime of the rows: until the next call. Errors: as Next and View.
  Result<bool> NextBatch(size_t rows_max, format::RowBatch* batch);
  /// The row as it is returned, if all its cells are in memory and fit in one piece. Lifetime:
  /// until the next call of any method.
  std::optional<RowView> PlainView();
  /// The row as it is returned, or its first piece. Errors: kOverBudget (see RowPieces),
  /// kCorruption, kIoError. Lifetime: until the next call of anything.
  Result<RowView> View();
  /// The next piece of the row. Requires: the view before continues. Errors and lifetime: as View.
  Result<RowView> NextPiece() { return pieces_.Next(); }

 protected:
  explicit RowIterator(ReadContext* context)
      : context_(context),
        row_(context->schema, &context->counters),
        blocks_(&context->counters),
        whole_families_(context->predicate.has_value() ? context->predicate->WholeFamilies()
                                                       : ColumnSet()),
        existence_(context, &blocks_),
        pieces_(context->schema) {}

  /// Finds the next row that is neither taken nor read; false at the end. Changes nothing if it is
  /// found already. Errors: kCorruption, kIoError, kCancelled.
  virtual Result<bool> Find() = 0;
  /// Takes the row that was found if it is single-source, plain and returned as it is decoded: adds
  /// it to `*batch`, or leaves it out if it has no cell to return. May take the rows after it in
  /// the same block, too, while the batch has less than `rows_max`. False: it has to be read.
  virtual bool Take(size_t rows_max, format::RowBatch* batch) = 0;
  /// Reads the row that was found, and decides on it by Accept.
  virtual Result<bool> Read() = 0;

  /// Whether single-source, plain rows may be returned as they are decoded. `decided`: they are
  /// known to match.
  static bool ReturnsPlain(const ReadContext& context, bool decided) {
    return (decided || !context.predicate.has_value()) && context.schema.ReturnsAllDecoded(decided);
  }
  /// Whether rows that do not match are passed over before they are decoded. `decided`: as above.
  static bool Filters(const ReadContext& context, bool decided) {
    return context.predicate.has_value() && !decided && context.meter == nullptr;
  }
  /// Gathers the row `key_` from the memstores of the cluster. `known`, if not nullptr, is the row
  /// in one of them.
  void GatherMemstores(const Cluster& cluster, const MemRow* known);
  /// Decides on the gathered cells of the row `key_`, which is at `locations_`. `decided`: it is
  /// known to satisfy the predicate.
  Result<bool> Accept(bool single_source, bool decided);

  ReadContext* context_;
  RowBuilder row_;
  RowLocations locations_;
  std::string key_;

 private:
  void Gather(const MemRow* row);
  bool AddRead(format::RowBatch* batch);
  Result<bool> Decide(bool single_source, bool decided);
  Status DecideFamilies();
  Result<bool> Exists();
  Result<bool> ReturnsCells();
  Status OpenPieces();

  BlockMemo blocks_;
  const ColumnSet whole_families_;  // That the predicate reads.
  ExistenceCheck existence_;
  RowPieces pieces_;
  std::optional<RowView> first_piece_;  // Of a large row that was opened.
  Status failure_;         // Of Find or Read; comes after the rows that were taken before it.
  bool has_read_ = false;  // A row that comes after these, too.
};

/// Reads the rows of a cluster of one file: `candidates`, or without them all rows of the source.
std::unique_ptr<RowIterator> NewFileIterator(ReadContext* context, const FileSource& source,
                                             std::optional<FileCandidates> candidates);

/// Reads the candidates of a cluster of one file and memstores: `candidates` of the file, and
/// `hits` as below.
std::unique_ptr<RowIterator> NewUpdatedFileIterator(ReadContext* context, const Cluster& cluster,
                                                    FileCandidates candidates, MemstoreHits hits);

/// Reads the candidates of a cluster: `files` has one entry for each of cluster.files; the rows of
/// `hits` have cells that the view sees. `covered` (may be null) are candidates that are not among
/// those.
std::unique_ptr<RowIterator> NewCandidateIterator(ReadContext* context, const Cluster& cluster,
                                                  std::vector<FileCandidates> files,
                                                  MemstoreHits hits,
                                                  std::unique_ptr<CoveredRows> covered = nullptr);

/// Reads all rows of a cluster of one file and one memstore, by rising keys.
std::unique_ptr<RowIterator> NewUpdatedScanIterator(ReadContext* context, const Cluster& cluster);

/// Reads all rows of a cluster, in either direction.
std::unique_ptr<RowIterator> NewMergingIterator(ReadContext* context, const Cluster& cluster,
                                                bool reverse);

}  // namespace tandem::engine
