// Scans of files and memstores.
#include "engine/read/source_scan.h"

#include <utility>

#include "base/status_macros.h"
#include "engine/read/row_walk.h"
#include "engine/read/single_source_filter.h"
#include "memstore/row_prefetcher.h"

namespace tandem::engine {
namespace {

class FileScan final : public SourceScan {
 public:
  FileScan(ReadContext* context, const FileSource& source, bool reverse, bool filters)
      : context_(context), source_(source), walk_(context, source) {
    if (filters) filter_.emplace(context, &walk_);
    walk_.StartAll(reverse);
  }

  Status Next() override {
    may_match_.reset();
    ASSIGN_OR_RETURN(valid_, walk_.Next());
    return valid_ ? ReadKey() : Status();
  }

  Status NextMatch(std::optional<std::string_view> bound) override {
    if (!filter_.has_value()) return Next();
    const uint32_t end = walk_.SlotsEnd(bound);
    while (walk_.NextInBlock(end)) {
      may_match_.reset();
      if (!MayBeSingleSource()) return ReadKey();
      ASSIGN_OR_RETURN(const bool may_match, MayMatch());
      if (may_match) return ReadKey();
      RETURN_IF_ERROR(context_->CheckGoOn());  // A condition may cost much.
    }
    return Next();
  }

  Result<bool> MayMatch() override {
    if (!may_match_.has_value()) {
      ASSIGN_OR_RETURN(may_match_, filter_->MayMatch());
    }
    return *may_match_;
  }
  bool is_match() const override { return may_match_.has_value() && filter_->is_certain(); }

  bool MayBeSingleSource() const override { return source_.MayBeSingleSource(walk_.ordinal()); }
  bool AddPlain(format::RowBatch* batch) const override { return walk_.AddPlain(batch); }
  uint32_t AddPlainRun(size_t rows_max, std::optional<std::string_view> bound,
                       format::RowBatch* batch) override {
    return walk_.AddPlainRun(rows_max, batch, walk_.SlotsEnd(bound));
  }
  bool AddUpdated(const MemRow* newer, RowBuilder* row, format::RowBatch* batch) const override {
    return walk_.AddUpdated(newer, row, batch);
  }
  Status Append(bool single_source, RowBuilder* row) override {
    return walk_.Append(single_source, row);
  }
  void AddLocation(RowLocations* locations) const override {
    locations->files.push_back({source_.file, walk_.ordinal()});
  }
  void Hold() override { walk_.Hold(); }

 private:
  Status ReadKey() {
    RETURN_IF_ERROR(walk_.Key(&key_bytes_));
    key_ = key_bytes_;
    return {};
  }

  ReadContext* context_;
  const FileSource& source_;
  RowWalk walk_;
  std::optional<SingleSourceFilter> filter_;
  std::optional<bool> may_match_;  // The row, once it was asked.
  std::string key_bytes_;
};

class MemstoreScan final : public SourceScan {
 public:
  MemstoreScan(const Memstore& memstore, const format::KeyRange& rows, bool reverse)
      : rows_(rows), reverse_(reverse), row_(&memstore), prefetcher_(&memstore) {}

  Status Next() override {
    if (!std::exchange(has_begun_, true)) {
      Begin();
    } else if (reverse_) {
      row_.Previous();
    } else {
      row_.Next();
      prefetcher_.Step();
    }
    valid_ = row_.valid() && rows_.Contains(row_.key());
    if (valid_) key_ = row_.key();
    return {};
  }

  bool MayBeSingleSource() const override { return false; }
  bool AddPlain(format::RowBatch*) const override { return false; }

  const MemRow* memstore_row() const override { return row_.row(); }
  Status Append(bool, RowBuilder* row) override {
    row->Append(row_.row());
    return {};
  }
  void AddLocation(RowLocations* locations) const override {
    locations->memstores.push_back(row_.row());
  }

  void Hold() override {}  // Cells live as long as the memstore.

 private:
  void Begin() {
    if (!reverse_) {
      row_.Seek(rows_.low);
      prefetcher_.Start(row_);
    } else if (rows_.high.has_value()) {
      row_.SeekBefore(*rows_.high);
    } else {
      row_.SeekToLast();
    }
  }

  const format::KeyRange& rows_;
  bool reverse_;
  bool has_begun_ = false;
  Memstore::Iterator row_;
  RowPrefetcher prefetcher_;  // Forward only.
};

}  // namespace

std::unique_ptr<SourceScan> NewFileScan(ReadContext* context, const FileSource& source,
                                        bool reverse, bool filters) {
  return std::make_unique<FileScan>(context, source, reverse, filters);
}

std::unique_ptr<SourceScan> NewMemstoreScan(const Memstore& memstore, const format::KeyRange& rows,
                                            bool reverse) {
  return std::make_unique<MemstoreScan>(memstore, rows, reverse);
}

}  // namespace tandem::engine
