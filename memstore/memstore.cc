// Combines the memstore's parts. An operation goes to the skiplist, the hash table and the append
// buffers; it becomes visible atomically when the row's newest cell is stored, last.
#include "memstore/memstore.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <new>
#include <utility>

#include "base/check.h"
#include "base/mutex.h"
#include "format/functions.h"
#include "format/hash.h"
#include "format/registry/registered.h"
#include "index/entries.h"
#include "index/partial.h"
#include "memstore/hash_table.h"
#include "memstore/live_entries.h"
#include "memstore/row_tree_writer.h"
#include "memstore/skiplist.h"
#include "memstore/stamped_bits.h"
#include "tandem/limits.h"

namespace tandem::engine {
namespace {

// The cells of one operation, copied into the arena as one chain.
struct Chain {
  MemCell* newest = nullptr;
  MemCell* oldest = nullptr;
};

MemCell* CopyCell(const format::Cell& cell, base::Arena* arena) {
  CHECK(cell.qualifier.size() <= std::numeric_limits<uint16_t>::max());
  CHECK(cell.value.size() <= std::numeric_limits<uint32_t>::max());
  char* memory = arena->Allocate(sizeof(MemCell) + cell.qualifier.size() + cell.value.size(),
                                 alignof(MemCell));
  auto* copy = new (memory) MemCell;
  copy->sequence = cell.sequence;
  copy->timestamp = cell.timestamp;
  copy->value_bytes = static_cast<uint32_t>(cell.value.size());
  copy->qualifier_bytes = static_cast<uint16_t>(cell.qualifier.size());
  copy->family = cell.family.value;
  copy->kind = static_cast<uint8_t>(cell.kind);
  char* bytes = memory + sizeof(MemCell);
  if (!cell.qualifier.empty()) std::memcpy(bytes, cell.qualifier.data(), cell.qualifier.size());
  bytes += cell.qualifier.size();
  if (!cell.value.empty()) std::memcpy(bytes, cell.value.data(), cell.value.size());
  return copy;
}

Chain CopyCells(std::span<const format::Cell> cells, base::Arena* arena) {
  Chain chain;
  for (const format::Cell& cell : cells) {
    MemCell* copy = CopyCell(cell, arena);
    copy->older = chain.newest;
    chain.newest = copy;
    if (chain.oldest == nullptr) chain.oldest = copy;
  }
  return chain;
}

// Stores a figure that readers load; only the writer calls it. Release: a reader that sees the
// figure sees what it counts.
template <typename T>
void Publish(std::atomic<T>* figure, T value) {
  figure->store(value, std::memory_order_release);
}

bool IsPutOf(const format::IndexColumnRecord& column, const format::Cell& cell) {
  return cell.kind == format::CellKind::kPut &&
         format::HasPutsOf(column, cell.family, cell.qualifier);
}

}  // namespace

// The row of an operation: its hash, and where it belongs if it is new.
struct Memstore::RowFound {
  uint64_t hash = 0;
  RowSkiplist::Place place;
};

// Trigrams are as many as the characters of a value. With a buffer each would take some 40 bytes.
bool IsBuffered(const format::IndexRecord& index) {
  return !format::AreTrigrams(index.columns.front().functions);
}

struct Memstore::Impl {
  Impl(const format::TableRecord& table, base::MemoryAccount* account, uint64_t rows_expected)
      : rows(&row_arena),
        by_hash(table.hash_secret, rows_expected),
        log(&arena),
        rows_charge(account, base::MemoryPart::kMemstores),
        buffers_charge(account, base::MemoryPart::kAppendBuffers) {
    incomplete = std::vector<std::atomic<bool>>(table.indexes.size());
    for (size_t i = 0; i < table.indexes.size(); ++i) {
      buffers.emplace_back(&index_arena);
      incomplete[i] = !IsBuffered(table.indexes[i]) || format::IsUnusable(table.indexes[i]);
    }
  }
  uint64_t row_bytes() const;
  uint64_t buffer_bytes() const;
  void FindRows(const format::TableRecord& table, std::span<const RowOperation> operations,
                std::span<RowFound> found);
  MemRow* FindOrInsert(const RowFound& found);
  void CountCells(std::span<const format::Cell> cells);
  LiveEntries& Live(const format::TableRecord& table, size_t index) EXCLUDES(mutex);
  const MemCell* NewTree(const format::TableRecord& table, const MemCell* newest);
  bool AppendKeys(const format::IndexColumnRecord& column, size_t which, const MemRow* row,
                  const format::Cell& put, format::JoinedPuts joined = {});
  void AddToComposite(const format::IndexRecord& index, size_t which, const MemRow* row,
                      std::span<const format::Cell> cells, PutTimes* times);
  void CountComposite(const PutTimes& times);
  void AddToIndexes(const format::TableRecord& table, const MemRow* row,
                    std::span<const format::Cell> cells);

