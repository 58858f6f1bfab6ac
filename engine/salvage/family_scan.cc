// See the header for the steps.
#include "engine/salvage/family_scan.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "base/status_macros.h"
#include "format/block/bitmap_section.h"
#include "format/block/carver.h"
#include "format/block/section_table.h"
#include "format/cell/overflow_value.h"
#include "format/cell/projection.h"
#include "format/corruption.h"
#include "format/row/block_index_table.h"
#include "format/row/data_section.h"
#include "format/row/wide_row.h"

namespace tandem::format {
namespace {

constexpr std::string_view kNoPlace = "the block index is broken here, and no block was found";

// A row block, or the head of a wide row, that was found by its own bytes.
struct FoundRows {
  BlockHandle handle;
  uint32_t first = 0, count = 0;
  uint32_t end() const { return first + count; }
};

Result<RowBlockRef> DecodeRows(const DamagedFile& file, FamilyId family, BlockHandle handle) {
  ASSIGN_OR_RETURN(const std::unique_ptr<char[]> stored, file.blocks().ReadStored(handle));
  return RowBlock::Decode(file.blocks().PlaceAt(handle.offset), family,
                          {stored.get(), handle.stored_bytes});
}

Status ReadOverflowValues(std::span<const Cell> cells) {
  std::string value;
  for (const Cell& cell : cells) {
    if (!cell.is_overflow()) continue;
    value.clear();
    RETURN_IF_ERROR(ReadOverflowValue(cell, &value));
  }
  return {};
}

// Reads all that a row consists of, with the overflow values that its cells refer to.
Status ReadRow(const DamagedFile& file, const FamilyScan& scan, const RowBlockRef& rows,
               uint32_t slot) {
  if (!rows->is_wide()) {
    std::vector<Cell> cells;
    RETURN_IF_ERROR(rows->Cells(slot, Projection(scan.names, &file.blocks()), &cells));
    return ReadOverflowValues(cells);
  }
  const std::unique_ptr<CellStream> stream = NewWideRowStream(file.blocks(), rows);
  while (true) {
    ASSIGN_OR_RETURN(const bool more, stream->Next());
    if (!more) return {};
    RETURN_IF_ERROR(ReadOverflowValues(stream->cells()));
  }
}

class FamilyScanner {
 public:
  FamilyScanner(const DamagedFile& file, FamilyId family, FamilyScan* scan)
      : file_(file), scan_(*scan) {
    scan_.family = family;
  }

  Status ReadParts();
  Status ReadIndex();
  bool has_gaps() const;
  /// Whether its block index places a block there.
  bool Names(uint64_t offset) const { return named_.contains(offset); }
  /// Whether rows found at that place could be those of a gap.
  bool CouldOwn(const FoundRows& found) const;
  void Take(const FoundRows& found) { found_.push_back(found); }
  void FillGaps();
  Status VerifyBlocks();

 private:
  using Entries = std::map<uint32_t, ScannedBlock>;  // By their number in the block index.

  Status ReadPresence();
  Status ReadNames();
  Result<Entries> ReadEntries(const SectionEntry& index) const;
  Status AddEntry(const ScannedBlock& entry, uint32_t end, bool is_followed);
  void AddGap(uint32_t first, uint32_t end);
  Status VerifyBlock(ScannedBlock* block);
  Status VerifyRows(const RowBlockRef& rows, ScannedBlock* block);
  Status AddBroken(const RowBlockRef& rows, BrokenRow whole, ScannedBlock* block) const;
  std::string Why(const Status& status, const ScannedBlock& block) const;
  Status Note(const Status& status);

