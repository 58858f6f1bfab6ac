// One row at a time:
//   1. Gather: read the row of the smallest key from each source positioned on it, and advance
//      them.
//   2. Retain: apply the retention rules to all of its cells, sorted.
//   3. Write: a row that kept every cell of one source, and no other, has the same entries as
//      there, because entries are a function of the cells; its postings come with the source's
//      section, through the ordinal map. The entries of any other row are collected from its cells.
//      Its entries in each source that they do not come from are subtracted from the digest that
//      comes with that source's section. If the row filled a block there, the block is copied as
//      it is stored.
//
// A row that is wide in some source is not gathered: it is merged column by column
// (column_merge.h).
// If the output may be several files, digests are counted row by row instead, and a source's
// section is added to a file with the first row copied from it. They are counted row by row too for
// a source that is merged only in part; its postings outside of the part have no new ordinal, and
// go. A source that lacks a section, or of which only a small part is merged, gives no sections:
// all its rows are collected.
#include "compaction/merge.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/loser_tree.h"
#include "base/memory_account.h"
#include "base/page_memory.h"
#include "base/status_macros.h"
#include "compaction/column_merge.h"
#include "format/cell/cell.h"
#include "format/cell/visibility.h"
#include "format/hash.h"
#include "format/passed_pages.h"
#include "format/registry/registered.h"
#include "format/row/row_block_writer.h"
#include "store_file/scanner.h"

namespace tandem::compaction {
namespace {

// The postings of a whole file are read to copy those of a part. Below this part of its rows it is
// cheaper to collect them from the rows.
constexpr uint32_t kPartDenominator = 8;

// The sections of indexes that the system's cache has more than this part of stay in it.
constexpr uint64_t kCachedIndexDenominator = 4;

// The pages of a file after its rows. What a merge brings of them into the system's cache goes at
// its end: it reads the indexes once for each file that it writes.
struct EndPages {
  uint64_t offset = 0;
  std::vector<bool> were_cached = {};  // Empty: not known.
  uint64_t index_pages = 0, cached_index_pages = 0;
};

EndPages EndPagesOf(const format::StoreFile& file) {
  constexpr uint64_t kPageBytes = base::File::kCachePageBytes;
  EndPages pages;
  for (const format::SectionEntry& section : file.sections()) {
    if (section.kind != format::SectionKind::kData) continue;
    pages.offset = (section.offset + section.size_bytes) / kPageBytes * kPageBytes;
  }
  pages.were_cached =
      file.blocks().file().CachedPages(pages.offset, file.size_bytes() - pages.offset);
  for (const format::SectionEntry& section : file.sections()) {
    if (!IsIndexSection(section.kind) || section.offset < pages.offset) continue;
    const uint64_t begin = (section.offset - pages.offset) / kPageBytes;
    const uint64_t end = begin + section.size_bytes / kPageBytes;
    for (uint64_t page = begin; page < std::min<uint64_t>(end, pages.were_cached.size()); ++page) {
      pages.index_pages += 1;
      pages.cached_index_pages += pages.were_cached[page];
    }
  }
  return pages;
}

struct Source {
  Source(const MergeInput& input, const MergeOptions& options, uint64_t window_bytes)
      : rows(input.file, input.low, input.high, window_bytes), file(input.file) {
    rows.KeepStoredRows();
    if (!options.spares_page_cache) return;
    end_pages = EndPagesOf(*file);
    rows.SparePageCache();
  }
  ~Source() {
    format::DropPagesThatCame(&file->blocks().file(), end_pages.offset, end_pages.were_cached);
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  format::RowStream rows;
  format::StoreFile* file = nullptr;
  EndPages end_pages;
  uint32_t row_count = 0;                       ///< Of the file.
  bool gives_sections = false;                  ///< Otherwise all its rows are collected.
  bool counts_digests = false;                  ///< Row by row, for those copied from it.
  std::vector<format::IndexSection*> sections;  ///< One per index.
  bool is_added = false;                        ///< Its sections go into the current file.
  /// New ordinal in the current file, by old ordinal; made when the sections are added.
  std::span<uint32_t> map;
  base::PageBuffer map_bytes;
  base::MemoryCharge map_charge;

  void MakeMap() {
    const std::span<char> bytes = map_bytes.Resize(row_count * sizeof(uint32_t));
    map_charge = file->blocks().Charge(base::MemoryPart::kFileWriters, bytes.size());
    map = {reinterpret_cast<uint32_t*>(bytes.data()), row_count};
    std::fill(map.begin(), map.end(), format::kNotCopied);
  }
  void DropMap() {
    map = {};
    map_bytes.Clear();
    map_charge.Set(0);
  }
};

/// A source's part of the row being merged: cells_[begin, end).
struct Part {
  Source* source = nullptr;
  uint32_t ordinal = 0;
  size_t begin = 0, end = 0;
  size_t first_stored = 0, stored_count = 0;   ///< In stored_.
  std::unique_ptr<format::CellStream> stream;  ///< In place of cells_, when the row is wide.
};

// Whether the limits may split the output into several files.
bool MayRoll(std::span<const MergeInput> inputs, const FileLimits& limits) {
  uint64_t rows = 0, bytes = 0;
  for (const MergeInput& input : inputs) {
    rows += input.high - input.low;
    bytes += input.file->size_bytes();
  }
  return rows > limits.rows || bytes > limits.bytes;
}

bool HasMarker(std::span<const format::Cell> cells) {
  return std::any_of(cells.begin(), cells.end(),
                     [](const format::Cell& cell) { return cell.kind != format::CellKind::kPut; });
}

// Whether both are one cell of one source: two sources hold it only if they hold the same.
bool IsSame(const format::Cell& a, const format::Cell& b) {
  return a.timestamp == b.timestamp && a.sequence == b.sequence && a.kind == b.kind &&
         a.family == b.family && a.qualifier == b.qualifier && a.value == b.value &&
         a.overflow_file == b.overflow_file;
}

class Merger {
 public:
  Merger(std::span<const MergeInput> inputs, const MergeOptions& options, MergeOutput* output,
         bool may_roll)
      : inputs_(inputs),
        options_(options),
        output_(output),
        may_roll_(may_roll),
        forgets_sequences_(options.older_may_contain == nullptr && options.snapshots.empty()),
        has_former_limits_(options.table->last_limits_change().value != 0) {}

