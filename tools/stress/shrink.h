// Makes a failing list of steps as short as it still fails: delta debugging (Zeller and Hildebrandt
// 2002), on the places of the steps.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace tandem::stress {

/// Whether what is left still fails. `kept` are places of the whole list, in order.
using StillFails = std::function<bool(const std::vector<size_t>& kept)>;

/// A part of 0..count-1 of which no single step can be left out any more, unless `fails` was asked
/// `tries_max` times before. Requires: the whole fails.
std::vector<size_t> Shrink(size_t count, const StillFails& fails, size_t tries_max);

}  // namespace tandem::stress
