// Records of tagged fields, such as the catalog's edits and the table records. Each field is a tag
// and a length, both varints, then its bytes. Tags ascend; only a list's tag repeats. An odd tag is
// critical: a reader that does not know it rejects the record. An unknown even tag is skipped.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "format/byte_reader.h"
#include "tandem/status.h"

namespace tandem::format {

void AppendField(std::string* out, uint64_t tag, std::string_view value);
/// A field that holds one varint.
void AppendNumberField(std::string* out, uint64_t tag, uint64_t value);

/// Reads the fields of one record. The first error ends the loop and is kept: a decoder loops on
/// Next, reads the fields that it knows and calls Finish once. Lifetime: views point into the
/// record's bytes.
class FieldReader {
 public:
  /// `what` names the record in messages; it outlives the reader.
  FieldReader(std::string_view bytes, std::string_view what) : bytes_(bytes), what_(what) {}

  /// Moves to the next field; false at the end and after an error.
  bool Next();
  uint64_t tag() const { return tag_; }
  /// The field's bytes, if its tag may repeat.
  std::string_view Repeated() const { return value_; }
  /// The field's bytes, if its tag may occur only once.
  std::string_view Bytes();
  /// The field's single varint, at most `max`; the tag may occur only once.
  uint64_t Number(uint64_t max);
  /// A field that holds the number 1, and is left out where it is false: true, but for an error.
  bool Flag();
  /// As Bytes, of exactly `size` bytes.
  std::string_view FixedBytes(size_t size);
  /// Handles a field whose tag the decoder does not know: fails if it is critical.
  void Unknown();
  /// Keeps `status` if it is the first error.
  void Fail(Status status);
  void FailCorrupt(std::string_view why);

  /// OK when every byte was read and each of `required` (tags below 64) occurred. Errors:
  /// kCorruption, kUnsupported.
  Status Finish(std::initializer_list<uint64_t> required);

 private:
  ByteReader bytes_;
  std::string_view what_;
  std::string_view value_;
  uint64_t tag_ = 0;
  bool repeats_ = false;
  uint64_t seen_ = 0;  // One bit per tag below 64.
  Status status_;
};

}  // namespace tandem::format
