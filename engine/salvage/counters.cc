// Every source is read, whatever the others say:
//
//   source           file numbers   table ids   region ids   sequences   timestamps
//   names of files   yes
//   ROOT             yes
//   manifest frames  yes            yes         yes          yes         yes
//   log segments     yes            yes                      yes         yes
//   store files      yes            yes                      yes
//
// Frames after a break of their chain count too: each is protected by its own checksum.
#include "engine/salvage/counters.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/passing.h"
#include "base/status_macros.h"
#include "engine/salvage/damaged_file.h"
#include "engine/salvage/family_scan.h"
#include "engine/storage/files.h"
#include "engine/storage/manifest.h"
#include "engine/storage/storage.h"
#include "format/file_header.h"
#include "format/row/data_section.h"
#include "wal/log.h"
#include "wal/operation.h"

namespace tandem::engine {
namespace {

using format::CatalogCounters;
using format::CatalogEdit;
using format::FileId;
using format::FileNumber;

void NoteNewest(std::span<const format::Cell> cells, uint64_t* newest) {
  for (const format::Cell& cell : cells) {
    if (cell.sequence.value <= kPlausibleMax) *newest = std::max(*newest, cell.sequence.value);
  }
}

// Of the current row of `rows`.
Status NoteCells(const format::IntactRows& rows, uint64_t* newest) {
  if (!rows.comes_in_pieces()) {
    std::vector<format::Cell> cells;
    RETURN_IF_ERROR(rows.Cells(&cells));
    NoteNewest(cells, newest);
    return {};
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<format::CellStream> stream, rows.Stream());
  while (true) {
    ASSIGN_OR_RETURN(const bool more, stream->Next());
    if (!more) return {};
    NoteNewest(stream->cells(), newest);
  }
}

class CounterSearch {
 public:
  CounterSearch(base::Directory* source, SurvivingCatalog* surviving, SalvageReport* report)
      : source_(*source),
        surviving_(*surviving),
        counters_(surviving->catalog.counters),
        report_(*report) {}

  Status Run();

 private:
  void AskCatalog();
  void AskRoot();
  Status AskManifest(const LocalFile& file);
  void AskEdit(std::string_view name, const CatalogEdit& edit);
  void AskFileRecord(std::string_view name, const format::FileRecord& record);
  Status AskSegment(const LocalFile& file);
  void AskGroup(std::string_view name, const format::Frame& frame);
  Status AskStoreFile(const LocalFile& file);
  Result<uint64_t> NewestCell(const format::DamagedFile& file);

  bool IsOurs(const format::DatabaseId& database) const {
    const format::DatabaseId* known = surviving_.database();
    return known == nullptr || database == *known;
  }
  void UsedNumber(std::string_view name, FileNumber number) {
    Raise({name, "file number", number.value}, number.value + 1, &counters_.next_file_number);
  }
  void UsedSequence(std::string_view name, uint64_t sequence) {
    Raise({name, "sequence", sequence}, sequence, &counters_.last_sequence);
  }
  void UsedTable(std::string_view name, format::TableId id) {
    Raise({name, "table", id.value}, id.value + uint64_t{1}, &next_table_id_);
  }
  void UsedRegion(std::string_view name, format::RegionId id) {
    Raise({name, "region", id.value}, id.value + 1, &counters_.next_region_id);
  }
  /// A number, and the source that shows it was used.
  struct Used {
    std::string_view name;
    const char* what;
    uint64_t number;
  };
  void Raise(const Used& used, uint64_t to, uint64_t* counter);

