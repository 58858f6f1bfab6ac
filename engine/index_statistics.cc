// Files are walked one after the other, so memory does not grow with their number.
#include "engine/index_statistics.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "engine/advice/section_sizes.h"
#include "format/hash.h"
#include "format/registry/registered.h"
#include "format/row/data_section.h"
#include "index/covering.h"
#include "index/distinct_count.h"
#include "index/section.h"
#include "store_file/store_file.h"

namespace tandem::engine {
namespace {

using format::IndexPart;
using format::OrdinalRange;

/// Rows of one value that are looked at together.
constexpr uint32_t kRowsAtOnce = 1 << 20;
/// About how many rows are indexed again, to say what that costs.
constexpr uint64_t kCostRows = 8 * RowSample::kGroupRows;

/// A file with the rows that the table has of it: halves of a split region share files.
struct IndexedFile {
  std::shared_ptr<LiveFile> file;
  std::vector<OrdinalRange> rows;
  bool Contains(uint32_t ordinal) const {
    return std::ranges::any_of(
        rows, [ordinal](const OrdinalRange& range) { return range.Contains(ordinal); });
  }
};

std::map<format::FileNumber, IndexedFile> FilesOf(const TableView& view) {
  std::map<format::FileNumber, IndexedFile> files;
  for (const auto& region : view.regions) {
    for (const FileSlice& slice : region->files) {
      IndexedFile& file = files[slice.file->store().number()];
      file.file = slice.file;
      if (!file.rows.empty() && file.rows.back().high == slice.low) {
        file.rows.back().high = slice.high;  // Neighbours, which have all of the file in the end.
      } else {
        file.rows.push_back({slice.low, slice.high});
      }
    }
  }
  return files;
}

class IndexMeasurer {
 public:
  IndexMeasurer(const format::IndexRecord& index, const base::Cancellation& cancellation)
      : index_(index), cancellation_(cancellation) {}

  Status Add(const IndexedFile& file);
  IndexStatistics Take();

 private:
  Status AddPart(const IndexedFile& file, IndexPart part);
  Status AddValue(const IndexedFile& file, IndexPart part, const format::IndexValueCursor& value);
  Status AddEntries(const IndexedFile& file, IndexPart part, std::string_view key);
  Status NoteBlock(uint32_t ordinal);

