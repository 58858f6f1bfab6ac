// See key_lint.h. The sample is drawn as by Vitter's algorithm R, "Random sampling with a
// reservoir" (1985).
#include "tools/row_keys/key_lint.h"

#include <algorithm>
#include <utility>

#include "tools/row_keys/router.h"
#include "tools/tandem/bytes_text.h"
#include "tools/tandem/format_text.h"

namespace tandem::row_keys {
namespace {

using tools::Format;
using Level = LintFinding::Level;

constexpr double kLongKeyBytes = 100;
constexpr double kGoodKeyBytes = 16;
constexpr size_t kLongPrefixBytes = 8;
constexpr double kMonotoneShare = 0.9;
constexpr double kHotShare = 0.5;

size_t CommonBytes(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

double Percent(double share) { return share * 100; }

}  // namespace

void KeyLint::Add(std::string_view key, int64_t time) {
  const std::string_view kept = key.substr(0, kLintKeyBytes);
  if (figures_.keys == 0) {
    figures_.common_prefix = kept;
    figures_.shortest_bytes = key.size();
  }
  ++figures_.keys;
  figures_.bytes += key.size();
  figures_.shortest_bytes = std::min<uint64_t>(figures_.shortest_bytes, key.size());
  figures_.longest_bytes = std::max<uint64_t>(figures_.longest_bytes, key.size());
  figures_.common_prefix.resize(CommonBytes(figures_.common_prefix, kept));
  if (sample_.size() < kLintSample) {
    sample_.push_back({time, std::string(kept)});
    return;
  }
  const uint64_t place = dice_.Below(figures_.keys);
  if (place < kLintSample) sample_[place] = {time, std::string(kept)};
}

KeyFigures KeyLint::Finish() {
  figures_.sampled = sample_.size();
  if (sample_.size() >= kLintKeysMin) FindOrder();
  return figures_;
}

void KeyLint::FindOrder() {
  std::ranges::stable_sort(sample_, {}, &Sampled::time);
  uint64_t ordered = 0, rising = 0;
  for (size_t i = 1; i < sample_.size(); ++i) {
    if (sample_[i - 1].time == sample_[i].time) continue;
    ++ordered;
    if (sample_[i - 1].key < sample_[i].key) ++rising;
  }
  if (ordered < sample_.size() / 2) return;  // Rows of one load: nobody knows.
  figures_.rising_share = static_cast<double>(rising) / static_cast<double>(ordered);

  std::vector<std::string> keys;
  for (const Sampled& sampled : sample_) keys.push_back(sampled.key);
  std::ranges::sort(keys);
  std::vector<std::string> cuts;
  for (size_t part = 1; part < kLintParts; ++part) {
    std::string& cut = keys[part * keys.size() / kLintParts];
    if (cuts.empty() || cuts.back() < cut) cuts.push_back(std::move(cut));
  }
  const Router router(cuts);
  double sum = 0;
  for (size_t part = 0; part < kLintParts; ++part) {
    const size_t first = part * sample_.size() / kLintParts;
    const size_t last = (part + 1) * sample_.size() / kLintParts;
    std::vector<uint64_t> counts(router.regions());
    for (size_t i = first; i < last; ++i) ++counts[router.RegionOf(sample_[i].key)];
    sum +=
        static_cast<double>(*std::ranges::max_element(counts)) / static_cast<double>(last - first);
  }
  figures_.hottest_share = sum / static_cast<double>(kLintParts);
}

std::vector<LintFinding> FindingsOf(const KeyFigures& figures) {
  std::vector<LintFinding> findings;
  const auto add = [&](Level level, const char* rule, std::string text) {
    findings.push_back({level, rule, "keys", std::move(text)});
  };
  const double rising = figures.rising_share.value_or(0.5);
  if (rising >= kMonotoneShare || rising <= 1 - kMonotoneShare) {
    const bool rises = rising >= kMonotoneShare;
    add(Level::kWarning, "monotone",
        Format("{:.0f} % of the keys are {} than the one before, so one region gets every write: "
               "begin the key with salt(N), a hash of a field, or a field that varies",
               Percent(rises ? rising : 1 - rising), rises ? "larger" : "smaller"));
  } else if (figures.hottest_share.value_or(0) >= kHotShare) {
    add(Level::kWarning, "hot-range",
        Format("at a time, {:.0f} % of the keys fall into one of {} ranges of equal size: "
               "what comes at one time should not begin alike",
               Percent(*figures.hottest_share), kLintParts));
  }
  const double mean = figures.mean_bytes();
  if (mean > kLongKeyBytes) {
    add(Level::kWarning, "long-keys",
        Format("{:.0f} bytes on average, {} at most: each write logs its key, and each row in "
               "memory has it; 10 to 100 bytes are usual, 16 are good",
               mean, figures.longest_bytes));
  } else if (mean > kGoodKeyBytes) {
    add(Level::kHint, "long-keys",
        Format("{:.0f} bytes on average: usual; 16 or fewer are better", mean));
  }
  if (figures.keys > 1 && figures.common_prefix.size() >= kLongPrefixBytes) {
    add(Level::kHint, "common-prefix",
        Format("all begin with '{}', {} bytes that tell no row from another",
               tools::EscapeBytes(figures.common_prefix), figures.common_prefix.size()));
  }
  return findings;
}

}  // namespace tandem::row_keys
