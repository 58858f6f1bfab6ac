// The operations of the differential suite: a list made from a seed, which every engine runs. Any
// sublist of it is a list, too, so that one that fails can be cut down.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tandem::reliability {

/// Columns "a" (int64 as text), "b" (text) and "c" (bytes, without an index) of the one table.
inline constexpr char kColumns[] = {'a', 'b', 'c'};
inline constexpr size_t kColumnCount = 3;
inline constexpr size_t kSnapshotSlots = 4;

struct RowChange {
  enum class Kind : uint8_t { kPut, kDeleteColumn, kDeleteRow };
  Kind kind = Kind::kPut;
  std::string key{};
  std::vector<std::pair<char, std::string>> columns{};  ///< Of a kDeleteColumn one, without value.
};

/// A predicate over the columns, in the terms that every engine has.
struct Condition {
  enum class Kind : uint8_t { kCompare, kBetween, kIn, kIsNull, kAnd, kOr, kNot };
  Kind kind = Kind::kCompare;
  char column = 'a';
  std::string comparison = "=";
  std::vector<std::string> values{};
  std::vector<Condition> children{};

  /// As Tandem's and, where `for_sqlite`, as SQLite's text.
  std::string Text(bool for_sqlite) const;
};

struct DiffOperation {
  enum class Kind : uint8_t {
    kBatch,
    kGet,
    kScan,
    kQuery,
    kCount,
    kSnapshot,
    kRelease,
    kFlush,  ///< This and those below: only where maintenance is wanted; no answer depends on them.
    kCompact,
    kReopen,
    kSplit,
    kMergeRegions,
  };
  Kind kind = Kind::kGet;
  std::vector<RowChange> changes{};
  /// Of a kScan: the bounds. Of a kSplit: where; of a kMergeRegions: in the left region.
  std::string key{}, end{};
  bool descending = false;   ///< Of a kScan: reverse.
  uint64_t limit = 0;
  uint64_t offset = 0;  ///< Only with a limit.
  Condition condition{};
  char order_by = '\0';  ///< A column with an index; none: by key.
  uint64_t hint = 0;     ///< Chooses how Tandem answers a query.
  size_t slot = 0;       ///< Of kSnapshot and kRelease.
  /// Read as of the snapshot in the slot, or now when there is none.
  std::optional<size_t> snapshot{};

  std::string Describe() const;
  /// Row changes, or 1.
  uint64_t weight() const { return changes.empty() ? 1 : changes.size(); }
};

std::vector<DiffOperation> NewOperations(uint64_t seed, uint64_t count);

/// A row as all engines print it: key{a=1,c=x}.
void AppendRow(std::string_view key,
               const std::array<std::optional<std::string>, kColumnCount>& row, std::string* text);

}  // namespace tandem::reliability
