// The walk over rows of one file, through the families that a read decodes: one BlockWalk per
// family. Rows come in the order of their ordinals, their cells from the families that have them.
//
// 1. A row's key comes from the first of these families that has the row. A row that none of them
//    has is skipped or, if it may be returned anyway, its key comes from the key carrier; only the
//    blocks of such rows are read there.
// 2. A family that only merged rows need is walked over these rows alone.
// 3. If only one family is decoded and every row has it, positions are ordinals and none of the
//    above applies.
// 4. Backward there is no BlockWalk: blocks are read when a row needs them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status_macros.h"
#include "engine/read/row_builder.h"
#include "engine/source/block_walk.h"
#include "engine/source/read_context.h"
#include "engine/source/sources.h"
#include "format/cell/column_places.h"
#include "format/cell/projection.h"
#include "format/row/row_batch.h"

namespace tandem::engine {

/// What is decoded of one family of one file. nullopt: nothing.
struct FamilyColumns {
  std::optional<format::Projection> single_source, merged;
  /// Of a single-source row that AddPlain adds: as `single_source`, or of one that is known to
  /// match.
  std::optional<format::Projection> plain;
  std::optional<format::Projection> deciding;  ///< Of the predicate's columns.

  FamilyColumns() = default;
  /// `decided`: a single-source row is known to match.
  FamilyColumns(const ReadSchema& schema, const format::DataSection& data, bool decided);
  const format::Projection* Of(bool is_single_source) const {
    const std::optional<format::Projection>& columns = is_single_source ? single_source : merged;
    return columns.has_value() ? &*columns : nullptr;
  }
};

/// Threads: one at a time. Lifetime: context, source and ordinals outlive it.
class RowWalk {
 public:
  /// `decided`: single-source rows are known to match.
  RowWalk(ReadContext* context, const FileSource& source, bool decided = false);

  /// Walks over these rows, sorted and unique. A walk that has ended may be started again with rows
  /// after the last one. `shared` is empty or has for each row whether it is in other sources as
  /// well, so that it is not single-source. Lifetime: both outlive the walk, or its next start.
  void Start(std::span<const uint32_t> ordinals, std::span<const uint8_t> shared = {});
  /// Walks over all rows of the source.
  void StartAll(bool reverse = false);

  /// Begins the reads that the first row needs, and does not wait for them. Errors: as Next.
  Status Begin();
  /// Moves to the first or the next row that any needed family has, or that may be returned without
  /// one; false at the end. Errors: kCorruption, kIoError.
  Result<bool> Next() {
    if (only_ == nullptr) return NextOfMany();
    if (at_ == count_) return false;
    ordinal_ = OrdinalAt(at_++);
    ++context_->counters.rows;
    RETURN_IF_ERROR(only_->MoveTo(ordinal_, reverse_));
    return true;
  }
  uint32_t ordinal() const { return ordinal_; }
  /// Of the current row in what the walk was started with.
  uint32_t at() const { return at_ - 1; }
  /// Sets `*key` to the key of the current row. Errors: kCorruption.
  Status Key(std::string* key) const;
  /// From here on AddPlain takes rows to match.
  void AddMatched();
  /// From here on AppendDeciding appends cells of these columns.
  void Decide(const ColumnSet& columns);
  /// From here on FindPlain gives values of these columns, which outlive the walk. Requires: the
  /// read decodes the one family that they are of, which every row has.
  void DecidePlain(std::span<const std::string> columns);
  /// Sets the values of the row, which is single-source, in these columns; a null view where it
  /// lacks one. False: it is not plain. Requires: DecidePlain was called. Lifetime: until Next.
  bool FindPlain(std::span<std::string_view> values) const {
    return only_->rows->FindPlain(only_->slot, *only_->places, values);
  }
  /// The family of all that is decoded, if it is one that every row has; nullptr otherwise.
  const format::DataSection* only_family() const {
    return only_ == nullptr ? nullptr : only_->data;
  }
  /// Appends the cells of the row, which is single-source, that decide whether it matches. False:
  /// it is wide. Errors: kCorruption. Lifetime: until Next.
  Result<bool> AppendDeciding(std::vector<format::Cell>* cells) const;
  /// Adds the row, which is single-source, to `*batch`, or nothing if it has no cell to return.
  /// False: it is not plain (format::RowBatch). Requires: the read returns all that it decodes.
  bool AddPlain(format::RowBatch* batch) const;
  /// Whether the current row has that key. Errors: kCorruption.
  Result<bool> KeyEquals(std::string_view key) const {
    return key_lane_->rows->KeyEquals(key_lane_->slot, key);
  }
  /// Adds the row, which has no other source but a memstore, with that one's Puts over it; nothing
  /// if it has no cell to return. False: `newer`, its row there, has more than Puts of the one
  /// family that is decoded, or RowBatch::AddUpdated says so. `row` gathers the Puts. Requires: as
  /// AddPlain. Lifetime: the memstore outlives the batch's rows.
  bool AddUpdated(const MemRow* newer, RowBuilder* row, format::RowBatch* batch) const;
  /// The same for a row that the file has not; the current row, if any, stays as it is.
  bool AddAlone(const MemRow* newer, RowBuilder* row, format::RowBatch* batch) const;
  /// Moves to the next rows and adds them, as long as they are in the current row's block, before
  /// `slots_end`, single-source and plain, and the batch has less than `rows_max` rows. Returns
  /// their number. Requires: as AddPlain; the current row was added.
  uint32_t AddPlainRun(size_t rows_max, format::RowBatch* batch, uint32_t slots_end);
  uint32_t AddPlainRun(size_t rows_max, format::RowBatch* batch) {
    return AddPlainRun(rows_max, batch, SlotsEnd(std::nullopt));
  }
  /// The slot of the current row's block at which rows with keys before `bound`, if there is one,
  /// end. 0 if nothing is to be gained by it. Requires: the walk is over all rows and goes forward.
  uint32_t SlotsEnd(std::optional<std::string_view> bound) const {
    if (only_ == nullptr) return 0;
    return bound.has_value() ? only_->rows->LowerBoundFrom(only_->slot, *bound)
                             : only_->rows->row_count();
  }
  /// Whether the slot of the current row is before SlotsEnd().
  bool IsBefore(uint32_t slots_end) const { return only_ != nullptr && only_->slot < slots_end; }
  /// Moves to the next row of the block if its slot is before SlotsEnd(). False: it is not, and
  /// nothing changes.
  bool NextInBlock(uint32_t slots_end) {
    if (only_ == nullptr || at_ == count_) return false;
    const uint32_t ordinal = OrdinalAt(at_), slot = ordinal - only_->rows->first();
    if (slot >= slots_end) return false;
    ++at_;
    ordinal_ = ordinal;
    only_->slot = slot;
    ++context_->counters.rows;
    return true;
  }
  /// Appends the row's cells. Errors: kCorruption. Lifetime: until Next.
  Status Append(bool single_source, RowBuilder* row) const;
  /// Keeps the cells of the last Append valid over the next call of Next.
  void Hold();

