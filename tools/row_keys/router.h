// To which region a key goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::row_keys {

/// Threads: any.
class Router {
 public:
  /// Requires: the keys rise.
  explicit Router(std::span<const std::string> split_keys);

  size_t regions() const { return split_keys_.size() + 1; }
  /// The number of split keys that are not above `key`.
  size_t RegionOf(std::string_view key) const;

 private:
  std::vector<std::string> split_keys_;
  /// What all split keys begin with, and eight bytes of each after it, the first the highest, with
  /// zeros where it is shorter: nearly always a key is told apart from its neighbours by these.
  std::string prefix_;
  std::vector<uint64_t> heads_;
};

}  // namespace tandem::row_keys
