// Taking candidates whose records decide them, and merging them by key.
#include "engine/read/covered_rows.h"

#include <algorithm>
#include <array>
#include <bit>
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

// What the records of one cluster may take.
uint64_t BytesOfRecords(const ReadContext& context) {
  return std::min(context.resources.read_buffer_bytes / kPinnedPart, kPinnedBytesMax);
}

}  // namespace

// A record is seldom smaller than what leads to it.
bool MayHoldRecords(const ReadContext& context, uint64_t hits) {
  return hits <= BytesOfRecords(context) / sizeof(std::pair<uint64_t, const char*>);
}

bool HasRecordsOf(const format::IndexRecord& index, const ColumnSet& columns) {
  if (index.included.empty() || columns.empty()) return false;
  return HasAll(format::CoveredColumns(index), columns);
}

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
      bytes_left_(BytesOfRecords(*context)),
      charge_(context->resources.memory, base::MemoryPart::kHits) {
  for (const format::IncludedColumnRecord& column : columns_) {
    const ColumnSet::Family* family = context->schema.returned.Find(column.family);
    const bool is_returned = family != nullptr && family->Contains(column.qualifier);
    returned_as_.push_back(is_returned ? context->schema.FamilyName(column.family)
                                       : std::string_view());
  }
}

// `decided`: its candidates are known to match.
bool CoveredRows::MayTake(const FileSource& source, bool decided) const {
  const bool is_checked = context_->predicate.has_value() && !decided;
  return source.may_be_single_source && (covers_predicate_ || !is_checked);
}

std::unique_ptr<CoveredRows::File> CoveredRows::NewFile(const FileSource& source,
                                                        bool decided) const {
  auto file = std::make_unique<File>();
  file->source = &source;
  file->decided = decided || !context_->predicate.has_value();
  return file;
}

// Its first rows, as many as are taken, come from the index.
void CoveredRows::Add(std::unique_ptr<File> file, size_t taken) {
  file->rows.resize(taken);
  context_->counters.rows += taken;
  context_->counters.from_index += taken;
  if (taken > 0) files_.push_back(std::move(file));
}

Result<bool> CoveredRows::TakeAlone(const FileSource& source, FileCandidates* candidates) {
  const bool is_plain = access_.paths.size() == 1 && !access_.is_intersection() &&
                        source.file_overlaps.empty() && cluster_.memstores.empty();
  if (!is_plain || !MayTake(source, access_.exact)) return false;
  std::unique_ptr<File> file = NewFile(source, access_.exact);
  ASSIGN_OR_RETURN(const bool has_records, ReadRecords(file.get()));
  if (!has_records) return false;
  *candidates = {.ordinals = {}, .decided = access_.exact};
  size_t taken = 0;
  for (const Row& row : file->rows) {
    if (row.record_bytes > 0 && source.MayBeSingleSource(row.ordinal)) {
      file->rows[taken++] = row;
    } else {
      candidates->ordinals.push_back(row.ordinal);
    }
  }
  Add(std::move(file), taken);
  return true;
}

Status CoveredRows::Take(const FileSource& source, FileCandidates* candidates) {
  std::vector<uint32_t>& ordinals = candidates->ordinals;
  if (ordinals.empty() || !MayTake(source, candidates->decided)) return {};
  std::unique_ptr<File> file = NewFile(source, candidates->decided);
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
        row != file->rows.end() && row->ordinal == ordinal && row->record_bytes > 0;
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
  std::inplace_merge(read.begin(), read.begin() + shared, read.end());
  ordinals = std::move(read);
  if (!is_alone) {
    (HasAllOverlaps(source) ? context_->counters.single_source_by_bitmap
                            : context_->counters.single_source_by_filter) += kept;
  }
  Add(std::move(file), kept);
  return {};
}

