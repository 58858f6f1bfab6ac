// The rows of an offset that a read passes over by counts.
#pragma once

#include <cstdint>
#include <string>

namespace tandem::engine {

/// What became of the rows of an offset.
struct Skipped {
  uint64_t left = 0;          ///< Those that have to be read.
  uint64_t by_counts = 0;     ///< Those that were passed over; the read begins after them.
  uint64_t decided = 0;       ///< Rows that were looked at for that.
  bool is_all = false;        ///< There are no more rows.
  std::string why_read = {};  ///< Why some are left; empty: none are.

  /// Whether to decide on `rows` rows costs less than to read those that are left; to read
  /// `read_per_decided` rows costs as much as to decide on one. A few are always decided.
  bool PaysToDecide(uint64_t rows, uint64_t read_per_decided) const;
  /// Reads what is left, since to decide on `rows` rows costs more.
  void ReadInsteadOf(uint64_t rows);
};

}  // namespace tandem::engine
