// Rows are decoded one by one and compared with hashes, bits, filter and statistics.
#include "engine/verify/rows.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/quote.h"
#include "base/status_macros.h"
#include "engine/verify/indexes.h"
#include "format/block/section_table.h"
#include "format/cell/overflow_value.h"
#include "format/corruption.h"
#include "format/hash.h"
#include "store_file/key_hashes_reader.h"
#include "store_file/scanner.h"

namespace tandem::format {
namespace {

struct Times {
  int64_t min = std::numeric_limits<int64_t>::max();
  int64_t max = std::numeric_limits<int64_t>::min();
  void Add(int64_t timestamp) {
    min = std::min(min, timestamp);
    max = std::max(max, timestamp);
  }
  bool empty() const { return min > max; }
};

/// By family and qualifier; others own the name.
struct LessColumn {
  using is_transparent = void;
  template <typename A, typename B>
  bool operator()(const A& a, const B& b) const {
    if (a.first != b.first) return a.first < b.first;
    return std::string_view(a.second) < std::string_view(b.second);
  }
};

class RowsVerifier {
 public:
  RowsVerifier(StoreFile* file, const RowChecks& checks, Findings* findings)
      : file_(*file),
        deep_(checks.deep),
        findings_(*findings),
        cells_(file->table()),
        indexes_(file, checks.functions, findings) {}

  Status Run();

 private:
  Status OpenParts();
  Status VerifyRow(const RowStream& rows);
  void BeginRow(std::string_view key);
  Status CountCells(std::span<const Cell> cells);
  Status CountCell(const Cell& cell);
  Status OpenKeyHashes();
  void OpenFilter();
  Status VerifyKeyHash(uint32_t ordinal, uint64_t hash);
  Status VerifyDerived(uint32_t ordinal, uint64_t hash, bool is_clean);
  Status FindRow(uint32_t ordinal, std::string_view key, uint64_t hash);
  Status FindInFamilies(uint32_t ordinal, std::string_view key);
  void CompareStatistics(std::string_view last_key);
  void CompareTimes(const std::vector<ColumnTimes>& stated, bool by_family);
  FindingTopic TopicOfSection(SectionKind kind) const { return TopicOf(file_.sections(), kind); }
  FindingTopic TopicOfRow(uint32_t ordinal) const;