  base::Directory& source_;
  SurvivingCatalog& surviving_;
  CatalogCounters& counters_;
  SalvageReport& report_;
  uint64_t next_table_id_ = 0;        // Wider than the counter, so that it does not wrap around.
  std::map<FileNumber, FileId> ids_;  // Of manifests and segments, by those that name them.
};

void CounterSearch::Raise(const Used& used, uint64_t to, uint64_t* counter) {
  if (used.number <= kPlausibleMax) {
    *counter = std::max(*counter, to);
  } else if (used.number > *counter) {
    report_.repaired.push_back({std::string(used.name), std::string("says ") + used.what + " " +
                                                            std::to_string(used.number) +
                                                            ", which no database reaches"});
  }
}

Status CounterSearch::Run() {
  ASSIGN_OR_RETURN(const std::vector<LocalFile> files, ListLocalFiles(&source_));
  AskCatalog();
  AskRoot();
  for (const LocalFile& file : files) UsedNumber(file.name, file.number);
  // Manifests first: they know the ids of segments.
  for (const LocalFile& file : files) {
    if (file.kind == LocalFileKind::kManifest) RETURN_IF_ERROR(AskManifest(file));
  }
  for (const LocalFile& file : files) {
    if (file.kind == LocalFileKind::kSegment) RETURN_IF_ERROR(AskSegment(file));
    if (file.kind == LocalFileKind::kStore) RETURN_IF_ERROR(AskStoreFile(file));
  }
  constexpr uint64_t kTableIdMax = std::numeric_limits<uint32_t>::max();
  next_table_id_ = std::min(next_table_id_, kTableIdMax);
  counters_.next_table_id =
      std::max(counters_.next_table_id, static_cast<uint32_t>(next_table_id_));
  return {};
}

void CounterSearch::AskCatalog() {
  const CatalogEdit all = format::FullEdit(surviving_.catalog);
  AskEdit("catalog", all);
}

void CounterSearch::AskRoot() {
  if (!surviving_.root.has_value()) return;
  const format::RootRecord& root = surviving_.root->record;
  Raise({kRootName, "file number", root.next_file_number}, root.next_file_number,
        &counters_.next_file_number);
  ids_[root.manifest.number] = root.manifest.id;
  for (const format::BoundFile& segment : root.segments) ids_[segment.number] = segment.id;
}

Status CounterSearch::AskManifest(const LocalFile& file) {
  auto opened = source_.Open(file.name, base::OpenMode::kReadOnly);
  if (!opened) return base::MayPass(opened.error()) ? opened.error() : Status();
  char bytes[format::kFileHeaderBytes];
  ASSIGN_OR_RETURN(const size_t count, (*opened)->Read(0, bytes));
  ASSIGN_OR_RETURN(const uint64_t size, (*opened)->Size());
  const auto header =
      format::DecodeFileHeader({bytes, count}, format::FileKind::kManifest, file.name);
  if (header && !IsOurs(header->database)) return {};
  if (header) ids_[file.number] = header->id;
  const auto id = ids_.find(file.number);
  if (id == ids_.end()) return {};
  format::FrameReader frames(opened->get(), id->second, format::kFileHeaderBytes, size);
  return frames.FindAll([&](const format::Frame& frame) {
    const auto edit = format::DecodeEditOf(frame);
    if (edit) AskEdit(file.name, *edit);
    return Status();
  });
}

void CounterSearch::AskEdit(std::string_view name, const CatalogEdit& edit) {
  if (edit.counters.has_value()) {
    const CatalogCounters& said = *edit.counters;
    Raise({name, "file number", said.next_file_number}, said.next_file_number,
          &counters_.next_file_number);
    Raise({name, "table", said.next_table_id}, said.next_table_id, &next_table_id_);
    Raise({name, "region", said.next_region_id}, said.next_region_id, &counters_.next_region_id);
    UsedSequence(name, said.last_sequence);
    counters_.last_timestamp = std::max(counters_.last_timestamp, said.last_timestamp);
    counters_.clock_high_micros = std::max(counters_.clock_high_micros, said.clock_high_micros);
  }
  for (const format::TableRecord& table : edit.put_tables) UsedTable(name, table.id);
  for (const format::FileRecord& record : edit.add_files) AskFileRecord(name, record);
  for (const format::RegionRecord& region : edit.put_regions) {
    UsedRegion(name, region.id);
    UsedSequence(name, region.flushed_through.value);
  }
  for (const format::SegmentRecord& segment : edit.add_segments) {
    UsedNumber(name, segment.number);
    ids_[segment.number] = segment.id;
  }
}

void CounterSearch::AskFileRecord(std::string_view name, const format::FileRecord& record) {
  UsedNumber(name, record.number);
  UsedSequence(name, record.max_sequence.value);
}

Status CounterSearch::AskSegment(const LocalFile& file) {
  auto opened = source_.Open(file.name, base::OpenMode::kReadOnly);
  if (!opened) return base::MayPass(opened.error()) ? opened.error() : Status();
  ASSIGN_OR_RETURN(const uint64_t size, (*opened)->Size());
  const auto header = wal::ReadSegmentHeader(opened->get());
  if (header && !IsOurs(header->spec.database)) return {};
  if (header) {
    ids_[file.number] = header->spec.id;
    UsedSequence(file.name, header->spec.predecessor.last_sequence);
  }
  const auto id = ids_.find(file.number);
  if (id == ids_.end()) return {};
  format::FrameReader frames(opened->get(), id->second, wal::kSegmentHeaderBytes, size);
  return frames.FindAll([&](const format::Frame& frame) {
    AskGroup(file.name, frame);
    return Status();
  });
}

void CounterSearch::AskGroup(std::string_view name, const format::Frame& frame) {
  const uint64_t last = frame.first_sequence + std::max(frame.count, 1u) - 1;
  UsedSequence(name, std::max(last, frame.first_sequence));
  UsedSequence(name, frame.durable_mark);
  wal::GroupReader group(frame.payload, format::SequenceNumber(frame.first_sequence),
                         frame.timestamp);
  wal::Operation operation;
  while (group.Next(&operation)) UsedTable(name, operation.table);
  int64_t last_timestamp = frame.timestamp;
  const int64_t later = std::max<int64_t>(group.batches(), 1) - 1;  // Batches count it up.
  if (__builtin_add_overflow(last_timestamp, later, &last_timestamp)) return;
  counters_.last_timestamp = std::max(counters_.last_timestamp, last_timestamp);
}

Status CounterSearch::AskStoreFile(const LocalFile& file) {
  auto opened = source_.Open(file.name, base::OpenMode::kReadOnly);
  if (!opened) return base::MayPass(opened.error()) ? opened.error() : Status();
  format::KnownFile known;
  known.number = file.number;
  const auto record = surviving_.catalog.files.find(file.number);
  if (record != surviving_.catalog.files.end()) known.id = record->second.id;
  if (const format::DatabaseId* database = surviving_.database()) known.database = *database;
  const auto store = format::DamagedFile::Open(*std::move(opened), known);
  if (!store) return base::IsOfSystem(store.error()) ? store.error() : Status();
  if ((*store)->region_start().has_value()) UsedTable(file.name, (*store)->table().id);
  if ((*store)->statistics().has_value()) {
    UsedSequence(file.name, (*store)->statistics()->max_sequence.value);
    return {};
  }
  ASSIGN_OR_RETURN(const uint64_t newest, NewestCell(**store));
  UsedSequence(file.name, newest);
  return {};
}

// Of a file whose statistics are lost. Its blocks are read, which few files need.
Result<uint64_t> CounterSearch::NewestCell(const format::DamagedFile& file) {
  uint64_t newest = 0;
  ASSIGN_OR_RETURN(const std::vector<format::FamilyScan> families, format::ScanFamilies(file));
  for (const format::FamilyScan& family : families) {
    if (family.family.value == format::kKeysOwner) continue;
    format::IntactRows rows(file, family);
    RETURN_IF_ERROR(rows.Next());
    while (rows.valid()) {
      RETURN_IF_ERROR(NoteCells(rows, &newest));
      RETURN_IF_ERROR(rows.Next());
    }
  }
  return newest;
}

}  // namespace

Status RaiseCounters(base::Directory* source, SurvivingCatalog* surviving, SalvageReport* report) {
  return CounterSearch(source, surviving, report).Run();
}

}  // namespace tandem::engine
