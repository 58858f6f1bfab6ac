// What reads the rows of one cluster: the base of the producers, and what they share.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/bound_predicate.h"
#include "engine/candidates.h"
#include "engine/read_queue.h"
#include "engine/reader.h"
#include "engine/row_assembly.h"
#include "engine/sources.h"

namespace tandem::engine {

/// What a read has looked at in files. Gaps between blocks that were read along are not counted.
struct ReadFigures {
  uint64_t rows = 0;
  uint64_t blocks = 0;
  uint64_t bytes = 0;  ///< Of the blocks, as stored.
};

/// One read of a table: everything that its producers share. Lives as long as its cursor.
struct ReadJob {
  ReadJob(const ReadContext& read_context, TableView table_view, ReadShape read_shape)
      : context(read_context),
        view(std::move(table_view)),
        shape(std::move(read_shape)),
        queue(read_context.file_system, read_context.memory) {}
  ReadJob(const ReadJob&) = delete;
  ReadJob& operator=(const ReadJob&) = delete;

  ReadContext context;
  TableView view;
  ReadShape shape;
  std::optional<BoundPredicate> predicate;  ///< nullopt: every row.
  bool may_end_early = false;               ///< There is a limit.
  bool fills_cache = true;                  ///< Blocks that scans read enter the cache.
  ReadQueue queue;
  ReadFigures figures;
};

/// Threads: one at a time.
class RowProducer {
 public:
  virtual ~RowProducer() = default;
  RowProducer(const RowProducer&) = delete;
  RowProducer& operator=(const RowProducer&) = delete;

  /// Moves to the next row that exists and satisfies the job's predicate; false at the end. Errors:
  /// kCorruption, kIoError. Lifetime: key() and row() until the next call.
  virtual Result<bool> Next() = 0;
  std::string_view key() const { return key_; }
  RowAssembly& row() { return row_; }

 protected:
  explicit RowProducer(ReadJob* job) : job_(job), row_(job->shape) {}

  /// Decides on the gathered cells of the row `key_`. `decided`: if the row is settled, it
  /// satisfies the predicate.
  Result<bool> Accept(bool settled, bool decided);
  void CountBlock(const FileSource& source, uint32_t block);

  ReadJob* job_;
  RowAssembly row_;
  std::string key_;
};

/// Reads the rows of a cluster of one file: `candidates`, or without them all rows of the source.
std::unique_ptr<RowProducer> NewFileProducer(ReadJob* job, const FileSource& source,
                                             std::optional<FileCandidates> candidates);

/// Reads the candidates of a cluster of several sources: `files` beside cluster.files.
std::unique_ptr<RowProducer> NewWindowProducer(ReadJob* job, const Cluster& cluster,
                                               std::vector<FileCandidates> files,
                                               std::vector<const MemRow*> memstore_rows);

/// Reads all rows of a cluster, in either direction.
std::unique_ptr<RowProducer> NewMergeProducer(ReadJob* job, const Cluster& cluster, bool reverse);

}  // namespace tandem::engine