 private:
  /// The blocks of one family, one after the other.
  struct Lane {
    Lane(ReadContext* context, const format::DataSection& section, FamilyColumns family_columns);

    bool Holds(uint32_t position) const {
      return rows != nullptr && position - rows->first() < rows->row_count();
    }
    /// Moves to the row at `position`. Errors: kCorruption, kIoError.
    Status MoveTo(uint32_t position, bool reverse) {
      if (!Holds(position)) RETURN_IF_ERROR(ReadBlock(position, reverse));
      slot = position - rows->first();
      return {};
    }
    Status ReadBlock(uint32_t position, bool reverse);
    Result<format::RowBlockRef> ReadBackward(const format::DataBlock& block) const;
    void PrefetchNext() const;
    bool AppendPlain(format::RowBatch* batch) const;
    /// Appends the cells of the current row.
    Status Append(bool single_source, RowBuilder* row) const;

    ReadContext* context;
    const format::DataSection* data;
    FamilyColumns columns;
    std::optional<format::ColumnPlaces> places;
    std::string_view family;  // Its name.
    BlockWalk walk;
    std::vector<uint32_t> positions;  // Of the walk, if they are not the ordinals.
    format::RowBlockRef rows, held;
    uint32_t slot = 0;
    bool is_here = false;  // Has the current row.
  };

  // Of the row to visit at index `at`.
  bool IsShared(uint32_t at) const { return !shared_.empty() && shared_[at] != 0; }
  bool IsNeeded(const Lane& lane, uint32_t at) const;
  bool AnyLaneHas(uint32_t at) const;
  /// The ordinal of the row to visit at index `at`.
  uint32_t OrdinalAt(uint32_t at) const {
    if (!is_range_) return ordinals_[at];
    return reverse_ ? source_.high - 1 - at : source_.low + at;
  }
  Result<bool> NextOfMany();
  /// Moves every lane that has the current row to it.
  Status MoveLanes();
  Status MoveCarrier();
  /// Starts the carrier's walk over the next rows that no lane has.
  void GatherCarried();

  ReadContext* context_;
  const FileSource& source_;
  const bool visits_every_row_;
  std::vector<std::unique_ptr<Lane>> lanes_;  // By family.
  Lane* only_ = nullptr;                      // The one lane when its positions are ordinals.
  std::unique_ptr<Lane> carrier_;             // For keys; made when it is needed.

  std::span<const uint32_t> ordinals_;
  std::span<const uint8_t> shared_;
  bool is_range_ = false, reverse_ = false;
  uint32_t at_ = 0, count_ = 0;  // Of the rows to visit.
  uint32_t carried_until_ = 0;   // The carrier walks over the rows before this one.
  uint32_t ordinal_ = 0;
  const Lane* key_lane_ = nullptr;
};

}  // namespace tandem::engine
