// The rows of one file that a read through an index must look at. The memstores of the cluster are
// asked first, before a block of the file is read:
//
// 1. Candidates of the file are looked up in the memstores (memstore_verdicts.h). If these make the
//    posting dead, the row is dropped; if they only hold the row, it is marked as shared. A
//    candidate that is ruled out in its file (intersection.h) is dropped unless another source may
//    hold it, and marked as shared otherwise.
// 2. Candidates of the memstores are looked up in the file. Rows that are found are shared.
// 3. Both are merged into one ascending stream.
//
// Rows are matched by keyed hash, in batches, so that cache misses overlap; a read that ends early
// pays for few batches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status_macros.h"
#include "engine/source/candidates.h"
#include "engine/source/memstore_verdicts.h"
#include "engine/source/read_context.h"
#include "engine/source/single_source.h"
#include "engine/source/sources.h"
#include "format/schema.h"
#include "store_file/store_file.h"

namespace tandem::engine {

/// A candidate of memstores that a file holds.
struct LocatedRow {
  uint32_t ordinal = 0;
  const MemRow* memstore_row = nullptr;  ///< As of CandidateRows.
};

/// Threads: one at a time. Lifetime: context, cluster, source and `memstore_rows` outlive it.
class CandidateStream {
 public:
  /// `source` is one of the cluster's; `memstore_rows` are the candidates of its memstores, by key.
  CandidateStream(ReadContext* context, const Cluster& cluster, const FileSource& source,
                  FileCandidates candidates, std::span<const format::HashedKey> memstore_rows);
  /// For a cluster of one file and one memstore: `located` are the candidates of the memstore that
  /// the file holds, by ordinal, unique.
  CandidateStream(ReadContext* context, const Cluster& cluster, const FileSource& source,
                  FileCandidates candidates, std::vector<LocatedRow> located);

  /// Whether taking rows is free: there is no other source to ask.
  bool is_plain() const { return cluster_.memstores.empty() && ruled_out_.empty(); }
  /// Whether no row is left, as far as is known.
  bool is_done() const;
  /// Adds the next rows to `*rows`, at most `rows_max`; none at the end. Errors: kCorruption,
  /// kIoError, kCancelled.
  Status Take(size_t rows_max, CandidateRows* rows);

 private:
  void TakeSifted(size_t rows_max, CandidateRows* rows);
  Status Sift();
  Result<size_t> SiftSome(std::span<const uint32_t> left);
  Result<size_t> SiftByAsking(std::span<const uint32_t> left, size_t count);
  Status FindMemstoreRows();
  Status Locate();

  ReadContext* context_;
  const Cluster& cluster_;
  const FileSource& source_;
  MemstoreVerdicts memstores_;

  std::vector<uint32_t> candidates_;
  base::MemoryCharge candidates_charge_;
  size_t candidates_at_ = 0;  // The first that is not sifted.
  std::vector<uint32_t> ruled_out_;
  size_t ruled_out_at_ = 0;
  OverlapProbe elsewhere_;  // Of those that are ruled out.
  CandidateRows sifted_;
  size_t at_ = 0;

  std::span<const format::HashedKey> memstore_rows_;  // Those that are not located.
  std::vector<format::HashedKey> sought_;
  std::vector<uint32_t> found_;
  std::vector<LocatedRow> located_;
  size_t located_at_ = 0;
};

/// Moves those of the memstore's candidates that the file holds to `*located`, by ordinal, unique,
/// if the cluster is one file and one memstore and their overlap is known. False: it is not, and
/// nothing was moved. Errors: kCorruption, kIoError.
Result<bool> LocateRows(const ReadContext& context, const Cluster& cluster,
                        std::vector<const MemRow*>* memstore_rows,
                        std::vector<LocatedRow>* located);

}  // namespace tandem::engine
