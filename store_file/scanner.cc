// Reads the rows of a file in order, past the cache, with large reads.
#include "store_file/scanner.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "format/block/section_table.h"
#include "format/file_window.h"
#include "format/row/block_places.h"
#include "format/row/data_section.h"
#include "format/row/wide_row.h"

namespace tandem::format {
namespace {

// A smaller window would cost more in calls than it saves, whatever the budget.
constexpr uint64_t kWindowBytesMin = 32 * 1024;
// Pages are let go after so many bytes of the key carrier.
constexpr uint64_t kLetGoBytes = 1 << 20;

// One stream after the other.
class ChainedStream final : public CellStream {
 public:
  explicit ChainedStream(std::vector<std::unique_ptr<CellStream>> streams)
      : streams_(std::move(streams)) {}
  Result<bool> Next() override {
    for (; at_ < streams_.size(); ++at_) {
      ASSIGN_OR_RETURN(const bool more, streams_[at_]->Next());
      cells_.assign(streams_[at_]->cells().begin(), streams_[at_]->cells().end());
      pin_ = streams_[at_]->pin();
      if (more) return true;
      streams_[at_].reset();
    }
    cells_.clear();
    return false;
  }

 private:
  std::vector<std::unique_ptr<CellStream>> streams_;
  size_t at_ = 0;
};

}  // namespace

// The rows of one family, position by position.
class RowStream::Cursor {
 public:
  /// The rows with ordinals in [low, high).
  struct Rows {
    uint32_t low, high;
  };
  /// `pages` is null or outlives it.
  Cursor(const DataSection* data, Rows rows, uint64_t read_bytes, PassedPages* pages,
         bool keeps_stored)
      : data_(data),
        next_(data->RankOf(rows.low)),
        end_(data->RankOf(rows.high)),
        read_bytes_(read_bytes),
        pages_(pages),
        keeps_stored_(keeps_stored && data->blocks().first_sequence() == 0),
        window_(&data->blocks().file(), 0, read_bytes),
        places_(*data) {
    window_.set_charge(data->blocks().Charge(base::MemoryPart::kFileWindows, 0));
  }

  const DataSection& data() const { return *data_; }
  bool is_on_row() const { return is_on_row_; }
  bool was_cached() const { return was_cached_; }
  uint64_t blocks_read() const { return blocks_read_; }

  /// Moves to the next position if row `ordinal` has cells of the family.
  Status MoveTo(uint32_t ordinal) {
    is_on_row_ = data_->Has(ordinal);
    if (!is_on_row_) return {};
    if (block_ == nullptr || next_ - block_->first() >= block_->row_count()) {
      RETURN_IF_ERROR(LoadBlock());
    }
    slot_ = next_++ - block_->first();
    return {};
  }
  Status Key(std::string* key) const { return block_->Key(slot_, key); }
  Result<bool> KeyEquals(std::string_view key) const { return block_->KeyEquals(slot_, key); }
  Status Cells(std::vector<Cell>* out) const {
    return block_->Cells(slot_, Projection(data_->names(), &data_->blocks()), out);
  }
  /// nullopt: the block has other rows, or is not kept as it is stored.
  std::optional<StoredRow> Stored() const {
    if (stored_.empty()) return std::nullopt;
    return StoredRow{data_->family(), stored_, &data_->names()};
  }
  bool is_wide() const { return block_->is_wide(); }
  /// Requires: is_wide().
  uint64_t key_hash() const { return block_->wide_head().key_hash(); }
  /// The cells of the row, whatever its width.
  Result<std::unique_ptr<CellStream>> Stream() const {
    if (is_wide()) return NewWideRowStream(data_->blocks(), block_);
    std::vector<Cell> cells;
    RETURN_IF_ERROR(Cells(&cells));
    return NewCellStream(std::move(cells), block_);
  }
  /// Where the block begins that it needs first: that of the row, or else the next one. UINT64_MAX:
  /// it needs none, or has not begun.
  uint64_t needed_from() const {
    if (block_ == nullptr) return UINT64_MAX;
    return is_on_row_ ? place_.handle.offset : next_offset_;
  }
  Status Corrupt(std::string_view what) const {
    return data_->blocks().Corrupt(place_.handle.offset, what);
  }

