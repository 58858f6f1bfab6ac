// An open store file: its families, rows by key, key hashes, filter, index sections. Opening reads
// the header, the footer, the section table, the schema and the statistics; everything else is
// loaded when first used.
//
// Schema section: one block of kind kSchema; count 0; not compressed. Its raw bytes are the start
// key of the region that wrote the file, as varint length and bytes, then the table's record
// (EncodeTable). Key hashes section: blocks of kind kKeyHashes; first = first ordinal; count =
// rows, 8,192 in all but the last; not compressed; the raw bytes are u64[count], the keyed hash of
// each row (RowHash). The section's count is the number of rows, as is that of the data section,
// which the blocks of all families share (format/row/data_section.h). A family of which some row
// has cells has a block index, a dictionary, and a presence bitmap when other rows lack it; a
// family without rows has nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_system.h"
#include "base/page_memory.h"
#include "format/bitmap.h"
#include "format/block/block_file.h"
#include "format/block/bloom_filter.h"
#include "format/block/section_writer.h"
#include "format/row/data_section.h"
#include "format/schema.h"
#include "format/types.h"
#include "index/section.h"
#include "store_file/file_statistics.h"
#include "store_file/table_records.h"
#include "tandem/status.h"

namespace tandem::format {

inline constexpr uint32_t kKeyHashesPerBlock = 8192;

/// What the manifest knows and the file must agree with; zero fields are not compared (a file
/// opened by itself, by `dump` or `verify`).
struct ExpectedFile {
  FileNumber number = {};
  uint64_t size_bytes = 0;
  std::optional<FileId> id = {};
  std::optional<DatabaseId> database = {};
};

/// A section of an open file that a reader found broken. Only sections that are derived from the
/// rows are reported: key hashes, filter, clean rows, the top of a block index, and those of
/// indexes. A broken section of any other kind is an error.
struct BrokenSection {
  SectionKind kind{};
  std::optional<IndexId> index;  ///< Of the sections of an index: all of them count as broken.
  std::string reason;
};

/// A row key and its keyed hash.
struct HashedKey {
  std::string_view bytes;
  uint64_t hash = 0;
};

/// What was read of a file from its beginning and from its end.
struct FileEnds {
  uint64_t size_bytes = 0;  ///< Of the whole file.
  std::string_view first;   ///< At least its header, unless the file is shorter.
  std::string_view last;    ///< At least its footer, unless the file is shorter.
};

/// What Open need not read or decode again. Lifetime: that of the call.
struct KnownOfFile {
  const FileEnds* ends = nullptr;  ///< Null: it reads them.
  TableRecords* tables = nullptr;  ///< Null: the file has a record of its own.
};

/// Threads: any. Lifetime: blocks and views that it hands out are pinned by their BlockRef.
class StoreFile {
  struct Private {};
  struct Impl;

 public:
  StoreFile(Private, std::unique_ptr<Impl> impl);
  ~StoreFile();
  /// Errors: kCorruption (anything that does not agree), kUnsupported (version, feature), kIoError.
  static Result<std::shared_ptr<StoreFile>> Open(std::unique_ptr<base::File> file,
                                                 const ExpectedFile& expected, BlockCache* cache,
                                                 const KnownOfFile& known = {});

  FileNumber number() const;
  const FileId& id() const;
  uint64_t size_bytes() const;
  /// False: a later version wrote it, and this one may read but not change its database.
  bool writable() const;
  const TableRecord& table() const;         ///< As it was when the file was written.
  const std::string& region_start() const;  ///< Start key of the region that wrote it.
  const FileStatistics& statistics() const;
  const std::vector<SectionEntry>& sections() const;
  uint32_t row_count() const;
  bool all_clean() const;  ///< Every row is clean (rule 7).
  const BlockFile& blocks() const;

  /// The families of which some row has cells, ascending.
  const std::vector<FamilyId>& families() const;
  /// The cells of a family; nullptr when no row has any. Loaded on first use.
  Result<DataSection*> Family(FamilyId family) const;
  /// The rows of the key carrier, whose positions are the ordinals. Loaded on first use.
  Result<DataSection*> Carrier() const;

