// The rows of a query by the values of an index, then by key.
//
// (Of an index over several columns a range is walked in parts, see composite_order.h.)
// 1. The next range of values is taken, with about kEntriesFirst entries, or as many as should have
//    the rows that are asked for, then twice as many each time up to kEntriesMax: a small limit
//    costs little, a long result takes few walks. Where the rows of a range take much of a
//    cursor's part of memory, the next range has half as many.
// 2. The rows of the range are read in one walk. Those whose merged row has its current entry in
//    the range (rule 20) are kept and sorted by entry and key.
// 3. One value with very many rows is walked alone and streamed: its rows come in key order anyway.
// 4. Of large rows, and of rows beyond that part, only the keys are sorted; the rows are read again
//    when their turn comes.
// 5. After a token the walk begins at its entry: at the rows of that which come after its key.
//    These, and rows of a value that come by falling keys, are read by windows (row_windows.h).
// A read by falling keys through another index is read by windows as a whole.
// If the index is not walked, all matches are read in key order and sorted at once.
#include <algorithm>
#include <span>
#include <utility>

#include "base/memory_account.h"
#include "base/status_macros.h"
#include "engine/parallel/key_parts.h"
#include "engine/parallel/parted_rows.h"
#include "engine/query/composite_order.h"
#include "engine/query/query.h"
#include "engine/query/value_range_iterator.h"
#include "engine/read/concatenating_iterator.h"
#include "engine/read/merged_rows.h"
#include "engine/read/row_pieces.h"
#include "engine/source/row_windows.h"
#include "index/entries.h"

namespace tandem::engine {
namespace {

constexpr uint64_t kEntriesFirst = 64, kEntriesLeast = 8;
constexpr uint64_t kEntriesMax = 4096;
// The first steps of a walk have few entries: one thread reads as many as make one large step.
constexpr uint32_t kStepsAlone = 6;
// Of a part within a value of the first of several columns.
constexpr uint64_t kWalkedAgainMax = 4 * kEntriesMax;
// Bytes of the rows that are kept until they are sorted: a part of the read buffers, at most so
// much. Beyond it only keys are kept.
constexpr uint64_t kBatchBytesMax = 16 << 20;
constexpr uint64_t kBatchPart = 4;

// Approximate memory of a copy of the row.
uint64_t MemoryOf(const RowView& row) {
  uint64_t bytes = row.key().size();
  for (const Cell& cell : row.cells()) {
    bytes += sizeof(Cell) + cell.family.size() + cell.qualifier.size() + cell.value.size();
  }
  return bytes;
}

uint64_t LimitOf(const Query& query) { return query.limit == 0 ? UINT64_MAX : query.limit; }

// A value with more entries than this is streamed, in a read that asks for `rows_asked` rows.
uint64_t StreamedMin(const ReadContext& context, uint64_t rows_asked) {
  if (!context.may_end_early) return ValueRangeIterator::kLargeMin;
  return std::clamp(rows_asked, kEntriesFirst, ValueRangeIterator::kLargeMin);
}

// The entry of the position, which a walk of the ranges begins with; takes it out of them. nullopt:
// the walk begins with its ranges.
std::optional<format::KeyRange> TakeEntryOfPosition(const Ordering& ordering, KeyRanges* ranges) {
  const std::optional<Position>& position = ordering.position;
  if (!position.has_value() || !position->key.has_value()) return std::nullopt;
  format::KeyRange same = format::EqualRange(*position->entry);
  const bool has_entry =
      std::ranges::any_of(*ranges, [&](const auto& range) { return range.Contains(same.low); });
  if (!has_entry) return std::nullopt;
  const format::KeyRange rest =
      ordering.backward ? format::KeyRange{{}, same.low} : format::KeyRange{*same.high, {}};
  *ranges = Intersect(*ranges, {rest});
  return same;
}

// The ranges that the entries are walked by.
Result<std::unique_ptr<ValueRangeIterator>> StepsOf(const Query& query, KeyRanges ranges,
                                                    uint64_t large_min) {
  const Ordering& ordering = *query.ordering;
  std::vector<ValueRangeIterator::Part> cursors;
  std::vector<ValueRangeIterator::InMemory> in_memory;
  for (const Cluster& cluster : query.plan.clusters) {
    for (const auto& memstore : cluster.memstores) {
      const std::optional<size_t> index = memstore->FindIndex(ordering.index->id);
      if (index.has_value()) in_memory.push_back({memstore.get(), *index});
    }
    for (const FileSource& source : cluster.files) {
      const format::IndexId index = ordering.index->id;
      ASSIGN_OR_RETURN(format::IndexSection * section, UsableSection(source.file, index));
      if (section == nullptr) continue;  // Its rows are read for every range.
      const auto can_go = [file = source.file, index](const Status& status) {
        return GoesOnWithoutIndex(file, index, status);
      };
      cursors.push_back({section->NewCursor(format::IndexPart::kCurrent), can_go});
      if (source.visible) continue;
      cursors.push_back({section->NewCursor(format::IndexPart::kOlder), can_go});
    }
  }
  return std::make_unique<ValueRangeIterator>(std::move(cursors), std::move(in_memory),
                                              std::move(ranges), ordering.backward, large_min);
}

// What one thread reads of a walk: a range of entries, or the rest of the position's entry.
struct WalkPart {
  ValueRangeStep step;
  bool is_position = false;
};

class OrderedSource final : public RowSource {
 public:
  explicit OrderedSource(const Query& query)
      : OrderedSource(query, query.context.get(), LimitOf(query), query.skipped.left) {}
  /// The rows of the part alone, through another context. Lifetime: these outlive the source.
  OrderedSource(const Query& query, ReadContext* context, const WalkPart& part)
      : OrderedSource(query, context, UINT64_MAX, 0) {
    part_ = &part;
    batch_bytes_max_ /= query.threads;
  }
  /// The rows of a lead by falling keys, which are merged with those of the others.
  OrderedSource(const Query& query, const LeadRead& lead, uint64_t limit)
      : OrderedSource(query, query.context.get(), limit == 0 ? UINT64_MAX : limit, 0) {
    lead_ = &lead;
    batch_bytes_max_ /= query.leads.size();
  }

