// One field of a typed row key (tandem/row_key.h): between its text, its plain bytes and its
// encoding. The plain bytes are what a hash is made of:
//
//   text, bytes                the bytes as they are
//   int64, timestamp           eight bytes, big-endian, the sign bit flipped
//   uint64                     eight bytes, big-endian
//   uuid                       sixteen bytes
//
// The encoding is made of them in this order: reversed, if the field is; filled up, ended or
// escaped, as its type wants; all bytes inverted, if it descends.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/row_key.h"
#include "tandem/status.h"

namespace tandem::format {

/// How many values a salt or a modulus may have. They are numbered in the order of their bytes:
/// part j of partition i of mod(F, N, M) is number i * M + j.
inline uint32_t BucketsOf(const RowKeyPart& part) { return part.count * part.sub_partitions; }
/// Appends the value with this number.
void AppendBucket(const RowKeyPart& part, uint32_t bucket, std::string* out);
/// The number of a modulus whose field has these plain bytes. Requires: the field is a number.
uint32_t BucketOf(const RowKeyPart& mod, const RowKeyPart& field, std::string_view plain);

/// Bytes before the fields.
size_t LeadBytes(const std::vector<RowKeyPart>& parts);
/// Where rows of some schemas have leading bytes and those of others have none: the keys below it
/// are of the former, the others of the latter. nullopt: all have some, or none has. Requires: what
/// leads the keys of each begins with a salt or a modulus, if some have nothing.
std::optional<std::string> EndOfLeads(std::span<const RowKeySchema> schemas);
/// Whether the schema may have made the key, of those of `end_of_leads` (EndOfLeads).
bool MayHave(const RowKeySchema& schema, const std::optional<std::string>& end_of_leads,
             std::string_view key);
/// Leaves the ranges of keys that the schema may have.
void Clip(const RowKeySchema& schema, const std::optional<std::string>& end_of_leads,
          std::vector<RowRange>* ranges);
/// Whether what leads the keys begins with a salt or a modulus that leaves some first bytes out.
bool HasEndOfLeads(const RowKeySchema& schema);

/// Whether the field is a number or a time.
bool IsNumber(RowKeyType type);
/// Whether all its encodings have as many bytes.
bool HasWidth(const RowKeyPart& field);

/// The plain bytes of a value. Errors: kInvalidArgument (it does not fit; the message names the
/// field).
Result<std::string> PlainBytes(const RowKeyPart& field, std::string_view value);
/// The value that has these plain bytes. Requires: TakeEncoded returned them.
std::string ValueText(const RowKeyPart& field, std::string_view plain);

/// Appends the encoding. `is_last`: nothing follows in the key.
void AppendEncoded(const RowKeyPart& field, std::string_view plain, bool is_last, std::string* out);
/// Takes an encoding from the front of `*key` and returns the plain bytes. Errors: kInvalidArgument
/// (it is none; the message says what was expected).
Result<std::string> TakeEncoded(const RowKeyPart& field, bool is_last, std::string_view* key);

}  // namespace tandem::format
