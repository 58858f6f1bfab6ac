// Finds the rows of a look-up in an index if they are few, all of them in memory, and each decided
// by one file, one memstore, or both:
//
// 1. Each file says by one look-up which of its rows match, and each memstore which rows have an
//    entry. Of either there are at most kFewRowsMax, of one region and in one of its files, whose
//    rows are settled (rule 16).
// 2. If memstores have no entry, and by keyed hash no memstore and no other file of the region
//    holds one of the rows, the file has all of them.
// 3. Otherwise the region has one file and one memstore. The memstore's rows are located in the
//    file, and those of the file that it holds are dropped where their posting is dead, as in any
//    read of one file and memstores (engine/source/candidate_stream.h).
// 4. The blocks of the rows are cached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "engine/region/view.h"
#include "engine/source/candidate_stream.h"
#include "engine/source/read_context.h"
#include "format/row/row_block.h"
#include "format/schema.h"
#include "index/key.h"
#include "memstore/memstore.h"

namespace tandem::engine {

inline constexpr size_t kFewRowsMax = 64;

/// A row that is found. One of the two is not null.
struct FoundRow {
  format::RowBlockRef rows = nullptr;  ///< Its block in the file; nullptr: the file has it not.
  uint32_t slot = 0;                   ///< In the block.
  const MemRow* newer = nullptr;       ///< Perhaps the memstore's, if the keys are equal.
};

/// Threads: one at a time. Lifetime: index, resources and options outlive it; what it finds is
/// pinned by the view.
class FewRowsFinder {
 public:
  /// Requires: a table of one family.
  FewRowsFinder(const ReadResources& resources, const ReadOptions& options,
                const format::IndexRecord& index, std::vector<format::KeyRange> ranges)
      : resources_(resources), options_(options), index_(&index), ranges_(std::move(ranges)) {}

  /// False: the query has to be planned, which also reports what is wrong. True: rows were found,
  /// perhaps none; if memstores hold some of them, `*view` was taken into the context.
  bool Find(TableView* view);

  /// Requires: Find returned true. By key.
  std::vector<FoundRow> TakeRows() { return std::move(found_); }
  /// nullptr: no memstore holds one of the rows.
  std::unique_ptr<ReadContext> TakeContext() { return std::move(context_); }
  /// Of the file; nullptr if there are no rows.
  const format::DataSection* data() const { return data_; }
  const format::IndexRecord& index() const { return *index_; }
  format::TableId table() const { return table_->id; }

 private:
  Result<bool> FindInSources(TableView* view);
  Result<bool> AddHits(const RegionVersion& region, const FileSlice& slice);
  Result<bool> AddEntries(const RegionVersion& region, const Memstore& memstore);
  Result<bool> AreClean() const;
  Result<bool> AreAlone() const;
  Result<bool> AddUpdates(TableView* view);
  Result<bool> MergeUpdates();
  Status LocateByKey(const FileSource& source, std::vector<const MemRow*>* rows,
                     std::vector<LocatedRow>* located) const;
  bool AreDecided(const FileSource& source) const;
  Result<bool> FindBlocks();
  Status MergeByKey();

  bool IsSeen(const Memstore& memstore) const {
    return !memstore.empty() && format::IsSeenAt(memstore.min_sequence(), point_.sequence);
  }
  bool IsSeen(const format::StoreFile& file) const {
    return file.statistics().min_sequence <= point_.sequence;
  }

  const ReadResources& resources_;
  const ReadOptions& options_;
  const format::IndexRecord* const index_;
  std::vector<format::KeyRange> ranges_;
  const format::TableRecord* table_ = nullptr;
  format::ReadPoint point_;
  std::unique_ptr<ReadContext> context_;

  const RegionVersion* region_ = nullptr;  // The one with rows,
  format::StoreFile* file_ = nullptr;      // and its file.
  CandidateRows rows_;                     // Of the file.
  std::vector<const MemRow*> entries_;     // Rows of the memstore; those that no file has, at last.
  const format::DataSection* data_ = nullptr;
  std::vector<FoundRow> found_;
};

}  // namespace tandem::engine
