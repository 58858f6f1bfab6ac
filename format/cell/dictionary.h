// The names of a family's columns in one file, so that a cell stores a small number instead of a
// name.
//
// Dictionary block (kind kDictionary; count = names; not compressed; stored twice in its section,
// so that one damaged block does not make every row unreadable). The raw bytes are, for each name
// in the order of its id:
//   SIZE        FIELD
//   varint      length, at most kQualifierBytesMax
//   length      name
// Ids are 1..count, by first appearance. At most 4,096 names of together 64 KiB have an id; cells
// of later columns carry their names inline (id 0).
//
// Example, the columns "a" and "" : 01 61 | 00
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "format/block/block.h"
#include "tandem/status.h"

namespace tandem::format {

inline constexpr uint32_t kDictionaryNamesMax = 4096;
inline constexpr size_t kDictionaryBytesMax = 64 * 1024;

/// Threads: const methods from any. Lifetime: names live as long as the dictionary.
class Dictionary {
 public:
  /// Requires: id in 1..size().
  std::string_view Name(uint32_t id) const { return names_[id - 1]; }
  uint32_t size() const { return static_cast<uint32_t>(names_.size()); }
  uint64_t memory_bytes() const {
    return (block_ == nullptr ? 0 : block_->raw_bytes) + names_.capacity() * sizeof(names_[0]);
  }
  /// Errors: kCorruption.
  static Result<Dictionary> Decode(BlockRef block);

 private:
  BlockRef block_;
  std::vector<std::string_view> names_;
};

/// Assigns ids while a file is written. Threads: one at a time.
class DictionaryBuilder {
 public:
  /// The id of `name`, newly assigned if it has none; 0 when the dictionary is full.
  uint32_t IdOf(std::string_view name);
  uint32_t size() const { return static_cast<uint32_t>(names_.size()); }
  /// The raw bytes of the dictionary block.
  std::string Encode() const;

 private:
  std::deque<std::string> names_;  // A deque: the map's views stay valid.
  std::unordered_map<std::string_view, uint32_t> ids_;
  size_t name_bytes_ = 0;
  uint32_t guess_ = 0;  // Rows tend to repeat their columns in order: the id after the last one.
};

}  // namespace tandem::format
