// A sequence of ids as the catalog records it: from where on none was given out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tandem/sequence.h"
#include "tandem/status.h"

namespace tandem::format {

struct SequenceRecord {
  SequenceOptions options;
  uint64_t next = 0;  ///< Smaller ids may have been given out; from `first` to `last` + 1.
};

uint64_t MemoryOf(const SequenceRecord& sequence);

std::string EncodeSequence(const SequenceRecord& sequence);
/// Errors: kCorruption, kUnsupported (unknown critical field).
Result<SequenceRecord> DecodeSequence(std::string_view bytes);

}  // namespace tandem::format
