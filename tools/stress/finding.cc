// See finding.h.
#include "tools/stress/finding.h"

#include <algorithm>

#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

constexpr size_t kRowTextMax = 1200;
constexpr size_t kLineMax = 400;

}  // namespace

Status Mismatch(std::string_view where, std::string_view expected, std::string_view found) {
  return Status::Conflict(
      tools::Format("{}\n  expected: {}\n  found:    {}", where, expected, found));
}

bool IsMismatch(const Status& status) { return status.code() == StatusCode::kConflict; }

Status CheckBetween(const std::string& where, uint64_t low, uint64_t high, uint64_t found) {
  if (found >= low && found <= high) return {};
  return Mismatch(where, tools::Format("{} to {}", low, high), std::to_string(found));
}

Status In(std::string_view where, const Status& status) {
  if (status.ok()) return status;
  return Status(status.code(), tools::Format("{}: {}", where, status.message()));
}

std::string Describe(const test::ModelRow& row) {
  std::string text = row.Describe();
  if (text.size() <= kRowTextMax) return text;
  text.resize(kRowTextMax);
  return text + tools::Format("... of {} cells", row.cells.size());
}

std::string Describe(const std::optional<test::ModelRow>& row) {
  return row.has_value() ? Describe(*row) : "no row";
}

Status SameRows(std::string_view where, const std::vector<test::ModelRow>& expected,
                const std::vector<test::ModelRow>& found) {
  const auto [e, f] = std::ranges::mismatch(expected, found);
  if (e == expected.end() && f == found.end()) return {};
  return Mismatch(tools::Format("{}: row {} of {}", where, e - expected.begin(), expected.size()),
                  e == expected.end() ? "the end" : Describe(*e),
                  f == found.end() ? "the end" : Describe(*f));
}

std::string Shortened(std::string_view text, size_t lines_max) {
  std::string shortened;
  size_t lines = 0;
  for (std::string_view line : tools::SplitText(text, '\n')) {
    if (++lines > lines_max) break;
    while (!line.empty()) {
      shortened += std::string(line.substr(0, kLineMax)) + "\n";
      line.remove_prefix(std::min(line.size(), kLineMax));
      if (line.empty() || lines == lines_max) break;
      ++lines;
    }
  }
  return shortened;
}

}  // namespace tandem::stress
