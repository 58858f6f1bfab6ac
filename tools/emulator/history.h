// How an emulated table was at some moments, evenly over its puts, however many there will be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/emulator/region.h"
#include "tools/emulator/store.h"

namespace tandem::emulator {

class History {
 public:
  /// Looks every `interval` rows. When there are more than twice `moments` moments, it forgets each
  /// second one and looks half as often. Requires: both > 0.
  History(double interval, size_t moments) : interval_(interval), moments_(moments) {}

  /// After each put.
  void Look(const Store& store, double puts) {
    if (puts >= next_) Add(store);
  }
  /// The last moment.
  void Finish(const Store& store) { states_.push_back(store.Describe()); }
  const std::vector<State>& states() const { return states_; }

 private:
  void Add(const Store& store);

  double interval_;
  const size_t moments_;
  double next_ = interval_;
  std::vector<State> states_;
};

/// What a design came to. The last state is after all memstores were flushed.
struct Outcome {
  std::string design;
  RowCosts costs = {};
  std::vector<State> states = {};
  double hits = 0, files_with_hits = 0;  ///< Store::FilesWithHits.

  const State& last() const { return states.back(); }
  double raw_bytes() const { return last().counters.puts * costs.raw; }
};

}  // namespace tandem::emulator
