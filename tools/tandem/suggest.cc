// The optimal string alignment distance by dynamic programming over three rows.
#include "tools/tandem/suggest.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace tandem::tools {

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string Nearest(std::string_view word, std::span<const std::string> known) {
  std::string nearest;
  size_t distance = std::max<size_t>(word.size() / 3, 1) + 1;
  for (const std::string& candidate : known) {
    const size_t d = EditDistance(word, candidate);
    const bool begins = word.size() >= 2 && candidate.starts_with(word);
    if (d >= distance && !(begins && nearest.empty())) continue;
    distance = std::min(d, distance);
    nearest = candidate;
  }
  return nearest;
}

std::string DidYouMean(std::string_view word, std::span<const std::string> known) {
  const std::string nearest = Nearest(word, known);
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

}  // namespace tandem::tools
