// A store file that may be damaged anywhere, opened by what can be proved: each structure that
// is broken is replaced by what other places know of it, and named.
//
//   broken             replaced by
//   header             number and id of the manifest; the alignment that fits the section table
//   footer             a section table that is found by its own bytes
//   section table      its other copy
//   schema             the table of the catalog
//   statistics         what the manifest's record of the file has
//
// Only what a checksum covers is believed: blocks know their file and their offset.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file_system.h"
#include "format/block/block_file.h"
#include "format/block/section_writer.h"
#include "format/schema.h"
#include "format/types.h"
#include "store_file/file_statistics.h"
#include "tandem/status.h"

namespace tandem::format {

/// What is known of a file apart from its bytes. All may be missing.
struct KnownFile {
  FileNumber number = {};
  std::optional<FileId> id = {};
  std::optional<DatabaseId> database = {};
  const TableRecord* table = nullptr;
};

/// Threads: one at a time.
class DamagedFile {
 public:
  /// Errors: kCorruption (nothing of it can be proved, or it is another file), kUnsupported,
  /// kIoError.
  static Result<std::unique_ptr<DamagedFile>> Open(std::unique_ptr<base::File> file,
                                                   const KnownFile& known);

  /// Sentences about what was broken and replaced.
  const std::vector<std::string>& damage() const { return damage_; }
  const BlockFile& blocks() const { return blocks_; }
  const std::string& name() const { return blocks_.file().name(); }
  uint64_t size_bytes() const { return size_bytes_; }
  const TableRecord& table() const { return table_; }
  /// Start key of the region that wrote the file; nullopt when the schema is broken.
  const std::optional<std::string>& region_start() const { return region_start_; }
  const std::optional<FileStatistics>& statistics() const { return statistics_; }
  const std::vector<SectionEntry>& sections() const { return sections_; }
  /// Of all families, by the section table.
  uint32_t row_count() const { return row_count_; }
  /// The families that have rows, ascending; kKeysOwner at the end if the keys are stored
  /// separately.
  const std::vector<FamilyId>& owners() const { return owners_; }

  /// The only block of that kind in a section; nullptr if there is no good one. Errors: kIoError.
  Result<BlockRef> GoodBlock(const SectionEntry& section, BlockKind kind) const;

 private:
  explicit DamagedFile(BlockFile blocks) : blocks_(std::move(blocks)) {}
  Status FindSections(std::optional<uint32_t> alignment);
  Result<std::vector<SectionEntry>> ReadTables(std::optional<uint32_t> alignment);
  Result<std::vector<SectionEntry>> SearchTables(std::optional<uint32_t> alignment);
  Status ReadSchema(const TableRecord* known);
  Status ReadStatistics();
  Status FindOwners();
  Status Damage(const Status& status);

  BlockFile blocks_;
  uint64_t size_bytes_ = 0;
  TableRecord table_;
  std::optional<std::string> region_start_;
  std::optional<FileStatistics> statistics_;
  std::vector<SectionEntry> sections_;
  uint32_t row_count_ = 0;
  std::vector<FamilyId> owners_;
  std::vector<std::string> damage_;
};

}  // namespace tandem::format
