// Figures of a run: what a process that measures prints, one a line, and what the program that
// started it collects.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/bench/workload.h"

namespace tandem::bench {

struct Figure {
  std::string phase, engine;
  int round = 0;
  double value = 0;                            ///< In the phase's unit.
  uint64_t items = 0;                          ///< Rows, commits or calls that were measured.
  double seconds = 0;                          ///< The time that was measured.
  double cpu_seconds = 0;                      ///< In that time, of all threads.
  uint64_t row_bytes = 0;                      ///< Of values that were returned.
  uint64_t read_bytes = 0, written_bytes = 0;  ///< From and to the device.
  uint64_t peak_bytes = 0;                     ///< Of the process, so far.
  /// What was returned, where that is the same for all engines; 0: nothing to compare. Figures of
  /// equal `rows_name` have to have equal proofs.
  std::string rows_name;
  uint64_t proof = 0;
};

/// A line without its end, and back. `engine` and `round` are not in it. nullopt: no such line.
std::string ToLine(const Figure& figure);
std::optional<Figure> FromLine(const std::string& line);

/// Of the rows that a consumer saw; never 0.
uint64_t ProofOf(const Consumer& consumer);

class Figures {
 public:
  void Add(Figure figure) { all_.push_back(std::move(figure)); }
  const std::vector<Figure>& all() const { return all_; }
  /// Of one phase and engine, in order of rounds.
  std::vector<const Figure*> Of(const std::string& phase, const std::string& engine) const;
  std::vector<double> Values(const std::string& phase, const std::string& engine) const;
  /// A line for each figure whose proof differs from the first of its rows_name.
  std::vector<std::string> Mismatches() const;

 private:
  std::vector<Figure> all_;
};

/// Of an even number the lower of the two in the middle. Requires: not empty.
double Median(std::vector<double> values);

}  // namespace tandem::bench