  base::Arena arena;        // Cells, and the log of changes.
  base::Arena row_arena;    // Nodes, apart from the cells: a search touches fewer pages.
  base::Arena index_arena;  // Index entries.
  RowSkiplist rows;
  RowTable by_hash;
  ChangeLog log;                              // Empty if the table has no index.
  std::deque<index::AppendBuffer> buffers;    // One per index, in the table's order.
  std::vector<std::atomic<bool>> incomplete;  // An entry is missing in the buffer.
  std::string index_key;                      // The writer's own, reused,
  format::PutKeys put_keys;                   // as these
  std::vector<const format::Cell*> puts, where_puts;
  std::vector<const MemCell*> chained;  // and this.

  base::MemoryCharge rows_charge, buffers_charge;  // The writer's own.

  std::atomic<uint64_t> live_bytes{0};  // Relaxed: a figure.
  base::Mutex mutex;
  std::unique_ptr<std::deque<LiveEntries>> live GUARDED_BY(mutex);  // Made by the first reader.
  std::map<format::FileNumber, std::shared_ptr<Derived>> derived GUARDED_BY(mutex);

  // Stored with release by the writer, loaded with acquire by readers.
  std::atomic<uint64_t> row_count{0};
  std::atomic<uint64_t> min_sequence{0};  // 0: empty.
  std::atomic<uint64_t> max_sequence{0};
  std::atomic<int64_t> min_timestamp{std::numeric_limits<int64_t>::max()};
  std::atomic<bool> has_only_puts{true};
  // Of the columns of indexes over several.
  std::atomic<int64_t> min_composite{PutTimes().min}, max_composite{PutTimes().max};
  std::atomic<bool> composite_falls{false};
};

Memstore::Memstore(std::shared_ptr<const format::TableRecord> table, base::MemoryAccount* account,
                   uint64_t rows_expected, uint32_t chain_cells_max)
    : table_(std::move(table)),
      limits_(table_),
      chain_cells_max_(std::min(chain_cells_max, MemRow::kChainCellsCounted - 1)),
      impl_(std::make_unique<Impl>(*table_, account, rows_expected)) {}

Memstore::~Memstore() = default;

uint64_t Memstore::Impl::row_bytes() const {
  return arena.size_bytes() + row_arena.size_bytes() + by_hash.size_bytes();
}

uint64_t Memstore::Impl::buffer_bytes() const {
  uint64_t bytes = index_arena.size_bytes();
  for (const index::AppendBuffer& buffer : buffers) bytes += buffer.run_bytes();
  return bytes + live_bytes.load(std::memory_order_relaxed);
}

// A single operation looks its row up when its cells are copied: by then the slot is here.
void Memstore::Impl::FindRows(const format::TableRecord& table,
                              std::span<const RowOperation> operations, std::span<RowFound> found) {
  std::array<uint64_t, kOperationsTogether> hashes;
  std::array<const MemRow*, kOperationsTogether> rows_found;
  std::array<RowSkiplist::Place*, kOperationsTogether> missing;
  for (size_t i = 0; i < operations.size(); ++i) {
    hashes[i] = format::RowHash(operations[i].row, table.hash_secret);
    found[i] = {.hash = hashes[i], .place = RowSkiplist::Place(operations[i].row)};
  }
  if (operations.size() == 1) return by_hash.Prefetch(hashes[0]);
  by_hash.FindEach({hashes.data(), operations.size()}, {rows_found.data(), operations.size()});
  size_t count = 0;
  for (size_t i = 0; i < operations.size(); ++i) {
    if (rows_found[i] == nullptr) missing[count++] = &found[i].place;
  }
  rows.FindPlaces({missing.data(), count});
}

// An earlier operation of the same call may have inserted the row.
MemRow* Memstore::Impl::FindOrInsert(const RowFound& found) {
  // The table's rows are this memstore's own, which its writer may change.
  if (const MemRow* row = by_hash.Find(found.place.key.bytes, found.hash)) {
    return const_cast<MemRow*>(row);
  }
  const auto [row, is_new] = rows.FindOrInsert(found.place, found.hash);
  CHECK(is_new);
  by_hash.Add(row, found.hash);
  Publish(&row_count, row_count.load(std::memory_order_relaxed) + 1);
  return row;
}

void Memstore::Impl::CountCells(std::span<const format::Cell> cells) {
  const uint64_t sequence = cells.front().sequence.value;
  DCHECK(sequence >= max_sequence.load(std::memory_order_relaxed));
  if (min_sequence.load(std::memory_order_relaxed) == 0) Publish(&min_sequence, sequence);
  Publish(&max_sequence, sequence);
  int64_t oldest = min_timestamp.load(std::memory_order_relaxed);
  for (const format::Cell& cell : cells) {
    if (cell.kind == format::CellKind::kPut) {
      oldest = std::min(oldest, cell.timestamp);
    } else {
      has_only_puts.store(false, std::memory_order_release);
    }
  }
  Publish(&min_timestamp, oldest);
}

// False: the Put has no key.
bool Memstore::Impl::AppendKeys(const format::IndexColumnRecord& column, size_t which,
                                const MemRow* row, const format::Cell& put,
                                format::JoinedPuts joined) {
  const std::span<const std::string_view> keys = put_keys.Of(column, put, joined);
  for (const std::string_view key : keys) buffers[which].Append(key, row, put.sequence);
  return !keys.empty();
}

// An operation that concerns a column has an entry of all columns that it puts. If it puts one
// twice, each of its Puts has an entry: only one of the two counts. That of a column that is joined
// has one without any value.
void Memstore::Impl::AddToComposite(const format::IndexRecord& index, size_t which,
                                    const MemRow* row, std::span<const format::Cell> cells,
                                    PutTimes* times) {
  puts.resize(index.places());
  const bool is_of_row_key = index.is_of_row_key_alone();
  // Of such an index the row's first operation has added the entry.
  if (is_of_row_key && row->newest.load(std::memory_order_relaxed) != nullptr) return;
  const format::Cell row_put = format::RowKeyPut(row->key());
  const bool is_multi_valued = format::IsMultiValued(index.columns.front());
  const auto append = [&] {
    if (is_multi_valued && puts.front() != nullptr &&
        AppendKeys(index.columns[0], which, row, *puts.front(), std::span(puts).subspan(1))) {
      return;
    }
    index_key.clear();
    if (is_multi_valued) {  // Which has no value here.
      format::AppendAbsentKey(index.columns.front(), &index_key);
    } else if (format::AppendEntry(index, puts, &index_key) == 0 && is_of_row_key) {
      return;
    }
    buffers[which].Append(index_key, row, cells.front().sequence);
  };
  const auto take_none = [&] {
    std::ranges::fill(puts, nullptr);
    for (size_t i = 0; i < index.columns.size(); ++i) {
      if (index.columns[i].is_of_row_key()) puts[i] = &row_put;
    }
  };
  bool is_concerned = false, is_repeated = false;
  const auto find = [&](const format::IndexColumnRecord& column, const format::Cell** put) {
    is_concerned |= column.is_of_row_key();
    for (const format::Cell& cell : cells) {
      is_concerned |= format::ConcernsColumn(column, cell);
      if (!IsPutOf(column, cell)) continue;
      times->min = std::min(times->min, cell.timestamp);
      times->max = std::max(times->max, cell.timestamp);
      is_repeated |= std::exchange(*put, &cell) != nullptr;
    }
  };
  take_none();
  index.ForEachPlace([&](const format::IndexColumnRecord& column, size_t place) {
    find(column, &puts[place]);
    if (place >= index.columns.size()) return;
    for (const format::Cell& cell : cells) {
      if (IsPutOf(column, cell) && format::IsHiddenFrom(column, cell)) {
        Publish(&incomplete[which], true);
      }
    }
  });
  if (index.where.has_value()) {
    where_puts.assign(index.where->columns.size(), nullptr);
    for (size_t i = 0; i < where_puts.size(); ++i) find(index.where->columns[i], &where_puts[i]);
    if (!is_repeated && format::TruthOf(*index.where, where_puts) == format::Truth::kFalse) return;
  }
  if (is_concerned && !is_repeated) append();
  if (!is_repeated) return;
  if (index.needs_order()) {
    // Of what it puts twice one counts, perhaps of the predicate or in what is joined.
    take_none();
    append();
  }
  for (size_t i = 0; i < index.columns.size(); ++i) {
    take_none();
    for (const format::Cell& cell : cells) {
      if (!IsPutOf(index.columns[i], cell)) continue;
      puts[i] = &cell;
      append();
    }
  }
}

void Memstore::Impl::CountComposite(const PutTimes& times) {
  const int64_t max = max_composite.load(std::memory_order_relaxed);
  if (times.min < max) Publish(&composite_falls, true);
  Publish(&max_composite, std::max(max, times.max));
  Publish(&min_composite, std::min(min_composite.load(std::memory_order_relaxed), times.min));
}

void Memstore::Impl::AddToIndexes(const format::TableRecord& table, const MemRow* row,
                                  std::span<const format::Cell> cells) {
  PutTimes times;  // Of the operation.
  for (size_t i = 0; i < table.indexes.size(); ++i) {
    if (table.indexes[i].is_of_several()) {
      AddToComposite(table.indexes[i], i, row, cells, &times);
      continue;
    }
    if (!IsBuffered(table.indexes[i])) continue;
    const format::IndexColumnRecord& column = table.indexes[i].columns.front();
    for (const format::Cell& cell : cells) {
      if (!IsPutOf(column, cell)) continue;
      if (AppendKeys(column, i, row, cell)) continue;
      if (format::IsHiddenFrom(column, cell)) Publish(&incomplete[i], true);
    }
  }
  if (times.min <= times.max) CountComposite(times);
}

// Returns the tree cell of a new tree, built from the last tree and the cells in front of it.
const MemCell* Memstore::Impl::NewTree(const format::TableRecord& table, const MemCell* newest) {
  chained.clear();
  const MemCell* previous = newest;
  for (; previous != nullptr && previous->kind != kTreeCell; previous = previous->older) {
    chained.push_back(previous);
  }
  std::reverse(chained.begin(), chained.end());
  const bool is_first = previous == nullptr;
  RowTree tree{.previous = previous};
  tree.number = is_first ? 1 : RowTree::Of(previous).number + 1;
  tree.jump = is_first ? nullptr : JumpAfter(previous);
  RowTreeWriter writer(table, &arena, is_first ? nullptr : RowTree::Of(previous).root, tree.number);
  writer.Add(chained);
  tree.root = writer.root();

  char* memory = arena.Allocate(sizeof(MemCell) + sizeof(RowTree), alignof(MemCell));
  auto* cell = new (memory) MemCell;
  cell->older = newest;
  cell->sequence = newest->sequence;
  cell->kind = kTreeCell;
  new (memory + sizeof(MemCell)) RowTree(tree);
  return cell;
}

// Rows are looked up by hash first, which spares an update the search for its key.
void Memstore::Apply(std::span<const RowOperation> operations) {
  std::array<RowFound, kOperationsTogether> found;
  while (!operations.empty()) {
    const auto together = operations.first(std::min(operations.size(), kOperationsTogether));
    impl_->FindRows(*table_, together, found);
    for (size_t i = 0; i < together.size(); ++i) ApplyOne(together[i], found[i]);
    operations = operations.subspan(together.size());
  }
}

// The row's newest cell is stored last, which makes the operation visible atomically. Until then
// table, buffers and figures may include too much; readers check them against the row.
void Memstore::ApplyOne(const RowOperation& operation, const RowFound& found) {
  const auto& [row_key, cells] = operation;
  if (cells.empty()) return;
  DCHECK(cells.front().sequence == cells.back().sequence);
  Impl& impl = *impl_;
  const Chain chain = CopyCells(cells, &impl.arena);
  MemRow* row = impl.FindOrInsert(found);
  impl.AddToIndexes(*table_, row, cells);
  if (!table_->indexes.empty()) impl.log.Append({row, cells.back().sequence});
  chain.oldest->older = row->newest.load(std::memory_order_relaxed);
  const MemCell* newest = chain.newest;
  uint32_t chain_cells = row->chain_cells + static_cast<uint32_t>(cells.size());
  if (chain_cells > chain_cells_max_ && row->chain_cells > 0) {
    newest = impl.NewTree(*limits_, chain.newest);
    // A reader walks a tree and the chain in front of it, so that chain is half as long.
    chain_cells = chain_cells_max_ / 2;
  }
  row->chain_cells = static_cast<uint8_t>(std::min(chain_cells, MemRow::kChainCellsCounted));
  impl.CountCells(cells);
  row->newest.store(newest, std::memory_order_release);
  impl.rows_charge.Set(impl.row_bytes());
  impl.buffers_charge.Set(impl.buffer_bytes());
}

bool Memstore::empty() const { return min_sequence().value == 0; }

uint64_t Memstore::row_count() const { return impl_->row_count.load(std::memory_order_acquire); }

uint64_t Memstore::size_bytes() const { return impl_->row_bytes() + impl_->buffer_bytes(); }

format::SequenceNumber Memstore::min_sequence() const {
  return format::SequenceNumber(impl_->min_sequence.load(std::memory_order_acquire));
}

format::SequenceNumber Memstore::max_sequence() const {
  return format::SequenceNumber(impl_->max_sequence.load(std::memory_order_acquire));
}

bool Memstore::has_only_puts() const {
  return impl_->has_only_puts.load(std::memory_order_acquire);
}

PutTimes Memstore::composite_times() const {
  return {.min = impl_->min_composite.load(std::memory_order_acquire),
          .max = impl_->max_composite.load(std::memory_order_acquire),
          .rise = !impl_->composite_falls.load(std::memory_order_acquire)};
}
int64_t Memstore::min_timestamp() const {
  return impl_->min_timestamp.load(std::memory_order_acquire);
}

const MemRow* Memstore::Find(std::string_view row) const {
  return Find(row, format::RowHash(row, table_->hash_secret));
}

const MemRow* Memstore::Find(std::string_view row, uint64_t row_hash) const {
  return impl_->by_hash.Find(row, row_hash);
}

bool Memstore::MayContain(uint64_t row_hash) const {
  const MemRow* row = nullptr;
  FindEach({&row_hash, 1}, {&row, 1});
  return row != nullptr;
}

void Memstore::FindEach(std::span<const uint64_t> row_hashes, std::span<const MemRow*> rows) const {
  impl_->by_hash.FindEach(row_hashes, rows);
}

std::string_view Memstore::Key(const MemRow* row) { return row->key(); }

std::optional<size_t> Memstore::FindIndex(format::IndexId index) const {
  for (size_t i = 0; i < table_->indexes.size(); ++i) {
    if (table_->indexes[i].id != index) continue;
    return impl_->incomplete[i].load(std::memory_order_acquire) ? std::nullopt : std::optional(i);
  }
  return std::nullopt;
}

void Memstore::CollectIndex(size_t index, const format::KeyRange& range,
                            format::SequenceNumber max_sequence,
                            std::vector<const MemRow*>* rows) const {
  std::vector<const void*> found;
  impl_->buffers[index].Collect(range, SeenThrough(max_sequence), &found);
  rows->reserve(rows->size() + found.size());
  for (const void* row : found) rows->push_back(static_cast<const MemRow*>(row));
  impl_->Live(*table_, index).Asked(found.size());
}

bool Memstore::CollectFew(size_t index, const format::KeyRange& range,
                          format::SequenceNumber max_sequence, size_t most,
                          std::vector<const MemRow*>* rows) const {
  std::vector<const void*> found;
  if (!impl_->buffers[index].CollectFew(range, SeenThrough(max_sequence), most, &found)) {
    return false;
  }
  for (const void* row : found) rows->push_back(static_cast<const MemRow*>(row));
  impl_->Live(*table_, index).Asked(found.size());
  return true;
}

namespace {

std::optional<format::SequenceNumber> SequenceOfNewestPut(const MemRow* row,
                                                          const format::IndexColumnRecord& column,
                                                          format::SequenceNumber sequence) {
  const std::optional<LivePut> put = Memstore::NewestPut(row, column, sequence);
  return put.has_value() ? std::optional(put->sequence) : std::nullopt;
}

}  // namespace

LiveEntries& Memstore::Impl::Live(const format::TableRecord& table, size_t index) {
  base::MutexLock lock(mutex);
  if (live == nullptr) {
    auto made = std::make_unique<std::deque<LiveEntries>>();
    for (size_t i = 0; i < table.indexes.size(); ++i) {
      made->emplace_back(&log, &buffers[i], &table.indexes[i], SequenceOfNewestPut, &live_bytes);
    }
    live = std::move(made);
  }
  return (*live)[index];
}

bool Memstore::CollectLiveIndex(size_t index, const format::KeyRange& range,
                                format::SequenceNumber reader,
                                std::vector<const MemRow*>* rows) const {
  const format::SequenceNumber max_sequence = SeenThrough(reader);
  LiveEntries& live = impl_->Live(*table_, index);
  const std::shared_ptr<const StampedBits> dead = live.DeadAsOf(max_sequence, row_count());
  if (dead == nullptr) return false;
  std::vector<const void*> found;
  std::vector<const index::BufferEntry*> unknown;
  impl_->buffers[index].CollectLive(range, max_sequence, *dead, &found, &unknown);
  live.Asked(found.size() + unknown.size());
  rows->reserve(rows->size() + found.size());
  for (const void* row : found) rows->push_back(static_cast<const MemRow*>(row));
  for (const index::BufferEntry* entry : unknown) {
    if (live.IsLive(*entry, max_sequence)) rows->push_back(static_cast<const MemRow*>(entry->row));
  }
  return true;
}

std::optional<uint64_t> Memstore::CountLiveIndex(size_t index, const format::KeyRange& range,
                                                 format::SequenceNumber reader) const {
  const format::SequenceNumber max_sequence = SeenThrough(reader);
  LiveEntries& live = impl_->Live(*table_, index);
  const std::shared_ptr<const StampedBits> dead = live.DeadAsOf(max_sequence, row_count());
  if (dead == nullptr) return std::nullopt;
  std::vector<const index::BufferEntry*> unknown;
  uint64_t count = impl_->buffers[index].CountLive(range, max_sequence, *dead, &unknown);
  live.Asked(count + unknown.size());
  for (const index::BufferEntry* entry : unknown) count += live.IsLive(*entry, max_sequence);
  return count;
}

std::shared_ptr<Memstore::Derived> Memstore::FindDerived(format::FileNumber file) const {
  base::MutexLock lock(impl_->mutex);
  const auto found = impl_->derived.find(file);
  return found == impl_->derived.end() ? nullptr : found->second;
}

std::shared_ptr<Memstore::Derived> Memstore::KeepDerived(format::FileNumber file,
                                                         std::shared_ptr<Derived> derived) const {
  base::MutexLock lock(impl_->mutex);
  return impl_->derived.try_emplace(file, std::move(derived)).first->second;
}

// Moves the nodes, which allocates nothing.
void Memstore::DropDerivedOfOthers(std::span<const format::FileNumber> files) const {
  decltype(impl_->derived) dropped;  // Freed after the mutex.
  base::MutexLock lock(impl_->mutex);
  for (auto at = impl_->derived.begin(); at != impl_->derived.end();) {
    const auto here = at++;
    if (!std::binary_search(files.begin(), files.end(), here->first)) {
      dropped.insert(impl_->derived.extract(here));
    }
  }
}

ChangeLog::Cursor Memstore::Changes() const { return ChangeLog::Cursor(&impl_->log); }

uint64_t Memstore::change_count() const { return impl_->log.count(); }

uint32_t Memstore::RowNumber(const MemRow* row) { return row->number; }

uint64_t Memstore::CountIndex(size_t index, const format::KeyRange& range) const {
  return impl_->buffers[index].Count(range);
}

std::optional<std::string_view> Memstore::IndexKeyAfter(size_t index, const format::KeyRange& range,
                                                        uint64_t entries, bool backward) const {
  return impl_->buffers[index].KeyAfter(range, entries, backward);
}

std::optional<std::string_view> Memstore::KeyAfter(const format::KeyRange& range, uint64_t rows,
                                                   bool backward) const {
  const MemRow* row = nullptr;
  if (!backward) {
    row = impl_->rows.AboutAfter(range.low, rows);
  } else if (rows > 0) {
    row = impl_->rows.AboutBefore(range.high, rows - 1);
  }
  if (row == nullptr || !range.Contains(row->key())) return std::nullopt;
  return row->key();
}

void Memstore::Iterator::SeekToFirst() { row_ = memstore_->impl_->rows.First(); }
void Memstore::Iterator::SeekToLast() { row_ = memstore_->impl_->rows.Last(); }
void Memstore::Iterator::Seek(std::string_view key) {
  row_ = memstore_->impl_->rows.AtOrAfter(key);
}
void Memstore::Iterator::SeekBefore(std::string_view key) {
  row_ = memstore_->impl_->rows.Before(key);
}
void Memstore::Iterator::Next() { row_ = RowSkiplist::Next(row_); }
void Memstore::Iterator::Previous() { row_ = memstore_->impl_->rows.Before(row_->key()); }

}  // namespace tandem::engine
