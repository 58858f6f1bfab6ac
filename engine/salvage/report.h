// What a salvage found and could not save; salvage.h has the whole.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/salvage/lost_rows.h"
#include "index/key.h"
#include "tandem/database.h"

namespace tandem::engine {

/// Rows of a file, or operations of a log segment, that are not in the copy.
struct LostRange {
  std::string file;
  std::string table;  ///< Empty: unknown.
  uint64_t region = 0;
  std::string family;              ///< Empty: the rows of all families.
  uint64_t offset = 0, bytes = 0;  ///< Of the broken block; 0 and 0: no block was found.
  uint64_t rows = 0;
  std::optional<uint32_t> first_ordinal, last_ordinal;
  format::KeyRange keys;  ///< The lost keys lie in it.
  /// Only cells of these columns are lost, and not all of them may be; nullopt: of all.
  std::optional<format::KeyRange> columns;
  std::string reason;
  std::vector<format::LostRow> details;  ///< Values are those of indexes over the family.
};

/// Keys for which the copy may show deleted or replaced data.
struct UncertainRange {
  std::string table;  ///< Empty: of every table.
  uint64_t region = 0;
  std::string family;  ///< Empty: all.
  format::KeyRange keys;
  std::string because;  ///< The file that lost newer data there.
};

/// A file that was not copied, and why; or what of it is broken and was replaced.
struct FileNote {
  std::string file;
  std::string what;
};

/// Frames of the log that the chain does not lead to.
struct LogHole {
  std::string segment;
  uint64_t offset = 0;                  ///< Where the chain ends.
  uint64_t after_sequence = 0;          ///< The last sequence that was proved.
  uint64_t frames = 0, operations = 0;  ///< Good by themselves, after it.
  uint64_t first_sequence = 0, last_sequence = 0;
  bool copied = false;
  std::string reason;
};

struct SalvageReport {
  std::string catalog;                  ///< Where the catalog comes from.
  std::vector<std::string> lost_edits;  ///< What the catalog may lack, a sentence each.
  uint64_t tables = 0, regions = 0, files = 0, rows = 0, cells = 0;
  uint64_t frames = 0, operations = 0;  ///< Of the log.
  std::vector<LostRange> lost;
  std::vector<UncertainRange> uncertain;
  std::vector<LogHole> holes;
  std::vector<FileNote> repaired;  ///< Nothing was lost by it.
  std::vector<FileNote> orphans;   ///< Not in the catalog.
  /// The named snapshots of the catalog. None is copied.
  std::vector<std::string> snapshots;
  VerifyReport verified;  ///< Of the copy.
  bool lost_something() const {
    return !lost.empty() || !holes.empty() || !lost_edits.empty() || !uncertain.empty() ||
           !snapshots.empty();
  }
};

}  // namespace tandem::engine
