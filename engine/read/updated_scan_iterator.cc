// All rows of a cluster of one file and one memstore, by rising keys: the usual state of a table
// that is written to. Within a block the rows of the file up to the next one of the memstore are
// decoded as those of a file alone, and a row of both with the memstore's Puts over it, so that
// neither keys nor cells of either are copied to be merged.
#include <optional>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "engine/read/row_iterator.h"
#include "engine/read/row_walk.h"
#include "memstore/row_prefetcher.h"

namespace tandem::engine {
namespace {

class UpdatedScanIterator final : public RowIterator {
 public:
  UpdatedScanIterator(ReadContext* context, const Cluster& cluster)
      : RowIterator(context),
        cluster_(cluster),
        source_(cluster.files[0]),
        returns_plain_(ReturnsPlain(*context, /*decided=*/false)),
        walk_(context, source_),
        newer_(cluster.memstores[0].get()),
        ahead_(cluster.memstores[0].get()) {
    walk_.StartAll();
  }

 private:
  /// Which source has the next row.
  enum class Next : uint8_t { kFile, kMemstore, kBoth };

  Result<bool> Find() override;
  Status MoveWalk();
  bool Take(size_t rows_max, format::RowBatch* batch) override;
  bool TakeFound(format::RowBatch* batch);
  bool TakeMoreOfBlock(size_t rows_max, format::RowBatch* batch);
  Result<bool> Read() override;

  void NextNewer() {
    newer_.Next();
    ahead_.Step();
    has_newer_ = newer_.valid() && cluster_.rows.Contains(newer_.key());
  }
  bool MayBeSingleSource() const { return source_.MayBeSingleSource(walk_.ordinal()); }

  const Cluster& cluster_;
  const FileSource& source_;
  const bool returns_plain_;
  RowWalk walk_;
  Memstore::Iterator newer_;  // At the memstore's next row.
  RowPrefetcher ahead_;
  bool has_begun_ = false;
  bool has_newer_ = false;  // There is one in the range.
  bool walk_has_begun_ = false, walk_has_ended_ = false;
  bool is_at_row_ = false;  // The walk is at a row that was neither taken nor read.
  bool is_found_ = false;   // `next_` is known, and its row was neither taken nor read.
  Next next_ = Next::kFile;
  std::string file_key_;
};

Result<bool> UpdatedScanIterator::Find() {
  if (is_found_) return true;
  if (!std::exchange(has_begun_, true)) {
    newer_.Seek(cluster_.rows.low);
    ahead_.Start(newer_);
    has_newer_ = newer_.valid() && cluster_.rows.Contains(newer_.key());
  }
  // Rows of the memstore before the file do not make the read wait for it.
  const bool is_before_file = !walk_has_begun_ && has_newer_ && newer_.key() < source_.min_key();
  if (!is_before_file) RETURN_IF_ERROR(MoveWalk());
  if (!is_at_row_ && !has_newer_) return false;
  if (is_at_row_ && has_newer_) {
    RETURN_IF_ERROR(walk_.Key(&file_key_));
    const int order = file_key_.compare(newer_.key());
    next_ = order == 0 ? Next::kBoth : order < 0 ? Next::kFile : Next::kMemstore;
  } else {
    next_ = is_at_row_ ? Next::kFile : Next::kMemstore;
  }
  is_found_ = true;
  return true;
}

Status UpdatedScanIterator::MoveWalk() {
  if (is_at_row_ || walk_has_ended_) return {};
  walk_has_begun_ = true;
  ASSIGN_OR_RETURN(is_at_row_, walk_.Next());
  walk_has_ended_ = !is_at_row_;
  return {};
}

bool UpdatedScanIterator::Take(size_t rows_max, format::RowBatch* batch) {
  if (!returns_plain_ || !TakeFound(batch)) return false;
  while (batch->size() < rows_max && !batch->is_full() && TakeMoreOfBlock(rows_max, batch)) {
  }
  return true;
}

bool UpdatedScanIterator::TakeFound(format::RowBatch* batch) {
  if (next_ != Next::kMemstore && !MayBeSingleSource()) return false;
  switch (next_) {
    case Next::kFile:
      if (!walk_.AddPlain(batch)) return false;
      ++context_->counters.single_source_by_key;
      break;
    case Next::kMemstore:
      if (!walk_.AddAlone(newer_.row(), &row_, batch)) return false;
      ++context_->counters.merged;
      break;
    case Next::kBoth:
      if (!walk_.AddUpdated(newer_.row(), &row_, batch)) return false;
      ++context_->counters.merged;
      break;
  }
  if (next_ != Next::kMemstore) is_at_row_ = false;
  if (next_ != Next::kFile) NextNewer();
  is_found_ = false;
  return true;
}

// Takes the rows of the block up to the next one of the memstore, and then that one. False: it has
// come to the block's end, or a row has to be found or read.
bool UpdatedScanIterator::TakeMoreOfBlock(size_t rows_max, format::RowBatch* batch) {
  if (is_at_row_ || !walk_has_begun_ || walk_has_ended_) return false;
  const auto bound = has_newer_ ? std::optional(newer_.key()) : std::nullopt;
  const uint32_t end = walk_.SlotsEnd(bound);
  context_->counters.single_source_by_key += walk_.AddPlainRun(rows_max, batch, end);
  if (!has_newer_ || batch->size() >= rows_max || batch->is_full()) return false;
  if (!walk_.NextInBlock(walk_.SlotsEnd(std::nullopt))) return false;
  is_at_row_ = true;
  if (walk_.IsBefore(end)) {  // It is not plain.
    next_ = Next::kFile;
    is_found_ = true;
    return false;
  }
  const Result<bool> is_newer = walk_.KeyEquals(newer_.key());
  if (!is_newer.has_value()) return false;
  next_ = *is_newer ? Next::kBoth : Next::kMemstore;
  is_found_ = true;
  return TakeFound(batch);
}

Result<bool> UpdatedScanIterator::Read() {
  row_.Begin();
  locations_.Clear();
  is_found_ = false;
  bool single_source = false;
  if (next_ == Next::kMemstore) {
    key_ = newer_.key();
  } else {
    is_at_row_ = false;
    RETURN_IF_ERROR(walk_.Key(&key_));
    single_source = next_ == Next::kFile && MayBeSingleSource();
    RETURN_IF_ERROR(walk_.Append(single_source, &row_));
    locations_.files.push_back({source_.file, walk_.ordinal()});
  }
  if (next_ != Next::kFile) {
    GatherMemstores(cluster_, newer_.row());
    NextNewer();
  }
  ++(single_source ? context_->counters.single_source_by_key : context_->counters.merged);
  return Accept(single_source, /*decided=*/false);
}

}  // namespace

std::unique_ptr<RowIterator> NewUpdatedScanIterator(ReadContext* context, const Cluster& cluster) {
  return std::make_unique<UpdatedScanIterator>(context, cluster);
}

}  // namespace tandem::engine
