// Operations as the log stores them: data only, no index entries. A batch is a list of operations
// on rows; each operation takes one sequence number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/byte_reader.h"
#include "format/cell/cell.h"
#include "format/types.h"
#include "tandem/status.h"

namespace tandem::wal {

/// Encodes one batch. Cells without a timestamp get the batch's, which is known at commit.
class BatchEncoder {
 public:
  /// Reserves memory for `bytes` bytes in all.
  void Reserve(size_t bytes);
  void BeginOperation(format::TableId table, std::string_view row);
  /// Adds a cell to the operation begun last. `cell.sequence` is ignored; if `timestamp` is nullopt
  /// the cell gets the batch's.
  void AddCell(const format::Cell& cell, std::optional<int64_t> timestamp);
  /// Adds all operations of another batch. Those of both are complete.
  void AddAll(const BatchEncoder& other);
  /// Adds an operation as GroupReader::rest_of_batch has it.
  void AddEncoded(std::string_view operation);
  uint32_t operation_count() const { return operations_; }
  /// The batch's bytes; complete after each operation.
  const std::string& bytes() const { return bytes_; }
  void Clear();
  /// Hands out the batch and goes on with an empty one, with memory for as many bytes.
  BatchEncoder Take();

 private:
  std::string bytes_;
  uint32_t operations_ = 0;
  // The cell count of the current operation is patched in place; see operation.cc.
  size_t count_at_ = 0;
  uint32_t cells_ = 0;
};

/// One decoded operation. Lifetime: views point into the decoded bytes.
struct Operation {
  format::TableId table;
  std::string_view row;
  format::SequenceNumber sequence;
  std::vector<format::Cell> cells;
};

/// Appends one batch to the payload of a group (its operation count, length and bytes).
void AppendBatch(const BatchEncoder& batch, std::string* payload);

/// Walks the operations of a group's payload in order: batch i has the group's timestamp + i, and
/// operations take consecutive sequence numbers from the group's first.
class GroupReader {
 public:
  GroupReader(std::string_view payload, format::SequenceNumber first_sequence, int64_t timestamp);
  /// Walks one batch that is in no payload. Lifetime: the batch's.
  static GroupReader OfBatch(const BatchEncoder& batch, format::SequenceNumber first_sequence,
                             int64_t timestamp);
  /// The same for a batch of `operation_count` operations in `bytes`.
  static GroupReader OfBatch(std::string_view bytes, uint32_t operation_count,
                             format::SequenceNumber first_sequence, int64_t timestamp);
  /// False at the end or when malformed; status() says which.
  bool Next(Operation* operation);
  /// kCorruption when the bytes are malformed. `sequences()` is the number of operations read.
  const Status& status() const { return status_; }
  uint32_t sequences() const { return sequences_; }
  uint32_t batches() const { return batches_; }
  /// The bytes of the current batch's operations that were not read yet.
  std::string_view rest_of_batch() const { return batch_.rest(); }

 private:
  bool BeginBatch();

  format::ByteReader payload_;
  format::ByteReader batch_{std::string_view()};
  uint32_t left_in_batch_ = 0;
  uint64_t next_sequence_;
  int64_t timestamp_;
  uint32_t sequences_ = 0;
  uint32_t batches_ = 0;
  Status status_;
};

}  // namespace tandem::wal
