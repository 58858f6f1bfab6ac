// See titles.h.
#include "tools/bench/titles.h"

#include <algorithm>
#include <cmath>

#include "tools/bench/disk_size.h"
#include "tools/bench/measuring.h"

namespace tandem::bench {
namespace {

constexpr uint32_t kWords = 50'000;
constexpr uint32_t kRankMin = 50, kRankMax = 2000;  // Of words that queries have.
constexpr uint32_t kTitlesPerBatch = 1000;
constexpr size_t kPairs = 200;
constexpr uint64_t kSalt = 0x7117;

// Syllables, so that no word is the beginning of every other one, and all are lower-case ASCII.
std::string Word(uint32_t rank) {
  constexpr std::string_view kConsonants = "bdfgklmnprstvz", kVowels = "aeiou";
  std::string word;
  for (uint64_t rest = Mix(rank) % 1000 * kWords + rank; rest > 0;) {
    word += kConsonants[rest % kConsonants.size()];
    rest /= kConsonants.size();
    word += kVowels[rest % kVowels.size()];
    rest /= kVowels.size();
  }
  return word;
}

uint32_t LengthOf(uint64_t i) { return 4 + Mix(i ^ kSalt) % 6; }

}  // namespace

Titles::Titles() {
  double sum = 0;
  for (uint32_t i = 1; i <= kWords; ++i) cumulative_.push_back(sum += 1.0 / i);
  for (double& c : cumulative_) c /= sum;
}

uint32_t Titles::WordOf(uint64_t draw) const {
  const double u = static_cast<double>(Mix(draw) >> 11) * 0x1.0p-53;
  const auto at = std::lower_bound(cumulative_.begin(), cumulative_.end(), u);
  return std::min<uint32_t>(kWords - 1, at - cumulative_.begin());
}

void Titles::Title(uint64_t i, std::string* title) const {
  title->clear();
  for (uint32_t word = 0; word < LengthOf(i); ++word) {
    if (word > 0) *title += ' ';
    *title += Word(WordOf(i * 16 + word));
  }
}

std::vector<std::pair<std::string, std::string>> Titles::Pairs(size_t count) const {
  std::vector<std::pair<std::string, std::string>> pairs;
  for (uint64_t i = 0; pairs.size() < count; ++i) {
    std::vector<uint32_t> words;
    for (uint32_t word = 0; word < LengthOf(i); ++word) {
      const uint32_t rank = WordOf(i * 16 + word);
      const bool is_new = std::find(words.begin(), words.end(), rank) == words.end();
      if (rank >= kRankMin && rank < kRankMax && is_new) words.push_back(rank);
    }
    if (words.size() >= 2) pairs.emplace_back(Word(words[0]), Word(words[1]));
  }
  return pairs;
}

void MeasureTitles(const Arguments& arguments) {
  const auto open = arguments.engine == "sqlite" ? NewSqliteTitles : NewTandemTitles;
  const Titles titles;
  auto store = open(arguments.path);
  const Usage begin = UsageNow();
  std::string title;
  for (uint64_t i = 0; i < arguments.rows; ++i) {
    titles.Title(i, &title);
    store->Insert(i, title);
    if ((i + 1) % kTitlesPerBatch == 0 || i + 1 == arguments.rows) store->Commit();
  }
  store->Settle();
  PrintRate(FigureBetween("load of titles", begin, UsageNow()), arguments.rows);

  const auto pairs = titles.Pairs(kPairs);
  const auto query_all = [&](Consumer* consumer) {
    for (const auto& [first, second] : pairs) store->QueryBoth(first, second, consumer);
  };
  Consumer warm;
  query_all(&warm);
  uint64_t queries = 0;
  Consumer all;
  const Usage queried = UsageNow();
  do {
    query_all(&all);
    queries += pairs.size();
  } while (SecondsNow() - queried.seconds < arguments.seconds * 5);
  Figure figure = FigureBetween("query of two words", queried, UsageNow());
  figure.items = queries;
  figure.value = figure.seconds * 1e6 / static_cast<double>(queries);
  figure.rows_name = figure.phase;
  figure.proof = ProofOf(warm);
  Print(figure);
  store.reset();
  PrintDiskSize("disk of titles", arguments.path);
}

}  // namespace tandem::bench