  const format::IndexRecord& index_;
  const base::Cancellation& cancellation_;
  IndexStatistics found_;
  format::DistinctCount values_;
  std::vector<uint32_t> ordinals_;
  // Of the current file.
  format::IndexSection* section_ = nullptr;
  const format::DataSection* data_ = nullptr;
  std::optional<uint32_t> block_;  // Of the entry before.
};

Status IndexMeasurer::Add(const IndexedFile& file) {
  format::StoreFile& store = file.file->store();
  ++found_.files;
  ASSIGN_OR_RETURN(section_, store.Index(index_.id));
  if (section_ == nullptr) {
    ++found_.files_without;
    return {};
  }
  for (const format::SectionEntry& section : store.sections()) {
    if (IsIndexSection(section.kind) && section.owner == index_.id.value) {
      found_.size_bytes += section.size_bytes;
    }
  }
  if (section_->records() != nullptr) found_.included_bytes += section_->records()->size_bytes();
  const format::IndexColumnRecord& column = index_.columns[0];
  ASSIGN_OR_RETURN(data_, store.Family(column.is_of_row_key() ? store.table().first_family().id
                                                              : column.family));
  if (data_ != nullptr) found_.blocks += data_->block_count();
  block_.reset();
  RETURN_IF_ERROR(AddPart(file, IndexPart::kCurrent));
  return AddPart(file, IndexPart::kOlder);
}

Status IndexMeasurer::AddPart(const IndexedFile& file, IndexPart part) {
  const std::unique_ptr<format::IndexValueCursor> value = section_->NewUncachedCursor(part);
  RETURN_IF_ERROR(value->Seek({}));
  while (value->valid()) {
    RETURN_IF_ERROR(cancellation_.Check());
    ordinals_.clear();
    if (value->count() <= kRowsAtOnce) {
      RETURN_IF_ERROR(value->AppendOrdinals(&ordinals_));
      RETURN_IF_ERROR(AddEntries(file, part, value->key()));
    } else {
      RETURN_IF_ERROR(AddValue(file, part, *value));
    }
    RETURN_IF_ERROR(value->Next());
  }
  return {};
}

// A value of very many rows, some of them at a time.
Status IndexMeasurer::AddValue(const IndexedFile& file, IndexPart part,
                               const format::IndexValueCursor& value) {
  const format::KeyRange range = format::EqualRange(std::string(value.key()));
  const uint32_t end = file.file->store().row_count();
  for (uint32_t low = 0; low < end;) {
    RETURN_IF_ERROR(cancellation_.Check());
    const uint32_t high = std::min(kRowsAtOnce, end - low) + low;
    ordinals_.clear();
    RETURN_IF_ERROR(section_->AppendOrdinals(part, range, {low, high}, &ordinals_));
    RETURN_IF_ERROR(AddEntries(file, part, value.key()));
    low = high;
  }
  return {};
}

Status IndexMeasurer::AddEntries(const IndexedFile& file, IndexPart part, std::string_view key) {
  bool has_any = false;
  for (const uint32_t ordinal : ordinals_) {
    if (!file.Contains(ordinal)) continue;
    has_any = true;
    if (part == IndexPart::kOlder) {
      ++found_.older_entries;
      continue;
    }
    ++found_.entries;
    RETURN_IF_ERROR(NoteBlock(ordinal));
  }
  if (has_any && part == IndexPart::kCurrent) values_.Add(format::Hash64(key));
  return {};
}

Status IndexMeasurer::NoteBlock(uint32_t ordinal) {
  if (data_ == nullptr || !data_->Has(ordinal)) return {};
  ASSIGN_OR_RETURN(const uint32_t block, data_->BlockOf(data_->RankOf(ordinal)));
  if (block_ != block) ++found_.block_changes;
  block_ = block;
  return {};
}

IndexStatistics IndexMeasurer::Take() {
  found_.values = values_.Estimate();
  return found_;
}

// What sections of an index cost for each row of the files.
struct CostPerRow {
  const TableView& view;
  const uint64_t rows;
  const base::Cancellation& cancellation;

  /// Returns how many rows were indexed.
  Result<uint64_t> Measure(const format::IndexRecord& index, double* bytes, double* micros) const {
    format::TableRecord indexed = *view.table;
    indexed.indexes = {index};
    ASSIGN_OR_RETURN(const SectionSizes sizes,
                     MeasureSections(view, indexed, indexed.indexes.front(),
                                     RowSample::Of(rows, kCostRows), cancellation));
    *bytes = static_cast<double>(sizes.bytes) / static_cast<double>(rows);
    *micros =
        sizes.rows == 0 ? 0 : static_cast<double>(sizes.micros) / static_cast<double>(sizes.rows);
    return sizes.rows;
  }
};

}  // namespace

Result<IndexStatistics> MeasureIndex(const TableView& view, const format::IndexRecord& index,
                                     const base::Cancellation& cancellation) {
  IndexMeasurer measurer(index, cancellation);
  uint64_t rows = 0;
  for (const auto& [number, file] : FilesOf(view)) {
    RETURN_IF_ERROR(measurer.Add(file));
    rows += file.file->store().row_count();
  }
  IndexStatistics found = measurer.Take();
  if (rows == 0 || format::IsUnusable(index)) return found;
  const CostPerRow cost{view, rows, cancellation};
  ASSIGN_OR_RETURN(found.rows_indexed, cost.Measure(index, &found.row_bytes, &found.row_micros));
  format::IndexRecord first = index;
  first.columns.resize(1);
  first.included.clear();
  first.where.reset();
  RETURN_IF_ERROR(
      cost.Measure(first, &found.first_column_bytes, &found.first_column_micros).status());
  return found;
}

}  // namespace tandem::engine
