// A store file whose blocks were changed behind correct checksums: what a reader meets when
// somebody makes a file on purpose.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "format/block.h"
#include "format/types.h"

namespace tandem::test {

/// A sound file whose blocks are stored uncompressed, and where its blocks lie.
class DamageableFile {
 public:
  /// `bytes` is a store file of id `id` without a compressed block.
  DamageableFile(std::string bytes, const format::FileId& id);

  /// The file with its blocks of `kinds` changed as `edits` say, every checksum made right: of the
  /// blocks, of the sections, of the section tables. An edit is eight bytes: which block (u16),
  /// where in it (u16), what to do (u8), with what (u8 and u16).
  std::string Change(const std::set<format::BlockKind>& kinds, std::string_view edits) const;

 private:
  struct Place {
    uint64_t offset = 0;
    uint32_t stored_bytes = 0;
    format::BlockKind kind{};
  };

  void FindBlocks(uint64_t begin, uint64_t end);
  void Seal(const Place& block, std::string* file) const;
  void SealSections(std::string* file) const;

  std::string bytes_;
  format::FileId id_;
  std::vector<Place> blocks_;
  std::vector<Place> tables_;  // The two copies of the section table.
};

}  // namespace tandem::test
