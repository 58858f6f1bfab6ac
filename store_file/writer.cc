// Writes a store file. Row blocks are written as they fill; what describes them (hashes,
// statistics, index entries) is collected meanwhile and written at Finish.
#include "store_file/writer.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/status_macros.h"
#include "format/block/bitmap_section.h"
#include "format/block/block_cache.h"
#include "format/block/bloom_filter.h"
#include "format/block/section_writer.h"
#include "format/file_header.h"
#include "format/hash.h"
#include "format/row/data_writer.h"
#include "store_file/key_hashes_writer.h"
#include "store_file/row_writer.h"
#include "store_file/statistics_collector.h"
#include "store_file/written_pages.h"
#include "tandem/limits.h"

namespace tandem::format {
namespace {

// Between two updates of the writer's memory charge.
constexpr uint32_t kRowsCounted = 4096;
constexpr uint64_t kBytesCounted = 1 << 20;
// About the bytes per row of an index's postings, which are kept until its leaves are written.
constexpr uint64_t kPostingBytes = 3;
// This many indexes are sorted while the section before them is written.
constexpr size_t kSortedAhead = 2;

}  // namespace

struct StoreFileWriter::Impl {
  Impl(std::unique_ptr<base::File> new_file, StoreFileSpec new_spec)
      : file(std::move(new_file)),
        spec(std::move(new_spec)),
        out(file.get(), spec.id, spec.alignment, spec.parallel),
        data(file.get(), *spec.table, &out),
        row(*spec.table, &data, &out),
        statistics(*spec.table) {
    if (spec.cache == nullptr) return;
    charge = spec.cache->Charge(base::MemoryPart::kFileWriters, 0);
  }

  Status Start();
  Status CheckKey(std::string_view key) const;
  Status CheckCells(std::span<const Cell> cells);
  const RowLocation& NextPlace(std::string_view key) {
    place = {hashes.size(), RowHash(key, spec.table->hash_secret)};
    return place;
  }
  Result<Ordinal> FinishRow(std::string_view key, std::span<const Cell> indexed,
                            RowEntries entries);
  void CountMemory(uint64_t besides_bytes = 0);
  Status WriteIndexes(std::span<IndexSectionWriter* const> indexes);
  Status WriteRowSections();
  Status WriteKeyHashes();
  Status WriteFilter();
  Status WriteIndex(IndexSectionWriter* index);