  /// Reads the rows of its part; false: they are streamed instead. Requires: none was read.
  Result<bool> CollectPart() {
    has_begun_ = true;
    RETURN_IF_ERROR(Open());
    if (windows_.has_value()) return false;
    ASSIGN_OR_RETURN(const bool has_rows, Step());
    return !has_rows || !(stream_.has_value() || windows_.has_value());
  }

  Result<bool> NextBatch(format::RowBatch* batch) override {
    if (!std::exchange(has_begun_, true)) RETURN_IF_ERROR(Open());
    RETURN_IF_ERROR(context_->cancellation.Check());  // Collected rows are not checked elsewhere.
    RowView row;
    if (continues_) {
      ASSIGN_OR_RETURN(row, is_streamed_ ? stream_->NextPiece() : pieces_.Next());
    } else {
      if (left_ == 0) return false;
      ASSIGN_OR_RETURN(const bool may_have_row, Skip());
      if (!may_have_row) return false;
      ASSIGN_OR_RETURN(const bool is_row, NextRow(&row));
      if (!is_row) return false;
      --left_;
    }
    batch->Clear();
    batch->Add(row);
    continues_ = row.continues();
    return true;
  }

  std::string_view entry() const override {
    return is_streamed_ ? entry_ : at_ == 0 ? std::string_view() : batch_[at_ - 1].entry;
  }

 private:
  OrderedSource(const Query& query, ReadContext* context, uint64_t limit, uint64_t offset)
      : query_(query),
        context_(context),
        left_(limit),
        offset_(offset),
        batch_bytes_max_(
            std::min(context->resources.read_buffer_bytes / kBatchPart, kBatchBytesMax)),
        batch_charge_(context->resources.memory, base::MemoryPart::kHits),
        pieces_(context->schema),
        puts_(query.ordering->index == nullptr ? 0 : query.ordering->index->places()) {}