  /// nullopt: the single file outgrew its memory; nothing was finished.
  Result<std::optional<MergeResult>> Run();

 private:
  Status OpenSource(const MergeInput& input);
  Status BeginFile();
  Status FinishFile();
  bool WereIndexesCached() const;
  void AddSections(Source* source);
  Status GatherRow();
  Status RetainRow();
  Status WriteRow();
  Status MergeWideRow();
  Result<format::StoreFileWriter*> WriterOfNextRow();
  bool HasTooManyEntries() const { return writer_->entry_bytes() > options_.entry_bytes; }
  const Part* SurvivingPart() const;
  void ForgetSequences();
  Status CopyRow(const Part& part);
  Status TakeOutOfDigests(const Part* except);
  Status BlocksWereRead();
  Status CheckCancelled() const;
  uint64_t BytesRead() const;
  void NoteProgress() const;
  bool ComesBefore(size_t a, size_t b) const;

  struct Before {
    const Merger* merger;
    bool operator()(size_t a, size_t b) const { return merger->ComesBefore(a, b); }
  };

  std::span<const MergeInput> inputs_;
  const MergeOptions& options_;
  MergeOutput* output_;
  const bool may_roll_;
  const bool forgets_sequences_;
  const bool has_former_limits_;
  format::StoreFileWriter* writer_ = nullptr;  ///< Of the current file.
  std::vector<std::unique_ptr<Source>> sources_;
  std::optional<base::LoserTree<Before>> tree_;
  uint64_t blocks_checked_ = 0;
  MergeResult result_;

