// A store file with changed blocks and correct checksums: what a reader finds when
// somebody makes a file on purpose.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/block/block.h"
#include "format/types.h"

namespace tandem::test {

/// Stands for what is no block: the file header and both copies of the footer.
inline constexpr format::BlockKind kNoBlock{};

enum class Checksums : uint8_t {
  kRight,  ///< Made right, as by somebody who writes the file on purpose.
  kLeft,   ///< Left as they were, as by a disk that damages it.
};

/// A sound file whose blocks are stored uncompressed, and where its blocks lie. Threads: any.
class DamageableFile {
 public:
  /// A place: header, block or copy of the footer.
  struct Place {
    uint64_t offset = 0;
    uint32_t stored_bytes = 0;
    format::BlockKind kind{};
  };

  /// `bytes` is a store file of id `id` without a compressed block.
  DamageableFile(std::string bytes, const format::FileId& id);

  const std::string& bytes() const { return bytes_; }
  /// The places of `kinds`, for Change.
  std::vector<Place> Places(const std::set<format::BlockKind>& kinds) const;

  /// The file with `places` changed as `edits` say. Checksums made right are those of the blocks,
  /// of the sections and of the section tables. An edit is eight bytes: which place (u16), where in
  /// it (u16), what to do (u8), with what (u8 and u16).
  std::string Change(std::span<const Place> places, std::string_view edits,
                     Checksums checksums) const;
  /// The same for the blocks of `kinds`, checksums made right.
  std::string Change(const std::set<format::BlockKind>& kinds, std::string_view edits) const {
    return Change(Places(kinds), edits, Checksums::kRight);
  }

 private:
  void FindBlocks(uint64_t begin, uint64_t end);
  void Seal(const Place& place, std::string* file) const;
  void SealSections(std::string* file) const;

  std::string bytes_;
  format::FileId id_;
  std::vector<Place> places_;
  std::vector<Place> tables_;  // The two copies of the section table.
};

}  // namespace tandem::test
