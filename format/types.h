// The identifiers that occur on disk, each with its own type so that they cannot be mixed up.
#pragma once

#include <array>
#include <compare>
#include <cstdint>

namespace tandem::format {

/// A strongly typed number. `Tag` makes the type distinct; `Rep` is its width on disk.
template <typename Tag, typename Rep>
struct Id {
  using rep = Rep;
  Rep value = 0;

  constexpr Id() = default;
  constexpr explicit Id(Rep v) : value(v) {}
  constexpr auto operator<=>(const Id&) const = default;
};

using FileNumber = Id<struct FileNumberTag, uint64_t>;  ///< Names a file; grows, never reused.
using SequenceNumber =
    Id<struct SequenceNumberTag, uint64_t>;       ///< Order of commits; the first is 1.
using Ordinal = Id<struct OrdinalTag, uint32_t>;  ///< Position of a row in its file.
using TableId = Id<struct TableIdTag, uint32_t>;
using RegionId = Id<struct RegionIdTag, uint64_t>;
using FamilyId = Id<struct FamilyIdTag, uint8_t>;  ///< Within its table, from 0.
using IndexId = Id<struct IndexIdTag, uint32_t>;   ///< Within its table, never reused.

/// 128 random bits.
struct RandomId {
  std::array<uint8_t, 16> bytes{};
  bool operator==(const RandomId&) const = default;
};
using FileId = RandomId;
using DatabaseId = RandomId;

/// A 128-bit hash or sum, low half first.
struct Hash128 {
  uint64_t low = 0;
  uint64_t high = 0;
  bool operator==(const Hash128&) const = default;
};

inline constexpr SequenceNumber kSequenceMax{~uint64_t{0}};
/// From here on sequences are those of a transaction's own writes before it commits. Such cells are
/// in no log and no file, and in memstores that only the transaction's readers have, above all
/// other sources: a reader that meets one sees it.
inline constexpr SequenceNumber kFirstOwnSequence{uint64_t{1} << 63};

/// Whether a cell of that sequence exists for a reader at `reader`.
inline bool IsSeenAt(SequenceNumber cell, SequenceNumber reader) {
  return cell <= reader || cell >= kFirstOwnSequence;
}

}  // namespace tandem::format
