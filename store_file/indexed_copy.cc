// 1. Plan: which sections are copied. Those of dropped indexes and everything after them are not,
//    since what follows would move.
// 2. Copy them. The blocks of the data section pass the collectors of the families that have a
//    column to index: a family's row blocks come in the order of its block index.
// 3. Write the sections of the new indexes, and the end.
#include "store_file/indexed_copy.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/memory_account.h"
#include "base/status_macros.h"
#include "format/block/block_cache.h"
#include "format/block/section_table.h"
#include "format/block/sequential_reader.h"
#include "format/corruption.h"
#include "format/file_header.h"
#include "format/registry/registered.h"
#include "format/row/block_places.h"
#include "format/row/wide_row.h"
#include "index/entries.h"
#include "index/section_writer.h"
#include "store_file/ends.h"

namespace tandem::format {
namespace {

// Between two calls of `passed`, and two looks at the memory of the entries.
constexpr uint64_t kStepBytes = 256 << 10;

bool IsOfEnd(SectionKind kind) {
  return kind == SectionKind::kStatistics || kind == SectionKind::kDigests ||
         kind == SectionKind::kSchema;
}

bool IsKnown(SectionKind kind) {
  return kind >= SectionKind::kSchema && kind <= SectionKind::kIndexRecordDirectory;
}

struct CopyPlan {
  std::vector<SectionEntry> copied;           // The first sections of the file.
  std::vector<const IndexRecord*> collected;  // Of these indexes sections are made.
};

bool HasSections(const std::vector<SectionEntry>& sections, IndexId index) {
  return FindSection(sections, SectionKind::kIndexPresent, index.value) != nullptr;
}

// nullopt: the sections that stay are not the first ones of the file.
std::optional<std::vector<SectionEntry>> FindCopied(const StoreFile& from,
                                                    const TableRecord& table) {
  std::vector<SectionEntry> copied;
  bool ended = false;
  for (const SectionEntry& section : from.sections()) {
    if (!IsKnown(section.kind)) return std::nullopt;
    if (IsOfEnd(section.kind)) continue;
    const bool is_of_index = IsIndexSection(section.kind);
    ended |= is_of_index && table.FindIndex(IndexId(section.owner)) == nullptr;
    if (!ended) {
      copied.push_back(section);
    } else if (!is_of_index || HasSections(copied, IndexId(section.owner))) {
      return std::nullopt;
    }
  }
  return copied;
}

bool IsOfOneFamily(const IndexRecord& index) {
  const FamilyId family = index.columns.front().family;
  return !index.AnyColumn([family](const IndexColumnRecord& column) {
    return column.family != family || column.is_of_row_key();
  }) && std::ranges::all_of(index.included, [family](const IncludedColumnRecord& column) {
    return column.family == family;
  });
}

std::optional<CopyPlan> PlanCopy(const StoreFile& from, const TableRecord& table) {
  std::optional<std::vector<SectionEntry>> copied = FindCopied(from, table);
  if (!copied.has_value()) return std::nullopt;
  CopyPlan plan{.copied = *std::move(copied), .collected = {}};
  for (const IndexRecord& index : table.indexes) {
    if (HasSections(plan.copied, index.id)) continue;
    // The rows of its families would have to be put together.
    if (!IsOfOneFamily(index)) return std::nullopt;
    const bool is_needed = NeedsCopyFor(from, index);
    if (is_needed || HasSections(from.sections(), index.id)) plan.collected.push_back(&index);
  }
  return plan;
}

// Collects the entries of new indexes over columns of one family.
class FamilyCollector {
 public:
  // `data` may be null: no row has cells of the family.
  FamilyCollector(const TableRecord& table, FamilyId family, const DataSection* data)
      : table_(table), family_(family), data_(data) {
    if (data != nullptr) places_.emplace(*data);
  }

  FamilyId family() const { return family_; }
  /// Requires: its columns are of the family.
  void Add(const IndexRecord& index, IndexSectionWriter* entries);
  /// The stored bytes of a block of the data section, which may be the family's next.
  Status Visit(uint64_t offset, std::string_view stored);
  /// Requires: all blocks were visited. Errors: kCorruption when the family has others.
  Status End();
  const std::vector<ColumnTimes>& times() const { return times_; }

