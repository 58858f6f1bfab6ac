// Workload W1: indexed rows. Deterministic from a seed, the same bytes for every engine.
//
// A row has a key of 16 hexadecimal digits (a bijective mix of its number, so the load order is
// random), and four columns: city (Zipf over 1,000 values), status (uniform over 10), ts (eight
// big-endian bytes, rising with the number), payload (200 bytes, half of them compressible).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::bench {

struct W1Row {
  std::string key, city, status, ts, payload;
};

/// New values of two indexed columns of a row.
struct W1Update {
  std::string key, city, status;
};

class W1 {
 public:
  /// `payload_bytes`: a multiple of 2.
  explicit W1(uint64_t rows, uint32_t payload_bytes = 200);
  uint64_t rows() const { return rows_; }
  /// Of a row's key and its values; the same for all.
  uint64_t row_bytes() const;
  /// Row number `i`, 0-based. `*row` is overwritten; its strings keep their memory.
  void Row(uint64_t i, W1Row* row) const;
  std::string Key(uint64_t i) const;
  /// The `version`-th new values of row `i`. `*update` is overwritten.
  void Update(uint64_t i, uint64_t version, W1Update* update) const;

  struct Target {
    const char* name;    ///< "0.01 %"
    std::string column;  ///< "city" or "status"
    std::string value;
    uint64_t rows;  ///< Exactly this many rows have it.
  };
  /// The city values nearest to 0.01, 0.1 and 1 % of the rows, and a status for 10 %.
  const std::vector<Target>& targets() const { return targets_; }

 private:
  uint32_t CityOf(uint64_t i) const;

  uint64_t rows_;
  size_t payload_bytes_;
  std::vector<double> cumulative_;  ///< Of the Zipf distribution over cities.
  std::vector<Target> targets_;
};

/// What every engine does with a row it returns: the sum of the lengths and the XOR of the first
/// eight bytes of its values. Equal sums prove that equal rows were returned.
struct Consumer {
  uint64_t rows = 0, bytes = 0, mix = 0;
  void Value(std::string_view value);
};

/// The `j`-th of the numbers below `count` in a scattered order; each comes once before any comes
/// again. Requires: 0 < count < 2^31, j < 2^32.
uint64_t Scattered(uint64_t j, uint64_t count);

/// A repeatable 64-bit mix (splitmix64, Steele, Lea and Flood 2014).
uint64_t Mix(uint64_t x);

}  // namespace tandem::bench