  StoreFile& file_;
  const bool deep_;
  Findings& findings_;
  std::optional<KeyHashesReader> hashes_;  ///< nullopt: they cannot be read.
  uint64_t hash_count_ = 0;
  const BloomFilter* filter_ = nullptr;  ///< nullptr: it cannot be read.
  std::optional<base::Charged<BloomFilter>> own_filter_;
  const Bitmap* clean_ = nullptr;
  FindingTopic of_hashes_, of_clean_, of_filter_, of_block_index_;
  /// The row being verified, with its cells so far.
  struct Row {
    uint64_t cells = 0;
    bool is_clean = true;
    bool is_in_order = true;
    std::optional<Cell> last;
    std::string last_qualifier;
  };
  Row row_;
  IndexedRow cells_;         ///< Its cells.
  IndexesVerifier indexes_;  ///< Used with deep_.
  FileStatistics found_;
  std::string first_key_;
  Times all_times_;
  uint64_t min_sequence_ = kSequenceMax.value, max_sequence_ = 0;
  std::map<uint8_t, Times> family_times_;
  /// Of the columns that the statistics name.
  std::map<std::pair<uint8_t, std::string>, Times, LessColumn> column_times_;
};

Status RowsVerifier::Run() {
  RETURN_IF_ERROR(OpenParts());
  RowStream rows(&file_, 0, file_.row_count());
  std::string last_key;
  while (true) {
    RETURN_IF_ERROR(rows.Next());
    if (!rows.valid()) break;
    RETURN_IF_ERROR(VerifyRow(rows));
    last_key = rows.key();
  }
  CompareStatistics(last_key);
  return deep_ ? indexes_.Finish() : Status();
}

// The row's offset is that of the first block that has cells of it.
FindingTopic RowsVerifier::TopicOfRow(uint32_t ordinal) const {
  FindingTopic topic{"rows", FindingEffect::kRows};
  for (const FamilyId family : file_.families()) {
    const Result<DataSection*> data = file_.Family(family);
    if (!data.has_value() || *data == nullptr || !(*data)->Has(ordinal)) continue;
    const Result<uint32_t> block = (*data)->BlockOf((*data)->RankOf(ordinal));
    if (!block.has_value()) break;
    const Result<DataBlock> place = (*data)->BlockAt(*block);
    if (place.has_value()) topic.offset = place->handle.offset;
    break;
  }
  return topic;
}

Status RowsVerifier::OpenParts() {
  findings_.set_sections(file_.sections());
  of_hashes_ = TopicOfSection(SectionKind::kKeyHashes);
  of_clean_ = TopicOfSection(SectionKind::kCleanRows);
  of_filter_ = TopicOfSection(SectionKind::kFilter);
  of_block_index_ = TopicOfSection(SectionKind::kBlockIndex);
  for (const ColumnTimes& times : file_.statistics().column_times) {
    column_times_[{times.family.value, times.qualifier}];
  }
  RETURN_IF_ERROR(OpenKeyHashes());
  findings_.set_topic(of_hashes_);
  const Result<const Bitmap*> clean = file_.CleanRows();
  if (clean.has_value()) {
    clean_ = *clean;
  } else {
    RETURN_IF_ERROR(findings_.AddError(clean.error()));
  }
  OpenFilter();
  return deep_ ? indexes_.Open() : Status();
}

// One that does not fit in memory is read for this check alone. Damage to its section is found by
// the check of blocks.
void RowsVerifier::OpenFilter() {
  const Result<const BloomFilter*> filter = file_.Filter();
  if (!filter.has_value()) return;
  filter_ = *filter;
  if (filter_ != nullptr) return;
  Result<BloomFilter> own = file_.ReadFilter();
  if (!own.has_value()) return;
  const uint64_t bytes = own->size_bytes();
  own_filter_ = {*std::move(own), file_.blocks().Charge(base::MemoryPart::kFileWindows, bytes)};
  filter_ = &own_filter_->value;
}

Status RowsVerifier::OpenKeyHashes() {
  findings_.set_topic(of_hashes_);
  Result<KeyHashesReader> hashes = KeyHashesReader::Open(&file_);
  if (!hashes.has_value()) return findings_.AddError(hashes.error());
  const SectionEntry* const section = FindSection(file_.sections(), SectionKind::kKeyHashes);
  if (section != nullptr) hash_count_ = section->count;
  hashes_ = *std::move(hashes);
  return {};
}

Status RowsVerifier::VerifyRow(const RowStream& rows) {
  const uint32_t ordinal = rows.ordinal();
  const std::string name = "row " + std::to_string(ordinal);
  if (found_.rows == 0) first_key_ = rows.key();
  BeginRow(rows.key());
  RETURN_IF_ERROR(
      cells_.Read(rows, [this](std::span<const Cell> cells) { return CountCells(cells); }));
  if (row_.cells == 0) findings_.AddOn(TopicOfRow(ordinal), name + " has no cell");
  if (!row_.is_in_order) {
    findings_.AddOn(TopicOfRow(ordinal), name + ": its cells are not in order");
  }
  const bool is_clean = row_.is_clean && row_.cells > 0;
  found_.clean_rows += is_clean ? 1 : 0;
  const uint64_t hash = RowHash(rows.key(), file_.table().hash_secret);
  for (const uint64_t stated : rows.WideKeyHashes()) {
    if (stated == hash) continue;
    findings_.AddOn(TopicOfRow(ordinal),
                    HashMismatch("key hash in the head of " + name, hash, stated));
  }
  RETURN_IF_ERROR(VerifyDerived(ordinal, hash, is_clean));
  if (!deep_) return {};
  RETURN_IF_ERROR(FindRow(ordinal, rows.key(), hash));
  return indexes_.AddRow(ordinal, rows.key(), cells_.cells());
}

void RowsVerifier::BeginRow(std::string_view key) {
  row_ = {};
  ++found_.rows;
  ++findings_.report()->rows;
  found_.raw_bytes += key.size();
}

// Counts further cells of the current row, in order.
Status RowsVerifier::CountCells(std::span<const Cell> cells) {
  for (const Cell& cell : cells) {
    const Cell* before = row_.last.has_value() ? &*row_.last : nullptr;
    if (before != nullptr && !CellLess(*before, cell)) row_.is_in_order = false;
    if (cell.kind != CellKind::kPut || (before != nullptr && SameColumn(*before, cell))) {
      row_.is_clean = false;
    }
    row_.last = cell;
    RETURN_IF_ERROR(CountCell(cell));
  }
  if (row_.last.has_value()) {  // Its bytes last as long as its piece.
    row_.last_qualifier = row_.last->qualifier;
    row_.last->qualifier = row_.last_qualifier;
  }
  row_.cells += cells.size();
  found_.cells += cells.size();
  findings_.report()->cells += cells.size();
  return {};
}

Status RowsVerifier::CountCell(const Cell& cell) {
  ASSIGN_OR_RETURN(const uint64_t value_bytes, ValueBytes(cell));
  found_.raw_bytes += cell.qualifier.size() + value_bytes;
  found_.deletes += cell.kind == CellKind::kPut ? 0 : 1;
  all_times_.Add(cell.timestamp);
  if (cell.sequence.value != 0) {  // 0: a merge forgot it (format-wide rule).
    min_sequence_ = std::min(min_sequence_, cell.sequence.value);
    max_sequence_ = std::max(max_sequence_, cell.sequence.value);
  }
  if (cell.kind != CellKind::kPut) return {};
  family_times_[cell.family.value].Add(cell.timestamp);
  const auto column = column_times_.find(std::pair(cell.family.value, cell.qualifier));
  if (column != column_times_.end()) column->second.Add(cell.timestamp);
  return {};
}

Status RowsVerifier::VerifyDerived(uint32_t ordinal, uint64_t hash, bool is_clean) {
  const std::string name = " of row " + std::to_string(ordinal);
  RETURN_IF_ERROR(VerifyKeyHash(ordinal, hash));
  if (clean_ != nullptr && clean_->size() > ordinal && clean_->Test(ordinal) != is_clean) {
    findings_.AddOn(of_clean_, Mismatch("clean bit" + name, is_clean, !is_clean));
  }
  if (filter_ != nullptr && !filter_->MayContain(hash)) {
    findings_.AddOn(of_filter_, "the filter lacks the key" + name);
  }
  return {};
}

// Where they do not fit in memory, damage to them is met here.
Status RowsVerifier::VerifyKeyHash(uint32_t ordinal, uint64_t hash) {
  if (!hashes_.has_value() || ordinal >= hash_count_) return {};
  const Result<uint64_t> stated = hashes_->At(ordinal);
  if (!stated.has_value()) {
    hashes_.reset();
    findings_.set_topic(of_hashes_);
    return findings_.AddError(stated.error());
  }
  if (*stated == hash) return {};
  const std::string name = "key hash of row " + std::to_string(ordinal);
  findings_.AddOn(of_hashes_, HashMismatch(name, hash, *stated));
  return {};
}

Status RowsVerifier::FindRow(uint32_t ordinal, std::string_view key, uint64_t hash) {
  const std::string name = "row " + std::to_string(ordinal);
  findings_.set_topic(of_hashes_);
  const auto by_hash = file_.FindByHash(key, hash);
  if (!by_hash.has_value()) {
    RETURN_IF_ERROR(findings_.AddError(by_hash.error()));
  } else if (!by_hash->has_value() || (*by_hash)->ordinal != Ordinal(ordinal)) {
    findings_.Add(name + " is not found by its hash");
  }
  findings_.set_topic(of_block_index_);
  const Result<uint32_t> by_key = file_.LowerBound(key);
  if (!by_key.has_value()) return findings_.AddError(by_key.error());
  findings_.Compare("position of the key of " + name, ordinal, *by_key);
  return FindInFamilies(ordinal, key);
}

// The block index of each family leads from the key to the block of the row's position.
Status RowsVerifier::FindInFamilies(uint32_t ordinal, std::string_view key) {
  for (const FamilyId family : file_.families()) {
    ASSIGN_OR_RETURN(const DataSection* data, file_.Family(family));
    if (!data->Has(ordinal)) continue;
    ASSIGN_OR_RETURN(const uint32_t block, data->BlockOf(data->RankOf(ordinal)));
    ASSIGN_OR_RETURN(const uint32_t of_key, data->BlockOfKey(key));
    if (of_key == block) continue;
    findings_.Compare("block of the key of row " + std::to_string(ordinal) + " in family " +
                          std::to_string(family.value),
                      block, of_key);
  }
  return {};
}

void RowsVerifier::CompareStatistics(std::string_view last_key) {
  findings_.set_topic(TopicOfSection(SectionKind::kStatistics));
  const FileStatistics& stated = file_.statistics();
  findings_.Compare("rows, by the statistics", found_.rows, stated.rows);
  findings_.Compare("rows, by the key hashes", found_.rows, hash_count_);
  findings_.Compare("clean rows, by the statistics", found_.clean_rows, stated.clean_rows);
  findings_.Compare("cells, by the statistics", found_.cells, stated.cells);
  findings_.Compare("deletes, by the statistics", found_.deletes, stated.deletes);
  findings_.Compare("bytes as written, by the statistics", found_.raw_bytes, stated.raw_bytes);
  if (first_key_ != stated.min_key || last_key != stated.max_key) {
    findings_.Add("first and last key, by the statistics: expected " + base::Quote(first_key_) +
                  " and " + base::Quote(last_key) + ", found " + base::Quote(stated.min_key) +
                  " and " + base::Quote(stated.max_key));
  }
  // A merge keeps the bounds of its inputs, so those of the cells may be narrower.
  if (max_sequence_ != 0 &&
      (min_sequence_ < stated.min_sequence.value || max_sequence_ > stated.max_sequence.value)) {
    findings_.Add("sequences " + std::to_string(min_sequence_) + " to " +
                  std::to_string(max_sequence_) + " pass the bounds of the statistics");
  }
  if (!all_times_.empty() &&
      (all_times_.min != stated.min_timestamp || all_times_.max != stated.max_timestamp)) {
    findings_.Add("timestamps are not within the statistics' bounds: expected " +
                  std::to_string(all_times_.min) + " to " + std::to_string(all_times_.max) +
                  ", found " + std::to_string(stated.min_timestamp) + " to " +
                  std::to_string(stated.max_timestamp));
  }
  CompareTimes(stated.column_times, false);
  CompareTimes(stated.family_times, true);
}

void RowsVerifier::CompareTimes(const std::vector<ColumnTimes>& stated, bool by_family) {
  for (const ColumnTimes& times : stated) {
    const Times& found = by_family ? family_times_[times.family.value]
                                   : column_times_[std::pair(times.family.value, times.qualifier)];
    if (found.empty() || (found.min == times.min_timestamp && found.max == times.max_timestamp)) {
      continue;
    }
    findings_.Add("timestamps of " +
                  (by_family ? "a family" : "column " + base::Quote(times.qualifier)) +
                  ": expected " + std::to_string(found.min) + " to " + std::to_string(found.max) +
                  ", found " + std::to_string(times.min_timestamp) + " to " +
                  std::to_string(times.max_timestamp));
  }
}

}  // namespace

Status VerifyRows(StoreFile* file, const RowChecks& checks, Findings* findings) {
  const Status status = RowsVerifier(file, checks, findings).Run();
  findings->set_topic({"rows", FindingEffect::kRows});
  return status.ok() ? status : findings->AddError(status);
}

}  // namespace tandem::format
