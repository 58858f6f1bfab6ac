// Scans of files and memstores.
#include "engine/source_scan.h"

#include <utility>

#include "base/status_macros.h"
#include "engine/block_walk.h"

namespace tandem::engine {
namespace {

// Forward through the walk, which reads ahead; backward block by block.
class FileScan final : public SourceScan {
 public:
  FileScan(ReadJob* job, const FileSource& source, bool reverse)
      : job_(job),
        source_(source),
        columns_(job->shape, source),
        walk_(source, &job->queue, {.admit = job->fills_cache, .cautious = job->may_end_early}),
        reverse_(reverse),
        left_(source.high - source.low) {
    if (!reverse) walk_.StartRange(source.low, source.high);
  }

  Status Next() override {
    valid_ = left_ > 0;
    if (!valid_) return {};
    ordinal_ = reverse_ ? source_.low + left_ - 1 : source_.high - left_;
    --left_;
    if (rows_ == nullptr || ordinal_ - rows_->first() >= rows_->row_count()) {
      RETURN_IF_ERROR(ReadBlock());
    }
    RETURN_IF_ERROR(rows_->Key(ordinal_ - rows_->first(), &key_bytes_));
    key_ = key_bytes_;
    return {};
  }

  bool IsSettledHere() const override { return source_.IsSettledHere(ordinal_); }

  Status Append(bool settled, std::vector<format::Cell>* cells) override {
    return rows_->Cells(ordinal_ - rows_->first(), settled ? columns_.settled : columns_.merged,
                        cells);
  }

  void Hold() override {
    if (held_ != rows_) held_ = rows_;
  }

 private:
  Status ReadBlock() {
    WalkedBlock walked;
    if (reverse_) {
      walked.block = source_.data->BlockOf(ordinal_);
      ASSIGN_OR_RETURN(walked.rows, ReadBackward(walked.block));
    } else {
      ASSIGN_OR_RETURN(const bool more, walk_.Next(&walked));
      if (!more) return source_.file->blocks().Corrupt(0, "rows end before their count");
    }
    rows_ = std::move(walked.rows);
    const format::DataBlock place = source_.data->BlockAt(walked.block);
    ++job_->figures.blocks;
    job_->figures.bytes += place.handle.stored_bytes;
    job_->figures.rows += place.count;
    return {};
  }

  Result<format::RowBlockRef> ReadBackward(uint32_t block) {
    if (job_->fills_cache) return source_.data->ReadRows(block);
    format::RowBlockRef rows = source_.data->CachedRows(block);
    if (rows != nullptr) return rows;
    return source_.data->ReadRowsUncached(block);
  }

  ReadJob* job_;
  const FileSource& source_;
  FileColumns columns_;
  BlockWalk walk_;
  bool reverse_;
  uint32_t left_;  // Rows that were not stood on.
  uint32_t ordinal_ = 0;
  format::RowBlockRef rows_, held_;
  std::string key_bytes_;
};

class MemstoreScan final : public SourceScan {
 public:
  MemstoreScan(const ReadJob& job, const Memstore& memstore, const format::KeyRange& rows,
               bool reverse)
      : sequence_(job.view.point.sequence), rows_(rows), reverse_(reverse), row_(&memstore) {}

  Status Next() override {
    if (!std::exchange(has_begun_, true)) {
      Begin();
    } else if (reverse_) {
      row_.Previous();
    } else {
      row_.Next();
    }
    valid_ = row_.valid() && rows_.Contains(row_.key());
    if (valid_) key_ = row_.key();
    return {};
  }

  bool IsSettledHere() const override { return false; }

  Status Append(bool, std::vector<format::Cell>* cells) override {
    Memstore::Cells(row_.row(), sequence_, cells);
    return {};
  }

  void Hold() override {}  // Cells live as long as the memstore.

 private:
  void Begin() {
    if (!reverse_) {
      row_.Seek(rows_.low);
    } else if (rows_.high.has_value()) {
      row_.SeekBefore(*rows_.high);
    } else {
      row_.SeekToLast();
    }
  }

  format::SequenceNumber sequence_;
  const format::KeyRange& rows_;
  bool reverse_;
  bool has_begun_ = false;
  Memstore::Iterator row_;
};

}  // namespace

std::unique_ptr<SourceScan> NewFileScan(ReadJob* job, const FileSource& source, bool reverse) {
  return std::make_unique<FileScan>(job, source, reverse);
}

std::unique_ptr<SourceScan> NewMemstoreScan(const ReadJob& job, const Memstore& memstore,
                                            const format::KeyRange& rows, bool reverse) {
  return std::make_unique<MemstoreScan>(job, memstore, rows, reverse);
}

}  // namespace tandem::engine
