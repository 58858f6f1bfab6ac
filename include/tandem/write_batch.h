// A list of changes that become visible together or not at all, over any rows and tables of one
// database.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tandem::engine {
class BatchReader;
}

#pragma GCC visibility push(default)

namespace tandem {

/// A column and what is put into it. Lifetime: the caller's, for one call.
struct ColumnValue {
  std::string_view qualifier;
  std::string_view value;
};

/// A column and what is added to it. Lifetime: the caller's, for one call.
struct ColumnDelta {
  std::string_view qualifier;
  int64_t delta = 1;
};

/// Names and limits are checked by Database::Write, which refuses the whole batch. Each call is one
/// operation: later ones win over earlier ones. Timestamps that are not given are the engine's: one
/// per batch, microseconds, strictly rising. Arguments are copied. A batch may be written several
/// times, to several databases; each time is a new write. Errors: a call that finds no memory
/// throws std::bad_alloc and leaves the batch as it was. Threads: one at a time.
class WriteBatch {
 public:
  /// One version of one column. An empty `family` is the table's first.
  void Put(std::string_view table, std::string_view row, std::string_view family,
           std::string_view qualifier, std::string_view value,
           std::optional<int64_t> timestamp = std::nullopt);
  /// Several columns of one row and family as one operation; qualifiers must differ.
  void PutColumns(std::string_view table, std::string_view row, std::string_view family,
                  std::span<const ColumnValue> columns,
                  std::optional<int64_t> timestamp = std::nullopt);
  /// The version of exactly `timestamp`; without one, the newest. Reveals the version below.
  void DeleteCell(std::string_view table, std::string_view row, std::string_view family,
                  std::string_view qualifier, std::optional<int64_t> timestamp = std::nullopt);
  /// As the calls of Database, but the new values are not returned. Earlier operations of the batch
  /// are seen. If one fails, the whole batch is refused.
  void Increment(std::string_view table, std::string_view row, std::string_view family,
                 std::string_view qualifier, int64_t delta = 1);
  void IncrementColumns(std::string_view table, std::string_view row, std::string_view family,
                        std::span<const ColumnDelta> columns);
  void Append(std::string_view table, std::string_view row, std::string_view family,
              std::string_view qualifier, std::string_view value);
  void AppendColumns(std::string_view table, std::string_view row, std::string_view family,
                     std::span<const ColumnValue> columns);
  /// Every version at or below `timestamp` (default: the batch's own) that was written before.
  void DeleteColumn(std::string_view table, std::string_view row, std::string_view family,
                    std::string_view qualifier, std::optional<int64_t> timestamp = std::nullopt);
  /// As DeleteColumn, for every column of the family.
  void DeleteFamily(std::string_view table, std::string_view row, std::string_view family,
                    std::optional<int64_t> timestamp = std::nullopt);
  /// As DeleteFamily, for every family of the table.
  void DeleteRow(std::string_view table, std::string_view row,
                 std::optional<int64_t> timestamp = std::nullopt);

  /// Adds the operations of another batch.
  void Add(const WriteBatch& other);
  /// Empties the batch; its memory is kept for the next operations.
  void Clear();
  size_t operation_count() const { return operations_; }
  /// The memory of the operations: names, keys and values, 32 bytes for each operation and 8 for
  /// each column. At most kBatchBytesMax when it is written.
  size_t size_bytes() const { return bytes_.size(); }

 private:
  friend class engine::BatchReader;
  struct Place {
    std::string_view table, row, family;
  };
  void Add(uint8_t kind, const Place& place, std::optional<int64_t> timestamp,
           std::span<const ColumnValue> columns);

  std::string bytes_;
  size_t operations_ = 0;
};

}  // namespace tandem

#pragma GCC visibility pop
