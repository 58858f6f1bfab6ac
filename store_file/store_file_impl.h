// What a StoreFile consists of. Only the sources of StoreFile include this: checksums.cc,
// degraded.cc, open.cc, rows.cc and store_file.cc.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/memory_account.h"
#include "base/page_memory.h"
#include "format/block/bloom_filter.h"
#include "format/block/footer.h"
#include "format/lazy_once.h"
#include "store_file/store_file.h"

namespace tandem::format {

/// The keyed hashes of the rows by ordinal, and a byte of each: the tags of a block are in one or
/// two cache lines, its hashes in ten. Some bytes follow the last tag, so that eight can be read
/// from any place.
struct TaggedHashes {
  static constexpr size_t kBytesOfRow = sizeof(uint64_t) + 1;
  explicit TaggedHashes(base::PageVector<uint64_t> of_rows);
  static uint8_t TagOf(uint64_t hash) { return static_cast<uint8_t>(hash); }

  base::PageVector<uint64_t> hashes;
  base::PageVector<uint8_t> tags;
};

/// Everything up to `sections` is set by Open and never changes; the rest is loaded on first use.
struct StoreFile::Impl {
  explicit Impl(BlockFile block_file) : blocks(std::move(block_file)) {}

  BlockFile blocks;
  uint64_t size_bytes = 0;
  bool writable = true;
  uint32_t alignment = 0;
  Footer footer;
  std::shared_ptr<const TableRecord> table;
  std::string region_start;
  FileStatistics statistics;
  std::vector<FamilyId> families;  ///< With rows, rising.
  FamilyId carrier;
  std::vector<SectionEntry> sections;

  /// One for each of `families`, and for kKeysOwner when that is the carrier; the map itself never
  /// changes after Open.
  std::map<FamilyId, LazyOnce<DataSection>> data;
  LazyOnce<base::Charged<TaggedHashes>> key_hashes;
  std::atomic<uint64_t> searched_bytes = 0;  ///< For single rows, before the hashes were loaded.
  LazyOnce<base::Charged<Bitmap>> clean_rows;
  LazyOnce<base::Charged<BloomFilter>> filter;
  /// One for each index of the table; the map itself never changes after Open.
  std::map<IndexId, LazyOnce<std::unique_ptr<IndexSection>>> indexes;

  /// Null: a broken section is an error.
  BrokenSink tell_broken;
  /// Set once each, before tell_broken is called; relaxed, they guard nothing.
  std::map<IndexId, std::atomic<bool>> broken_indexes;
  std::array<std::atomic<bool>, 32> broken_kinds{};
  std::atomic<bool> has_broken{false};

  Status FindFamilies();
  /// The cells of an owner in `data`, with the top of the block index or without.
  Result<DataSection> LoadData(FamilyId owner, bool with_top) const;
  /// The section of that kind, which Open found to be there.
  const SectionEntry& Section(SectionKind kind, uint32_t owner = 0) const;
};

}  // namespace tandem::format
