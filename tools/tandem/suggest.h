// Guessing what a user meant: the known word nearest to a mistyped one.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tandem::tools {

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
size_t EditDistance(std::string_view a, std::string_view b);
/// The nearest of `known` when it is near enough to be meant, otherwise empty.
std::string Nearest(std::string_view word, std::span<const std::string> known);
/// "; did you mean 'nearest'?", or empty.
std::string DidYouMean(std::string_view word, std::span<const std::string> known);

}  // namespace tandem::tools
