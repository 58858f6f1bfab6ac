// Encodes and decodes the chunk blocks of wide rows; the byte table is in wide_row.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "format/block/block.h"
#include "format/block/block_file.h"
#include "format/cell/cell.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::format {

inline constexpr size_t kChunkFixedBytes = 32;
inline constexpr size_t kChunkBytes = 64 * 1024;         ///< Raw size at which a chunk is closed.
inline constexpr size_t kChunkNameBytes = 256 * 1024;    ///< Bytes of names at which it is closed.
inline constexpr size_t kChunkRawBytesMax = 256 * 1024;  ///< No chunk is larger.

/// Collects the cells of one chunk and encodes them. Threads: one at a time.
class ChunkBuilder {
 public:
  /// Whether the chunk must be closed before `cell` is added.
  bool IsFullFor(const Cell& cell) const;
  /// Requires: cells ascend by CellLess; none is a DeleteFamily.
  void Add(const Cell& cell);
  uint32_t cell_count() const { return static_cast<uint32_t>(cells_.size()); }
  /// The first cell. Lifetime: until Finish. Requires: cell_count() > 0.
  Cell first() const;
  /// Encodes the cells into `*raw` (replaced) and starts again. Requires: cell_count() > 0.
  void Finish(uint64_t key_hash, uint32_t number, std::string* raw);

 private:
  struct PendingCell {
    CellKind kind{};
    uint8_t flags = 0;
    uint32_t name_bytes = 0;  // Of the whole name; 0 if the column is as before.
    uint32_t shared_bytes = 0;
    uint32_t value_bytes = 0;
    size_t heap_offset = 0;  // Of the name's rest, then the value.
    int64_t timestamp = 0;
    uint64_t sequence = 0;
  };

  std::string heap_;
  std::string name_;  // Of the last cell.
  std::vector<PendingCell> cells_;
  size_t size_bytes_ = kChunkFixedBytes;  // Estimate of the raw size.
  size_t name_bytes_ = 0;
  int64_t base_timestamp_ = INT64_MAX;
  uint64_t base_sequence_ = UINT64_MAX;
};

/// The expected place of a chunk, so that one of another row or place is detected.
struct ChunkPlace {
  const BlockFile* file = nullptr;  ///< The file with its overflow values.
  FamilyId family;
  uint32_t position = 0;
  uint64_t key_hash = 0;
  uint32_t number = 0;
};

/// The place stored in a chunk, without file and family. Errors: kCorruption.
Result<ChunkPlace> StatedPlace(const Block& block);

/// Appends the cells of a chunk, which are sorted, to `*out`. Returns a pin that keeps their bytes.
/// Errors: kCorruption; then ignore what was appended.
Result<std::shared_ptr<const void>> DecodeChunk(BlockRef block, const ChunkPlace& place,
                                                std::vector<Cell>* out);

}  // namespace tandem::format