// The records of the ranges, by ordinal. False: the file has none, or too many.
Result<bool> CoveredRows::ReadRecords(File* file) {
  const FileSource& source = *file->source;
  const format::IndexId index = access_.paths.front().index->id;
  ASSIGN_OR_RETURN(format::IndexSection * section, UsableSection(source.file, index));
  if (section == nullptr || section->records() == nullptr || bytes_left_ == 0) return false;
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
  SortByOrdinal(source.high, &file->rows);
  // Ranges of two paths may have an entry in common.
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
  ordinals.reserve(count);
  RETURN_IF_ERROR(section->AppendOrdinals(IndexPart::kCurrent, range, &ordinals));
  if (ordinals.size() != count) {
    return file->source->file->blocks().Corrupt(
        0, format::Mismatch("entries of a range of an index", count, ordinals.size()));
  }
  file->rows.reserve(file->rows.size() + count);
  std::vector<format::IndexRecords::Part> parts;
  for (uint64_t at = 0; at < count;) {
    RETURN_IF_ERROR(context_->CheckGoOn());
    parts.clear();
    RETURN_IF_ERROR(
        section->records()->ReadRange(first + at, std::min(kReadTogether, count - at), &parts));
    for (format::IndexRecords::Part& part : parts) {
      for (uint32_t i = 0; i < part.count; ++i) {
        const std::string_view record = part.At(i);
        file->rows.push_back({ordinals[at++], static_cast<uint32_t>(record.size()), record.data()});
      }
      bytes_left_ -= std::min<uint64_t>(bytes_left_, part.block->raw_bytes);
      Charge(part.block->raw_bytes);
      file->blocks.push_back(std::move(part.block));
    }
    if (bytes_left_ == 0) return {};
  }
  return {};
}

// By radix, as ordinals are (engine/source/ordinal_set.cc), but with what belongs to them.
void CoveredRows::SortByOrdinal(uint32_t row_count, std::vector<Row>* rows) {
  constexpr size_t kComparedMax = 512;
  constexpr int kDigitBits = 11;
  constexpr uint32_t kDigitMask = (1u << kDigitBits) - 1;
  if (std::ranges::is_sorted(*rows, {}, &Row::ordinal)) return;
  if (rows->size() <= kComparedMax) {
    std::ranges::sort(*rows, {}, &Row::ordinal);
    return;
  }
  std::vector<Row> scratch(rows->size());
  for (int shift = 0; shift < static_cast<int>(std::bit_width(row_count)); shift += kDigitBits) {
    const auto digit = [shift](const Row& row) { return (row.ordinal >> shift) & kDigitMask; };
    std::array<uint32_t, kDigitMask + 1> places{};
    for (const Row& row : *rows) ++places[digit(row)];
    uint32_t place = 0;
    for (uint32_t& count : places) place += std::exchange(count, place);
    for (const Row& row : *rows) scratch[places[digit(row)]++] = row;
    rows->swap(scratch);
  }
}

Status CoveredRows::Begin() {
  for (const auto& file : files_) {
    RETURN_IF_ERROR(ReadKey(file.get()));
    heap_.Push(file.get());
  }
  return {};
}

// Records come in the order of keys, in which they do not lie.
Status CoveredRows::ReadKey(File* file) const {
  constexpr size_t kAhead = 12;
  if (file->at + kAhead < file->rows.size()) {
    const char* ahead = file->rows[file->at + kAhead].record_data;
    __builtin_prefetch(ahead);
    __builtin_prefetch(ahead + 64);
  }
  const auto found = format::KeyOfIndexRecord(file->rows[file->at].record());
  if (!found.has_value()) return Malformed(*file);
  file->key = found->row_key;
  file->cells = found->cells;
  return {};
}

Status CoveredRows::Malformed(const File& file) const {
  return Status::Corruption(file.source->file->blocks().file().name() + ": the record of row " +
                            std::to_string(file.rows[file.at].ordinal) + " in index '" +
                            access_.paths.front().index->name + "' is malformed");
}

bool CoveredRows::AddPlain(format::RowBatch* batch) const {
  const File& file = *heap_.top();
  if (!file.decided) return false;
  batch->Begin(file.key);
  format::IndexRecordCells cells(file.cells);
  int64_t timestamp = 0;
  std::string_view value;
  for (size_t column = 0; column < columns_.size(); ++column) {
    const bool is_put = cells.Next(&timestamp, &value);
    if (!is_put || returned_as_[column].data() == nullptr) continue;
    batch->AppendCell({returned_as_[column], columns_[column].qualifier, timestamp, value});
  }
  return batch->End(/*is_plain=*/cells.done(), context_->schema.needs_cells);
}

Status CoveredRows::AppendCells(std::vector<format::Cell>* cells) const {
  const File& file = *heap_.top();
  std::string_view key;
  if (!format::ReadIndexRecord(columns_, file.rows[file.at].record(), &key, cells)) {
    return Malformed(file);
  }
  return {};
}

Status CoveredRows::Next() {
  File* file = heap_.top();
  if (++file->at == file->rows.size()) {
    heap_.Pop();
    return {};
  }
  RETURN_IF_ERROR(ReadKey(file));
  heap_.Replay();
  return {};
}

}  // namespace tandem::engine
