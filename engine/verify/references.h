// Checks the references between blocks of a data section, read front to back: each overflow value
// is referred to by exactly one cell, which comes after it; the chunks of a wide row are in order,
// and its head follows them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/verify/findings.h"
#include "format/block/block.h"
#include "format/cell/cell.h"
#include "format/cell/overflow_value.h"
#include "format/hash.h"
#include "format/row/data_section.h"
#include "tandem/status.h"

namespace tandem::format {

/// Keeps what was read and is not yet referred to. Threads: one at a time. Errors: kOutOfMemory;
/// damage becomes findings. Lifetime: `findings` and `file` outlive it.
class ReferenceVerifier {
 public:
  ReferenceVerifier(const BlockFile& file, Findings* findings)
      : file_(file), findings_(*findings) {}

  void AddValueBlock(const Block& block, uint32_t stored_bytes);
  Status AddChunk(const BlockRef& block);
  /// A block of rows or a head, as it is stored; `data` is its family.
  Status AddRows(uint64_t offset, std::string_view stored, const DataSection& data);
  /// Ends the section.
  void Finish();

 private:
  /// A value whose blocks were read.
  struct Value {
    uint64_t length = 0;
    uint64_t hash = 0;
  };
  /// The value whose blocks are being read.
  struct OpenValue {
    explicit OpenValue(uint64_t first_offset) : offset(first_offset) {}

    uint64_t offset;
    uint64_t length = 0;
    uint32_t blocks = 0;
    uint64_t end = 0;  ///< Where its next block would have to start.
    StreamingHash64 hash;
  };
  /// The wide row whose chunks are being read.
  struct OpenRow {
    uint64_t first_chunk = 0;
    uint64_t key_hash = 0;
    uint32_t position = 0;
    uint32_t chunks = 0;
  };

  void CloseValue();
  void CheckHead(const RowBlock& head);
  void Refer(uint64_t at, const Cell& cell);

  const BlockFile& file_;
  Findings& findings_;
  std::optional<OpenValue> open_value_;
  std::map<uint64_t, Value> values_;  ///< By the offset of their first blocks.
  std::optional<OpenRow> open_row_;
  std::vector<Cell> cells_;
};

}  // namespace tandem::format
