// An open store file: rows by key and by ordinal, key hashes, filter, index sections. Opening reads
// the header, the footer, the section table, the schema and the statistics; everything else is
// loaded when first used.
//
// Schema section: one block of kind kSchema; count 0; not compressed. Its raw bytes are the start
// key of the region that wrote the file, as varint length and bytes, then the table's record
// (EncodeTable). Key hashes section: blocks of kind kKeyHashes; first = first ordinal; count =
// rows, 8,192 in all but the last; not compressed; the raw bytes are u64[count], the keyed hash of
// each row (RowHash). The section's count is the number of rows, as is that of the data section.
// One family's sections stand in a file; a file of a table with several is refused.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "format/bitmap.h"
#include "format/block_file.h"
#include "format/block_index.h"
#include "format/bloom_filter.h"
#include "format/file_statistics.h"
#include "format/index_section.h"
#include "format/row_block.h"
#include "format/schema.h"
#include "format/section_writer.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::format {

inline constexpr uint32_t kKeyHashesPerBlock = 8192;

/// What the manifest knows and the file must agree with; zero fields are not compared (a file
/// opened by itself, by `dump` or `verify`).
struct ExpectedFile {
  FileNumber number = {};
  uint64_t size_bytes = 0;
  std::optional<FileId> id = {};
};

/// Threads: any. Lifetime: blocks and views that it hands out are pinned by their BlockRef.
class StoreFile {
  struct Private {};
  struct Parts;

 public:
  StoreFile(Private, std::unique_ptr<Parts> parts);
  ~StoreFile();
  /// Errors: kCorruption (anything that does not agree), kUnsupported (version, feature), kIoError.
  static Result<std::shared_ptr<StoreFile>> Open(std::unique_ptr<base::File> file,
                                                 const ExpectedFile& expected, BlockCache* cache);

  FileNumber number() const;
  const FileId& id() const;
  uint64_t size_bytes() const;
  const TableRecord& table() const;         ///< As it was when the file was written.
  const std::string& region_start() const;  ///< Start key of the region that wrote it.
  const FileStatistics& statistics() const;
  const std::vector<SectionEntry>& sections() const;
  uint32_t row_count() const;
  bool all_clean() const;  ///< Every row is clean (rule 7).
  const BlockFile& blocks() const;

  /// How many data blocks there are. Loads the block index on first use.
  Result<uint32_t> BlockCount();
  /// Requires: `block` < BlockCount(), which was called.
  DataBlock BlockAt(uint32_t block) const;
  /// The block that holds `ordinal`. Requires: ordinal < row_count(), block index loaded. `hint` is
  /// where the search starts (a block at or before the answer): ascending look-ups gallop.
  uint32_t BlockOf(Ordinal ordinal, uint32_t hint = 0) const;
  /// The only block that may hold `key` (BlockIndex::Find). Requires: hint < BlockCount(), which
  /// was called.
  uint32_t BlockOfKey(std::string_view key, uint32_t hint) const;
  /// The parsed rows of a block, read or from the cache.
  Result<RowBlockRef> ReadRows(uint32_t block);
  /// The same over bytes that the caller read: all of the block's handle, kept in the cache.
  Result<RowBlockRef> AdmitRows(uint32_t block, std::string_view stored);
  /// The same without putting the block into the cache.
  Result<RowBlockRef> DecodeRows(uint32_t block, std::string_view stored) const;
  /// nullptr without I/O when the block is not cached. Requires: BlockCount() was called.
  RowBlockRef CachedRows(uint32_t block);
  /// Has the processor fetch what CachedRows will touch. Requires: as CachedRows.
  void PrefetchRows(uint32_t block) const;
  /// As ReadRows, but past the cache.
  Result<RowBlockRef> ReadRowsUncached(uint32_t block);

  /// Decodes the name dictionary on first use; every decode of cells needs it.
  Result<const Dictionary*> Names();

  /// First ordinal whose key is >= `key`; row_count() when there is none. Reads at most one block.
  Result<uint32_t> LowerBound(std::string_view key);
  /// The row of exactly that key and keyed hash, found through the block index and the key hashes:
  /// no data block is read, so the answer is certain up to a collision of the secret-keyed hash.
  Result<std::optional<Ordinal>> FindByHash(std::string_view key, uint64_t hash);
  /// False: the row is certainly not here. Loads the filter on first use.
  Result<bool> MayContain(uint64_t hash);
  /// The filter itself, for probes of many hashes at once. Loaded on first use, kept.
  Result<const BloomFilter*> Filter();
  /// Keyed hashes of all rows by ordinal. Loaded on first use, kept.
  Result<std::span<const uint64_t>> KeyHashes();
  /// The same when they are loaded already, else empty.
  std::span<const uint64_t> LoadedKeyHashes() const;
  /// Clean bits by ordinal (rule 7). Loaded on first use, kept.
  Result<const Bitmap*> CleanRows();

  /// nullptr when the file has no section for that index. Opened on first use.
  Result<IndexSection*> Index(IndexId index);

  /// Reads the whole file past the cache: every section against its checksum, the bytes between
  /// them against zero. Returns the XXH3-128 of the file. Errors: kCorruption, kIoError.
  Result<Hash128> VerifyBytes() const;

  /// Rows that decide at `now_micros` may hold an expired cell: some family with a TTL has a Put
  /// whose timestamp + ttl <= now (rule 16). `families` are the table's current ones.
  bool MayHaveExpired(std::span<const FamilyRecord> families, int64_t now_micros) const;

 private:
  static Status ReadSchema(Parts* parts);
  static Status ReadStatistics(Parts* parts);
  Status VerifyEnd() const;
  std::unique_ptr<Parts> parts_;
};

}  // namespace tandem::format