 private:
  Status AddRow(const RowBlockRef& rows, uint32_t slot);
  Status AppendWide(const RowBlockRef& rows);
  void CountTimes();

  const TableRecord& table_;
  const FamilyId family_;
  const DataSection* const data_;
  std::vector<std::string> columns_;  // Sorted.
  bool reads_all_ = false;            // All columns of the family.
  std::vector<IndexSectionWriter*> entries_;
  std::vector<ColumnTimes> times_;  // Of the columns with Puts, in no order.
  std::optional<BlockPlaces> places_;
  uint32_t next_block_ = 0;
  // Of the current row.
  std::string key_;
  std::vector<Cell> cells_;
  CellBuffer wide_;
  std::vector<std::shared_ptr<const void>> pins_;
};

void FamilyCollector::Add(const IndexRecord& index, IndexSectionWriter* entries) {
  entries_.push_back(entries);
  const auto add = [this](const std::string& qualifier) {
    const auto place = std::lower_bound(columns_.begin(), columns_.end(), qualifier);
    if (place == columns_.end() || *place != qualifier) columns_.insert(place, qualifier);
  };
  index.ForEachColumn([&](const IndexColumnRecord& column) {
    if (column.is_of_family()) {
      reads_all_ = true;
    } else {
      add(column.qualifier);
    }
  });
  for (const IncludedColumnRecord& column : index.included) add(column.qualifier);
}

Status FamilyCollector::Visit(uint64_t offset, std::string_view stored) {
  if (data_ == nullptr || next_block_ == data_->block_count()) return {};
  ASSIGN_OR_RETURN(const DataBlock place, places_->MoveTo(next_block_));
  if (place.handle.offset != offset) return {};
  if (place.handle.stored_bytes != stored.size()) {
    return data_->blocks().Corrupt(
        offset, Mismatch("stored size of block", place.handle.stored_bytes, stored.size()));
  }
  ++next_block_;
  ASSIGN_OR_RETURN(const RowBlockRef rows, data_->DecodeRows(place, stored));
  for (uint32_t slot = 0; slot < rows->row_count(); ++slot) RETURN_IF_ERROR(AddRow(rows, slot));
  return {};
}

Status FamilyCollector::End() {
  if (data_ == nullptr || next_block_ == data_->block_count()) return {};
  ASSIGN_OR_RETURN(const DataBlock place, places_->MoveTo(next_block_));
  return data_->blocks().Corrupt(place.handle.offset, "no block where the block index has one");
}

Status FamilyCollector::AddRow(const RowBlockRef& rows, uint32_t slot) {
  cells_.clear();
  pins_.clear();
  RETURN_IF_ERROR(rows->Key(slot, &key_));
  if (rows->is_wide()) {
    RETURN_IF_ERROR(AppendWide(rows));
  } else {
    const Projection projection(data_->names(), reads_all_ ? nullptr : &columns_, &data_->blocks());
    RETURN_IF_ERROR(rows->Cells(slot, projection, &cells_));
  }
  CountTimes();
  const Ordinal ordinal(data_->OrdinalOf(rows->first() + slot));
  for (IndexSectionWriter* entries : entries_) entries->AddRow(ordinal, key_, cells_);
  return {};
}

Status FamilyCollector::AppendWide(const RowBlockRef& rows) {
  if (!reads_all_) return AppendWideColumns(data_->blocks(), rows, columns_, &cells_, &pins_);
  wide_.Clear();
  const std::unique_ptr<CellStream> stream = NewWideRowStream(data_->blocks(), rows);
  while (true) {
    ASSIGN_OR_RETURN(const bool more, stream->Next());
    if (!more) break;
    for (const Cell& cell : stream->cells()) KeepIndexed(table_, cell, &wide_);
  }
  wide_.AppendSorted(&cells_);
  return {};
}

void FamilyCollector::CountTimes() {
  for (const Cell& cell : cells_) {
    if (cell.kind != CellKind::kPut) continue;
    if (!std::binary_search(columns_.begin(), columns_.end(), cell.qualifier)) continue;
    auto found = std::find_if(times_.begin(), times_.end(), [&](const ColumnTimes& times) {
      return times.qualifier == cell.qualifier;
    });
    if (found == times_.end()) {
      found = times_.insert(times_.end(), {.family = family_,
                                           .qualifier = std::string(cell.qualifier),
                                           .min_timestamp = cell.timestamp,
                                           .max_timestamp = cell.timestamp});
    }
    found->min_timestamp = std::min(found->min_timestamp, cell.timestamp);
    found->max_timestamp = std::max(found->max_timestamp, cell.timestamp);
  }
}

bool HasColumn(const IndexRecord& index, const ColumnTimes& times) {
  return index.AnyColumn([&](const IndexColumnRecord& column) {
    return IsColumn(column, times.family, times.qualifier);
  });
}

class Copier {
 public:
  Copier(StoreFile* from, base::File* to, const IndexedCopySpec& spec, uint32_t alignment)
      : from_(*from),
        to_(to),
        spec_(spec),
        out_(to, spec.id, alignment),
        charge_(from->blocks().Charge(base::MemoryPart::kFileWriters, 0)) {}

