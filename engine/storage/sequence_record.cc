// A list of fields (format/fields.h). Every field is required.
//
//   TAG  FIELD   BYTES
//     1  name    1 to 255 bytes
//     3  first   varint u64
//     5  last    varint u64
//     7  next    varint u64
//
// Example: the sequence "a" from 1 to 9 of which 1 to 3 may have been given out is
//   01 01 61  03 01 01  05 01 09  07 01 04
#include "engine/storage/sequence_record.h"

#include "base/status_macros.h"
#include "format/fields.h"
#include "format/schema.h"

namespace tandem::format {
namespace {

enum SequenceTag : uint64_t { kName = 1, kFirst = 3, kLast = 5, kNext = 7 };

// Of a node of a map.
constexpr uint64_t kNodeBytes = 48;

void ReadField(FieldReader* fields, SequenceRecord* sequence) {
  switch (fields->tag()) {
    case kName:
      sequence->options.name = fields->Bytes();
      return;
    case kFirst:
      sequence->options.first = fields->Number(kSequenceIdMax);
      return;
    case kLast:
      sequence->options.last = fields->Number(kSequenceIdMax);
      return;
    case kNext:
      sequence->next = fields->Number(UINT64_MAX);
      return;
    default:
      return fields->Unknown();
  }
}

}  // namespace

uint64_t MemoryOf(const SequenceRecord& sequence) {
  return kNodeBytes + sizeof(SequenceRecord) + 2 * sequence.options.name.size();
}

std::string EncodeSequence(const SequenceRecord& sequence) {
  std::string out;
  AppendField(&out, kName, sequence.options.name);
  AppendNumberField(&out, kFirst, sequence.options.first);
  AppendNumberField(&out, kLast, sequence.options.last);
  AppendNumberField(&out, kNext, sequence.next);
  return out;
}

Result<SequenceRecord> DecodeSequence(std::string_view bytes) {
  FieldReader fields(bytes, "sequence record");
  SequenceRecord sequence;
  while (fields.Next()) ReadField(&fields, &sequence);
  RETURN_IF_ERROR(fields.Finish({kName, kFirst, kLast, kNext}));
  const SequenceOptions& options = sequence.options;
  if (!IsValidName(options.name)) {
    return Status::Corruption("sequence record: its name is not valid");
  }
  if (options.first > options.last || sequence.next < options.first ||
      sequence.next > options.last + 1) {
    return Status::Corruption("sequence record: its ids are out of order");
  }
  return sequence;
}

}  // namespace tandem::format
