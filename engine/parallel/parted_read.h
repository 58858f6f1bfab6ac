// A read in parts that several threads may read at a time.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/read/row_source.h"
#include "engine/source/read_context.h"
#include "tandem/status.h"

namespace tandem::engine {

/// A part of a read. Threads: one at a time, others in other parts. Lifetime: it outlives what it
/// has opened, and the context that is given to it.
class ReadPart {
 public:
  virtual ~ReadPart() = default;
  /// The rows of the part, all of them.
  virtual Result<std::unique_ptr<RowSource>> Open(ReadContext* context) = 0;
  /// Whether the source that was opened has all its rows in memory, and counts them there.
  virtual bool holds_rows() const { return false; }
  /// How many there are.
  virtual Result<uint64_t> Count(ReadContext* context) = 0;
};

/// Takes the rows of parts where they are read, in any order: they are not passed to the caller.
/// Threads: any, several at a time.
class PartFold {
 public:
  virtual ~PartFold() = default;
  /// Takes all rows of the source. Errors: those of the source, kOverBudget.
  virtual Status Take(RowSource* rows) = 0;
};

/// Threads: one at a time.
class PartedRead {
 public:
  virtual ~PartedRead() = default;
  /// The next part in the order of the read; null at the end. Lifetime: that of the read.
  virtual Result<std::unique_ptr<ReadPart>> Cut() = 0;
};

}  // namespace tandem::engine