 private:
  Status LoadBlock() {
    if (block_ == nullptr) {
      ASSIGN_OR_RETURN(place_, places_.MoveToPosition(next_));
    } else {
      ASSIGN_OR_RETURN(place_, places_.MoveTo(place_.number + 1));
    }
    next_offset_ = UINT64_MAX;
    if (place_.first + place_.count < end_) {
      ASSIGN_OR_RETURN(const DataBlock next, places_.At(place_.number + 1));
      next_offset_ = next.handle.offset;
    }
    const BlockHandle handle = place_.handle;
    if (handle.offset + handle.stored_bytes > run_end_) RETURN_IF_ERROR(FindRun());
    LookAtPages(handle);
    ASSIGN_OR_RETURN(const std::string_view stored,
                     window_.Read(handle.offset, handle.stored_bytes));
    previous_block_ = std::move(block_);
    ASSIGN_OR_RETURN(block_, data_->DecodeRows(place_, stored));
    if (keeps_stored_) {
      stored_.swap(previous_stored_);
      stored_ = block_->row_count() == 1 && !block_->is_wide() ? stored : std::string_view();
    }
    ++blocks_read_;
    return {};
  }

  void LookAtPages(BlockHandle handle) {
    if (pages_ == nullptr) return;
    const uint64_t size = std::max<uint64_t>(handle.stored_bytes, read_bytes_);
    if (!window_.Holds(handle.offset, handle.stored_bytes)) pages_->Look(handle.offset, size);
    was_cached_ = pages_->WereCached(handle.offset, handle.stored_bytes);
  }

  // Extends the window over the adjacent blocks from the current one on.
  Status FindRun() {
    const uint64_t begin = place_.handle.offset;
    run_end_ = begin + place_.handle.stored_bytes;
    for (DataBlock last = place_; last.first + last.count < end_;) {
      ASSIGN_OR_RETURN(last, places_.At(last.number + 1));
      const uint64_t end = last.handle.offset + last.handle.stored_bytes;
      const bool joins = last.handle.offset == AlignUp(run_end_, kBlockAlignment);
      if (!joins || end - begin > read_bytes_) break;
      run_end_ = end;
    }
    window_.set_limit(run_end_);
    return {};
  }

