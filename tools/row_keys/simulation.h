// Keys on their way to the regions of a table that does not exist yet: how many each region gets,
// in all and in each window of keys. A design that is even in all may still send every key
// of a window to one region.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/row_keys/router.h"
#include "tools/row_keys/skew.h"

namespace tandem::row_keys {

/// Windows of a run.
inline constexpr size_t kWindowsMax = 65'536;

/// Threads: one at a time. Memory: as the number of regions and windows.
class Simulation {
 public:
  struct Window {
    uint64_t first = 0;  ///< Number of its first key.
    uint64_t keys = 0;
    Skew skew;
  };

  /// Requires: the split keys rise, window_keys > 0.
  Simulation(std::span<const std::string> split_keys, uint64_t window_keys);

  /// Requires: fewer than kWindowsMax windows are full.
  void Add(std::string_view key) {
    ++counts_[router_.RegionOf(key)];
    if (++pending_ == window_keys_) CloseWindow();
  }
  /// The last window ends, though it may not be full.
  void Finish() {
    if (pending_ > 0) CloseWindow();
  }

  uint64_t keys() const { return keys_ + pending_; }
  size_t regions() const { return router_.regions(); }
  /// Those that have ended, and what each region got in them.
  const std::vector<Window>& windows() const { return windows_; }
  const std::vector<uint64_t>& totals() const { return totals_; }
  /// Of all of them together, and the largest share that a region had of a window.
  Skew TotalSkew() const;
  double HottestShareOfAWindow() const;

 private:
  void CloseWindow();

  Router router_;
  uint64_t window_keys_;
  std::vector<uint64_t> counts_;  ///< Of the window.
  std::vector<uint64_t> totals_;
  std::vector<Window> windows_;
  uint64_t keys_ = 0;     ///< In windows that have ended.
  uint64_t pending_ = 0;  ///< In this window.
};

}  // namespace tandem::row_keys
