// All indexes of a store file against its rows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/memory_account.h"
#include "engine/verify/findings.h"
#include "engine/verify/index.h"
#include "format/cell/cell_buffer.h"
#include "format/registry/registered.h"
#include "format/types.h"
#include "store_file/scanner.h"
#include "store_file/store_file.h"
#include "tandem/status.h"

namespace tandem::format {

/// The cells of one row after the other. Threads: one at a time. Lifetime: `table` outlives it.
class IndexedRow {
 public:
  explicit IndexedRow(const TableRecord& table) : table_(table) {}

  /// Reads the row that `rows` is at. `visit` (may be empty) is given all its cells, in order, in
  /// one piece or, of a wide row, in several. Errors: kCorruption, kIoError, those of `visit`.
  using Visit = std::function<Status(std::span<const Cell>)>;
  Status Read(const RowStream& rows, const Visit& visit = {});
  /// All of them; of a wide row those that concern indexes. Valid until the next Read.
  std::span<const Cell> cells() const { return cells_; }

 private:
  const TableRecord& table_;
  std::vector<Cell> cells_;
  CellBuffer wide_;  // The bytes of those of a wide row.
};

/// Errors (all methods): kOutOfMemory; damage becomes findings. Threads: one at a time.
class IndexesVerifier {
 public:
  /// All outlive it. `functions`: that indexes call; null: none.
  IndexesVerifier(StoreFile* file, const FunctionRegistry* functions, Findings* findings);

  /// Chooses the indexes that the file was written with, or `only` this one of them, but those that
  /// are unusable. Called once, first.
  Status Open(std::optional<IndexId> only = std::nullopt);
  /// Called for each row in order. `cells`: at least those that concern indexes.
  Status AddRow(uint32_t ordinal, std::string_view row_key, std::span<const Cell> cells);
  /// Compares what the rows imply with the sections. Where one differs, rows are read again, to say
  /// which entries are wrong.
  Status Finish();

 private:
  /// An index that the file has no section of, which is right if a Put is hidden from it, or if it
  /// may have been unusable when the file was written.
  struct WithoutSection {
    const IndexRecord* index;
    bool is_right = false;
  };
  Status DescribeDifferences(IndexVerifier* index);

  StoreFile& file_;
  TableRecord table_;  // As the file has it, resolved.
  Findings& findings_;
  base::MemoryCharge sums_charge_;
  std::vector<std::unique_ptr<IndexVerifier>> indexes_;
  std::vector<WithoutSection> without_section_;
};

struct IndexChecks {
  std::optional<IndexId> only = {};             ///< nullopt: all.
  const FunctionRegistry* functions = nullptr;  ///< That they call; null: none.
};

/// Compares one index of a file, or all of them, with its rows, and nothing else. A file from
/// before the index has nothing to compare. Errors: as IndexesVerifier.
Status VerifyIndexes(StoreFile* file, const IndexChecks& checks, Findings* findings);

}  // namespace tandem::format