  struct Collected {
    std::string entry;
    std::string key;
    std::optional<Row> row;  // nullopt: to be read again.
  };

  Status Open();
  Result<bool> Skip();
  Result<bool> NextRow(RowView* row);
  Result<bool> FindRow();
  Result<bool> Step();
  Status BeginWalk();
  uint64_t EntriesFirst() const;
  void BeginAtPosition(format::KeyRange entry);
  void BeginPart();
  void TakeStep(const ValueRangeStep& step);
  uint64_t RowsAsked() const { return left_ > UINT64_MAX - offset_ ? UINT64_MAX : left_ + offset_; }
  void OpenWindows(format::KeyRange rows);
  Result<bool> NextWindow();
  bool IsAfterPosition(std::string_view key) const;
  bool Windows() const;
  void TellProgress();
  Status TakeWholeIfCheaper();
  Status Collect(ConcatenatingIterator chain);
  Result<bool> NextOf(ConcatenatingIterator* chain, const format::KeyRange& range);
  Result<RowView> ViewOf(const Collected& collected);
  AccessPath AccessTo(const format::KeyRange& entries) const;
  const format::IndexRecord& index() const { return *query_.ordering->index; }

  const Query& query_;
  ReadContext* const context_;
  const WalkPart* part_ = nullptr;  // Null: all of the query.
  const LeadRead* lead_ = nullptr;  // Whose rows it reads; null: of no lead.
  uint64_t left_;
  uint64_t offset_;  // Rows to pass over.
  bool has_begun_ = false;
  std::unique_ptr<ValueRangeIterator> stepper_;
  uint64_t entries_ = kEntriesFirst;             // Of the next step.
  KeyRanges parts_;                              // Of the present step, the next one last.
  std::optional<format::KeyRange> taken_whole_;  // Parts in it are done.
  bool is_large_ = false;                        // It is one value with very many rows.
  format::KeyRange range_;                       // Of entries, for the present walk.
  AccessPath access_;                            // To that range.
  std::vector<Collected> batch_;
  size_t at_ = 0;             // In batch_.
  uint64_t batch_bytes_ = 0;  // Of its rows;
  uint64_t batch_bytes_max_;  // beyond this, only keys are kept.
  base::MemoryCharge batch_charge_;
  std::vector<Cluster> window_;        // Its clusters, which stream_ may be over.
  std::optional<RowWindows> windows_;  // Of the rows of one entry, or of a read by key.
  std::optional<ConcatenatingIterator> stream_;
  std::string entry_;         // Of the row that NextOf found.
  bool is_streamed_ = false;  // Where the row that was given last came from,
  bool continues_ = false;    // and whether it has more pieces.
  BlockMemo blocks_;
  RowPieces pieces_;                       // Of a row that is read again.
  std::vector<const format::Cell*> puts_;  // Of the row that NextOf looks at.
};

Status OrderedSource::Open() {
  const Ordering& ordering = *query_.ordering;
  if (context_->meter != nullptr) {
    context_->meter->SetKeys(ReadMeter::KeysAre::kNoPositions);
  }
  if (part_ != nullptr) {
    BeginPart();
    return {};
  }
  const auto& access = query_.plan.access;
  if (ordering.index == nullptr) {
    access_ = *access;
    OpenWindows(lead_ == nullptr ? query_.plan.within : lead_->within);
    return {};
  }
  if (!ordering.walks_index) {
    range_ = format::PresentRange(index().columns.front());
    return Collect(ConcatenatingIterator(context_, query_.plan.clusters,
                                         access.has_value() ? &*access : nullptr));
  }
  return BeginWalk();
}

void OrderedSource::BeginPart() {
  if (part_->is_position) return BeginAtPosition(part_->step.keys);
  TakeStep(part_->step);
}

Status OrderedSource::BeginWalk() {
  const Ordering& ordering = *query_.ordering;
  KeyRanges ranges = ordering.ranges;
  std::optional<format::KeyRange> entry = TakeEntryOfPosition(ordering, &ranges);
  if (entry.has_value()) BeginAtPosition(*std::move(entry));
  ASSIGN_OR_RETURN(stepper_,
                   StepsOf(query_, std::move(ranges), StreamedMin(*context_, RowsAsked())));
  entries_ = EntriesFirst();
  return {};
}

// Of the first step. Half as many again as have the rows that are asked for if these pass the
// filters by chance: most walks end with it.
uint64_t OrderedSource::EntriesFirst() const {
  const uint64_t asked = RowsAsked();
  if (!context_->may_end_early || asked > kEntriesMax) return kEntriesFirst;
  const double part_left = query_.ordering->part_left;
  if (part_left < 1) {
    const double entries = static_cast<double>(asked) * 1.5 / part_left;
    return static_cast<uint64_t>(std::clamp<double>(entries, kEntriesFirst, kEntriesMax));
  }
  if (context_->predicate.has_value()) return kEntriesFirst;
  return std::clamp(asked, kEntriesLeast, kEntriesFirst);
}

// The rows that may have their entry in the range and satisfy the filters of the walk.
AccessPath OrderedSource::AccessTo(const format::KeyRange& entries) const {
  AccessPath access = AccessInOrder(index(), entries);
  access.own = access.intersected.size();
  const auto& filters = query_.plan.access->intersected;
  access.intersected.insert(access.intersected.end(), filters.begin(), filters.end());
  return access;
}

// Begins with the rows that have the entry of the position and come after it. Other rows of the
// entry are not looked at.
void OrderedSource::BeginAtPosition(format::KeyRange entry) {
  const std::string& key = *query_.ordering->position->key;
  range_ = std::move(entry);
  access_ = AccessTo(range_);
  format::KeyRange rows;
  if (query_.ordering->keys_fall) {
    rows.high = key;
  } else {
    rows.low = key + '\0';
  }
  OpenWindows(Intersect(query_.plan.within, rows));
}

// The rows of the present access, some keys after the other.
void OrderedSource::OpenWindows(format::KeyRange rows) {
  windows_.emplace(context_->view, context_->schema.merged, std::move(rows),
                   query_.ordering->keys_fall);
}

// Whether the rows of one entry are read by windows: from the last one on they have to be, and a
// read that ends early should not find those of all sources first.
bool OrderedSource::Windows() const {
  return query_.ordering->keys_fall ||
         (context_->may_end_early &&
          !std::ranges::all_of(query_.plan.clusters,
                               [](const Cluster& cluster) { return cluster.has_one_file(); }));
}

// Where rows of a value are looked at key by key, keys are positions; else where the next range
// begins is one. Leads are read ahead of each other: only a row that was given is a position.
void OrderedSource::TellProgress() {
  ReadMeter* const meter = context_->meter.get();
  if (meter == nullptr || lead_ != nullptr) return;
  const bool backward = query_.ordering->backward;
  const bool by_key =
      (windows_.has_value() || stream_.has_value()) && query_.ordering->index != nullptr;
  meter->SetKeys(ReadMeter::KeysAre::kNoPositions);
  if (windows_.has_value() && query_.ordering->keys_fall) {
    if (!windows_->rows().high.has_value()) return;
    meter->PassTo({by_key ? std::optional(range_.low) : std::nullopt, windows_->rows().high});
  } else if (by_key) {
    meter->SetEntry(range_.low);
    meter->SetKeys(ReadMeter::KeysAre::kPositions);
  } else if (backward ? range_.high.has_value() : !range_.low.empty()) {
    meter->PassTo({backward ? *range_.high : range_.low, std::nullopt});
  }
}

// Reads the next window; false when there is none.
Result<bool> OrderedSource::NextWindow() {
  TellProgress();
  ASSIGN_OR_RETURN(const bool more, windows_->Next(&window_));
  if (!more) {
    windows_.reset();
    return false;
  }
  ConcatenatingIterator chain(context_, window_, &access_);
  if (!query_.ordering->keys_fall) {
    stream_.emplace(std::move(chain));
    return true;
  }
  RETURN_IF_ERROR(Collect(std::move(chain)));
  if (batch_.size() > kEntriesMax || batch_bytes_ > batch_bytes_max_ / 2) windows_->Shrink();
  return true;
}

// Passes over the rows of the offset; false: there are no more rows.
Result<bool> OrderedSource::Skip() {
  for (; offset_ > 0; --offset_) {
    ASSIGN_OR_RETURN(const bool is_row, FindRow());
    if (!is_row) return false;
    ++context_->counters.passed_over;
  }
  return true;
}

Result<bool> OrderedSource::NextRow(RowView* row) {
  ASSIGN_OR_RETURN(const bool is_row, FindRow());
  if (!is_row) return false;
  if (is_streamed_) {
    ASSIGN_OR_RETURN(*row, stream_->View());
  } else {
    ASSIGN_OR_RETURN(*row, ViewOf(batch_[at_ - 1]));
  }
  return true;
}

// Moves to the next row: that of the stream, or the one before at_ in the batch.
Result<bool> OrderedSource::FindRow() {
  while (true) {
    is_streamed_ = false;
    if (at_ < batch_.size()) {
      ++at_;
      return true;
    }
    if (stream_.has_value()) {
      ASSIGN_OR_RETURN(is_streamed_, NextOf(&*stream_, range_));
      if (is_streamed_) return true;
      stream_.reset();
    }
    if (windows_.has_value()) {
      ASSIGN_OR_RETURN(const bool has_window, NextWindow());
      if (has_window) continue;
    }
    if (stepper_ == nullptr && parts_.empty()) return false;
    ASSIGN_OR_RETURN(const bool more, Step());
    if (!more) return false;
  }
}

Result<RowView> OrderedSource::ViewOf(const Collected& collected) {
  if (collected.row.has_value()) return collected.row->view();
  const ReadContext& context = *query_.context;
  ASSIGN_OR_RETURN(const RowLocations locations,
                   engine::FindRow(context.view.RegionOf(collected.key), collected.key));
  ASSIGN_OR_RETURN(std::unique_ptr<ReturnedCells> cells,
                   OpenReturned(context.schema, locations, &blocks_));
  pieces_.Begin(collected.key, std::move(cells));
  return pieces_.Next();
}

void OrderedSource::TakeStep(const ValueRangeStep& step) {
  is_large_ = step.is_large;
  parts_ = CutByFirstColumn(index(), step.keys);
  if (!query_.ordering->backward) std::reverse(parts_.begin(), parts_.end());
}

// Reads the next range of values; false when there is none.
Result<bool> OrderedSource::Step() {
  do {
    while (parts_.empty()) {
      if (stepper_ == nullptr) return false;
      ASSIGN_OR_RETURN(const std::optional<ValueRangeStep> stepped, stepper_->Next(entries_));
      if (!stepped.has_value()) return false;
      TakeStep(*stepped);
    }
    range_ = std::move(parts_.back());
    parts_.pop_back();
  } while (taken_whole_.has_value() && taken_whole_->Contains(range_.low));
  access_ = AccessTo(range_);
  access_.covered = query_.plan.access->covered;
  if (access_.own > 0 && RowsAsked() > kEntriesMax) RETURN_IF_ERROR(TakeWholeIfCheaper());
  if (is_large_ && Windows()) {
    access_.covered = false;  // Each window would read the records of all.
    OpenWindows(query_.plan.within);
    return true;
  }
  ConcatenatingIterator chain(context_, query_.plan.clusters, &access_);
  if (is_large_) {
    stream_.emplace(std::move(chain));
    TellProgress();
    return true;
  }
  TellProgress();
  RETURN_IF_ERROR(Collect(std::move(chain)));
  const bool is_much = batch_bytes_ > batch_bytes_max_ / 2;
  entries_ = is_much ? std::max(entries_ / 2, kEntriesFirst) : std::min(entries_ * 2, kEntriesMax);
  return true;
}

// Every part within a value of the first column reads the entries that leave out the second one
// again. Where they are many, the rest of the value becomes one part.
Status OrderedSource::TakeWholeIfCheaper() {
  ASSIGN_OR_RETURN(
      const EntryCount entries,
      CountEntries(query_.plan.clusters, access_, Precision::kAtMost, context_->cancellation));
  if (entries.total() <= kWalkedAgainMax) return {};
  taken_whole_ = access_.paths[0].ranges[0];
  if (query_.ordering->backward) {
    range_.low = taken_whole_->low;
  } else {
    range_.high = taken_whole_->high;
  }
  access_ = {.paths = {}, .exact = false, .intersected = query_.plan.access->intersected};
  access_.paths.push_back({.index = &index(), .ranges = {*taken_whole_}});
  access_.covered = query_.plan.access->covered;
  is_large_ = false;
  return {};
}

// Fills the batch with the rows of the chain, sorted.
Status OrderedSource::Collect(ConcatenatingIterator chain) {
  batch_.clear();
  at_ = 0;
  batch_bytes_ = 0;
  uint64_t batch_keys_bytes = 0;
  while (true) {
    ASSIGN_OR_RETURN(const bool is_row, NextOf(&chain, range_));
    if (!is_row) break;
    Collected& row = batch_.emplace_back(Collected{entry_, {}, std::nullopt});
    if (ReadMeter* const meter = context_->meter.get()) [[unlikely]] {
      batch_keys_bytes += sizeof(Collected) + row.entry.size() + chain.key().size();
      RETURN_IF_ERROR(meter->CheckMemory(batch_bytes_ + batch_keys_bytes));
    }
    const std::optional<RowView> plain =
        batch_bytes_ < batch_bytes_max_ ? chain.PlainView() : std::nullopt;
    if (plain.has_value()) {
      row.row.emplace(*plain);
      batch_bytes_ += MemoryOf(*plain);
    } else {
      row.key = chain.key();
    }
  }
  batch_charge_.Set(batch_bytes_ + batch_.capacity() * sizeof(Collected));
  const bool backward = query_.ordering->backward;
  // Rows of one entry stay in key order, in which they came, or in the opposite one.
  if (query_.ordering->keys_fall) std::reverse(batch_.begin(), batch_.end());
  std::stable_sort(batch_.begin(), batch_.end(),
                   [backward](const Collected& a, const Collected& b) {
                     return backward ? b.entry < a.entry : a.entry < b.entry;
                   });
  return {};
}

// Whether a row with entry_ comes after the position of the query's token.
bool OrderedSource::IsAfterPosition(std::string_view key) const {
  const std::optional<Position>& position = query_.ordering->position;
  if (!position.has_value()) return true;
  if (!position->key.has_value() || entry_ != *position->entry) {
    return (entry_ < *position->entry) == query_.ordering->backward;
  }
  return query_.ordering->keys_fall ? key < *position->key : key > *position->key;
}

// Moves to the next row with its entry in `range`, which is in entry_ afterwards.
Result<bool> OrderedSource::NextOf(ConcatenatingIterator* chain, const format::KeyRange& range) {
  while (true) {
    ASSIGN_OR_RETURN(const bool is_row, chain->Next());
    if (!is_row) return false;
    if (query_.ordering->index == nullptr) return true;
    const format::Cell row_put = format::RowKeyPut(chain->key());
    index().ForEachPlace([&](const format::IndexColumnRecord& column, size_t place) {
      puts_[place] = column.is_of_row_key() ? &row_put : FindNewest(column, chain->visible());
    });
    entry_.clear();
    format::AppendEntry(index(), puts_, &entry_);
    if (range.Contains(entry_) && IsAfterPosition(chain->key())) return true;
  }
}

// A step of a walk, for one thread.
class PartOfWalk final : public ReadPart {
 public:
  PartOfWalk(const Query& query, WalkPart part) : query_(query), part_(std::move(part)) {}

