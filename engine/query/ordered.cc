// The rows of a query by the values of an index, then by key.
//
// (Of an index over several columns a range is walked in parts, see composite_order.h.)
// 1. The next range of values is taken, with about kEntriesFirst entries, then twice as many each
//    time up to kEntriesMax: a small limit costs little, a long result takes few walks. Where the
//    rows of a range take much of a cursor's part of memory, the next range has half as many.
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
#include "engine/query/composite_order.h"
#include "engine/query/query.h"
#include "engine/query/row_windows.h"
#include "engine/query/value_range_iterator.h"
#include "engine/read/concatenating_iterator.h"
#include "engine/read/row_pieces.h"
#include "index/entries.h"

namespace tandem::engine {
namespace {

constexpr uint64_t kEntriesFirst = 64;
constexpr uint64_t kEntriesMax = 4096;
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

class OrderedSource final : public RowSource {
 public:
  explicit OrderedSource(const Query& query)
      : query_(query),
        left_(query.limit == 0 ? UINT64_MAX : query.limit),
        offset_(query.skipped.left),
        batch_bytes_max_(
            std::min(query.context->resources.read_buffer_bytes / kBatchPart, kBatchBytesMax)),
        batch_charge_(query.context->resources.memory, base::MemoryPart::kHits),
        pieces_(query.context->schema),
        puts_(query.ordering->index == nullptr ? 0 : query.ordering->index->places()) {}

