// One file's part in the windows of a cluster of several sources (see candidate_iterator.cc): which
// of its rows are candidates, which of its blocks are pinned, which rows belong to the current
// window.
//
// Its candidates are taken from their stream in batches, which grow as the read continues.
//
// One family leads: a family that every row has and that is decoded of every row, else the key
// carrier. Its blocks are pinned when windows are loaded, so that keys are known. The blocks of the
// other families are pinned when the window's items are complete and known to be single-source or
// not.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/read/row_iterator.h"
#include "engine/read/row_walk.h"
#include "engine/source/block_walk.h"
#include "engine/source/candidate_stream.h"

namespace tandem::engine {

/// Threads: one at a time. Lifetime: context and source outlive it.
class WindowFile {
 public:
  /// A row of the current window.
  struct Item {
    uint32_t ordinal = 0;
    bool single_source = false;            ///< As far as is known; no memstore holds it.
    const MemRow* memstore_row = nullptr;  ///< As of CandidateRows.
    uint32_t pinned = 0;  ///< Index of the lead's block with its key; set by Complete.
  };

  /// `decided`: a single-source candidate satisfies the condition.
  WindowFile(ReadContext* context, const FileSource& source, bool decided,
             CandidateStream candidates);

  const FileSource& source() const { return source_; }
  bool decided() const { return decided_; }

  /// Pins blocks until `blocks` of them, or enough for a window, hold candidates that no window
  /// had, or no candidate is left. Errors: kCorruption, kIoError.
  Status Load(size_t blocks);
  /// Whether there may be candidates that no window had.
  bool has_candidates() const { return opened_ < rows_.size() || !candidates_.is_done(); }
  /// Whether there may be candidates after the pinned blocks.
  bool has_more() const { return loaded_ < rows_.size() || !candidates_.is_done(); }
  /// Whether the pinned blocks hold candidates that no window had.
  bool has_loaded() const { return opened_ < loaded_; }
  /// The key of the last candidate in the pinned blocks. Requires: has_loaded().
  Status LastLoadedKey(std::string* key) const;

  /// Makes the pinned candidates with keys up to `bound` (nullopt: all) the items of the window.
  Status Open(const std::optional<std::string>& bound);
  std::vector<Item>& items() { return items_; }
  /// Adds a row that another source shares. Requires: its key is within the window's bound.
  void AddExtra(uint32_t ordinal) { extras_.push_back(ordinal); }
  /// Turns the extra rows into items that are not single-source, and pins the blocks that the items
  /// need. Errors: kCorruption, kIoError.
  Status Complete();
  /// Ends the window: unpins the blocks that later windows cannot need.
  void Close();

  /// Requires: the block of `ordinal` is pinned.
  Status Key(uint32_t ordinal, std::string* key) const;
  /// The same of an item. Requires: Complete was called.
  Status Key(const Item& item, std::string* key) const;
  /// Adds an item, which is single-source, as RowWalk::AddPlain does. Requires: Complete was
  /// called.
  bool AddPlain(const Item& item, format::RowBatch* batch) const;
  /// Appends the cells of an item. Requires: Complete was called. Errors: kCorruption. Lifetime:
  /// until Close.
  Status Append(const Item& item, RowBuilder* row) const;

 private:
  struct Pinned {
    uint32_t block = 0;
    uint32_t first = 0, end = 0;  // Positions.
    format::RowBlockRef rows;
    bool Holds(uint32_t position) const { return position >= first && position < end; }
  };
  /// The pinned blocks of one family.
  struct Section {
    const format::DataSection* data = nullptr;
    FamilyColumns columns;
    std::string_view family = {};     // Its name.
    std::vector<Pinned> pinned = {};  // By block.
    mutable size_t last_found = 0;    // In `pinned`: rows are mostly looked up in order.

    const Pinned* Find(uint32_t position) const;
  };

  static std::vector<Section> SectionsOf(const ReadSchema& schema, const FileSource& source,
                                         bool decided);
  Result<bool> TakeMore();
  void Pin(const WalkedBlock& block, Section* section);
  Status PinRows(std::span<const uint32_t> positions, Section* section);
  Status PinItems(Section* section);
  void AddExtras();
  void ForgetOpened();
  static size_t LeadOf(const std::vector<Section>& sections, const FileSource& source);
  Section& lead() { return sections_[lead_]; }
  const Section& lead() const { return sections_[lead_]; }

  ReadContext* context_;
  const FileSource& source_;
  const bool decided_;
  CandidateStream candidates_;
  CandidateRows rows_;    // The candidates so far that windows may need.
  CandidateRows walked_;  // The last batch of them.
  size_t take_next_;      // Candidates in the next batch, at most.
  std::vector<Section> sections_;
  size_t lead_;  // In sections_.
  BlockWalk walk_;
  size_t opened_ = 0;               // Candidates that were in windows.
  size_t loaded_ = 0;               // Candidates whose blocks were pinned.
  std::vector<size_t> block_ends_;  // loaded_ after each of these blocks.
  std::vector<Item> items_;
  std::vector<uint32_t> extras_;
};

}  // namespace tandem::engine