  Result<std::unique_ptr<RowSource>> Open(ReadContext* context) override {
    auto rows = std::make_unique<OrderedSource>(query_, context, part_);
    ASSIGN_OR_RETURN(holds_rows_, rows->CollectPart());
    return std::unique_ptr<RowSource>(std::move(rows));
  }
  bool holds_rows() const override { return holds_rows_; }
  Result<uint64_t> Count(ReadContext* context) override {
    OrderedSource rows(query_, context, part_);
    format::RowBatch batch;
    uint64_t count = 0;
    while (true) {
      ASSIGN_OR_RETURN(const bool more, rows.NextBatch(&batch));
      if (!more) return count;
      count += batch.continues() ? 0 : batch.size();
    }
  }

 private:
  const Query& query_;
  const WalkPart part_;
  bool holds_rows_ = false;
};

// A walk whose steps several threads read. Each step has its rows in order by itself.
class ParallelWalk final : public PartedRead {
 public:
  explicit ParallelWalk(const Query& query)
      : query_(query),
        entries_max_(std::min(2 * PartSize::Of(query.context->resources).rows, kEntriesMax)) {}

  Result<std::unique_ptr<ReadPart>> Cut() override {
    if (steps_ == nullptr) {
      KeyRanges ranges = query_.ordering->ranges;
      std::optional<format::KeyRange> entry = TakeEntryOfPosition(*query_.ordering, &ranges);
      const uint64_t asked = RowsAsked(query_.limit, query_.skipped.left);
      ASSIGN_OR_RETURN(steps_,
                       StepsOf(query_, std::move(ranges), StreamedMin(*query_.context, asked)));
      if (entry.has_value()) {
        return std::unique_ptr<ReadPart>(std::make_unique<PartOfWalk>(
            query_, WalkPart{{.keys = *std::move(entry)}, /*is_position=*/true}));
      }
    }
    ASSIGN_OR_RETURN(std::optional<ValueRangeStep> step, steps_->Next(entries_));
    if (!step.has_value()) return std::unique_ptr<ReadPart>();
    entries_ = std::min(entries_ * 2, entries_max_);
    return std::unique_ptr<ReadPart>(
        std::make_unique<PartOfWalk>(query_, WalkPart{*std::move(step), /*is_position=*/false}));
  }

