// Retention works per column; only the DeleteFamily markers of a family span columns.
#include "compaction/column_merge.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "format/cell/cell_buffer.h"
#include "format/cell/visibility.h"
#include "format/hash.h"
#include "index/entries.h"

namespace tandem::compaction {
namespace {

constexpr uint64_t kColumnsPerCheck = 1024;

// Forwards the cells of a source and keeps copies of those that concern indexes.
class TappedStream final : public format::CellStream {
 public:
  // All outlive this. `kept` may be null; `*cells_seen` counts the cells.
  TappedStream(std::unique_ptr<format::CellStream> source, const format::TableRecord& table,
               format::CellBuffer* kept, uint64_t* cells_seen)
      : source_(std::move(source)), table_(table), kept_(kept), cells_seen_(cells_seen) {}

  Result<bool> Next() override {
    ASSIGN_OR_RETURN(const bool more, source_->Next());
    cells_.assign(source_->cells().begin(), source_->cells().end());
    pin_ = source_->pin();
    if (!more) return false;
    *cells_seen_ += cells_.size();
    for (const format::Cell& cell : cells_) {
      if (kept_ != nullptr) format::KeepIndexed(table_, cell, kept_);
    }
    return true;
  }

 private:
  std::unique_ptr<format::CellStream> source_;
  const format::TableRecord& table_;
  format::CellBuffer* kept_;
  uint64_t* cells_seen_;
};

class ColumnMerger {
 public:
  ColumnMerger(const StreamedRow& row, const MergeOptions& options, const NextWriter& next_writer,
               CellCounts* counts)
      : key_(row.key),
        options_(options),
        forgets_sequences_(row.forgets_sequences),
        next_writer_(next_writer),
        counts_(*counts) {}

  Status Run(std::vector<StreamedPart> parts, format::StoreFileWriter* present);

 private:
  Status MergeCells(format::ColumnStream* columns);
  Status RetainColumn(const format::ColumnStream& columns);
  Status BeginFamily(const format::ColumnStream& columns);
  Status EndFamily();
  Status Write(std::span<const format::Cell> cells, bool family_deletes);
  Status CheckCancelled() const;

  const std::string_view key_;
  const MergeOptions& options_;
  const bool forgets_sequences_;
  const NextWriter& next_writer_;
  format::StoreFileWriter* writer_ = nullptr;  // Set once something of the row is kept.
  format::Retention retention_;
  CellCounts& counts_;

  // The current family: its DeleteFamily markers, and which stay.
  bool in_family_ = false;
  format::FamilyId family_;
  std::vector<format::Cell> deletes_;
  std::vector<bool> stays_;

  std::vector<format::Cell> cells_, retained_;  // Of one column, markers first.
};

Status ColumnMerger::Run(std::vector<StreamedPart> parts, format::StoreFileWriter* present) {
  const format::TableRecord& table = *options_.table;
  retention_ = {table.families, options_.snapshots, options_.now_micros, false,
                options_.limits_settled_at};
  if (options_.older_may_contain != nullptr) {
    ASSIGN_OR_RETURN(retention_.older_sources_may_hold_row,
                     options_.older_may_contain(format::RowHash(key_, table.hash_secret)));
  }
  std::vector<format::CellBuffer> indexed(parts.size());
  std::vector<std::unique_ptr<format::CellStream>> sources;
  for (size_t i = 0; i < parts.size(); ++i) {
    format::CellBuffer* const kept = parts[i].in_digests ? &indexed[i] : nullptr;
    sources.push_back(
        std::make_unique<TappedStream>(std::move(parts[i].cells), table, kept, &counts_.in));
  }
  format::ColumnStream columns(std::move(sources));
  RETURN_IF_ERROR(MergeCells(&columns));
  if (writer_ != nullptr) RETURN_IF_ERROR(writer_->EndRow().status());
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].in_digests) continue;
    cells_.clear();
    indexed[i].AppendSorted(&cells_);
    for (size_t index = 0; index < table.indexes.size(); ++index) {
      present->index(index).SubtractRow(key_, cells_);
    }
  }
  return {};
}

Status ColumnMerger::MergeCells(format::ColumnStream* columns) {
  for (uint64_t count = 0;; ++count) {
    if (count % kColumnsPerCheck == 0) RETURN_IF_ERROR(CheckCancelled());
    ASSIGN_OR_RETURN(const bool more, columns->Next());
    if (!more) break;
    if (!in_family_ || columns->family() != family_) {
      RETURN_IF_ERROR(EndFamily());
      RETURN_IF_ERROR(BeginFamily(*columns));
    }
    RETURN_IF_ERROR(RetainColumn(*columns));
  }
  return EndFamily();
}

Status ColumnMerger::BeginFamily(const format::ColumnStream& columns) {
  in_family_ = true;
  family_ = columns.family();
  deletes_.assign(columns.family_deletes().begin(), columns.family_deletes().end());
  stays_.assign(deletes_.size(), retention_.older_sources_may_hold_row);
  return {};
}

Status ColumnMerger::RetainColumn(const format::ColumnStream& columns) {
  std::span<const format::Cell> column = columns.cells();
  if (!deletes_.empty()) {
    cells_.assign(deletes_.begin(), deletes_.end());
    cells_.insert(cells_.end(), column.begin(), column.end());
    column = cells_;
  }
  retained_.clear();
  format::RetainCells(column, retention_, &retained_, &counts_.dropped);
  // The markers that stay come first, in their order.
  size_t kept = 0;
  for (size_t i = 0; i < deletes_.size() && kept < retained_.size(); ++i) {
    const format::Cell& cell = retained_[kept];
    if (cell.kind != format::CellKind::kDeleteFamily) break;
    if (cell.timestamp != deletes_[i].timestamp || cell.sequence != deletes_[i].sequence) continue;
    stays_[i] = true;
    ++kept;
  }
  // They are counted once, after all columns of the family.
  counts_.dropped.delete_markers -= deletes_.size() - kept;
  return Write(std::span(retained_).subspan(kept), false);
}

Status ColumnMerger::EndFamily() {
  if (!std::exchange(in_family_, false)) return {};
  retained_.clear();
  for (size_t i = 0; i < deletes_.size(); ++i) {
    if (stays_[i]) retained_.push_back(deletes_[i]);
  }
  counts_.dropped.delete_markers += deletes_.size() - retained_.size();
  return Write(retained_, true);
}

// Writes `cells`, a part of retained_.
Status ColumnMerger::Write(std::span<const format::Cell> cells, bool family_deletes) {
  if (cells.empty()) return {};
  if (forgets_sequences_) {
    for (format::Cell& cell : retained_) cell.sequence = options_.limits_settled_at;
  }
  if (writer_ == nullptr) {
    ASSIGN_OR_RETURN(writer_, next_writer_());
    RETURN_IF_ERROR(writer_->BeginRow(key_));
  }
  counts_.out += cells.size();
  return family_deletes ? writer_->AddFamilyDeletes(cells) : writer_->AddCells(cells);
}

Status ColumnMerger::CheckCancelled() const {
  // Relaxed: the flag orders nothing; it only has to be seen eventually.
  if (options_.cancelled == nullptr || !options_.cancelled->load(std::memory_order_relaxed)) {
    return {};
  }
  return Status::Cancelled("the merge was asked to stop");
}

}  // namespace

Status MergeColumns(StreamedRow row, const MergeOptions& options, const NextWriter& next_writer,
                    format::StoreFileWriter* present, CellCounts* cells) {
  return ColumnMerger(row, options, next_writer, cells).Run(std::move(row.parts), present);
}

}  // namespace tandem::compaction
