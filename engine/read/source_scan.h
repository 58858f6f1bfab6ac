// A scan over all rows of one source in key order, in either direction, for MergingIterator.
#pragma once

#include <memory>
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
  bool valid() const { return valid_; }
  /// Requires: valid(). Lifetime: until Next.
  std::string_view key() const { return key_; }
  /// Whether this source holds no hidden, expired or old cell of the row.
  virtual bool MayBeSingleSource() const = 0;
  /// Adds the row, which is single-source: see RowWalk::AddPlain.
  virtual bool AddPlain(format::RowBatch* batch) const = 0;
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

/// Lifetime: context and source outlive the scan.
std::unique_ptr<SourceScan> NewFileScan(ReadContext* context, const FileSource& source,
                                        bool reverse);
std::unique_ptr<SourceScan> NewMemstoreScan(const Memstore& memstore, const format::KeyRange& rows,
                                            bool reverse);

}  // namespace tandem::engine
