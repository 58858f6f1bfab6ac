// Chunk blocks of wide rows, encoded and decoded; the byte table stands in wide_row.h.
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
inline constexpr size_t kChunkNameBytes = 256 * 1024;    ///< Of names, at which it is closed too.
inline constexpr size_t kChunkRawBytesMax = 256 * 1024;  ///< No chunk is larger.

/// Collects the cells of one chunk and encodes them. Threads: one at a time.
class ChunkBuilder {
 public:
  /// Whether the chunk is to be closed before `cell` is added.
  bool IsFullFor(const Cell& cell) const;
  /// Requires: cells rise by CellLess; none is a DeleteFamily.
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
    uint32_t name_bytes = 0;  // Written out; 0 for a cell of the column before.
    uint32_t shared_bytes = 0;
    uint32_t value_bytes = 0;
    size_t heap_offset = 0;  // Of the name's rest, then the value.
    int64_t timestamp = 0;
    uint64_t sequence = 0;
  };

  std::string heap_;
  std::string name_;  // Of the last cell.
  std::vector<PendingCell> cells_;
  size_t size_bytes_ = kChunkFixedBytes;  // About what the raw bytes will be.
  size_t name_bytes_ = 0;
  int64_t base_timestamp_ = INT64_MAX;
  uint64_t base_sequence_ = UINT64_MAX;
};

/// What the chunk has to be, so that one of another row or place is caught.
struct ChunkPlace {
  const BlockFile* file = nullptr;  ///< Where its far values lie.
  FamilyId family;
  uint32_t position = 0;
  uint64_t key_hash = 0;
  uint32_t number = 0;
};

/// The place that a chunk says it has, without its file and family. Errors: kCorruption.
Result<ChunkPlace> StatedPlace(const Block& block);

/// Appends the cells of a chunk to `*out`, which are sorted. Returns what keeps their bytes.
/// Errors: kCorruption; what was appended before is to be ignored.
Result<std::shared_ptr<const void>> DecodeChunk(BlockRef block, const ChunkPlace& place,
                                                std::vector<Cell>* out);

}  // namespace tandem::format
