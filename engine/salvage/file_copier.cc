// Steps: the file is opened and scanned; lost rows are described by what other sections know of
// them; the good rows of all families are merged by key and written.
#include "engine/salvage/file_copier.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/status_macros.h"
#include "engine/region/store_files.h"
#include "engine/salvage/schema_check.h"
#include "engine/verify/blocks.h"
#include "engine/verify/findings.h"
#include "format/row/data_section.h"
#include "store_file/store_file.h"
#include "store_file/writer.h"

namespace tandem::engine {
namespace {

using format::FamilyScan;
using format::IntactRows;
using format::ScannedBlock;

constexpr size_t kCancelEvery = 1024;  // Rows.

// The keys between those around the block, where these are known.
format::KeyRange KeysAround(const FamilyScan& scan, size_t at, const format::RegionRecord& region) {
  format::KeyRange keys{region.start_key, std::nullopt};
  if (!region.end_key.empty()) keys.high = region.end_key;
  const std::vector<ScannedBlock>& blocks = scan.blocks;
  if (blocks[at].separator.has_value()) {
    keys.low = std::max(keys.low, *blocks[at].separator);
  } else {
    for (size_t i = at; i-- > 0;) {
      if (!blocks[i].is_good) continue;
      keys.low = std::max(keys.low, blocks[i].last_key + '\0');
      break;
    }
  }
  for (size_t i = at + 1; i < blocks.size(); ++i) {
    const bool is_known = blocks[i].separator.has_value() || blocks[i].is_good;
    if (!is_known) continue;
    keys.high = blocks[i].separator.value_or(blocks[i].first_key);
    break;
  }
  return keys;
}

std::string FamilyNameOf(const format::TableRecord& table, format::FamilyId id) {
  for (const format::FamilyRecord& family : table.families) {
    if (family.id == id) return family.options.name;
  }
  return "family " + std::to_string(id.value);
}

}  // namespace

struct FileSalvage::Work {
  const PlannedFile& planned;
  const format::RegionRecord& region;
  std::unique_ptr<format::DamagedFile> file;
  std::vector<FamilyScan> families;
  std::optional<NewFile> created;
  std::optional<format::StoreFileWriter> writer;
  uint64_t cells = 0, rows_elsewhere = 0;
  size_t misfits_begin = 0;  // In the list of what is lost.
};

Result<std::optional<format::FileRecord>> FileSalvage::Copy(const PlannedFile& planned,
                                                            const format::RegionRecord& region) {
  Work work{.planned = planned,
            .region = region,
            .file = nullptr,
            .families = {},
            .created = {},
            .writer = {}};
  const Status scanned = Scan(&work);
  const StatusCode code = scanned.code();
  if (code == StatusCode::kCorruption || code == StatusCode::kNotFound) {
    LoseWhole(work, scanned);
    return std::optional<format::FileRecord>();
  }
  RETURN_IF_ERROR(scanned);
  RETURN_IF_ERROR(FindLost(&work));
  std::vector<IntactRows> rows;
  for (const FamilyScan& scan : work.families) {
    if (scan.family.value != format::kKeysOwner) rows.emplace_back(*work.file, scan);
  }
  RETURN_IF_ERROR(CopyRows(&work, &rows));
  return Finish(&work);
}

void FileSalvage::NoteRepaired(const std::string& file, const std::string& what) {
  report_.repaired.push_back({file, what});
}

Status FileSalvage::Scan(Work* work) {
  const PlannedFile& planned = work->planned;
  ASSIGN_OR_RETURN(auto file, source_.directory->Open(planned.name, base::OpenMode::kReadOnly));
  format::KnownFile known;
  known.number = planned.number;
  if (planned.record != nullptr) known.id = planned.record->id;
  if (source_.database != nullptr) known.database = *source_.database;
  known.table = source_.table;
  ASSIGN_OR_RETURN(work->file, format::DamagedFile::Open(std::move(file), known));
  for (const std::string& damage : work->file->damage()) NoteRepaired(planned.name, damage);
  ASSIGN_OR_RETURN(work->families, format::ScanFamilies(*work->file));
  // Anything else that is broken is derived from the rows, and rebuilt.
  ASSIGN_OR_RETURN(file, source_.directory->Open(planned.name, base::OpenMode::kReadOnly));
  const auto strict = format::StoreFile::Open(std::move(file), {}, nullptr);
  if (!strict) return {};
  VerifyReport found;
  {
    format::Findings findings(planned.name, &found);
    RETURN_IF_ERROR(format::VerifyBlocks(**strict, &findings));
  }
  for (const Finding& finding : found.findings) NoteRepaired(planned.name, finding.text);
  return {};
}

void FileSalvage::LoseWhole(const Work& work, const Status& why) {
  LostRange& lost = report_.lost.emplace_back();
  lost.file = work.planned.name;
  lost.table = source_.table->name;
  lost.region = work.region.id.value;
  lost.reason = why.message();
  lost.keys.low = work.region.start_key;
  if (!work.region.end_key.empty()) lost.keys.high = work.region.end_key;
  const format::FileRecord* record = work.planned.record;
  if (record == nullptr) return;
  lost.bytes = record->size_bytes;
  lost.rows = record->rows;
  lost.first_ordinal = 0;
  lost.last_ordinal = record->rows - 1;
  lost.keys = {record->min_key, record->max_key + '\0'};
}

Status FileSalvage::FindLost(Work* work) {
  std::vector<LostRange> lost;
  for (const FamilyScan& scan : work->families) {
    for (const std::string& damage : scan.damage) NoteRepaired(work->planned.name, damage);
    FindLostOf(*work, scan, &lost);
  }
  RETURN_IF_ERROR(Describe(work, &lost));
  for (LostRange& range : lost) report_.lost.push_back(std::move(range));
  return {};
}

void FileSalvage::FindLostOf(const Work& work, const FamilyScan& scan,
                             std::vector<LostRange>* lost) const {
  // Keys that are stored separately belong to rows that other families have.
  if (scan.family.value == format::kKeysOwner) return;
  LostRange range;
  range.file = work.planned.name;
  range.table = source_.table->name;
  range.region = work.region.id.value;
  range.family = FamilyNameOf(work.file->table(), scan.family);
  for (size_t i = 0; i < scan.blocks.size(); ++i) {
    const ScannedBlock& block = scan.blocks[i];
    range.offset = block.handle.offset;
    range.bytes = block.handle.stored_bytes;
    if (!block.is_good) {
      range.rows = block.count;
      range.first_ordinal = scan.OrdinalOf(block.first);
      range.last_ordinal = scan.OrdinalOf(block.first + block.count - 1);
      range.keys = KeysAround(scan, i, work.region);
      range.reason = block.reason;
      lost->push_back(range);
    }
    for (const format::BrokenRow& row : block.broken) {
      range.rows = 1;
      range.first_ordinal = range.last_ordinal = scan.OrdinalOf(block.first + row.slot);
      range.keys = {row.key, row.key + '\0'};
      range.reason = row.reason;
      LostRange& added = lost->emplace_back(range);
      if (!row.columns.has_value()) continue;
      added.columns = format::KeyRange{row.columns->low, row.columns->high};
      if (row.columns->bytes == 0) continue;
      added.offset = row.columns->offset;
      added.bytes = row.columns->bytes;
    }
  }
}

// Each lost row with what is known of it, in every range that lacks a family of it.
Status FileSalvage::Describe(Work* work, std::vector<LostRange>* lost) {
  std::set<uint32_t> ordinals;
  const auto visit = [&](const auto& add) {
    size_t at = 0;
    for (const FamilyScan& scan : work->families) {
      if (scan.family.value == format::kKeysOwner) continue;
      const auto add_rows = [&](uint32_t first, uint32_t count) {
        LostRange& range = (*lost)[at++];
        for (uint32_t position = first; position < first + count; ++position) {
          const std::optional<uint32_t> ordinal = scan.OrdinalOf(position);
          if (ordinal.has_value()) add(&range, scan.family, *ordinal);
        }
      };
      for (const ScannedBlock& block : scan.blocks) {
        if (!block.is_good) add_rows(block.first, block.count);
        for (const format::BrokenRow& row : block.broken) add_rows(block.first + row.slot, 1);
      }
    }
  };
  visit([&](LostRange*, format::FamilyId, uint32_t ordinal) {
    if (ordinals.size() < format::kDescribedRowsMax) ordinals.insert(ordinal);
  });
  std::vector<std::string> damage;
  const std::vector<uint32_t> wanted(ordinals.begin(), ordinals.end());
  ASSIGN_OR_RETURN(const std::vector<format::LostRow> rows,
                   format::DescribeLostRows(*work->file, work->families, wanted, &damage));
  for (const std::string& what : damage) NoteRepaired(work->planned.name, what);
  visit([&](LostRange* range, format::FamilyId family, uint32_t ordinal) {
    const auto row = std::lower_bound(
        rows.begin(), rows.end(), ordinal,
        [](const format::LostRow& known, uint32_t wanted) { return known.ordinal < wanted; });
    if (row == rows.end() || row->ordinal != ordinal) return;
    format::LostRow& detail = range->details.emplace_back(*row);
    std::erase_if(detail.values, [&](const format::LostValue& value) {
      const format::IndexRecord* index = work->file->table().FindIndex(value.index);
      return index == nullptr || std::none_of(index->columns.begin(), index->columns.end(),
                                              [&](const format::IndexColumnRecord& column) {
                                                return column.family == family;
                                              });
    });
  });
  return {};
}

Status FileSalvage::CopyRows(Work* work, std::vector<IntactRows>* families) {
  work->misfits_begin = report_.lost.size();
  for (IntactRows& rows : *families) RETURN_IF_ERROR(rows.Next());
  std::vector<IntactRows*> holders;
  std::string key;
  for (size_t count = 1;; ++count) {
    holders.clear();
    for (IntactRows& rows : *families) {
      if (!rows.valid()) continue;
      if (!holders.empty() && holders.front()->key() < rows.key()) continue;
      if (!holders.empty() && rows.key() < holders.front()->key()) holders.clear();
      holders.push_back(&rows);
    }
    if (holders.empty()) return {};
    key = holders.front()->key();
    const bool is_inside = key >= work->region.start_key &&
                           (work->region.end_key.empty() || key < work->region.end_key);
    if (is_inside) {
      RETURN_IF_ERROR(WriteRow(work, key, &holders));
    } else {
      ++work->rows_elsewhere;
    }
    for (IntactRows* rows : holders) RETURN_IF_ERROR(rows->Next());
    if (count % kCancelEvery == 0 && target_.cancelled != nullptr &&
        target_.cancelled->load(std::memory_order_relaxed)) {
      return Status::Cancelled("interrupted while " + work->planned.name + " was copied");
    }
  }
}

Status FileSalvage::BeginFile(Work* work) {
  ASSIGN_OR_RETURN(work->created, target_.storage->CreateFile());
  work->writer.emplace(std::move(work->created->file),
                       format::StoreFileSpec{.number = work->created->number,
                                             .id = work->created->id,
                                             .database = target_.database,
                                             .table = source_.table,
                                             .region_start = work->region.start_key,
                                             .alignment = target_.section_alignment});
  return {};
}

// Removes the cells that the table cannot have.
void FileSalvage::KeepFitting(Work* work, const IntactRows& rows,
                              std::vector<format::Cell>* cells) {
  size_t kept = 0;
  for (const format::Cell& cell : *cells) {
    Status fits = CheckSequence(cell.sequence, source_.sequence_limit);
    if (fits.ok()) fits = CheckFits(*source_.table, cell);
    if (fits.ok()) {
      (*cells)[kept++] = cell;
      continue;
    }
    LostRange lost;
    lost.file = work->planned.name;
    lost.table = source_.table->name;
    lost.region = work->region.id.value;
    lost.family = FamilyNameOf(work->file->table(), rows.family());
    lost.rows = 1;
    lost.first_ordinal = lost.last_ordinal = rows.ordinal();
    lost.keys = {rows.key(), rows.key() + '\0'};
    const std::string column(cell.qualifier);
    lost.columns = format::KeyRange{column, column + '\0'};
    lost.reason = fits.message();
    AddLostRow(std::move(lost), work->misfits_begin, &report_.lost);
  }
  cells->resize(kept);
}

// `holders`: of the families that have the row, by id.
Status FileSalvage::WriteRow(Work* work, const std::string& key,
                             std::vector<IntactRows*>* holders) {
  const bool in_pieces = std::any_of(holders->begin(), holders->end(), [](const IntactRows* rows) {
    return rows->comes_in_pieces();
  });
  if (in_pieces) return WritePieces(work, key, holders);
  std::vector<format::Cell> cells, family;
  for (const IntactRows* rows : *holders) {
    family.clear();
    RETURN_IF_ERROR(rows->Cells(&family));
    KeepFitting(work, *rows, &family);
    cells.insert(cells.end(), family.begin(), family.end());
  }
  if (cells.empty()) return {};
  if (!work->writer.has_value()) RETURN_IF_ERROR(BeginFile(work));
  work->cells += cells.size();
  return work->writer->AddRow(key, cells).status();
}

Status FileSalvage::WritePieces(Work* work, const std::string& key,
                                std::vector<IntactRows*>* holders) {
  bool begun = false;
  std::vector<format::Cell> cells;
  for (const IntactRows* rows : *holders) {
    ASSIGN_OR_RETURN(const std::unique_ptr<format::CellStream> stream, rows->Stream());
    while (true) {
      ASSIGN_OR_RETURN(const bool more, stream->Next());
      if (!more) break;
      cells.assign(stream->cells().begin(), stream->cells().end());
      KeepFitting(work, *rows, &cells);
      if (cells.empty()) continue;
      if (!work->writer.has_value()) RETURN_IF_ERROR(BeginFile(work));
      if (!std::exchange(begun, true)) RETURN_IF_ERROR(work->writer->BeginRow(key));
      work->cells += cells.size();
      RETURN_IF_ERROR(work->writer->AddCells(cells));
    }
  }
  return begun ? work->writer->EndRow().status() : Status();
}

Result<std::optional<format::FileRecord>> FileSalvage::Finish(Work* work) {
  if (work->rows_elsewhere > 0) {
    NoteRepaired(work->planned.name, std::to_string(work->rows_elsewhere) +
                                         " rows outside of region " +
                                         std::to_string(work->region.id.value) + " were left out");
  }
  if (!work->writer.has_value()) return std::optional<format::FileRecord>();
  // Bounds of sequences may be wider than those of the cells: a merge forgets sequences.
  const auto widen = [&](format::SequenceNumber min, format::SequenceNumber max) {
    if (max.value <= source_.sequence_limit) work->writer->WidenSequences(min, max);
  };
  if (work->file->statistics().has_value()) {
    widen(work->file->statistics()->min_sequence, work->file->statistics()->max_sequence);
  } else if (work->planned.record != nullptr) {
    widen(work->planned.record->min_sequence, work->planned.record->max_sequence);
  }
  ASSIGN_OR_RETURN(const format::StoreFileSummary summary, work->writer->Finish());
  ++report_.files;
  report_.rows += summary.statistics.rows;
  report_.cells += work->cells;
  return std::optional(
      RecordOf(work->created->number, work->created->id, source_.table->id, summary));
}

}  // namespace tandem::engine