  std::unique_ptr<base::File> file;
  StoreFileSpec spec;
  SectionWriter out;
  DataWriter data;
  RowWriter row;
  StatisticsCollector statistics;
  RowLocation place;  // Of the current row.
  KeyHashList hashes;
  std::vector<std::unique_ptr<IndexSectionWriter>> indexes;
  base::MemoryCharge charge;
  std::vector<IndexSummary> sections;  // Of the indexes, once they are written.
  std::optional<WrittenPages> pages;   // Empty: all stay in the system's cache.
  // When memory was counted last: what was written, and what the collected entries took.
  uint64_t counted_at_bytes = 0, entry_bytes = 0;
};

StoreFileWriter::StoreFileWriter(std::unique_ptr<base::File> file, StoreFileSpec spec)
    : impl_(std::make_unique<Impl>(std::move(file), std::move(spec))) {
  const TableRecord& table = *impl_->spec.table;
  for (const IndexRecord& index : table.indexes) {
    const IndexColumnRecord& column = index.columns[0];
    const FamilyRecord& family =
        column.is_of_row_key() ? table.first_family() : *table.FindFamily(column.family);
    impl_->indexes.push_back(
        std::make_unique<IndexSectionWriter>(index, family.options.compression));
  }
}

StoreFileWriter::~StoreFileWriter() = default;

uint32_t StoreFileWriter::row_count() const { return static_cast<uint32_t>(impl_->hashes.size()); }
uint64_t StoreFileWriter::size_bytes() const {
  return impl_->out.offset() + impl_->out.waiting_bytes() + impl_->data.waiting_bytes();
}
uint64_t StoreFileWriter::copied_blocks() const { return impl_->data.copied_blocks(); }
uint64_t StoreFileWriter::entry_bytes() const { return impl_->entry_bytes; }
IndexSectionWriter& StoreFileWriter::index(size_t i) { return *impl_->indexes[i]; }
void StoreFileWriter::WidenSequences(SequenceNumber min, SequenceNumber max) {
  impl_->statistics.WidenSequences(min, max);
}

Result<Ordinal> StoreFileWriter::AddRow(std::string_view key, std::span<const Cell> cells,
                                        RowEntries entries, std::span<const StoredRow> stored) {
  Impl& impl = *impl_;
  DCHECK(!cells.empty());
  RETURN_IF_ERROR(impl.CheckKey(key));
  RETURN_IF_ERROR(impl.CheckCells(cells));
  if (row_count() == 0) RETURN_IF_ERROR(impl.Start());
  RETURN_IF_ERROR(impl.row.AddRow(impl.NextPlace(key), key, cells, stored));
  impl.statistics.AddRow(key, cells);
  return impl.FinishRow(key, cells, entries);
}

Status StoreFileWriter::BeginRow(std::string_view key) {
  RETURN_IF_ERROR(impl_->CheckKey(key));
  if (row_count() == 0) RETURN_IF_ERROR(impl_->Start());
  impl_->row.Begin(impl_->NextPlace(key), key);
  impl_->statistics.BeginRow(key);
  return {};
}

Status StoreFileWriter::AddCells(std::span<const Cell> cells) {
  Impl& impl = *impl_;
  RETURN_IF_ERROR(impl.CheckCells(cells));
  RETURN_IF_ERROR(impl.row.Add(cells));
  impl.statistics.AddCells(cells);
  return {};
}

Status StoreFileWriter::AddFamilyDeletes(std::span<const Cell> cells) { return AddCells(cells); }

Result<Ordinal> StoreFileWriter::EndRow(RowEntries entries) {
  Impl& impl = *impl_;
  if (!impl.row.has_cells()) return Status::InvalidArgument("a row without cells");
  RETURN_IF_ERROR(impl.row.End());
  impl.statistics.EndRow();
  return impl.FinishRow(impl.row.key(), impl.row.IndexedCells(), entries);
}

// Finishes a row that the families and the statistics have. `indexed` are its cells, at least those
// that concern indexes.
Result<Ordinal> StoreFileWriter::Impl::FinishRow(std::string_view key,
                                                 std::span<const Cell> indexed,
                                                 RowEntries entries) {
  const Ordinal ordinal(hashes.size());
  RETURN_IF_ERROR(data.EndRow(ordinal.value, key));
  hashes.Add(place.key_hash);
  if (hashes.size() % kRowsCounted == 0 || out.offset() - counted_at_bytes >= kBytesCounted) {
    CountMemory();
  }
  for (const auto& index : indexes) {
    if (entries == RowEntries::kCollect) {
      index->AddRow(ordinal, key, indexed);
    } else {
      index->CopyRow(ordinal, key, indexed);
    }
  }
  return ordinal;
}

// Updates the writer's memory charge.
void StoreFileWriter::Impl::CountMemory(uint64_t besides_bytes) {
  counted_at_bytes = out.offset();
  entry_bytes = 0;
  for (const auto& index : indexes) entry_bytes += index->memory_bytes();
  if (spec.cache == nullptr) return;
  charge.Set(besides_bytes + out.memory_bytes() + data.memory_bytes() + hashes.memory_bytes() +
             entry_bytes);
  spec.cache->Shrink();
}

// Whether a row of that key can follow.
Status StoreFileWriter::Impl::CheckKey(std::string_view key) const {
  if (key.empty() || key.size() > kRowKeyBytesMax) {
    return Status::InvalidArgument("a row key of " + std::to_string(key.size()) +
                                   " bytes; the limit kRowKeyBytesMax is " +
                                   std::to_string(kRowKeyBytesMax));
  }
  if (hashes.size() > 0 && key <= statistics.last_key()) {
    return Status::Corruption(file->name() + ": row keys do not rise at row " +
                              std::to_string(hashes.size()));
  }
  if (hashes.size() >= kRowsPerFileMax) {
    return Status::Unsupported(file->name() + ": more than kRowsPerFileMax rows");
  }
  return {};
}

Status StoreFileWriter::Impl::CheckCells(std::span<const Cell> cells) {
  const Cell* before = nullptr;
  for (const Cell& cell : cells) {
    if ((before == nullptr || before->family != cell.family) && data.Find(cell.family) == nullptr) {
      return Status::Unsupported("a cell of family " + std::to_string(cell.family.value) +
                                 ", which the table lacks");
    }
    if (cell.qualifier.size() > kQualifierBytesMax) {
      return Status::InvalidArgument("a qualifier passes kQualifierBytesMax");
    }
    before = &cell;
  }
  return {};
}

// The header and the beginning of the data section.
Status StoreFileWriter::Impl::Start() {
  FileHeader header;
  header.kind = FileKind::kStore;
  header.compatible = kCompatibleBlockIndexTops;
  if (spec.one_sequence) header.incompatible = kIncompatibleOneSequence;
  header.alignment_log2 = static_cast<uint8_t>(std::countr_zero(spec.alignment));
  header.database = spec.database;
  header.number = spec.number;
  header.id = spec.id;
  std::string bytes;
  AppendFileHeader(header, &bytes);
  RETURN_IF_ERROR(out.AppendRaw(bytes));
  return out.Begin(SectionKind::kData, 0);
}

void StoreFileWriter::SparePageCache(bool keeps_indexes) {
  impl_->pages.emplace(impl_->file.get(), keeps_indexes);
}

Status StoreFileWriter::NoteRow(bool is_cached) {
  return impl_->pages.has_value() ? impl_->pages->AddRow(is_cached, impl_->out) : Status();
}

Result<StoreFileSummary> StoreFileWriter::Finish() {
  DCHECK(!impl_->spec.one_sequence);
  RETURN_IF_ERROR(WriteSections());
  return WriteRest();
}

// The sync is the long one: that of FinishAt has only the end to wait for.
Status StoreFileWriter::FinishRows() {
  Impl& impl = *impl_;
  DCHECK(impl.spec.one_sequence);
  RETURN_IF_ERROR(WriteSections());
  RETURN_IF_ERROR(impl.out.Flush());
  RETURN_IF_ERROR(impl.file->DataSync());
  impl.hashes = {};
  impl.indexes.clear();
  impl.CountMemory();
  return {};
}

Result<StoreFileSummary> StoreFileWriter::FinishAt(SequenceNumber sequence) {
  DCHECK(impl_->spec.one_sequence);
  WidenSequences(sequence, sequence);
  return WriteRest();
}

// What depends on the rows, but for the statistics.
Status StoreFileWriter::WriteSections() {
  Impl& impl = *impl_;
  CHECK(row_count() > 0);
  RETURN_IF_ERROR(impl.data.WriteBlocks());
  RETURN_IF_ERROR(impl.out.End(row_count()));
  std::vector<IndexSectionWriter*> indexes;
  for (const auto& index : impl.indexes) {
    if (index->is_complete()) indexes.push_back(index.get());
  }
  return impl.WriteIndexes(indexes);
}

// Before them the sections of rows. Meanwhile the entries of those that come next are sorted.
Status StoreFileWriter::Impl::WriteIndexes(std::span<IndexSectionWriter* const> indexes) {
  std::vector<std::unique_ptr<base::Parallel::Loop>> sorts;
  const size_t ahead = spec.parallel == nullptr ? 1 : kSortedAhead;
  const auto sort_from = [&](size_t begin) {
    const size_t end = std::min(begin + ahead, indexes.size());
    uint64_t sort_bytes = 0;
    for (size_t i = begin; i < end; ++i) sort_bytes += indexes[i]->sort_bytes();
    CountMemory(hashes.size() * kPostingBytes + sort_bytes);
    while (spec.parallel != nullptr && sorts.size() < end) {
      sorts.push_back(spec.parallel->Begin(1, [next = indexes[sorts.size()]](size_t) {
        next->Sort();
        return Status();
      }));
    }
  };
  sort_from(0);
  RETURN_IF_ERROR(WriteRowSections());
  for (size_t i = 0; i < indexes.size(); ++i) {
    if (spec.parallel != nullptr) RETURN_IF_ERROR(sorts[i]->Finish());
    sort_from(i + 1);
    RETURN_IF_ERROR(WriteIndex(indexes[i]));
  }
  return {};
}

Status StoreFileWriter::Impl::WriteRowSections() {
  RETURN_IF_ERROR(data.WriteSections(hashes.size()));
  RETURN_IF_ERROR(WriteKeyHashes());
  const Bitmap clean = statistics.CleanRows();
  RETURN_IF_ERROR(WriteBitmapSection(SectionKind::kCleanRows, 0, clean, &out));
  return WriteFilter();
}

Status StoreFileWriter::Impl::WriteIndex(IndexSectionWriter* index) {
  ASSIGN_OR_RETURN(IndexSummary section, index->Write(&out, hashes.size()));
  sections.push_back(std::move(section));
  return pages.has_value() ? pages->Advance(out) : Status();
}

Result<StoreFileSummary> StoreFileWriter::WriteRest() {
  Impl& impl = *impl_;
  StoreFileEnd end{.number = impl.spec.number,
                   .table = impl.spec.table,
                   .region_start = impl.spec.region_start,
                   .statistics = impl.statistics.Statistics(),
                   .indexes = std::move(impl.sections)};
  base::File* const synced = impl.spec.synced ? impl.file.get() : nullptr;
  ASSIGN_OR_RETURN(StoreFileSummary summary, WriteStoreFileEnd(std::move(end), &impl.out, synced));
  if (impl.pages.has_value()) impl.pages->Finish(impl.out.sections());
  return summary;
}

std::unique_ptr<base::File> StoreFileWriter::TakeFile() { return std::move(impl_->file); }

Status StoreFileWriter::Impl::WriteKeyHashes() {
  RETURN_IF_ERROR(out.Begin(SectionKind::kKeyHashes, 0));
  for (size_t i = 0; i < hashes.block_count(); ++i) {
    const std::span<const uint64_t> block = hashes.block(i);
    BlockContent content{.kind = BlockKind::kKeyHashes};
    content.count = static_cast<uint32_t>(block.size());
    content.first = static_cast<uint32_t>(i * kKeyHashesPerBlock);
    content.raw = {reinterpret_cast<const char*>(block.data()), block.size_bytes()};
    RETURN_IF_ERROR(out.Append(content).status());
  }
  return out.End(hashes.size());
}

Status StoreFileWriter::Impl::WriteFilter() {
  BloomFilter filter(hashes.size());
  for (size_t i = 0; i < hashes.block_count(); ++i) {
    for (const uint64_t hash : hashes.block(i)) filter.Add(hash);
  }
  return filter.Write(&out);
}

}  // namespace tandem::format