 private:
  const Query& query_;
  const uint64_t entries_max_;
  std::unique_ptr<ValueRangeIterator> steps_;
  uint64_t entries_ = std::min(kEntriesFirst, entries_max_);
};

}  // namespace

std::unique_ptr<RowSource> OpenLeads(const Query& query) {
  const AccessPath* const access = query.plan.access.has_value() ? &*query.plan.access : nullptr;
  auto merged = std::make_unique<MergedRows>(query.limit, query.skipped.left, query.reverse,
                                             &query.context->counters.passed_over);
  const uint64_t asked = merged->rows_asked();
  for (const LeadRead& lead : query.leads) {
    std::unique_ptr<RowSource> rows;
    if (query.ordering.has_value()) {
      rows = std::make_unique<OrderedSource>(query, lead, asked);
    } else {
      rows = std::make_unique<LimitIterator>(
          ConcatenatingIterator(query.context.get(), lead.clusters, access, query.reverse), asked);
    }
    merged->Add(lead.lead_bytes, std::move(rows));
  }
  return merged;
}

std::unique_ptr<RowSource> OpenOrdered(const Query& query) {
  if (query.threads > 1) {
    return NewPartedRows({.read = std::make_unique<ParallelWalk>(query),
                          .context = query.context.get(),
                          .threads = query.threads,
                          .alone = kStepsAlone},
                         query.limit, query.skipped.left);
  }
  return std::make_unique<OrderedSource>(query);
}

}  // namespace tandem::engine
