// Taking over the changes of a memstore, 64 at a time, so that cache misses overlap.
#include "engine/source/memstore_overlap.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/status_macros.h"
#include "engine/source/candidates.h"
#include "format/hash.h"
#include "index/entries.h"

namespace tandem::engine {
namespace {

constexpr uint32_t kUnknown = UINT32_MAX - 1;  // In ordinals_.
// Setting up bits for this many rows costs about as much as taking over a change.
constexpr uint64_t kRowsPerChange = 128;

// Clears the flag at the end of the scope.
class Turn {
 public:
  explicit Turn(std::atomic<bool>* flag) : flag_(flag) {}
  ~Turn() { flag_->store(false, std::memory_order_release); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::atomic<bool>* const flag_;
};

}  // namespace

std::shared_ptr<MemstoreOverlap> MemstoreOverlap::Of(const Memstore& memstore,
                                                     const format::StoreFile& file,
                                                     const std::shared_ptr<OverlapMemory>& memory) {
  std::shared_ptr<Memstore::Derived> kept = memstore.FindDerived(file.number());
  if (kept == nullptr) {
    kept = memstore.KeepDerived(file.number(), std::make_shared<MemstoreOverlap>(memstore, memory));
  }
  return std::static_pointer_cast<MemstoreOverlap>(std::move(kept));
}

Result<bool> MemstoreOverlap::Covers(format::SequenceNumber sequence, format::StoreFile* file) {
  const auto covers = [&] {
    return known_through_.load(std::memory_order_acquire) >= sequence.value;
  };
  if (covers()) return true;
  if (memstore_.table().indexes.empty()) return false;  // It has no log of changes.
  const uint64_t changes = memstore_.change_count();
  const uint64_t taken = taken_.load(std::memory_order_relaxed);
  const uint64_t to_set_up = taken == 0 ? file->row_count() / kRowsPerChange : 0;
  if (!credit_.Pay(changes - taken + to_set_up, changes + to_set_up)) return false;
  if (is_advanced_.exchange(true, std::memory_order_acquire)) return false;
  const Turn turn(&is_advanced_);
  if (covers()) return true;
  return BringUpTo(sequence, file);
}

// A reader that fails or runs out of memory leaves the changes that it did not take over to the
// next; setting a bit twice changes nothing.
Result<bool> MemstoreOverlap::BringUpTo(format::SequenceNumber sequence, format::StoreFile* file) {
  ASSIGN_OR_RETURN(const std::span<const uint64_t> hashes, file->KeyHashes());
  if (hashes.empty() || !MakeRoom(*file)) return false;
  std::array<ChangeLog::Change, kTogether> changes;
  size_t count = kTogether;
  while (count == kTogether) {
    ChangeLog::Cursor cursor = changes_;
    for (count = 0; count < kTogether; ++count) {
      const ChangeLog::Change* change = cursor.Next(sequence);
      if (change == nullptr) break;
      __builtin_prefetch(change->row);
      changes[count] = *change;
    }
    const std::span<const ChangeLog::Change> taken(changes.data(), count);
    for (const ChangeLog::Change& change : taken) Memstore::PrefetchCells(change.row);
    RETURN_IF_ERROR(Locate(taken, file));
    for (const ChangeLog::Change& change : taken) Take(change);
    changes_ = cursor;
    taken_.store(cursor.passed(), std::memory_order_relaxed);
  }
  known_through_.store(sequence.value, std::memory_order_release);
  return true;
}

// False: there is no memory.
bool MemstoreOverlap::MakeRoom(const format::StoreFile& file) {
  const format::TableRecord& table = memstore_.table();
  const uint64_t rows = memstore_.row_count();
  const size_t before = ordinals_ == nullptr ? 0 : ordinals_->size();
  const size_t room = rows <= before ? before : std::max<size_t>(rows, before * 2);
  const uint64_t bits_bytes = StampedBits::BytesFor(file.row_count());
  if (!charge_.GrowTo(room * sizeof(uint32_t) + bits_bytes * (1 + 2 * table.indexes.size()))) {
    return false;
  }
  if (room > before || ordinals_ == nullptr) {
    auto grown = std::make_shared<std::vector<uint32_t>>(room, kUnknown);
    if (ordinals_ != nullptr) std::copy(ordinals_->begin(), ordinals_->end(), grown->begin());
    base::MutexLock lock(mutex_);
    ordinals_shared_ = grown;
    ordinals_ = std::move(grown);
  }
  if (held_ != nullptr) return true;
  indexes_.clear();  // An attempt before may have run out of memory.
  for (const format::IndexRecord& index : table.indexes) {
    if (!format::MayDie(index)) continue;
    const std::optional<int64_t> newest = NewestPutOf(file, index.columns.front());
    if (newest.has_value()) indexes_.emplace_back(index, *newest, file.row_count());
  }
  held_ = std::make_unique<StampedBits>(file.row_count());
  return true;
}

// Looks up the rows that were not looked up before.
Status MemstoreOverlap::Locate(std::span<const ChangeLog::Change> changes,
                               format::StoreFile* file) {
  const format::FileStatistics& statistics = file->statistics();
  sought_.clear();
  for (const ChangeLog::Change& change : changes) {
    uint32_t& ordinal = (*ordinals_)[Memstore::RowNumber(change.row)];
    if (ordinal != kUnknown) continue;
    const std::string_view key = Memstore::Key(change.row);
    if (key < statistics.min_key || key > statistics.max_key) {
      ordinal = kNowhere;
    } else {
      sought_.push_back({{key, format::RowHash(key, memstore_.table().hash_secret)},
                         Memstore::RowNumber(change.row)});
    }
  }
  if (sought_.empty()) return {};
  std::sort(sought_.begin(), sought_.end(),
            [](const Sought& a, const Sought& b) { return a.key.bytes < b.key.bytes; });
  keys_.clear();
  found_.clear();
  for (const Sought& sought : sought_) keys_.push_back(sought.key);
  RETURN_IF_ERROR(file->FindEachByHash(keys_, &found_));
  ASSIGN_OR_RETURN(const std::span<const uint64_t> hashes, file->KeyHashes());
  size_t at = 0;
  for (const Sought& sought : sought_) {
    const bool is_here = at < found_.size() && hashes[found_[at]] == sought.key.hash;
    (*ordinals_)[sought.row] = is_here ? found_[at++] : kNowhere;
  }
  return {};
}

void MemstoreOverlap::Take(const ChangeLog::Change& change) {
  const uint32_t ordinal = (*ordinals_)[Memstore::RowNumber(change.row)];
  if (ordinal == kNowhere) return;
  for (Index& index : indexes_) {
    if (index.dead.Has(ordinal)) continue;
    if (Memstore::Supersedes(change.row, index.puts, change.sequence)) {
      index.has_any.store(true, std::memory_order_relaxed);
      index.dead.Add(ordinal, change.sequence);
    } else if (Memstore::Touches(change.row, *index.puts.column, change.sequence)) {
      index.has_any.store(true, std::memory_order_relaxed);
      index.touched.Add(ordinal, change.sequence);
    }
  }
  held_->Add(ordinal, change.sequence);
}

// Where those of the reader end in absent_.
std::optional<size_t> MemstoreOverlap::FindAbsent(format::SequenceNumber sequence) {
  const std::shared_ptr<const std::vector<uint32_t>> ordinals = Ordinals();
  ChangeLog::Cursor next = absent_changes_, ahead = absent_changes_;
  for (size_t i = 0; i < kTogether; ++i) {
    const ChangeLog::Change* const change = ahead.Next(sequence);
    if (change != nullptr) __builtin_prefetch(change->row);
  }
  while (const ChangeLog::Change* const change = next.Next(sequence)) {
    if (const ChangeLog::Change* const later = ahead.Next(sequence)) {
      __builtin_prefetch(later->row);
    }
    const uint32_t number = Memstore::RowNumber(change->row);
    if (number >= looked_at_.size()) looked_at_.resize(ordinals->size());
    if (!looked_at_[number] && (*ordinals)[number] == kNowhere) {
      if (absent_.size() == absent_.capacity()) {
        const size_t room = std::max(kTogether, absent_.size() * 2);
        if (!absent_charge_.GrowTo(room * sizeof(Absent))) return std::nullopt;
        absent_.reserve(room);
      }
      absent_.push_back({change->row, number, change->sequence});
    }
    looked_at_[number] = true;
    absent_changes_ = next;
  }
  const auto end = std::ranges::upper_bound(absent_, sequence, {}, &Absent::sequence);
  return static_cast<size_t>(end - absent_.begin());
}

std::optional<uint64_t> MemstoreOverlap::CountAbsent(format::SequenceNumber sequence) {
  base::MutexLock lock(absent_mutex_);
  return FindAbsent(sequence);
}

bool MemstoreOverlap::AppendAbsent(format::SequenceNumber sequence, std::vector<Absent>* rows) {
  base::MutexLock lock(absent_mutex_);
  const std::optional<size_t> count = FindAbsent(sequence);
  if (!count.has_value()) return false;
  rows->insert(rows->end(), absent_.begin(), absent_.begin() + static_cast<ptrdiff_t>(*count));
  return true;
}

const MemstoreOverlap::Index* MemstoreOverlap::Find(format::IndexId index) const {
  const auto found = std::find_if(indexes_.begin(), indexes_.end(),
                                  [index](const Index& here) { return here.id == index; });
  return found == indexes_.end() ? nullptr : &*found;
}

bool MemstoreOverlap::LeavesAsItIs(const format::IndexRecord& index) const {
  const Index* const found = Find(index.id);
  return found != nullptr && !found->has_any.load(std::memory_order_relaxed);
}

std::optional<MemstoreOverlap::Bits> MemstoreOverlap::BitsFor(
    const format::IndexRecord* index) const {
  Bits bits;
  bits.held_ = held_.get();
  if (index == nullptr) return bits;
  const Index* const found = Find(index->id);
  if (found == nullptr) return std::nullopt;
  bits.touched_ = &found->touched;
  bits.dead_ = &found->dead;
  return bits;
}

}  // namespace tandem::engine
