// Reading one row by its key, and again another one with the same lists.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/read/row_builder.h"
#include "engine/read/row_locations.h"
#include "engine/region/view.h"
#include "engine/source/read_counters.h"
#include "engine/source/read_schema.h"
#include "format/row/pod_array.h"
#include "format/row/row_block.h"
#include "tandem/options.h"
#include "tandem/row.h"
#include "tandem/status.h"

namespace tandem::engine {

/// Threads: one at a time.
class PointReader {
 public:
  /// `counters`, when not null, counts blocks and cells of memstores.
  explicit PointReader(ReadCounters* counters = nullptr) : counters_(counters), blocks_(counters) {}
  PointReader(const PointReader&) = delete;
  PointReader& operator=(const PointReader&) = delete;

  /// Reads the row as `options` ask for it. False: it does not exist, or has nothing that they ask
  /// for. Errors: those of Database::Get. Lifetime: `row` outlives what was read.
  Result<bool> Read(RegionView view, const ReadOptions& options, std::string_view row);
  /// The row that was read; without cells if there is none. Lifetime: until the next call of Read,
  /// TakeRow or Release.
  const RowView& row() const { return row_; }
  /// A copy of it. Requires: Read returned true.
  Row TakeRow();
  /// Forgets the row and releases all that it pins.
  void Release();

 private:
  /// Decodes rows that are not plain. Kept for reads with equal options.
  struct Decoder {
    Decoder(ReadSchema read_schema, const ReadOptions& options, ReadCounters* counters);
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;
    bool IsFor(const RegionView& view, const ReadOptions& options) const;

    ReadSchema schema;
    RowBuilder builder;
    std::vector<ColumnName> columns;
    std::vector<std::string> families;
  };

  Result<bool> IsSingleSource(const RowLocations::InFile& location) const;
  Result<bool> ReadPlain(const RowLocations::InFile& location, std::string_view row);
  Status ReadAny(const ReadOptions& options, std::string_view row);
  Status PrepareDecoder(const ReadOptions& options);
  Status Stream(std::string_view row);
  void KeepCopy(const RowView& row);

  ReadCounters* const counters_;
  RegionView view_;  // Pins what the row is made of.
  format::ReadPoint point_;
  RowLocations locations_;
  BlockMemo blocks_;
  std::vector<RowPart> parts_;
  // Of a plain row: its cells and the blocks that hold them. The first one needs no list.
  format::PodArray<Cell> cells_;
  format::RowBlockRef block_;
  CellPins pins_;
  std::optional<Decoder> decoder_;
  std::optional<Row> copy_;  // Of a row that is put together from several blocks.
  RowView row_;
};

}  // namespace tandem::engine
