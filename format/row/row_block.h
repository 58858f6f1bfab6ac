// Row blocks: rows of one family, sorted by key, with fixed-width key heads for branch-free search,
// and slots that locate a row by its number in the block without comparing keys. The byte table is
// in row_block_writer.h. The head of a wide row (wide_row.h) is a row block of one row whose cells
// are elsewhere.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/block/block.h"
#include "format/block/block_codec.h"
#include "format/byte_reader.h"
#include "format/cell/cell.h"
#include "format/cell/dictionary.h"
#include "format/cell/projection.h"
#include "format/row/pod_array.h"
#include "format/row/wide_head.h"
#include "tandem/row.h"
#include "tandem/status.h"

namespace tandem::format {

class ColumnPlaces;
class RowSlot;
class RowVersions;

/// The owner of blocks that hold keys alone. No family has this id.
inline constexpr uint32_t kKeysOwner = 255;

/// A row block whose fixed part, heads and slots are within bounds. Slots and rows are checked as
/// they are used, so decoding a block of many rows costs no more than one of few. Threads: any.
/// Lifetime: views of cells point into the block and the dictionary.
class RowBlock final : public Block {
  struct Private {};

 public:
  explicit RowBlock(Private) {}
  /// Decodes `stored`, exactly header and payload of a block of rows, or of the head of a wide row,
  /// of `family`. Errors: kCorruption, kOutOfMemory.
  static Result<std::shared_ptr<const RowBlock>> Decode(const BlockPlace& place, FamilyId family,
                                                        std::string_view stored);

  uint32_t row_count() const { return count; }
  uint32_t first() const { return Block::first; }  ///< Position of row 0.

  /// Whether this is the head of a wide row. It has one row, for which Key, KeyEquals and
  /// LowerBound work, but no cells: AppendWideColumns and NewWideRowStream (wide_row.h) read those.
  bool is_wide() const { return kind == BlockKind::kWideHead; }
  /// Requires: is_wide().
  const WideRowTotals& wide_totals() const { return wide_->totals(); }
  /// Totals, fences, key hash. Requires: is_wide().
  const WideHead& wide_head() const { return *wide_; }
  /// Appends the DeleteFamily markers of the wide row. Requires: is_wide(). Errors: kCorruption.
  Status AppendFamilyDeletes(std::vector<Cell>* out) const;

  /// First slot whose key is >= `key`; row_count() when there is none. Any slot when the block's
  /// content is corrupt.
  uint32_t LowerBound(std::string_view key) const;
  /// The same from slot `from` on, fast if it is near. Requires: the rows before have keys < `key`.
  uint32_t LowerBoundFrom(uint32_t from, std::string_view key) const;
  /// Sets `*key` to the key of row `slot`, or appends it. Requires: slot < row_count(). Errors:
  /// kCorruption.
  Status Key(uint32_t slot, std::string* key) const;
  Status AppendKey(uint32_t slot, std::string* key) const;
  /// The same, for a caller that has no use for an error: false.
  bool AppendKey(uint32_t slot, PodArray<char>* keys) const;
  /// Whether the row at `slot` has exactly this key. Requires: slot < row_count().
  Result<bool> KeyEquals(uint32_t slot, std::string_view key) const;

