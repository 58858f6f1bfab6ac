// Which rows of a file a memstore holds, and which postings it has made dead, as bitmaps over the
// file's rows: what overlaps (engine/region/overlaps.h) are between files. A memstore changes, so
// each bit counts from a sequence on (memstore/stamped_bits.h), and readers bring the bits up to
// date:
//
// 1. A change in the memstore's log names a row. It is looked up in the file, once: its ordinal
//    never changes.
// 2. For each index on one column the row is asked, as of the change, whether its postings in the
//    file are dead (Memstore::Supersedes) or at least whether the column may have changed
//    (Memstore::Touches). A row only gets more cells, so both stay true once they are: of a Put
//    that a DeleteCell took back, what it revealed was written again (rule 3), and the posting in
//    the file may stay dead.
// 3. Then all changes up to a sequence are known. Readers at or below it use the bits; where a
//    group of rows has newer ones, they ask the row. So it is right for every reader, and few pay
//    more than one bit for a row.
//
// A reader takes over changes only if it pays (memstore/question_credit.h), and if no other one is
// doing so. The bits count as overlaps of the region; where there is no memory, rows are asked.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/mutex.h"
#include "engine/region/overlaps.h"
#include "format/schema.h"
#include "format/types.h"
#include "memstore/memstore.h"
#include "memstore/question_credit.h"
#include "memstore/stamped_bits.h"
#include "store_file/store_file.h"

namespace tandem::engine {

/// What memstores say of a row of a file; of several, the strongest counts.
enum class MemstoreVerdict : uint8_t {
  kAbsent,      ///< None holds the row.
  kUntouched,   ///< They hold the row, but nothing that changes the index's column.
  kShared,      ///< They may hold the row.
  kSuperseded,  ///< They make the posting dead (rules 13 and 15).
};

/// Threads: any. Lifetime: its user keeps the memstore.
class MemstoreOverlap final : public Memstore::Derived {
 public:
  /// That of the memstore and the file. `memory`: where its bits are counted.
  static std::shared_ptr<MemstoreOverlap> Of(const Memstore& memstore,
                                             const format::StoreFile& file,
                                             const std::shared_ptr<OverlapMemory>& memory);
  MemstoreOverlap(const Memstore& memstore, const std::shared_ptr<OverlapMemory>& memory)
      : memstore_(memstore),
        absent_charge_(memory, 0),
        absent_changes_(memstore.Changes()),
        charge_(memory, 0),
        changes_(memstore.Changes()) {}

  /// A reader asks about that many rows, whether by the bits or without them.
  void Asked(uint64_t rows) { credit_.Add(rows); }
  /// Whether everything up to `sequence` is known, brought up to date if that pays. `file` is that
  /// of the overlap. Errors: kCorruption, kIoError.
  Result<bool> Covers(format::SequenceNumber sequence, format::StoreFile* file);

  /// Whether the memstore has changed the column of the index in no row of the file, so that every
  /// posting of the file is what it was. May be false for a reader to whom it is true, and is for
  /// an index without bits. Requires: Covers was true.
  bool LeavesAsItIs(const format::IndexRecord& index) const;

  static constexpr uint32_t kNowhere = UINT32_MAX;
  /// By row number of the memstore, the ordinal in the file, or kNowhere. Right for the rows that a
  /// covered reader sees. Requires: Covers was true.
  std::shared_ptr<const std::vector<uint32_t>> Ordinals() const EXCLUDES(mutex_) {
    base::MutexLock lock(mutex_);
    return ordinals_shared_;
  }

  /// A row of the memstore that the file has not.
  struct Absent {
    const MemRow* row = nullptr;
    uint32_t number = 0;              ///< Memstore::RowNumber.
    format::SequenceNumber sequence;  ///< Of its first cell.
  };
  /// How many of these a reader at `sequence` sees. nullopt: there is no memory. Requires: Covers
  /// was true of it. Cost: that of what changed since the last such call.
  std::optional<uint64_t> CountAbsent(format::SequenceNumber sequence) EXCLUDES(absent_mutex_);
  /// The same rows, appended to `*rows`. False: there is no memory.
  bool AppendAbsent(format::SequenceNumber sequence, std::vector<Absent>* rows)
      EXCLUDES(absent_mutex_);

