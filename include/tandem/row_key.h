// Row keys made of typed fields. A declaration names the fields of a table's keys, and what leads
// them; TableOptions::row_key stores it with the table:
//
//   salt(8), user:text, at:timestamp desc
//
//   FIELD:TYPE [asc|desc]  a field; the keys sort like the tuples of their fields. Types:
//     text      UTF-8 without U+0000, ended by 0x00; as the last field, ascending, by the key's end
//     text(N)   at most N bytes, filled up with 0x00
//     bytes     any bytes, 0x00 as 0x00 0xFF, ended by 0x00 0x01; as the last field, ascending, as
//               they are
//     bytes(N)  exactly N bytes
//     int64, uint64, timestamp   eight bytes
//     uuid      sixteen bytes
//   reverse(FIELD)        right before its field, which is stored back to front: the characters of
//                         a text, the bytes of the others. Spreads numbers that rise.
//   salt(N)               first of all: XXH3-64 of the rest of the key, modulo N. It depends on the
//                         key alone, so a get stays one get.
//   hash(FIELD, N[, xxh3])  the first N bytes of XXH3-64 of a field, 1 to 8
//   hash(FIELD, N, md5)   those of MD5, 1 to 16: keys as other systems made them
//   mod(FIELD, N[, M])    a field that is a number or a time, modulo N: its partition; with M, then
//                         FIELD / N, modulo M: the part of the partition. Ids that follow one
//                         another go to N partitions in turn, and those of one to its M parts.
//
// salt, hash and mod come before all fields. N of salt and mod is 1 to 65,535; up to 256 it takes
// one byte of the key, else two. M is the same, with at most 65,535 parts of all partitions;
// mod(FIELD, N, 1) is mod(FIELD, N). Keywords and types may be in any case. docs/format.md, 9.2,
// has the bytes.
//
// Values of fields are text, as conditions have them: decimal numbers; microseconds since 1970, RFC
// 3339 or a date alone (UTC); 36 characters or 32 hex digits of a UUID. Text and bytes are as they
// are. A declaration describes keys and constrains no call: any bytes stay a valid row key.
// Predicates name fields as _row.user (predicate.h).
//
// N, and what a salt, hash or mod is made of, may change while the table has rows: RowKeyEpochs.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tandem/options.h"
#include "tandem/status.h"

#pragma GCC visibility push(default)

namespace tandem {

enum class RowKeyType : uint8_t { kText, kBytes, kInt64, kUint64, kTimestamp, kUuid };
/// What hash(FIELD, N) is the beginning of.
enum class RowKeyHash : uint8_t { kXxh3, kMd5 };

/// A part of a declaration; the parts of a key have the same order.
struct RowKeyPart {
  enum class Kind : uint8_t { kSalt, kHash, kMod, kField };
  Kind kind = Kind::kField;
  std::string field = {};  ///< Its name; of kHash and kMod: the field that they are made of.
  uint32_t count = 0;      ///< Of kSalt and kMod: N. Of kHash: its bytes.
  /// Of kMod: M, the parts of each of the N partitions; 1: they have none.
  uint32_t sub_partitions = 1;
  RowKeyType type = RowKeyType::kText;
  uint32_t width_bytes = 0;  ///< Of text(N) and bytes(N); 0: without N.
  bool descending = false;
  bool reversed = false;
  RowKeyHash hash = RowKeyHash::kXxh3;  ///< Of kHash.

  bool operator==(const RowKeyPart&) const = default;
};

struct RowKeyField {
  std::string name;
  std::string value;

  bool operator==(const RowKeyField&) const = default;
};

/// Values of a field; `to` is above `from`.
struct RowKeyBounds {
  std::string field = {};                ///< Its name. Empty: there are no bounds.
  std::optional<std::string> from = {};  ///< Inclusive; nullopt: from the smallest.
  std::optional<std::string> to = {};    ///< Exclusive; nullopt: to the largest.
};

/// Turns fields into row keys and back. Threads: any. All errors are kInvalidArgument unless said
/// otherwise; their messages name the field, and the position where there is one.
class RowKeySchema {
 public:
  /// Errors: kInvalidArgument with the position in `declaration`, counted from 1.
  static Result<RowKeySchema> Parse(std::string_view declaration);
  /// Text that Parse reads back; equal for equal schemas.
  std::string ToString() const;
  const std::vector<RowKeyPart>& parts() const { return parts_; }
  /// Names of the fields, in the order of the key.
  std::vector<std::string> fields() const;

  /// The key of a row. Requires nothing of the order of `fields`. Errors: a field that is unknown,
  /// missing or repeated, a value that does not fit, a key that is empty or longer than
  /// kRowKeyBytesMax.
  Result<std::string> Encode(std::span<const RowKeyField> fields) const;
  /// The fields of a key, in its order; times are microseconds since 1970, and UUIDs have 36
  /// characters in lower case. Errors: the key is none that Encode makes, with the offset.
  Result<std::vector<RowKeyField>> Decode(std::string_view key) const;

