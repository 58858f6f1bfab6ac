// What a StoreFile consists of. Only the store_file*.cc files include this.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "format/bloom_filter.h"
#include "format/footer.h"
#include "format/once_loaded.h"
#include "format/store_file.h"

namespace tandem::format {

/// Everything up to `sections` is set by Open and never changes; the rest is loaded on first use.
struct StoreFile::Parts {
  explicit Parts(BlockFile block_file) : blocks(std::move(block_file)) {}

  BlockFile blocks;
  uint64_t size_bytes = 0;
  uint32_t alignment = 0;
  Footer footer;
  TableRecord table;
  std::string region_start;
  FileStatistics statistics;
  FamilyId family;
  std::vector<SectionEntry> sections;

  OnceLoaded<BlockIndex> block_index;
  OnceLoaded<Dictionary> names;
  OnceLoaded<std::vector<uint64_t>> key_hashes;
  OnceLoaded<Bitmap> clean_rows;
  OnceLoaded<BloomFilter> filter;
  /// One for each index of the table; the map itself never changes after Open.
  std::map<IndexId, OnceLoaded<std::unique_ptr<IndexSection>>> indexes;

  /// The section of that kind, which Open found to be there.
  const SectionEntry& Section(SectionKind kind, uint32_t owner = 0) const;
};

}  // namespace tandem::format