  const DamagedFile& file_;
  FamilyScan& scan_;
  std::set<uint64_t> named_;  // Offsets of the blocks that the block index places.
  std::vector<FoundRows> found_;
  std::string last_key_;
};

// What is wrong in the block.
std::string FamilyScanner::Why(const Status& status, const ScannedBlock& block) const {
  return WithoutPlace(status.message(), file_.blocks().file().name(), block.handle.offset);
}

// Records damage; other errors are returned.
Status FamilyScanner::Note(const Status& status) {
  if (status.code() != StatusCode::kCorruption) return status;
  scan_.damage.emplace_back(status.message());
  return {};
}

Status FamilyScanner::ReadParts() {
  RETURN_IF_ERROR(ReadPresence());
  return scan_.family.value == kKeysOwner ? Status() : ReadNames();
}

Status FamilyScanner::ReadPresence() {
  const SectionEntry* section =
      FindSection(file_.sections(), SectionKind::kPresence, scan_.family.value);
  scan_.is_full = section == nullptr;
  scan_.row_count = file_.row_count();
  if (section == nullptr) return {};
  if (section->count < file_.row_count()) {
    scan_.row_count = static_cast<uint32_t>(section->count);
  }
  Result<Bitmap> rows = ReadBitmapSection(file_.blocks(), *section, file_.row_count());
  if (!rows) return Note(rows.error());
  Presence presence(*std::move(rows));
  if (presence.count() == scan_.row_count) scan_.presence = std::move(presence);
  return {};
}

Status FamilyScanner::ReadNames() {
  const SectionEntry* section =
      FindSection(file_.sections(), SectionKind::kDictionary, scan_.family.value);
  BlockRef block;
  if (section != nullptr) {
    ASSIGN_OR_RETURN(block, file_.GoodBlock(*section, BlockKind::kDictionary));
  }
  if (block != nullptr) {
    Result<Dictionary> names = Dictionary::Decode(block);
    if (names) {
      scan_.names = *std::move(names);
      return {};
    }
  }
  return Note(file_.blocks().Corrupt(section == nullptr ? 0 : section->offset,
                                     "both copies of the column names are broken"));
}

// The entries of all good pieces.
Result<FamilyScanner::Entries> FamilyScanner::ReadEntries(const SectionEntry& index) const {
  Entries entries;
  const auto add = [&](const BlockRef& block, BlockHandle) {
    if (block->kind != BlockKind::kBlockIndex) return Status();
    const std::optional<IndexTable> table = ParseIndexPiece(*block);
    if (!table.has_value()) return Status();
    for (uint32_t i = 0; i < table->count(); ++i) {
      ScannedBlock& entry = entries[block->first + i];
      entry.handle = table->HandleOf(i);
      entry.first = table->FirstOf(i);
      table->Separator(i, &entry.separator.emplace());
    }
    return Status();
  };
  RETURN_IF_ERROR(FindBlocks(file_.blocks(), index.offset, index.offset + index.size_bytes, add));
  // Entries whose positions do not ascend contradict one another.
  for (auto at = entries.begin(); at != entries.end();) {
    const auto next = std::next(at);
    const bool rises = at->second.first < scan_.row_count &&
                       (next == entries.end() || at->second.first < next->second.first);
    at = rises ? next : entries.erase(at);
  }
  return entries;
}

Status FamilyScanner::ReadIndex() {
  const SectionEntry* section =
      FindSection(file_.sections(), SectionKind::kBlockIndex, scan_.family.value);
  ASSIGN_OR_RETURN(const Entries entries, ReadEntries(*section));
  if (entries.size() != section->count) {
    RETURN_IF_ERROR(Note(file_.blocks().Corrupt(
        section->offset, Mismatch("entries of the block index", section->count, entries.size()))));
  }
  uint32_t end = 0;
  for (auto at = entries.begin(); at != entries.end(); ++at) {
    const auto next = std::next(at);
    AddGap(end, at->second.first);
    end = next == entries.end() ? scan_.row_count : next->second.first;
    const uint64_t next_number = next == entries.end() ? section->count : next->first;
    RETURN_IF_ERROR(AddEntry(at->second, end, next_number == uint64_t{at->first} + 1));
  }
  AddGap(end, scan_.row_count);
  return {};
}

// Rows [entry.first, end) begin with the block; `is_followed`: and end with it.
Status FamilyScanner::AddEntry(const ScannedBlock& entry, uint32_t end, bool is_followed) {
  named_.insert(entry.handle.offset);
  ScannedBlock& block = scan_.blocks.emplace_back(entry);
  block.count = end - block.first;
  if (is_followed) return {};
  const Result<RowBlockRef> rows = DecodeRows(file_, scan_.family, block.handle);
  if (!rows) return rows.error().code() == StatusCode::kCorruption ? Status() : rows.error();
  if ((*rows)->row_count() >= block.count) return {};
  block.count = (*rows)->row_count();
  AddGap(block.first + block.count, end);
  return {};
}

void FamilyScanner::AddGap(uint32_t first, uint32_t end) {
  if (first >= end) return;
  ScannedBlock gap;
  gap.first = first;
  gap.count = end - first;
  gap.reason = kNoPlace;
  scan_.blocks.push_back(std::move(gap));
}

bool FamilyScanner::has_gaps() const {
  return std::any_of(scan_.blocks.begin(), scan_.blocks.end(),
                     [](const ScannedBlock& block) { return block.is_gap(); });
}

// Positions are within the gap, and offsets ascend with positions.
bool FamilyScanner::CouldOwn(const FoundRows& found) const {
  uint64_t before = 0;
  bool fits = false;
  for (const ScannedBlock& block : scan_.blocks) {
    if (block.is_gap()) {
      if (!fits) {
        fits = found.first >= block.first && found.end() <= block.first + block.count &&
               found.handle.offset > before;
      }
      continue;
    }
    if (fits) return found.handle.offset < block.handle.offset;
    before = block.handle.offset;
  }
  return fits;
}

// Puts the found blocks into the gaps they fit; where two claim a row, neither is believed.
void FamilyScanner::FillGaps() {
  std::sort(found_.begin(), found_.end(),
            [](const FoundRows& a, const FoundRows& b) { return a.first < b.first; });
  std::vector<FoundRows> alone;
  for (size_t i = 0; i < found_.size(); ++i) {
    const bool overlaps = (i > 0 && found_[i - 1].end() > found_[i].first) ||
                          (i + 1 < found_.size() && found_[i].end() > found_[i + 1].first);
    if (!overlaps) alone.push_back(found_[i]);
  }
  std::vector<ScannedBlock> before = std::exchange(scan_.blocks, {});
  size_t next = 0;
  for (ScannedBlock& block : before) {
    if (!block.is_gap()) {
      scan_.blocks.push_back(std::move(block));
      continue;
    }
    uint32_t at = block.first;
    const uint32_t end = block.first + block.count;
    while (next < alone.size() && alone[next].first < at) ++next;
    for (; next < alone.size() && alone[next].end() <= end; ++next) {
      AddGap(at, alone[next].first);
      ScannedBlock& filling = scan_.blocks.emplace_back();
      filling.handle = alone[next].handle;
      filling.first = alone[next].first;
      filling.count = alone[next].count;
      at = alone[next].end();
    }
    AddGap(at, end);
  }
}

Status FamilyScanner::VerifyBlocks() {
  for (ScannedBlock& block : scan_.blocks) {
    if (block.is_gap()) continue;
    const Status status = VerifyBlock(&block);
    block.is_good = status.ok();
    if (status.code() != StatusCode::kCorruption) {
      RETURN_IF_ERROR(status);
    } else {
      block.reason = Why(status, block);
    }
  }
  return {};
}

Status FamilyScanner::VerifyBlock(ScannedBlock* block) {
  ASSIGN_OR_RETURN(const RowBlockRef rows, DecodeRows(file_, scan_.family, block->handle));
  if (rows->first() != block->first || rows->row_count() != block->count) {
    return file_.blocks().Corrupt(block->handle.offset,
                                  Mismatch("first row of block", block->first, rows->first()));
  }
  return VerifyRows(rows, block);
}

Status FamilyScanner::VerifyRows(const RowBlockRef& rows, ScannedBlock* block) {
  std::string key, before = last_key_;
  for (uint32_t slot = 0; slot < rows->row_count(); ++slot) {
    RETURN_IF_ERROR(rows->Key(slot, &key));
    if (key.empty() || key <= before) {
      return file_.blocks().Corrupt(block->handle.offset, "row keys do not rise");
    }
    if (slot == 0) block->first_key = key;
    const Status status = ReadRow(file_, scan_, rows, slot);
    if (status.code() == StatusCode::kCorruption) {
      RETURN_IF_ERROR(AddBroken(rows, {slot, key, Why(status, *block), {}}, block));
    } else {
      RETURN_IF_ERROR(status);
    }
    before = key;
  }
  block->last_key = last_key_ = key;
  return {};
}

// What is lost of a row that cannot be read to its end. `whole`: all of it.
Status FamilyScanner::AddBroken(const RowBlockRef& rows, BrokenRow whole,
                                ScannedBlock* block) const {
  auto row = OpenPartialRow(file_.blocks(), scan_.names, rows, whole.slot);
  uint64_t cells = 0;
  Status status = row.status();
  while (status.ok()) {
    const Result<bool> more = (*row)->Next();
    status = more.status();
    if (!more || !*more) break;
    cells += (*row)->cells().size();
  }
  if (status.code() != StatusCode::kCorruption) RETURN_IF_ERROR(status);
  if (!status.ok() || cells == 0) {
    block->broken.push_back(std::move(whole));
    return {};
  }
  // Counts that contradict what can be read: what is missing may be anywhere.
  if ((*row)->lost().empty()) whole.columns.emplace().reason = whole.reason;
  for (const LostColumns& lost : (*row)->lost()) {
    block->broken.push_back({whole.slot, whole.key, lost.reason, lost});
  }
  if (whole.columns.has_value()) block->broken.push_back(std::move(whole));
  return {};
}

// Gives the blocks that no block index names to the one family that could own them.
Status FindUnnamed(const DamagedFile& file, std::vector<FamilyScanner>* scanners) {
  const SectionEntry* data = FindSection(file.sections(), SectionKind::kData);
  const auto place = [&](const BlockRef& block, BlockHandle handle) {
    if (block->kind != BlockKind::kRows && block->kind != BlockKind::kWideHead) return Status();
    const FoundRows found{handle, block->first, block->count};
    if (found.end() < found.first) return Status();
    FamilyScanner* owner = nullptr;
    size_t owners = 0;
    for (FamilyScanner& scanner : *scanners) {
      if (scanner.Names(handle.offset)) return Status();
      if (!scanner.CouldOwn(found)) continue;
      owner = &scanner;
      ++owners;
    }
    if (owners == 1) owner->Take(found);
    return Status();
  };
  return FindBlocks(file.blocks(), data->offset, data->offset + data->size_bytes, place);
}

}  // namespace

Result<std::vector<FamilyScan>> ScanFamilies(const DamagedFile& file) {
  std::vector<FamilyScan> scans(file.owners().size());
  std::vector<FamilyScanner> scanners;
  bool has_gaps = false;
  for (size_t i = 0; i < scans.size(); ++i) {
    FamilyScanner& scanner = scanners.emplace_back(file, file.owners()[i], &scans[i]);
    RETURN_IF_ERROR(scanner.ReadParts());
    RETURN_IF_ERROR(scanner.ReadIndex());
    has_gaps |= scanner.has_gaps();
  }
  if (has_gaps) RETURN_IF_ERROR(FindUnnamed(file, &scanners));
  for (FamilyScanner& scanner : scanners) {
    scanner.FillGaps();
    RETURN_IF_ERROR(scanner.VerifyBlocks());
  }
  return scans;
}

// Whether the row has a broken part: `whole`: all of it is lost; else only some columns.
bool IntactRows::IsBroken(bool whole) const {
  const std::vector<BrokenRow>& broken = scan_.blocks[next_block_ - 1].broken;
  return std::any_of(broken.begin(), broken.end(), [&](const BrokenRow& row) {
    return row.slot == slot_ && row.columns.has_value() != whole;
  });
}

Status IntactRows::NextBlock() {
  previous_block_ = std::move(block_);
  block_ = nullptr;
  while (next_block_ < scan_.blocks.size() && !scan_.blocks[next_block_].is_good) {
    ++next_block_;
  }
  if (next_block_ == scan_.blocks.size()) return {};
  ASSIGN_OR_RETURN(block_, DecodeRows(file_, scan_.family, scan_.blocks[next_block_].handle));
  ++next_block_;
  slot_ = 0;
  return {};
}

Status IntactRows::Next() {
  if (block_ != nullptr) ++slot_;
  do {
    while (block_ != nullptr && slot_ < block_->row_count() && IsBroken(/*whole=*/true)) {
      ++slot_;
    }
    if (block_ != nullptr && slot_ < block_->row_count()) return block_->Key(slot_, &key_);
    RETURN_IF_ERROR(NextBlock());
  } while (block_ != nullptr);
  return {};
}

Status IntactRows::Cells(std::vector<Cell>* cells) const {
  return block_->Cells(slot_, Projection(scan_.names, &file_.blocks()), cells);
}

Result<std::unique_ptr<CellStream>> IntactRows::Stream() const {
  if (IsBroken(/*whole=*/false)) {
    ASSIGN_OR_RETURN(auto row, OpenPartialRow(file_.blocks(), scan_.names, block_, slot_));
    return std::unique_ptr<CellStream>(std::move(row));
  }
  if (block_->is_wide()) return NewWideRowStream(file_.blocks(), block_);
  std::vector<Cell> cells;
  RETURN_IF_ERROR(Cells(&cells));
  return NewCellStream(std::move(cells), block_);
}

}  // namespace tandem::format