  /// First ordinal whose key is >= `key`; row_count() when there is none. Reads at most one block.
  Result<uint32_t> LowerBound(std::string_view key);
  struct FoundRow {
    Ordinal ordinal;
    uint32_t carrier_block = 0;  ///< The block of the key carrier that has it,
    RowBlockRef carrier_rows;    ///< and its rows, if they are known without a look-up.
  };
  /// The row of exactly that key and keyed hash, found through the block index and the key hashes:
  /// no data block is read, so the answer is certain up to a collision of the secret-keyed hash.
  /// The first rows of a file, and all if the hashes do not fit in memory, are found in the block
  /// of the key carrier instead.
  Result<std::optional<FoundRow>> FindByHash(std::string_view key, uint64_t hash);
  /// Appends to `*ordinals` the rows of those keys, ascending, that are here: as FindByHash, for
  /// many. Errors: kCorruption, kIoError.
  Status FindEachByHash(std::span<const HashedKey> keys, std::vector<uint32_t>* ordinals);
  /// False: the row is certainly not here. Loads the filter on first use, if it fits.
  Result<bool> MayContain(uint64_t hash);
  /// The filter itself, for probes of many hashes at once. Loaded on first use, kept. nullptr:
  /// together with what else is kept of files it does not fit in memory (BlockCache::Fits).
  Result<const BloomFilter*> Filter();
  /// The filter as it is stored, not kept. Errors: kCorruption, kIoError.
  Result<BloomFilter> ReadFilter() const;
  /// Keyed hashes of all rows by ordinal. Loaded on first use, kept. Empty: together with those of
  /// other files they do not fit in their share of memory (BlockCache::Fits); see
  /// KeyHashesReader.
  Result<std::span<const uint64_t>> KeyHashes();
  /// The same, but never empty: for what has to go on without a damaged section.
  Result<std::span<const uint64_t>> AllKeyHashes();
  /// The same when they are loaded already, else empty.
  std::span<const uint64_t> LoadedKeyHashes() const;
  /// Clean bits by ordinal (rule 7). Loaded on first use, kept.
  Result<const Bitmap*> CleanRows();

  /// nullptr when the file has no section for that index. Opened on first use.
  Result<IndexSection*> Index(IndexId index);

  /// Makes the file usable without derived sections that are broken; `tell` is called once for
  /// each, on the thread that found it. Key hashes and filter are then computed from the rows, no
  /// row counts as clean, a block index is read without its top. Requires: no thread uses the file
  /// yet.
  using BrokenSink = std::function<void(const StoreFile&, const BrokenSection&)>;
  void GoOnWithout(BrokenSink tell);
  /// Makes Index return nullptr for the index, for a reader that found corruption in its sections.
  /// Does nothing unless GoOnWithout was called.
  void MarkIndexBroken(IndexId index, const Status& why);
  /// Some section was found broken: the file should be rewritten.
  bool has_broken_section() const;
  /// Verifies the checksums of the sections of all indexes and marks broken indexes. Returns
  /// whether there is one. Errors: kIoError.
  Result<bool> FindBrokenIndexes();

  /// Reads the whole file past the cache and checks every section against its checksum, and that
  /// the bytes between sections are zero. Returns the XXH3-128 of the file. Errors: kCorruption,
  /// kIoError.
  Result<Hash128> VerifyBytes() const;

  /// Verifies both copies of the section table and of the footer; Open needs only one. Errors:
  /// kCorruption, kIoError.
  Status VerifyEnd() const;
  /// Checks that the padding between the last section, these copies and the end is zero. Errors: as
  /// VerifyEnd.
  Status VerifyEndPadding() const;

  /// Whether some cell may have expired at `now_micros`: some family with a TTL has a Put whose
  /// timestamp + ttl <= now (rule 16), or a family that was dropped has a Put. `families` are the
  /// table's current ones.
  bool MayHaveExpired(std::span<const FamilyRecord> families, int64_t now_micros) const;
  /// Whether all cells were seen at `sequence`, and none of them was written before a change of its
  /// family's limits and another one after it: then current entries are all that a read of the
  /// present needs.
  bool ShowsCurrentEntries(std::span<const FamilyRecord> families, SequenceNumber sequence) const;

 private:
  static Status ReadSchema(Impl* impl, TableRecords* tables);
  static Status ReadStatistics(Impl* impl);
  /// nullptr when there are none.
  Result<DataSection*> LoadFamily(FamilyId owner) const;
  Result<DataSection> LoadBesideDamage(FamilyId owner) const;
  Result<bool> IsSectionSound(const SectionEntry& section) const;
  bool GoesOnWithout(SectionKind kind, std::optional<IndexId> index, const Status& why) const;
  Result<base::PageVector<uint64_t>> MakeKeyHashes() const;
  static Result<std::optional<FoundRow>> FindByKey(const DataSection& carrier, uint32_t block,
                                                   std::string_view key);
  Status FindEachByKey(const DataSection& carrier, std::span<const HashedKey> keys,
                       std::vector<uint32_t>* ordinals);
  Result<BloomFilter> MakeFilter();
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem::format
