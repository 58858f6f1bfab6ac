// A medium that gives wrong bytes, or none: what reads of a place of a file show instead of what is
// there. The bytes themselves stay as they are, so that the same run can show an error while the
// fault lasts and the right answer once it is healed.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tandem/status.h"
#include "tools/simulation/simulated_inode.h"

namespace tandem::test {

struct ReadFault {
  enum class Kind : uint8_t {
    kLatentError,  ///< Reads that touch the range fail, each time.
    kBitFlip,      ///< Bit `from` % 8 of the byte at `offset`.
    kZeros,        ///< The range.
    kStale,        ///< The range as it was before its last change: a write that got lost.
    kMisdirected,  ///< The range shows the bytes of the file at `from`.
    kShort,        ///< A read ends at `offset` as if the file did.
  };
  Kind kind = Kind::kLatentError;
  uint64_t offset = 0;
  uint64_t size = kSectorBytes;
  uint64_t from = 0;
};

/// Makes of a read of `inode` at `offset`, which gave all of `bytes`, what `faults` show. Returns
/// the count that remains. Errors: kIoError.
Result<size_t> ReadThroughFaults(const std::vector<ReadFault>& faults, const Inode& inode,
                                 uint64_t offset, std::span<char> bytes);

}  // namespace tandem::test
