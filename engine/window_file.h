// One file's part in the windows of a cluster of several sources (see window_producer.cc): which of
// its rows are candidates, which of its blocks are pinned, which rows belong to the present window.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/block_walk.h"
#include "engine/row_producer.h"

namespace tandem::engine {

/// Threads: one at a time. Lifetime: job and source outlive it.
class WindowFile {
 public:
  /// A row of the present window.
  struct Item {
    uint32_t ordinal = 0;
    bool settled = false;  ///< As far as is known.
  };

  WindowFile(ReadJob* job, const FileSource& source, FileCandidates candidates);

  const FileSource& source() const { return source_; }
  const FileColumns& columns() const { return columns_; }
  bool decided() const { return candidates_.decided; }

  /// Pins blocks until `blocks` of them, or enough for a window, hold candidates that no window
  /// had, or no candidate is left. Errors: kCorruption, kIoError.
  Status Load(size_t blocks);
  /// Whether there are candidates that no window had.
  bool has_candidates() const { return opened_ < candidates_.ordinals.size(); }
  /// Whether candidates lie behind the pinned blocks.
  bool has_more() const { return loaded_ < candidates_.ordinals.size(); }
  /// Whether the pinned blocks hold candidates that no window had.
  bool has_loaded() const { return opened_ < loaded_; }
  /// The key of the last candidate in the pinned blocks. Requires: has_loaded().
  Status LastLoadedKey(std::string* key) const;

  /// Makes the pinned candidates with keys up to `bound` (nullopt: all) the items of the window.
  Status Open(const std::optional<std::string>& bound);
  std::vector<Item>& items() { return items_; }
  /// Adds a row that another source asks for. Requires: its key is within the window's bound.
  void AddExtra(uint32_t ordinal) { extras_.push_back(ordinal); }
  /// Pins the blocks of the extra rows and makes them items, not settled.
  Status Complete();
  /// Ends the window: pins only blocks that later windows can need.
  void Close();

  /// Requires: the block of `ordinal` is pinned.
  Status Key(uint32_t ordinal, std::string* key) const;
  const format::RowBlock& BlockOf(uint32_t ordinal) const { return *FindPinned(ordinal)->rows; }

 private:
  struct Pinned {
    uint32_t block = 0;
    format::RowBlockRef rows;
    bool Holds(uint32_t ordinal) const {
      return ordinal >= rows->first() && ordinal - rows->first() < rows->row_count();
    }
  };

  void Pin(const WalkedBlock& block);
  const Pinned* FindPinned(uint32_t ordinal) const;
  bool IsPinned(uint32_t ordinal) const;

  ReadJob* job_;
  const FileSource& source_;
  FileColumns columns_;
  FileCandidates candidates_;
  BlockWalk walk_;
  size_t opened_ = 0;               // Candidates that were in windows.
  size_t loaded_ = 0;               // Candidates whose blocks were pinned.
  std::vector<size_t> block_ends_;  // loaded_ after each of these blocks.
  std::vector<Pinned> pinned_;      // By block.
  mutable size_t last_found_ = 0;   // In pinned_: ordinals are mostly looked up in their order.
  std::vector<Item> items_;
  std::vector<uint32_t> extras_;
};

}  // namespace tandem::engine
