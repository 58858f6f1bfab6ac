// Which keys stand for the rows of a description. A key is kept if its hash is below a limit, the
// same for all descriptions: so a row that several of them have is kept in all or in none, the rows
// of a union are counted from the union of the samples, and where a range begins and ends is seen
// in all of them. When there are too many keys, the limit is halved.
//
// This is the sampling by a common hash of Broder, "On the resemblance and containment of
// documents" (1997), with the halving of Wegman as Flajolet describes it in "On adaptive sampling"
// (1990).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::emulator {

class Sampling {
 public:
  bool Keeps(std::string_view key) const;
  void Halve() { limit_ /= 2; }
  /// Removes what is no longer kept. Works on vectors and sets of strings.
  template <typename Keys>
  void Thin(Keys* keys) const {
    std::erase_if(*keys, [this](const std::string& key) { return !Keeps(key); });
  }

 private:
  uint64_t limit_ = UINT64_MAX;
};

/// The keys of all, rising, each once. Requires: the keys of each rise.
std::vector<std::string> Union(std::span<const std::vector<std::string>* const> samples);

}  // namespace tandem::emulator