  /// The bits for one index, or for none.
  class Bits {
   public:
    /// nullopt: the row has to be asked. Requires: Covers(sequence).
    std::optional<MemstoreVerdict> At(uint32_t ordinal, format::SequenceNumber sequence) const {
      const Answer dead = dead_ == nullptr ? Answer::kNo : dead_->At(ordinal, sequence);
      if (dead == Answer::kYes) return MemstoreVerdict::kSuperseded;
      const Answer held = held_->At(ordinal, sequence);
      if (held == Answer::kNo) return MemstoreVerdict::kAbsent;
      const Answer touched = touched_ == nullptr ? held : touched_->At(ordinal, sequence);
      if (dead == Answer::kUnknown || held == Answer::kUnknown || touched == Answer::kUnknown) {
        return std::nullopt;
      }
      return touched == Answer::kYes ? MemstoreVerdict::kShared : MemstoreVerdict::kUntouched;
    }

    /// For the rows of a group (StampedBits): those whose postings are dead, and of the others
    /// those that are touched. False: rows have to be asked. Requires: as At.
    bool ReadGroup(uint32_t group, format::SequenceNumber sequence, StampedBits::Words* dead,
                   StampedBits::Words* touched) const {
      dead->fill(0);
      if (dead_ != nullptr && !dead_->ReadGroup(group, sequence, dead)) return false;
      const StampedBits& bits = touched_ == nullptr ? *held_ : *touched_;
      if (!bits.ReadGroup(group, sequence, touched)) return false;
      for (size_t i = 0; i < touched->size(); ++i) (*touched)[i] &= ~(*dead)[i];
      return true;
    }

    /// For the rows of a group: those that the memstore holds. False and requires: as ReadGroup.
    bool ReadHeld(uint32_t group, format::SequenceNumber sequence, StampedBits::Words* held) const {
      return held_->ReadGroup(group, sequence, held);
    }

   private:
    using Answer = StampedBits::Answer;
    friend class MemstoreOverlap;
    const StampedBits* held_ = nullptr;
    const StampedBits* touched_ = nullptr;  // nullptr: as held.
    const StampedBits* dead_ = nullptr;     // nullptr: none.
  };
  /// nullopt: there are none for that index. Null `index`: no posting is dead, and any row that the
  /// memstore holds may be touched. Requires: Covers was true. Lifetime: this.
  std::optional<Bits> BitsFor(const format::IndexRecord* index) const;

 private:
  struct Index {
    Index(const format::IndexRecord& record, int64_t max_timestamp, uint32_t rows)
        : id(record.id), puts{&record.columns.front(), max_timestamp}, touched(rows), dead(rows) {}
    const format::IndexId id;
    const OlderPuts puts;
    StampedBits touched, dead;
    std::atomic<bool> has_any{false};  // In one of the two. Before known_through_ tells of it.
  };
  struct Sought {
    format::HashedKey key;
    uint32_t row = 0;  // Its number.
  };
  static constexpr size_t kTogether = 64;

  Result<bool> BringUpTo(format::SequenceNumber sequence, format::StoreFile* file);
  bool MakeRoom(const format::StoreFile& file);
  Status Locate(std::span<const ChangeLog::Change> changes, format::StoreFile* file);
  void Take(const ChangeLog::Change& change);
  const Index* Find(format::IndexId index) const;
  std::optional<size_t> FindAbsent(format::SequenceNumber sequence) REQUIRES(absent_mutex_);

  const Memstore& memstore_;
  QuestionCredit credit_;
  // A sequence. Release when the bits up to it are set; acquire by readers.
  std::atomic<uint64_t> known_through_{0};
  std::atomic<uint64_t> taken_{0};        // Changes; relaxed: an estimate.
  std::atomic<bool> is_advanced_{false};  // Acquire by who sets it, release by who clears it.

  // Set up by the first reader that advances it.
  std::unique_ptr<StampedBits> held_;
  std::deque<Index> indexes_;

  mutable base::Mutex mutex_;
  // Replaced when it grows. An element is written before known_through_ covers its row.
  std::shared_ptr<const std::vector<uint32_t>> ordinals_shared_ GUARDED_BY(mutex_);

  base::Mutex absent_mutex_;
  std::vector<Absent> absent_ GUARDED_BY(absent_mutex_);  // By sequence.
  OverlapCharge absent_charge_ GUARDED_BY(absent_mutex_);
  ChangeLog::Cursor absent_changes_ GUARDED_BY(absent_mutex_);
  std::vector<bool> looked_at_ GUARDED_BY(absent_mutex_);  // By the number of the row.

  // Of the reader that advances it.
  OverlapCharge charge_;
  ChangeLog::Cursor changes_;
  std::shared_ptr<std::vector<uint32_t>> ordinals_;
  std::vector<Sought> sought_;
  std::vector<format::HashedKey> keys_;
  std::vector<uint32_t> found_;
};

}  // namespace tandem::engine
