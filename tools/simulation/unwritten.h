// What the blocks of a file hold that it was given but whose bytes never reached the disk: a file
// system that keeps the size of a file and loses its data shows what was there before.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "base/random.h"
#include "tools/simulation/crash_policy.h"

namespace tandem::test {

inline constexpr uint64_t kBlockBytes = 4096;

/// Blocks of files that are gone, as they lie on the disk until they are written again.
class FreedBlocks {
 public:
  /// The blocks of a file with that content are free from now on.
  void Free(std::string_view content);
  /// Bytes [begin, end) of some freed block, mostly of one that was at `offset` in its file too:
  /// records of an older file of the same kind deceive best. Empty when there is none.
  /// Requires: offset is a multiple of kBlockBytes, begin <= end <= kBlockBytes.
  std::string_view Pick(uint64_t offset, uint64_t begin, uint64_t end,
                        base::RandomSource* random) const;

 private:
  struct Block {
    uint64_t offset;
    std::shared_ptr<const std::string> bytes;  // kBlockBytes of them.
  };

  std::deque<Block> blocks_;
};

/// Fills unwritten blocks in a crash.
class Filler {
 public:
  /// Lifetime: `freed` outlives it.
  Filler(const CrashPolicy& policy, const FreedBlocks* freed);
  /// Overwrites [begin, end) of `content`, which lies within one block of a file.
  void Fill(std::string* content, uint64_t begin, uint64_t end);
  /// Whether reserved blocks that were never written are filled as well.
  bool fills_reserved() const { return fills_reserved_; }

 private:
  const FreedBlocks* freed_;
  std::unique_ptr<base::RandomSource> random_;
  CrashPolicy::Unwritten kind_;
  bool fills_reserved_;
};

}  // namespace tandem::test
