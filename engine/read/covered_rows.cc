// Taking candidates whose records decide them, and merging them by key.
#include "engine/read/covered_rows.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "engine/source/memstore_verdicts.h"
#include "engine/source/ordinal_set.h"
#include "engine/source/single_source.h"
#include "format/corruption.h"
#include "index/section.h"

namespace tandem::engine {
namespace {

using format::IndexPart;

// Blocks of records that one cluster may pin: a part of the read buffers, at most so much.
constexpr uint64_t kPinnedPart = 4;
constexpr uint64_t kPinnedBytesMax = 16 << 20;
// Records that are read between two looks at what is pinned.
constexpr uint64_t kReadTogether = 4096;

bool HasAll(std::span<const format::IncludedColumnRecord> columns, const ColumnSet& wanted) {
  for (const ColumnSet::Family& family : wanted.families()) {
    if (family.all) return false;
    for (const std::string& qualifier : family.qualifiers) {
      const bool has_it = std::ranges::any_of(columns, [&](const auto& column) {
        return column.family == family.id && column.qualifier == qualifier;
      });
      if (!has_it) return false;
    }
  }
  return true;
}

}  // namespace

bool MayCover(const AccessPath& access, const ReadSchema& schema) {
  if (access.paths.empty() || access.keys != nullptr) return false;
  const format::IndexRecord* index = access.paths.front().index;
  const bool is_one = std::ranges::all_of(
      access.paths, [&](const IndexPath& path) { return path.index == index && !path.nulls; });
  return is_one && !index->included.empty() &&
         HasAll(format::CoveredColumns(*index), schema.matched);
}

CoveredRows::CoveredRows(ReadContext* context, const Cluster& cluster, const AccessPath& access)
    : context_(context),
      cluster_(cluster),
      access_(access),
      columns_(format::CoveredColumns(*access.paths.front().index)),
      covers_predicate_(HasAll(columns_, context->schema.single_source)),
      bytes_left_(std::min(context->resources.read_buffer_bytes / kPinnedPart, kPinnedBytesMax)),
      charge_(context->resources.memory, base::MemoryPart::kHits) {
  for (const format::IncludedColumnRecord& column : columns_) {
    const ColumnSet::Family* family = context->schema.returned.Find(column.family);
    const bool is_returned = family != nullptr && family->Contains(column.qualifier);
    returned_as_.push_back(is_returned ? context->schema.FamilyName(column.family)
                                       : std::string_view());
  }
}

Status CoveredRows::Take(const FileSource& source, FileCandidates* candidates) {
  std::vector<uint32_t>& ordinals = candidates->ordinals;
  const bool is_checked = context_->predicate.has_value() && !candidates->decided;
  if (!source.may_be_single_source || ordinals.empty() || (is_checked && !covers_predicate_)) {
    return {};
  }
  auto file = std::make_unique<File>();
  file->source = &source;
  file->decided = candidates->decided || !context_->predicate.has_value();
  ASSIGN_OR_RETURN(const bool has_records, ReadRecords(file.get()));
  if (!has_records) return {};
  std::vector<uint32_t> read;  // Candidates that have to be read.
  // Of no index: a memstore that has any other column of a row may have one that is covered.
  MemstoreVerdicts memstores(*context_, cluster_, source, /*index=*/nullptr);
  RETURN_IF_ERROR(memstores.Sift(&ordinals, &read));
  const auto shared = static_cast<ptrdiff_t>(read.size());
  const bool is_alone = OverlapsNoFile(source);
  OverlapProbe elsewhere(cluster_, source);
  size_t ruled_out_at = 0, kept = 0;
  auto row = file->rows.begin();
  for (const uint32_t ordinal : ordinals) {
    while (row != file->rows.end() && row->ordinal < ordinal) ++row;
    const bool has_record =
        row != file->rows.end() && row->ordinal == ordinal && !row->record.empty();
    bool is_decided = has_record && source.MayBeSingleSource(ordinal);
    if (is_decided && !is_alone) {
      ASSIGN_OR_RETURN(const bool may_be_elsewhere, elsewhere.MayHold(ordinal));
      is_decided = !may_be_elsewhere;
    }
    if (!is_decided) {
      read.push_back(ordinal);
    } else if (!FindNext(candidates->ruled_out, ordinal, &ruled_out_at)) {
      file->rows[kept++] = *row;
    }
  }
  file->rows.resize(kept);
  std::inplace_merge(read.begin(), read.begin() + shared, read.end());
  ordinals = std::move(read);
  context_->counters.rows += kept;
  context_->counters.from_index += kept;
  if (!is_alone) {
    (HasAllOverlaps(source) ? context_->counters.single_source_by_bitmap
                            : context_->counters.single_source_by_filter) += kept;
  }
  if (kept > 0) files_.push_back(std::move(file));
  return {};
}

// The records of the ranges, by ordinal. False: the file has none, or too many.
Result<bool> CoveredRows::ReadRecords(File* file) {
  const FileSource& source = *file->source;
  const format::IndexId index = access_.paths.front().index->id;
  ASSIGN_OR_RETURN(format::IndexSection * section, UsableSection(source.file, index));
  if (section == nullptr || section->records() == nullptr) return false;
  const Status status = [&]() -> Status {
    for (const IndexPath& path : access_.paths) {
      for (const format::KeyRange& range : path.RangesIn(source.in_order)) {
        RETURN_IF_ERROR(AddRecords(section, range, file));
        if (bytes_left_ == 0) return {};
      }
    }
    return {};
  }();
  // The candidates are known already.
  if (GoesOnWithoutIndex(source.file, index, status)) return false;
  RETURN_IF_ERROR(status);
  if (bytes_left_ == 0) return false;
  std::erase_if(file->rows, [&](const Row& row) {
    return row.ordinal < source.low || row.ordinal >= source.high;
  });
  std::ranges::sort(file->rows, {}, &Row::ordinal);
  const auto repeated = std::ranges::unique(file->rows, {}, &Row::ordinal);
  file->rows.erase(repeated.begin(), repeated.end());
  Charge(file->rows.size() * sizeof(Row));
  return true;
}

// Entries are numbered in the order in which their ordinals are appended.
Status CoveredRows::AddRecords(format::IndexSection* section, const format::KeyRange& range,
                               File* file) {
  ASSIGN_OR_RETURN(const uint64_t count, section->CountEntries(IndexPart::kCurrent, range));
  if (count == 0) return {};
  uint64_t first = 0;
  if (!range.low.empty()) {
    ASSIGN_OR_RETURN(first, section->CountEntries(IndexPart::kCurrent, {{}, range.low}));
  }
  std::vector<uint32_t> ordinals;
  RETURN_IF_ERROR(section->AppendOrdinals(IndexPart::kCurrent, range, &ordinals));
  if (ordinals.size() != count) {
    return file->source->file->blocks().Corrupt(
        0, format::Mismatch("entries of a range of an index", count, ordinals.size()));
  }
  format::IndexRecords::Read read;
  for (uint64_t at = 0; at < count; at += kReadTogether) {
    RETURN_IF_ERROR(context_->cancellation.Check());
    const uint64_t before = read.bytes;
    RETURN_IF_ERROR(
        section->records()->ReadAll(first + at, std::min(kReadTogether, count - at), &read));
    bytes_left_ -= std::min(bytes_left_, read.bytes - before);
    if (bytes_left_ == 0) return {};
  }
  for (uint64_t i = 0; i < count; ++i) file->rows.push_back({ordinals[i], read.records[i]});
  file->blocks.insert(file->blocks.end(), std::make_move_iterator(read.blocks.begin()),
                      std::make_move_iterator(read.blocks.end()));
  Charge(read.bytes);
  return {};
}

Status CoveredRows::Begin() {
  for (const auto& file : files_) {
    RETURN_IF_ERROR(ReadRow(file.get()));
    heap_.Push(file.get());
  }
  return {};
}

Status CoveredRows::ReadRow(File* file) const {
  file->cells.clear();
  if (format::ReadIndexRecord(columns_, file->rows[file->at].record, &file->key, &file->cells)) {
    return {};
  }
  return Status::Corruption(file->source->file->blocks().file().name() + ": the record of row " +
                            std::to_string(file->rows[file->at].ordinal) + " in index '" +
                            access_.paths.front().index->name + "' is malformed");
}

bool CoveredRows::AddPlain(format::RowBatch* batch) const {
  const File& file = *heap_.top();
  if (!file.decided) return false;
  batch->Begin(file.key);
  size_t column = 0;
  for (const format::Cell& cell : file.cells) {
    while (columns_[column].family != cell.family ||
           columns_[column].qualifier.data() != cell.qualifier.data()) {
      ++column;
    }
    if (returned_as_[column].data() == nullptr) continue;
    batch->AppendCell({returned_as_[column], cell.qualifier, cell.timestamp, cell.value});
  }
  return batch->End(/*is_plain=*/true, context_->schema.needs_cells);
}

void CoveredRows::AppendCells(std::vector<format::Cell>* cells) const {
  const std::vector<format::Cell>& all = heap_.top()->cells;
  cells->insert(cells->end(), all.begin(), all.end());
}

Status CoveredRows::Next() {
  File* file = heap_.top();
  if (++file->at == file->rows.size()) {
    heap_.Pop();
    return {};
  }
  RETURN_IF_ERROR(ReadRow(file));
  heap_.Replay();
  return {};
}

}  // namespace tandem::engine
