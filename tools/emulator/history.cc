// See history.h.
#include "tools/emulator/history.h"

#include <utility>

namespace tandem::emulator {

void History::Add(const Store& store) {
  states_.push_back(store.Describe());
  if (states_.size() >= 2 * moments_) {
    std::vector<State> half;
    for (size_t i = 1; i < states_.size(); i += 2) half.push_back(states_[i]);
    states_ = std::move(half);
    interval_ *= 2;
  }
  while (next_ <= states_.back().counters.puts) next_ += interval_;
}

}  // namespace tandem::emulator