  const DataSection* data_;
  uint32_t next_;       // Position of the next row.
  const uint32_t end_;  // After the last one.
  const uint64_t read_bytes_;
  PassedPages* const pages_;
  const bool keeps_stored_;  // A file of one sequence adds it to those in its blocks.
  FileWindow window_;
  uint64_t run_end_ = 0;
  BlockPlaces places_;
  DataBlock place_;                    // Of the current block.
  uint64_t next_offset_ = UINT64_MAX;  // Of the block after it; UINT64_MAX: that is not needed.
  RowBlockRef block_;
  RowBlockRef previous_block_;  // Keeps the cells of the previous row alive.
  // The bytes of a block of one row; empty: it has others. Of the previous row, for as long.
  std::string stored_, previous_stored_;
  uint32_t slot_ = 0;
  bool is_on_row_ = false;
  bool was_cached_ = true;  // Something of the block.
  uint64_t blocks_read_ = 0;
};

RowStream::RowStream(StoreFile* file, uint32_t low, uint32_t high, uint64_t window_bytes)
    : file_(file), next_(low), end_(high), window_bytes_(window_bytes) {}
RowStream::RowStream(RowStream&&) noexcept = default;
RowStream::~RowStream() {
  if (pages_ != nullptr) pages_->Finish();
}

void RowStream::SparePageCache() {
  pages_ = std::make_unique<PassedPages>(&file_->blocks().file());
}

Status RowStream::Next() {
  valid_ = false;
  if (next_ >= end_) return {};
  if (carrier_ == nullptr) RETURN_IF_ERROR(Start());
  RETURN_IF_ERROR(carrier_->MoveTo(next_));
  std::swap(key_, previous_key_);
  RETURN_IF_ERROR(carrier_->Key(&key_));
  if (started_ && key_ <= previous_key_) {
    return carrier_->Corrupt("row keys do not rise at ordinal " + std::to_string(next_));
  }
  RETURN_IF_ERROR(MoveFamilies());
  if (pages_ != nullptr) LetPagesGo();
  started_ = valid_ = true;
  ++next_;
  return {};
}

Status RowStream::Cells(std::vector<Cell>* out) const {
  for (const auto& cursor : cursors_) {
    if (cursor->is_on_row()) RETURN_IF_ERROR(cursor->Cells(out));
  }
  return {};
}

void RowStream::StoredRows(std::vector<StoredRow>* out) const {
  for (const auto& cursor : cursors_) {
    if (!cursor->is_on_row()) continue;
    if (const auto stored = cursor->Stored(); stored.has_value()) out->push_back(*stored);
  }
}

bool RowStream::is_wide() const {
  return std::any_of(cursors_.begin(), cursors_.end(),
                     [](const auto& cursor) { return cursor->is_on_row() && cursor->is_wide(); });
}

Result<std::unique_ptr<CellStream>> RowStream::Stream() const {
  std::vector<std::unique_ptr<CellStream>> families;
  for (const auto& cursor : cursors_) {
    if (!cursor->is_on_row()) continue;
    ASSIGN_OR_RETURN(families.emplace_back(), cursor->Stream());
  }
  return std::unique_ptr<CellStream>(std::make_unique<ChainedStream>(std::move(families)));
}

bool RowStream::was_cached() const {
  return std::any_of(cursors_.begin(), cursors_.end(), [](const auto& cursor) {
    return cursor->is_on_row() && cursor->was_cached();
  });
}

// What the rows before may still be read of, chunks and overflow values, lies after the place that
// was needed the last time.
void RowStream::LetPagesGo() {
  const uint64_t at = carrier_->needed_from();
  if (at < looked_at_ + kLetGoBytes) return;
  looked_at_ = at;
  pages_->PassedTo(std::exchange(needed_from_, NeededFrom()));
}

uint64_t RowStream::NeededFrom() const {
  uint64_t from = UINT64_MAX;
  for (const auto& cursor : cursors_) from = std::min(from, cursor->needed_from());
  return from;
}

std::vector<uint64_t> RowStream::WideKeyHashes() const {
  std::vector<uint64_t> hashes;
  for (const auto& cursor : cursors_) {
    if (cursor->is_on_row() && cursor->is_wide()) hashes.push_back(cursor->key_hash());
  }
  return hashes;
}

uint64_t RowStream::blocks_read() const {
  uint64_t blocks = 0;
  for (const auto& cursor : cursors_) blocks += cursor->blocks_read();
  return blocks;
}

Status RowStream::Start() {
  ASSIGN_OR_RETURN(const DataSection* carrier, file_->Carrier());
  std::vector<FamilyId> owners = file_->families();
  if (carrier->family().value == kKeysOwner) owners.push_back(carrier->family());
  const uint64_t read_bytes =
      std::clamp(window_bytes_ / owners.size(), kWindowBytesMin, FileWindow::kReadBytes);
  for (const FamilyId owner : owners) {
    ASSIGN_OR_RETURN(const DataSection* data, file_->Family(owner));
    cursors_.push_back(std::make_unique<Cursor>(data, Cursor::Rows{next_, end_}, read_bytes,
                                                pages_.get(), keeps_stored_));
    if (data == carrier) carrier_ = cursors_.back().get();
  }
  return {};
}

// Moves the other families to the row of the carrier.
Status RowStream::MoveFamilies() {
  for (const auto& cursor : cursors_) {
    if (cursor.get() == carrier_) continue;
    RETURN_IF_ERROR(cursor->MoveTo(next_));
    if (!cursor->is_on_row()) continue;
    ASSIGN_OR_RETURN(const bool agrees, cursor->KeyEquals(key_));
    if (!agrees) {
      return cursor->Corrupt("family " + std::to_string(cursor->data().family().value) +
                             " has another key at ordinal " + std::to_string(next_));
    }
  }
  return {};
}

}  // namespace tandem::format