  // The row being merged.
  std::string key_;
  bool row_is_wide_ = false;  ///< In some source.
  bool was_cached_ = false;   ///< Blocks of some source with the row, in the system's cache.
  std::vector<Part> parts_;
  std::vector<format::Cell> cells_;        ///< Of all parts, one after the other.
  std::vector<format::StoredRow> stored_;  ///< The same.
  std::vector<format::Cell> sorted_;       ///< The same, sorted by CellLess.
  std::vector<format::Cell> retained_;
};

Result<std::optional<MergeResult>> Merger::Run() {
  for (const MergeInput& input : inputs_) RETURN_IF_ERROR(OpenSource(input));
  // A single file starts with the whole digests of its inputs; rows are subtracted from them later.
  if (!may_roll_) RETURN_IF_ERROR(BeginFile());
  tree_.emplace(sources_.size(), Before{this});
  while (sources_[tree_->top()]->rows.valid()) {
    RETURN_IF_ERROR(BlocksWereRead());
    if (!may_roll_ && HasTooManyEntries()) return std::optional<MergeResult>();
    RETURN_IF_ERROR(GatherRow());
    if (row_is_wide_) {
      RETURN_IF_ERROR(MergeWideRow());
    } else {
      RETURN_IF_ERROR(RetainRow());
      RETURN_IF_ERROR(WriteRow());
    }
  }
  NoteProgress();
  result_.empty = result_.rows_out == 0;
  if (!result_.empty) RETURN_IF_ERROR(FinishFile());
  return std::optional(std::move(result_));
}

Status Merger::BeginFile() {
  ASSIGN_OR_RETURN(writer_, output_->NextFile());
  if (options_.spares_page_cache) writer_->SparePageCache(WereIndexesCached());
  if (may_roll_) return {};
  for (const auto& source : sources_) {
    if (source->gives_sections) AddSections(source.get());
  }
  return {};
}

// Whether enough of the inputs' indexes was in the system's cache; true if that is not known.
bool Merger::WereIndexesCached() const {
  uint64_t pages = 0, cached = 0;
  for (const auto& source : sources_) {
    pages += source->end_pages.index_pages;
    cached += source->end_pages.cached_index_pages;
  }
  return cached * kCachedIndexDenominator >= pages;
}

// Every file of the run gets the sequence bounds of all inputs, or what replaces them.
Status Merger::FinishFile() {
  auto min = format::kSequenceMax;
  auto max = format::SequenceNumber(0);
  for (const MergeInput& input : inputs_) {
    min = std::min(min, input.file->statistics().min_sequence);
    max = std::max(max, input.file->statistics().max_sequence);
  }
  if (forgets_sequences_) {
    min = std::max(min, options_.limits_settled_at);
    max = std::max(max, options_.limits_settled_at);
  }
  writer_->WidenSequences(min, max);
  ASSIGN_OR_RETURN(result_.summary, writer_->Finish());
  result_.blocks_copied += writer_->copied_blocks();
  writer_ = nullptr;
  for (const auto& source : sources_) {
    source->is_added = false;
    source->DropMap();
  }
  return output_->Finished(result_.summary);
}

void Merger::AddSections(Source* source) {
  source->is_added = true;
  source->MakeMap();
  const auto digest =
      source->counts_digests ? format::CopiedDigest::kByRow : format::CopiedDigest::kWhole;
  for (size_t i = 0; i < source->sections.size(); ++i) {
    writer_->index(i).AddSection(source->sections[i], source->map, digest);
  }
}

Status Merger::OpenSource(const MergeInput& input) {
  sources_.push_back(
      std::make_unique<Source>(input, options_, options_.window_bytes / inputs_.size()));
  Source* source = sources_.back().get();
  RETURN_IF_ERROR(source->rows.Next());
  std::vector<format::IndexSection*> sections;
  for (const format::IndexRecord& index : options_.table->indexes) {
    ASSIGN_OR_RETURN(format::IndexSection* const section, input.file->Index(index.id));
    // What calls functions of the program is collected, whether there is a section or not.
    if (section != nullptr || HasCalls(index)) sections.push_back(section);
  }
  const uint32_t rows = input.high - input.low, rows_of_file = input.file->row_count();
  if (rows < rows_of_file / kPartDenominator) return {};
  if (sections.size() < options_.table->indexes.size()) return {};
  source->gives_sections = true;
  source->counts_digests = may_roll_ || rows < rows_of_file;
  source->row_count = rows_of_file;
  source->sections = std::move(sections);
  return {};
}

bool Merger::ComesBefore(size_t a, size_t b) const {
  const format::RowStream& left = sources_[a]->rows;
  const format::RowStream& right = sources_[b]->rows;
  if (!left.valid() || !right.valid()) return left.valid() || (!right.valid() && a < b);
  const int order = left.key().compare(right.key());
  return order < 0 || (order == 0 && a < b);
}

// Before each row; costs more only when a block was read since.
Status Merger::BlocksWereRead() {
  uint64_t blocks = 0;
  for (const auto& source : sources_) blocks += source->rows.blocks_read();
  if (blocks == blocks_checked_) return {};
  blocks_checked_ = blocks;
  NoteProgress();
  RETURN_IF_ERROR(CheckCancelled());
  return options_.passed == nullptr ? Status() : options_.passed(BytesRead());
}

void Merger::NoteProgress() const {
  if (options_.read_bytes == nullptr) return;
  options_.read_bytes->store(BytesRead(), std::memory_order_relaxed);
}

// Of each file its part of the rows, as a file of a split region has two parts.
uint64_t Merger::BytesRead() const {
  uint64_t bytes = 0;
  for (size_t i = 0; i < sources_.size(); ++i) {
    const format::RowStream& rows = sources_[i]->rows;
    const MergeInput& input = inputs_[i];
    const uint32_t passed = (rows.valid() ? rows.ordinal() : input.high) - input.low;
    const uint64_t of_file = input.file->size_bytes();
    const uint32_t all = input.file->row_count();
    bytes += passed >= all
                 ? of_file
                 : static_cast<uint64_t>(static_cast<double>(of_file) *
                                         static_cast<double>(passed) / static_cast<double>(all));
  }
  return bytes;
}

Status Merger::CheckCancelled() const {
  if (options_.cancelled == nullptr) return {};
  // Relaxed: the flag orders nothing; it only has to be seen eventually.
  if (!options_.cancelled->load(std::memory_order_relaxed)) return {};
  return Status::Cancelled("the merge was asked to stop");
}

Status Merger::GatherRow() {
  parts_.clear();
  cells_.clear();
  stored_.clear();
  row_is_wide_ = was_cached_ = false;
  key_ = sources_[tree_->top()]->rows.key();
  do {
    Source* source = sources_[tree_->top()].get();
    Part& part = parts_.emplace_back();
    part.source = source;
    part.ordinal = source->rows.ordinal();
    part.begin = cells_.size();
    was_cached_ |= source->rows.was_cached();
    if (source->rows.is_wide()) {
      row_is_wide_ = true;
      ASSIGN_OR_RETURN(part.stream, source->rows.Stream());
    } else {
      RETURN_IF_ERROR(source->rows.Cells(&cells_));
      part.first_stored = stored_.size();
      source->rows.StoredRows(&stored_);
      part.stored_count = stored_.size() - part.first_stored;
    }
    part.end = cells_.size();
    RETURN_IF_ERROR(source->rows.Next());
    tree_->Replay();
  } while (sources_[tree_->top()]->rows.valid() && sources_[tree_->top()]->rows.key() == key_);
  ++result_.rows_in;
  if (!row_is_wide_) result_.cells.in += cells_.size();
  return {};
}

Status Merger::MergeWideRow() {
  StreamedRow row{.key = key_, .parts = {}, .forgets_sequences = forgets_sequences_};
  for (Part& part : parts_) {
    StreamedPart& streamed = row.parts.emplace_back();
    streamed.in_digests = part.source->gives_sections && !part.source->counts_digests;
    streamed.cells = std::move(part.stream);
    if (streamed.cells != nullptr) continue;
    streamed.cells = format::NewCellStream({cells_.begin() + static_cast<ptrdiff_t>(part.begin),
                                            cells_.begin() + static_cast<ptrdiff_t>(part.end)},
                                           nullptr);
  }
  const auto next_writer = [this] { return WriterOfNextRow(); };
  const uint64_t rows_before = result_.rows_out;
  RETURN_IF_ERROR(MergeColumns(std::move(row), options_, next_writer, writer_, &result_.cells));
  return result_.rows_out == rows_before ? Status() : writer_->NoteRow(was_cached_);
}

// The current file, or the next one when that has reached its limits. Counts the row.
Result<format::StoreFileWriter*> Merger::WriterOfNextRow() {
  if (writer_ != nullptr && may_roll_ &&
      (options_.limits.AreReached(*writer_) || HasTooManyEntries())) {
    RETURN_IF_ERROR(FinishFile());
  }
  if (writer_ == nullptr) RETURN_IF_ERROR(BeginFile());
  ++result_.rows_out;
  return writer_;
}

Status Merger::RetainRow() {
  std::span<const format::Cell> row = cells_;
  if (parts_.size() > 1) {
    sorted_ = cells_;
    std::sort(sorted_.begin(), sorted_.end(), format::CellLess);
    row = sorted_;
  }
  format::Retention retention{options_.table->families, options_.snapshots, options_.now_micros,
                              false, options_.limits_settled_at};
  if (options_.older_may_contain != nullptr && (has_former_limits_ || HasMarker(row))) {
    ASSIGN_OR_RETURN(
        retention.older_sources_may_hold_row,
        options_.older_may_contain(format::RowHash(key_, options_.table->hash_secret)));
  }
  retained_.clear();
  format::RetainCells(row, retention, &retained_, &result_.cells.dropped);
  return {};
}

Status Merger::WriteRow() {
  if (retained_.empty()) return TakeOutOfDigests(nullptr);
  RETURN_IF_ERROR(WriterOfNextRow().status());
  result_.cells.out += retained_.size();
  const Part* const survivor = SurvivingPart();
  if (forgets_sequences_) ForgetSequences();
  if (survivor != nullptr) {
    RETURN_IF_ERROR(CopyRow(*survivor));
  } else {
    RETURN_IF_ERROR(writer_->AddRow(key_, retained_).status());
  }
  RETURN_IF_ERROR(writer_->NoteRow(was_cached_));
  return TakeOutOfDigests(survivor);
}

// Sequences decide nothing any more. The one sequence of a row that fills a block costs nothing
// beside the row, and is kept, so that its block can be copied; a change of limits looks at all.
void Merger::ForgetSequences() {
  const auto settled_at = options_.limits_settled_at;
  for (std::span<format::Cell> rest = retained_; !rest.empty();) {
    const format::FamilyId id = rest.front().family;
    size_t count = 1;
    while (count < rest.size() && rest[count].family == id) ++count;
    const std::span<format::Cell> cells = rest.first(count);
    rest = rest.subspan(count);
    const format::FamilyRecord& family = *options_.table->FindFamily(id);
    const bool is_of_one_sequence = std::ranges::all_of(
        cells, [&](const format::Cell& cell) { return cell.sequence == cells.front().sequence; });
    if (settled_at.value == 0 && is_of_one_sequence &&
        format::RowBlockWriter::FillsBlock(key_, cells, family.options.block_size_bytes)) {
      continue;
    }
    for (format::Cell& cell : cells) cell.sequence = settled_at;
    for (format::StoredRow& stored : stored_) {
      if (stored.family == id) stored.block = {};  // It says other sequences.
    }
  }
}

// The part whose cells are the retained ones, if its source gives the row's entries; or nullptr.
const Part* Merger::SurvivingPart() const {
  for (const Part& part : parts_) {
    if (!part.source->gives_sections || part.end - part.begin != retained_.size()) continue;
    if (parts_.size() == 1) return &part;
    const auto cells = std::span(cells_).subspan(part.begin, retained_.size());
    if (std::equal(cells.begin(), cells.end(), retained_.begin(), IsSame)) return &part;
  }
  return nullptr;
}

// Writes a row whose entries come with the sections of the part's source.
Status Merger::CopyRow(const Part& part) {
  Source* source = part.source;
  if (!source->is_added) AddSections(source);
  const auto blocks = std::span(stored_).subspan(part.first_stored, part.stored_count);
  ASSIGN_OR_RETURN(const format::Ordinal ordinal,
                   writer_->AddRow(key_, retained_, format::RowEntries::kCopied, blocks));
  source->map[part.ordinal] = ordinal.value;
  ++result_.rows_copied;
  if (!source->counts_digests) return {};
  for (size_t i = 0; i < options_.table->indexes.size(); ++i) {
    writer_->index(i).CountRow(key_, retained_);
  }
  return {};
}

// The entries of the row do not come with the sections of its sources, except those of one part:
// subtracts them.
Status Merger::TakeOutOfDigests(const Part* except) {
  for (const Part& part : parts_) {
    const bool in_digests = part.source->gives_sections && !part.source->counts_digests;
    if (&part == except || !in_digests) continue;
    const auto cells = std::span(cells_).subspan(part.begin, part.end - part.begin);
    for (size_t i = 0; i < options_.table->indexes.size(); ++i) {
      writer_->index(i).SubtractRow(key_, cells);
    }
  }
  return {};
}

// A single file that the caller created.
class SingleFileOutput final : public MergeOutput {
 public:
  explicit SingleFileOutput(format::StoreFileWriter* writer) : writer_(writer) {}
  Result<format::StoreFileWriter*> NextFile() override { return writer_; }
  Status Finished(const format::StoreFileSummary&) override { return {}; }

 private:
  format::StoreFileWriter* writer_;
};

}  // namespace

Result<MergeResult> MergeFiles(std::span<const MergeInput> inputs, const MergeOptions& options,
                               MergeOutput* output) {
  if (inputs.empty()) {
    MergeResult result;
    result.empty = true;
    return result;
  }
  const bool may_roll = MayRoll(inputs, options.limits);
  ASSIGN_OR_RETURN(std::optional<MergeResult> result,
                   Merger(inputs, options, output, may_roll).Run());
  if (!result.has_value()) {
    ASSIGN_OR_RETURN(result, Merger(inputs, options, output, /*may_roll=*/true).Run());
  }
  return *std::move(result);
}

Result<MergeResult> MergeFiles(std::span<const MergeInput> inputs, MergeOptions options,
                               format::StoreFileWriter* writer) {
  // The writer itself refuses more rows than a file may have.
  options.limits = {.bytes = UINT64_MAX, .rows = UINT32_MAX};
  options.entry_bytes = UINT64_MAX;
  SingleFileOutput output(writer);
  return MergeFiles(inputs, options, &output);
}

}  // namespace tandem::compaction