  /// Appends the cells of row `slot` in order: the Puts and column markers of the projection's
  /// columns, and every DeleteFamily marker. A row without wanted cells appends nothing, nor does a
  /// row of the keys (owner kKeysOwner).
  /// Requires: slot < row_count(); the projection was made from this file's names.
  /// Errors: kCorruption, kUnsupported for a wide row; then ignore what was appended.
  Status Cells(uint32_t slot, const Projection& columns, std::vector<Cell>* out) const;
  /// Appends the wanted Puts of row `slot` in order, as cells of the family named `family`, if the
  /// row is plain: it has no marker, one cell of each column and no overflow value. False if it is
  /// not, or is malformed, which Cells reports; then ignore what was appended. Requires: as Cells.
  bool AppendPlain(uint32_t slot, const Projection& columns, std::string_view family,
                   PodArray<tandem::Cell>* out) const;
  /// The same, and appends the key of the row to `*keys`.
  bool AppendPlainRow(uint32_t slot, const Projection& columns, std::string_view family,
                      PodArray<char>* keys, PodArray<tandem::Cell>* out) const;
  /// Sets the value at each column's place to that of row `slot`, which is not null, or to a null
  /// view if the row lacks the column. False as of AppendPlain, but of what comes after the last of
  /// these columns nothing is seen. Requires: as Cells; a value for each place.
  bool FindPlain(uint32_t slot, const ColumnPlaces& columns,
                 std::span<std::string_view> values) const;
  /// Prefetches the bytes at the place that row `slot` has in `before`, so that the scan of that
  /// block brings this one into the processor's cache. Requires: slot < before.row_count().
  void PrefetchLike(const RowBlock& before, uint32_t slot) const;
  /// Prefetches the slot and head of row `slot`, for PrefetchRow. Requires: slot < row_count().
  void PrefetchPlace(uint32_t slot) const;
  /// Prefetches row `slot`'s slot of a block of `count` rows whose raw bytes are, or were, at
  /// `raw`: for callers that do not know whether they are there.
  static void PrefetchSlot(const char* raw, uint32_t count, uint32_t slot);
  /// Prefetches the first bytes of the row. Requires: slot < row_count().
  void PrefetchRow(uint32_t slot) const;

 private:
  Status Parse();
  template <bool kAll>
  Status DecodeCells(uint32_t slot, const Projection& columns, std::vector<Cell>* out) const;
  template <bool kAll>
  bool AppendPlainCells(ByteReader row, RowVersions versions, const Projection& columns,
                        std::vector<Cell>* out) const;
  template <bool kAll>
  bool DecodePlain(ByteReader* row, const Projection& columns, std::string_view family,
                   PodArray<tandem::Cell>* out) const;
  bool AppendKeyOf(uint32_t slot, ByteReader* row, PodArray<char>* keys) const;
  uint64_t Head(uint32_t slot) const;
  // The bytes of a row. Empty, which no row is, when its slots do not ascend within the block.
  std::string_view RowBytes(uint32_t slot) const {
    const size_t at = slots_at_ + size_t{slot} * sizeof(uint32_t);
    const uint32_t begin = LoadAt<uint32_t>(raw_, at);
    const uint32_t end = LoadAt<uint32_t>(raw_, at + sizeof(uint32_t));
    if (begin < rows_at_ || begin > end || end > raw_.size()) return {};
    return {raw_.data() + begin, end - begin};
  }
  int CompareTail(uint32_t slot, std::string_view suffix) const;

  // The fields for a lookup by slot are together, after the hot end of Block: one cache line.
  FamilyId family_;
  uint32_t slots_at_ = 0;
  uint32_t rows_at_ = 0;
  std::string_view raw_;
  uint64_t base_timestamp_ = 0;  // Two's complement: deltas are modulo 2^64.
  uint64_t base_sequence_ = 0;
  std::string_view prefix_;  // Common to all keys; in prefix_copy_ if it fits.
  // Beside the fields above, not in a cold line of the block.
  std::array<char, 16> prefix_copy_ = {};
  std::unique_ptr<const WideHead> wide_;
};
using RowBlockRef = std::shared_ptr<const RowBlock>;

/// A block index entry's reference to its row block. Threads: any.
class RowSlot : public BlockSlot {
 public:
  /// nullptr when the block is gone.
  RowBlockRef Get() const { return std::static_pointer_cast<const RowBlock>(BlockSlot::Get()); }
  /// Makes `slot` refer to `rows` until these end.
  static void Set(const std::shared_ptr<RowSlot>& slot, const RowBlockRef& rows);
  /// Prefetches the block's object into the processor's cache, if it is still there.
  void Prefetch() const;
  /// Prefetches the slot of a row of the block, which has `count` rows.
  void PrefetchSlot(uint32_t count, uint32_t slot) const;

 private:
  // The address of the block's bytes: only to prefetch, never dereferenced. Relaxed.
  std::atomic<const char*> raw_{nullptr};
};

}  // namespace tandem::format
