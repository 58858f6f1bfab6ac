// The rows of a cluster whose cells an index has in its records (index/covering.h): no block of
// rows is read for them. A row is covered if
//
// - its file alone decides it (rules 16 and 17): it is clean, the view sees all of it, nothing in
//   the file may have expired, and no other source holds it;
// - it has a record in that file, which is not empty.
//
// All others are left to be read. Records lie in the order of values: those of a file's ranges are
// read first, and sorted by ordinal, so that rows come in key order. Where that would pin more than
// its part of the read buffers, the rows of the file are left to be read as well.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/memory_account.h"
#include "engine/read/merge_heap.h"
#include "engine/source/candidates.h"
#include "engine/source/read_context.h"
#include "engine/source/sources.h"
#include "format/row/row_batch.h"
#include "index/covering.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Whether the index includes columns and its records have all of these; false of no columns.
bool HasRecordsOf(const format::IndexRecord& index, const ColumnSet& columns);
/// Whether a cluster with at most so many hits may hold their records. More hits are found some at
/// a time, and their rows read.
bool MayHoldRecords(const ReadContext& context, uint64_t hits);
/// Whether the index of the access's paths has all columns that rows which are known to match
/// return, so that they may come from it.
bool MayCover(const AccessPath& access, const ReadSchema& schema);

/// Threads: one at a time. Lifetime: context, cluster and access outlive it.
class CoveredRows {
 public:
  /// Requires: access.covered.
  CoveredRows(ReadContext* context, const Cluster& cluster, const AccessPath& access);
  CoveredRows(const CoveredRows&) = delete;
  CoveredRows& operator=(const CoveredRows&) = delete;

  /// Takes those of the candidates of a file of the cluster that are covered out of `*candidates`;
  /// those that are ruled out go. Errors: kCorruption, kIoError, kCancelled.
  Status Take(const FileSource& source, FileCandidates* candidates);
  /// The same where no candidates were collected: finds and takes those of a file that shares no
  /// row with another source, by the records alone, and makes `*candidates` the others. False: it
  /// cannot, and nothing was taken. Errors: the same.
  Result<bool> TakeAlone(const FileSource& source, FileCandidates* candidates);
  /// Whether none was taken.
  bool empty() const { return files_.empty(); }
  /// Goes to the first row of all files. To be called once, after all were taken. Errors:
  /// kCorruption.
  Status Begin();

  // The current row. Requires: !done().
  bool done() const { return heap_.empty(); }
  std::string_view key() const { return heap_.top()->key; }
  bool decided() const { return heap_.top()->decided; }
  /// If it is known to match, adds it to `*batch`, or leaves it out if it has no cell to return;
  /// false: it is not known, or its record is malformed.
  bool AddPlain(format::RowBatch* batch) const;
  /// Appends its cells, sorted. Errors: kCorruption. Lifetime: the views are valid as long as this.
  Status AppendCells(std::vector<format::Cell>* cells) const;
  /// Errors: kCorruption.
  Status Next();

 private:
  struct Row {
    uint32_t ordinal = 0;
    uint32_t record_bytes = 0;
    const char* record_data = nullptr;
    std::string_view record() const { return {record_data, record_bytes}; }
  };
  struct File {
    const FileSource* source = nullptr;
    bool decided = false;
    std::vector<Row> rows;  // By ordinal, so by key.
    std::vector<format::BlockRef> blocks;
    size_t at = 0;
    std::string_view key, cells;  // Of the record of rows[at].
  };
  struct ComesAfter {
    bool operator()(const File* a, const File* b) const { return a->key > b->key; }
  };

  bool MayTake(const FileSource& source, bool decided) const;
  std::unique_ptr<File> NewFile(const FileSource& source, bool decided) const;
  void Add(std::unique_ptr<File> file, size_t taken);
  Result<bool> ReadRecords(File* file);
  Status AddRecords(format::IndexSection* section, const format::KeyRange& range, File* file);
  void Charge(uint64_t bytes) { charge_.Set(charged_bytes_ += bytes); }
  static void SortByOrdinal(uint32_t row_count, std::vector<Row>* rows);
  Status ReadKey(File* file) const;
  Status Malformed(const File& file) const;

  ReadContext* const context_;
  const Cluster& cluster_;
  const AccessPath& access_;
  const std::vector<format::IncludedColumnRecord> columns_;
  std::vector<std::string_view>
      returned_as_;  // By column, the name of its family; null: it is not.
  bool covers_predicate_ = false;
  uint64_t bytes_left_;  // That blocks may pin.
  base::MemoryCharge charge_;
  uint64_t charged_bytes_ = 0;
  std::vector<std::unique_ptr<File>> files_;
  MergeHeap<File, ComesAfter> heap_{ComesAfter{}};
};

}  // namespace tandem::engine