  Result<StoreFileSummary> Run(const CopyPlan& plan, FileHeader header);

 private:
  Status BeginCollecting(const std::vector<const IndexRecord*>& indexes);
  Status CopySection(const SectionEntry& section);
  Status Passed(uint64_t bytes);
  Result<StoreFileSummary> WriteRest(const CopyPlan& plan);
  std::vector<ColumnTimes> ColumnTimesOfCopy() const;

  StoreFile& from_;
  base::File* const to_;
  const IndexedCopySpec& spec_;
  SectionWriter out_;
  std::vector<FamilyCollector> families_;
  std::vector<std::unique_ptr<IndexSectionWriter>> collected_;
  uint64_t unreported_bytes_ = 0;
  base::MemoryCharge charge_;
};

Result<StoreFileSummary> Copier::Run(const CopyPlan& plan, FileHeader header) {
  header.number = spec_.number;
  header.id = spec_.id;
  std::string bytes;
  AppendFileHeader(header, &bytes);
  RETURN_IF_ERROR(out_.AppendRaw(bytes));
  RETURN_IF_ERROR(BeginCollecting(plan.collected));
  for (const SectionEntry& section : plan.copied) RETURN_IF_ERROR(CopySection(section));
  for (FamilyCollector& family : families_) RETURN_IF_ERROR(family.End());
  RETURN_IF_ERROR(Passed(kStepBytes));
  return WriteRest(plan);
}

Status Copier::BeginCollecting(const std::vector<const IndexRecord*>& indexes) {
  for (const IndexRecord* index : indexes) {
    const IndexColumnRecord& column = index->columns.front();
    const Compression compression = spec_.table->FindFamily(column.family)->options.compression;
    collected_.push_back(std::make_unique<IndexSectionWriter>(*index, compression));
    auto family = std::find_if(families_.begin(), families_.end(),
                               [&](const auto& known) { return known.family() == column.family; });
    if (family == families_.end()) {
      ASSIGN_OR_RETURN(const DataSection* data, from_.Family(column.family));
      families_.emplace_back(*spec_.table, column.family, data);
      family = std::prev(families_.end());
    }
    family->Add(*index, collected_.back().get());
  }
  return {};
}

Status Copier::CopySection(const SectionEntry& section) {
  RETURN_IF_ERROR(out_.Begin(section.kind, section.owner, section.flags));
  if (out_.offset() != section.offset) {
    return from_.blocks().Corrupt(section.offset, "a section is out of place");
  }
  SequentialReader reader(from_.blocks(), section);
  while (!reader.done()) {
    const uint64_t offset = reader.offset();
    ASSIGN_OR_RETURN(const std::string_view stored, reader.NextStored());
    RETURN_IF_ERROR(out_.AppendStored(stored));
    if (section.kind == SectionKind::kData) {
      for (FamilyCollector& family : families_) RETURN_IF_ERROR(family.Visit(offset, stored));
    }
    RETURN_IF_ERROR(Passed(reader.offset() - offset));
  }
  return out_.End(section.count);
}

// Every so often lets the caller know, and compares what the entries take with what they may take.
Status Copier::Passed(uint64_t bytes) {
  unreported_bytes_ += bytes;
  if (unreported_bytes_ < kStepBytes) return {};
  uint64_t entry_bytes = 0;
  for (const auto& index : collected_) entry_bytes += index->memory_bytes();
  if (entry_bytes > spec_.entry_bytes_max) {
    return Status::OverBudget(from_.blocks().file().name() +
                              ": the entries of its new indexes take too much memory");
  }
  charge_.Set(entry_bytes + out_.memory_bytes());
  return spec_.passed(std::exchange(unreported_bytes_, 0));
}

Result<StoreFileSummary> Copier::WriteRest(const CopyPlan& plan) {
  StoreFileEnd end{.number = spec_.number,
                   .table = spec_.table,
                   .region_start = from_.region_start(),
                   .statistics = from_.statistics(),
                   .indexes = {}};
  end.statistics.column_times = ColumnTimesOfCopy();
  ASSIGN_OR_RETURN(const std::vector<IndexSummary> summaries,
                   ReadSummaries(from_.blocks(), from_.sections()));
  for (const IndexSummary& summary : summaries) {
    if (HasSections(plan.copied, summary.index)) end.indexes.push_back(summary);
  }
  for (const auto& index : collected_) {
    if (!index->is_complete()) continue;
    ASSIGN_OR_RETURN(IndexSummary summary, index->Write(&out_, from_.row_count()));
    end.indexes.push_back(std::move(summary));
  }
  // An index that was unusable may be older than those that the file has.
  std::ranges::sort(end.indexes, {}, &IndexSummary::index);
  return WriteStoreFileEnd(std::move(end), &out_, to_);
}

// Those of the columns that the table's indexes read now: as they were, or as they were collected.
std::vector<ColumnTimes> Copier::ColumnTimesOfCopy() const {
  std::vector<ColumnTimes> all = from_.statistics().column_times;
  for (const FamilyCollector& family : families_) {
    all.insert(all.end(), family.times().begin(), family.times().end());
  }
  std::erase_if(all, [this](const ColumnTimes& times) {
    return std::none_of(spec_.table->indexes.begin(), spec_.table->indexes.end(),
                        [&](const IndexRecord& index) { return HasColumn(index, times); });
  });
  const auto place = [](const ColumnTimes& times) {
    return std::tie(times.family, times.qualifier);
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const auto& a, const auto& b) { return place(a) < place(b); });
  const auto repeated = std::unique(
      all.begin(), all.end(), [&](const auto& a, const auto& b) { return place(a) == place(b); });
  all.erase(repeated, all.end());
  return all;
}

}  // namespace