  Result<bool> NextBatch(format::RowBatch* batch) override {
    if (!std::exchange(has_begun_, true)) RETURN_IF_ERROR(Begin());
    RETURN_IF_ERROR(
        query_.context->cancellation.Check());  // Collected rows are not checked elsewhere.
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
  struct Collected {
    std::string entry;
    std::string key;
    std::optional<Row> row;  // nullopt: to be read again.
  };

  Status Begin();
  Result<bool> Skip();
  Result<bool> NextRow(RowView* row);
  Result<bool> FindRow();
  Result<bool> Step();
  Status BeginWalk();
  void BeginAtPosition(KeyRanges* ranges);
  uint64_t RowsAsked() const { return left_ > UINT64_MAX - offset_ ? UINT64_MAX : left_ + offset_; }
  uint64_t StreamedMin() const;
  void OpenWindows(format::KeyRange rows);
  Result<bool> NextWindow();
  bool IsAfterPosition(std::string_view key) const;
  bool Windows() const;
  void TellProgress();
  Status TakeWholeIfCheaper();
  Status Collect(ConcatenatingIterator chain);
  Result<bool> NextOf(ConcatenatingIterator* chain, const format::KeyRange& range);
  Result<RowView> ViewOf(const Collected& collected);
  const format::IndexRecord& index() const { return *query_.ordering->index; }

  const Query& query_;
  uint64_t left_;
  uint64_t offset_;  // Rows to pass over.
  bool has_begun_ = false;
  std::unique_ptr<ValueRangeIterator> stepper_;
  uint64_t entries_ = kEntriesFirst;
  KeyRanges parts_;                              // Of the present step, the next one last.
  std::optional<format::KeyRange> taken_whole_;  // Parts in it are done.
  bool is_large_ = false;                        // It is one value with very many rows.
  format::KeyRange range_;                       // Of entries, for the present walk.
  AccessPath access_;                            // To that range.
  std::vector<Collected> batch_;
  size_t at_ = 0;                   // In batch_.
  uint64_t batch_bytes_ = 0;        // Of its rows;
  const uint64_t batch_bytes_max_;  // beyond this, only keys are kept.
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

Status OrderedSource::Begin() {
  const Ordering& ordering = *query_.ordering;
  if (query_.context->meter != nullptr) {
    query_.context->meter->SetKeys(ReadMeter::KeysAre::kNoPositions);
  }
  const auto& access = query_.plan.access;
  if (ordering.index == nullptr) {
    access_ = *access;
    OpenWindows(query_.plan.within);
    return {};
  }
  if (!ordering.walks_index) {
    range_ = format::PresentRange(index().columns.front());
    return Collect(ConcatenatingIterator(query_.context.get(), query_.plan.clusters,
                                         access.has_value() ? &*access : nullptr));
  }
  return BeginWalk();
}

Status OrderedSource::BeginWalk() {
  const Ordering& ordering = *query_.ordering;
  KeyRanges ranges = ordering.ranges;
  BeginAtPosition(&ranges);
  std::vector<ValueRangeIterator::Part> cursors;
  std::vector<ValueRangeIterator::InMemory> in_memory;
  for (const Cluster& cluster : query_.plan.clusters) {
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
  stepper_ =
      std::make_unique<ValueRangeIterator>(std::move(cursors), std::move(in_memory),
                                           std::move(ranges), ordering.backward, StreamedMin());
  return {};
}

// Begins with the rows that have the entry of the position and come after it, and takes the entry
// out of the ranges. Other rows of the entry are not looked at.
void OrderedSource::BeginAtPosition(KeyRanges* ranges) {
  const std::optional<Position>& position = query_.ordering->position;
  if (!position.has_value() || !position->key.has_value()) return;
  const format::KeyRange same = format::EqualRange(*position->entry);
  const bool has_entry =
      std::ranges::any_of(*ranges, [&](const auto& range) { return range.Contains(same.low); });
  if (!has_entry) return;
  const format::KeyRange rest =
      query_.ordering->backward ? format::KeyRange{{}, same.low} : format::KeyRange{*same.high, {}};
  *ranges = Intersect(*ranges, {rest});
  range_ = same;
  access_ = AccessInOrder(index(), range_);
  format::KeyRange rows;
  if (query_.ordering->keys_fall) {
    rows.high = *position->key;
  } else {
    rows.low = *position->key + '\0';
  }
  OpenWindows(Intersect(query_.plan.within, rows));
}

// The rows of the present access, some keys after the other.
void OrderedSource::OpenWindows(format::KeyRange rows) {
  windows_.emplace(query_.context->view, query_.context->schema.merged, std::move(rows),
                   query_.ordering->keys_fall);
}

// Whether the rows of one entry are read by windows: from the last one on they have to be, and a
// read that ends early should not find those of all sources first.
bool OrderedSource::Windows() const {
  return query_.ordering->keys_fall ||
         (query_.context->may_end_early &&
          !std::ranges::all_of(query_.plan.clusters,
                               [](const Cluster& cluster) { return cluster.has_one_file(); }));
}

// A value with more entries than this is streamed.
uint64_t OrderedSource::StreamedMin() const {
  if (!query_.context->may_end_early) return ValueRangeIterator::kLargeMin;
  return std::clamp(RowsAsked(), kEntriesFirst, ValueRangeIterator::kLargeMin);
}

// Where rows of a value are looked at key by key, keys are positions; else where the next range
// begins is one.
void OrderedSource::TellProgress() {
  ReadMeter* const meter = query_.context->meter.get();
  if (meter == nullptr) return;
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
  ConcatenatingIterator chain(query_.context.get(), window_, &access_);
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
    if (stepper_ == nullptr) return false;
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

// Reads the next range of values; false when there is none.
Result<bool> OrderedSource::Step() {
  do {
    while (parts_.empty()) {
      ASSIGN_OR_RETURN(std::optional<ValueRangeStep> stepped, stepper_->Next(entries_));
      if (!stepped.has_value()) return false;
      is_large_ = stepped->is_large;
      parts_ = CutByFirstColumn(index(), stepped->keys);
      if (!query_.ordering->backward) std::reverse(parts_.begin(), parts_.end());
    }
    range_ = std::move(parts_.back());
    parts_.pop_back();
  } while (taken_whole_.has_value() && taken_whole_->Contains(range_.low));
  access_ = AccessInOrder(index(), range_);
  access_.covered = query_.plan.access->covered;
  if (access_.is_intersection() && RowsAsked() > kEntriesMax) RETURN_IF_ERROR(TakeWholeIfCheaper());
  if (is_large_ && Windows()) {
    access_.covered = false;  // Each window would read the records of all.
    OpenWindows(query_.plan.within);
    return true;
  }
  ConcatenatingIterator chain(query_.context.get(), query_.plan.clusters, &access_);
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
  ASSIGN_OR_RETURN(const EntryCount entries,
                   CountEntries(query_.plan.clusters, access_, Precision::kAtMost,
                                query_.context->cancellation));
  if (entries.total() <= kWalkedAgainMax) return {};
  taken_whole_ = access_.paths[0].ranges[0];
  if (query_.ordering->backward) {
    range_.low = taken_whole_->low;
  } else {
    range_.high = taken_whole_->high;
  }
  access_ = {.paths = {}, .exact = false};
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
    if (ReadMeter* const meter = query_.context->meter.get()) [[unlikely]] {
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

}  // namespace

std::unique_ptr<RowSource> OpenOrdered(const Query& query) {
  return std::make_unique<OrderedSource>(query);
}

}  // namespace tandem::engine
