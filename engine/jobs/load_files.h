// The files of a load while they are written: rows come in key order and go straight into store
// files, whose cells get one sequence when the load is linked (engine/jobs/load_linker.h). No
// catalog edit names them before; they are deleted unless they were linked.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/jobs/run_writer.h"
#include "engine/region/view.h"
#include "format/schema.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: one at a time.
class LoadFiles {
 public:
  /// The keys of a region.
  struct Range {
    std::string start;
    std::string end;  ///< Exclusive; empty: to the last key.
  };
  struct KeySpan {
    std::string first, last;  ///< Both are keys of rows.
  };
  /// The region that holds a key. Errors: the load ends with them.
  using RegionOf = std::function<Result<Range>(std::string_view key)>;

  /// `work` outlives it. A file ends with its region if it has some size.
  LoadFiles(const FileWork& work, std::shared_ptr<const format::TableRecord> table,
            RegionOf region_of)
      : work_(work),
        table_(std::move(table)),
        region_of_(std::move(region_of)),
        run_(work, table_) {}

  /// Shares the work of writing.
  void Share(base::Parallel* parallel) { run_.Share(parallel); }
  /// The writer that takes the row of that key, with cells of sequence 0. Requires: keys rise, and
  /// the row before is complete. Lifetime: until the next call.
  Result<format::StoreFileWriter*> WriterFor(std::string_view key);
  /// There are no more rows: writes and syncs what can be written before the sequence is known.
  Status Complete();
  /// All cells have that sequence. Requires: Complete.
  Status Finish(format::SequenceNumber sequence) { return run_.FinishHeld(sequence); }

  const std::shared_ptr<const format::TableRecord>& table() const { return table_; }
  /// Where the rows are: a span for each region that they fell in while they were written.
  const std::vector<KeySpan>& spans() const { return spans_; }
  bool empty() const { return spans_.empty(); }
  /// Of the last row; empty where there is none.
  std::string_view last_key() const { return empty() ? std::string_view() : spans_.back().last; }

  /// The parts of the files with rows in the range. Requires: Finish.
  Result<std::vector<FileSlice>> SlicesOf(const std::string& start, const std::string& end) const;
  /// Requires: Finish.
  const FinishedRun& finished() const { return run_.finished(); }
  /// The catalog names the files.
  void Linked() {
    linked_ = SizeOf(run_.finished());
    run_.Take();
  }
  /// The size of what was linked.
  const RunSize& linked() const { return linked_; }

 private:
  Status Hold();

  const FileWork& work_;
  const std::shared_ptr<const format::TableRecord> table_;
  const RegionOf region_of_;
  RunWriter run_;
  RunSize linked_;
  format::StoreFileWriter* writer_ = nullptr;  // Of the unfinished file.
  Range region_;                               // That the last row fell in.
  std::vector<KeySpan> spans_;
};

}  // namespace tandem::engine