// One without sections though the file knows the index may be one that cannot have them
// (IsHiddenFrom): it would be copied again and again.
bool NeedsCopyFor(const StoreFile& file, const IndexRecord& index) {
  if (file.table().FindIndex(index.id) == nullptr) return true;
  return HasCalls(index) && !IsUnusable(index) && !index.AnyColumn(MayHide) &&
         !HasSections(file.sections(), index.id);
}

bool CanCopyWithIndexes(const StoreFile& from, const TableRecord& table) {
  return from.writable() && PlanCopy(from, table).has_value();
}

Result<StoreFileSummary> CopyWithIndexes(StoreFile* from, base::File* to,
                                         const IndexedCopySpec& spec) {
  const std::optional<CopyPlan> plan = PlanCopy(*from, *spec.table);
  if (!plan.has_value()) {
    return Status::Unsupported(from->blocks().file().name() + ": its sections cannot be copied");
  }
  base::File& file = from->blocks().file();
  char bytes[kFileHeaderBytes];
  ASSIGN_OR_RETURN(const size_t count, file.Read(0, bytes));
  ASSIGN_OR_RETURN(const FileHeader header, CheckStoreHeader({bytes, count},
                                                             {.number = from->number(),
                                                              .size_bytes = from->size_bytes(),
                                                              .id = from->id()},
                                                             from->size_bytes(), file.name()));
  return Copier(from, to, spec, uint32_t{1} << header.alignment_log2).Run(*plan, header);
}

}  // namespace tandem::format
