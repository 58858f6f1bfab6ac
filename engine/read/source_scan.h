// A scan over all rows of one source in key order, in either direction, for MergingIterator.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/read/row_iterator.h"

namespace tandem::engine {

/// At a row or at the end. Threads: one at a time.
class SourceScan {
 public:
  virtual ~SourceScan() = default;
  /// Moves to the first or the next row. Errors: kCorruption, kIoError.
  virtual Status Next() = 0;
  /// Moves as Next, but if it filters over single-source rows with keys before `bound`, if there is
  /// one, that do not match. Requires: the scan goes forward. Errors: as Next, and kCancelled.
  virtual Status NextMatch(std::optional<std::string_view> /*bound*/) { return Next(); }
  bool valid() const { return valid_; }
  /// Requires: valid(). Lifetime: until Next.
  std::string_view key() const { return key_; }
  /// Whether this source holds no hidden, expired or old cell of the row.
  virtual bool MayBeSingleSource() const = 0;
  /// Whether the row, which is single-source, may match; is_match() then says whether it is certain
  /// that it does. Requires: the scan filters. Errors: kCorruption.
  virtual Result<bool> MayMatch() { return true; }
  virtual bool is_match() const { return false; }
  /// Adds the row, which is single-source: see RowWalk::AddPlain.
  virtual bool AddPlain(format::RowBatch* batch) const = 0;
  /// Moves to the next rows and adds them: see RowWalk::AddPlainRun. Until Next key() is that of a
  /// row before. Requires: the scan goes forward.
  virtual uint32_t AddPlainRun(size_t /*rows_max*/, std::optional<std::string_view> /*bound*/,
                               format::RowBatch* /*batch*/) {
    return 0;
  }
  /// The row of a memstore; nullptr for a file.
  virtual const MemRow* memstore_row() const { return nullptr; }
  /// Adds the row, which a memstore has as well: see RowWalk::AddUpdated.
  virtual bool AddUpdated(const MemRow* /*newer*/, RowBuilder* /*row*/,
                          format::RowBatch* /*batch*/) const {
    return false;
  }
  /// Appends the row's cells. Errors: kCorruption. Lifetime: until Next.
  virtual Status Append(bool single_source, RowBuilder* row) = 0;
  /// Adds the location of the row.
  virtual void AddLocation(RowLocations* locations) const = 0;
  /// Keeps the cells of the last Append valid over the next call of Next.
  virtual void Hold() = 0;

 protected:
  bool valid_ = false;
  std::string_view key_;
};

/// `filters`: by the context's predicate. Lifetime: context and source outlive the scan.
std::unique_ptr<SourceScan> NewFileScan(ReadContext* context, const FileSource& source,
                                        bool reverse, bool filters);
std::unique_ptr<SourceScan> NewMemstoreScan(const Memstore& memstore, const format::KeyRange& rows,
                                            bool reverse);

}  // namespace tandem::engine