  /// The keys whose first fields are `prefix`, in any order; empty: all keys. What leads the key
  /// and does not follow from `prefix` makes as many ranges as it has values. Errors: as Encode; a
  /// field that is given while one before it is not; a hash that does not follow from `prefix`;
  /// more than kRowKeyRangesMax ranges.
  Result<std::vector<RowRange>> Ranges(std::span<const RowKeyField> prefix) const;
  /// Of those, the keys whose next field after `prefix`, which `bounds` names, is within them,
  /// whatever its direction. Errors: also bounds of another field or of a reversed one, and bounds
  /// that are inverted or have nothing between them.
  Result<std::vector<RowRange>> Between(std::span<const RowKeyField> prefix,
                                        const RowKeyBounds& bounds) const;
  /// A scan of them in the order of the fields, whatever leads the keys (RowRange::leading_bytes).
  /// Its ranges and direction are QueryOptions::ranges and descending of a query. Errors: those of
  /// Between; kUnsupported: more than kScanLeadsMax values lead them.
  Result<ScanOptions> InFieldOrder(std::span<const RowKeyField> prefix,
                                   const RowKeyBounds& bounds = {}) const;
  /// A scan of the `count` newest of them, the newest first. Errors: also 0; a next field that is
  /// no timestamp; those of InFieldOrder.
  Result<ScanOptions> Newest(std::span<const RowKeyField> prefix, uint64_t count,
                             const RowKeyBounds& bounds = {}) const;

 private:
  explicit RowKeySchema(std::vector<RowKeyPart> parts) : parts_(std::move(parts)) {}

  std::vector<RowKeyPart> parts_;
};

/// The declarations of a table's row keys: the one that holds, and those before it whose rows have
/// not been moved yet (Database::ChangeRowKey). All have the same fields, and what leads the keys
/// differs. At every point in time a row has one of its keys, if each write is under the key that
/// Database::KeyForWrite returns. Errors and threads: as RowKeySchema.
class RowKeyEpochs {
 public:
  /// `former`: the newest first. Errors: those of RowKeySchema::Parse; more than kFormerRowKeysMax,
  /// or one that repeats; kUnsupported: the fields differ, or keys could not be told apart.
  static Result<RowKeyEpochs> Parse(std::string_view declaration,
                                    std::span<const std::string> former = {});
  /// All of them, the newest first: writes are by that one.
  const std::vector<RowKeySchema>& schemas() const { return schemas_; }
  const RowKeySchema& newest() const { return schemas_.front(); }

  /// The keys that the row may have, the newest first, each once. To read the row, get all of them
  /// by one MultiGet; to delete it, delete all of them by one batch.
  Result<std::vector<std::string>> Keys(std::span<const RowKeyField> fields) const;
  /// The fields of a key of any of them.
  Result<std::vector<RowKeyField>> Decode(std::string_view key) const;
  /// The newest key of the row that has this key of a former one; nullopt: it is none of those.
  std::optional<std::string> NewestKeyOf(std::string_view key) const;

  /// As of RowKeySchema, of the keys of all of them: in the place of the schema's they return the
  /// same rows in the same order.
  Result<std::vector<RowRange>> Ranges(std::span<const RowKeyField> prefix) const;
  Result<std::vector<RowRange>> Between(std::span<const RowKeyField> prefix,
                                        const RowKeyBounds& bounds) const;
  Result<ScanOptions> InFieldOrder(std::span<const RowKeyField> prefix,
                                   const RowKeyBounds& bounds = {}) const;
  Result<ScanOptions> Newest(std::span<const RowKeyField> prefix, uint64_t count,
                             const RowKeyBounds& bounds = {}) const;

 private:
  explicit RowKeyEpochs(std::vector<RowKeySchema> schemas) : schemas_(std::move(schemas)) {}

  std::vector<RowKeySchema> schemas_;
};

/// Database::RewriteKeys.
struct RewriteKeysOptions {
  WriteOptions write = {};
  /// Keys and cells that are looked at, a second; 0: as fast as it goes. Set it where the moves
  /// would take the disk from others.
  uint64_t bytes_per_second = 0;
  const std::atomic<bool>* cancelled = nullptr;  ///< As ReadOptions::cancelled.
};
/// What RewriteKeys did.
struct RewriteKeysReport {
  uint64_t rows = 0;   ///< Looked at: all rows, until none has a former key; mostly twice.
  uint64_t moved = 0;  ///< Of those: rows that have the newest key now.
  uint64_t moved_cells = 0;
  bool closed = false;  ///< The table has no former row keys any more.
  /// Where it is not closed: a snapshot, transaction or read of this sequence is open that may see
  /// rows under former keys. Call again when it is not.
  uint64_t held_by_sequence = 0;
};

}  // namespace tandem

#pragma GCC visibility pop
