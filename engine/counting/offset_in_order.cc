// Rows by the entries of an index: first the entry of the row with the number, by a search over the
// entries of all files, then the row among those with that entry, by key.
//
// Rows that have to be decided are decided first, each with its entry: those to add and those to
// subtract are lists beside the files.
#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "base/status_macros.h"
#include "engine/counting/entry_counts.h"
#include "engine/counting/offset.h"
#include "engine/counting/value_ranks.h"
#include "index/entries.h"

namespace tandem::engine {
namespace {

// To read a row in the order of an index costs about as much as looking at this many entries.
constexpr uint64_t kEntriesPerRow = 64;
// To decide on a row costs about as much as reading this many.
constexpr uint64_t kReadPerDecided = 2;

// A row that was decided.
struct DecidedRow {
  std::string entry, key;
  size_t cluster = 0;

  auto operator<=>(const DecidedRow&) const = default;
};

class InOrder {
 public:
  InOrder(ReadContext* context, const ReadInOrder& read) : context_(context), read_(read) {}

  /// False: the rows cannot be counted, or that is not cheaper than reading them.
  Result<bool> Prepare(Skipped* skipped);
  Result<uint64_t> Count() const;
  /// The position before the row with that number in the order. Requires: number < Count().
  Result<Position> PositionOf(uint64_t number) const;

 private:
  using File = EntryCounts::File;
  // Where a search through the values of a range is, by file; `lists`: in added_.
  struct Searched {
    const File* file = nullptr;
    uint64_t begin = 0;          // Of the range.
    uint64_t low = 0, high = 0;  // The entry that is sought is among these.
    uint64_t at = 0;             // The first one at or above a key.
  };
  // An entry of the index, and the rows with smaller ones in the ranges.
  struct Found {
    std::string entry;
    uint64_t before = 0;
  };

  static std::pair<size_t, size_t> In(const std::vector<DecidedRow>& rows,
                                      const format::KeyRange& range);
  Result<uint64_t> CountIn(const format::KeyRange& range) const;
  Result<Found> Search(const format::KeyRange& range, uint64_t number) const;
  Result<ClusterRanks> RanksOf(const std::string& entry, size_t cluster) const;
  Result<std::string> KeyOf(const std::string& entry, uint64_t number) const;

  ReadContext* context_;
  const ReadInOrder& read_;
  std::vector<EntryCounts> counts_;             // By cluster.
  std::vector<DecidedRow> added_, subtracted_;  // Ascending.
};

Result<bool> InOrder::Prepare(Skipped* skipped) {
  const format::IndexRecord& index = read_.index;
  const uint64_t worth = skipped->left * kEntriesPerRow;
  uint64_t to_decide = 0;
  for (const Cluster& cluster : read_.clusters) {
    RETURN_IF_ERROR(context_->CheckGoOn());
    std::string_view why;
    ASSIGN_OR_RETURN(std::optional<EntryCounts> counts,
                     EntryCounts::Make(context_, cluster, index, worth, &why));
    if (!counts.has_value()) {
      skipped->why_read = why;
      return false;
    }
    ASSIGN_OR_RETURN(const uint64_t here, counts->CountDecided(read_.ranges));
    to_decide += here;
    counts_.push_back(*std::move(counts));
  }
  if (!skipped->PaysToDecide(to_decide, kReadPerDecided)) {
    skipped->ReadInsteadOf(to_decide);
    return false;
  }
  skipped->decided = to_decide;
  std::vector<const format::Cell*> puts(1);
  for (size_t i = 0; i < counts_.size(); ++i) {
    RETURN_IF_ERROR(counts_[i].ForEachDecided(read_.ranges, [&](RowIterator& row, bool is_added) {
      puts[0] = FindNewest(index.columns[0], row.visible());
      DecidedRow decided{.entry = {}, .key = std::string(row.key()), .cluster = i};
      format::AppendEntry(index, puts, &decided.entry);
      const bool is_asked_for = std::ranges::any_of(
          read_.ranges, [&](const auto& range) { return range.Contains(decided.entry); });
      if (is_asked_for) (is_added ? added_ : subtracted_).push_back(std::move(decided));
      return Status();
    }));
  }
  Cancel(&added_, &subtracted_);
  return true;
}

// Those with their entry in the range.
std::pair<size_t, size_t> InOrder::In(const std::vector<DecidedRow>& rows,
                                      const format::KeyRange& range) {
  const auto place_of = [&](const std::string& entry) {
    const auto at = std::ranges::lower_bound(rows, entry, {}, &DecidedRow::entry);
    return static_cast<size_t>(at - rows.begin());
  };
  return {place_of(range.low), range.high.has_value() ? place_of(*range.high) : rows.size()};
}

Result<uint64_t> InOrder::CountIn(const format::KeyRange& range) const {
  const auto [added, added_end] = In(added_, range);
  const auto [subtracted, subtracted_end] = In(subtracted_, range);
  uint64_t count = added_end - added;
  for (const EntryCounts& counts : counts_) {
    ASSIGN_OR_RETURN(const uint64_t here, counts.Count({range}));
    count += here;
  }
  return count - (subtracted_end - subtracted);
}

Result<uint64_t> InOrder::Count() const {
  uint64_t count = 0;
  for (const format::KeyRange& range : read_.ranges) {
    ASSIGN_OR_RETURN(const uint64_t here, CountIn(range));
    count += here;
  }
  return count;
}

// The largest entry in the range with at most `number` rows of the range before it, which is that
// of the row with that number. Each step looks at the entry in the middle of what is left of the
// source with the most entries.
Result<InOrder::Found> InOrder::Search(const format::KeyRange& range, uint64_t number) const {
  std::vector<Searched> files;
  for (const EntryCounts& counts : counts_) {
    for (const File& file : counts.files()) {
      ASSIGN_OR_RETURN(const File::Numbers numbers, file.NumbersOf(range));
      files.push_back({&file, numbers.low, numbers.low, numbers.high, 0});
    }
  }
  const auto [added, added_end] = In(added_, range);
  const size_t subtracted = In(subtracted_, range).first;
  size_t low = added, high = added_end;
  // Sets the place of the key in each file that is searched.
  const auto place = [&](const std::string& key) -> Status {
    for (Searched& searched : files) {
      searched.at = searched.low;
      if (searched.low == searched.high) continue;
      ASSIGN_OR_RETURN(searched.at, searched.file->NumberOf(key));
      searched.at = std::clamp(searched.at, searched.low, searched.high);
    }
    return {};
  };
  std::optional<Found> found;
  while (true) {
    const auto widest = std::ranges::max_element(
        files, {}, [](const Searched& searched) { return searched.high - searched.low; });
    std::string entry;
    if (widest != files.end() && widest->high - widest->low >= std::max<size_t>(high - low, 1)) {
      const uint64_t middle = widest->low + (widest->high - widest->low) / 2;
      ASSIGN_OR_RETURN(const format::IndexSection::EntryValue value,
                       widest->file->section->ValueOfEntry(format::IndexPart::kCurrent, middle));
      entry = value.key;
    } else if (low < high) {
      entry = added_[low + (high - low) / 2].entry;
    } else {
      break;
    }
    RETURN_IF_ERROR(place(entry));
    const format::KeyRange before{range.low, entry};
    uint64_t rank = In(added_, before).second - added;
    for (const Searched& searched : files) {
      rank += searched.file->counted->Count(searched.begin, searched.at);
    }
    rank -= In(subtracted_, before).second - subtracted;
    if (rank > number) {
      for (Searched& searched : files) searched.high = searched.at;
      high = std::max(low, std::min(high, In(added_, before).second));
      continue;
    }
    const std::string next = *format::EqualRange(entry).high;
    found = Found{std::move(entry), rank};
    RETURN_IF_ERROR(place(next));
    for (Searched& searched : files) searched.low = searched.at;
    low = std::min(high, std::max(low, In(added_, {range.low, next}).second));
  }
  if (found.has_value()) return *std::move(found);
  return Status::Corruption("index '" + read_.index.name +
                            "': its counts are not those of its entries; run verify");
}

// The rows of a cluster with that entry.
Result<ClusterRanks> InOrder::RanksOf(const std::string& entry, size_t cluster) const {
  const format::KeyRange same = format::EqualRange(entry);
  const auto keys_of = [&](const std::vector<DecidedRow>& rows) {
    std::vector<std::string> keys;
    const auto [begin, end] = In(rows, same);
    for (size_t i = begin; i < end; ++i) {
      if (rows[i].cluster == cluster) keys.push_back(rows[i].key);
    }
    return keys;
  };
  return RanksOfValue(counts_[cluster], entry,
                      {.added = keys_of(added_), .subtracted = keys_of(subtracted_)});
}

// The key of the row with that number among those with the entry.
Result<std::string> InOrder::KeyOf(const std::string& entry, uint64_t number) const {
  for (size_t i = 0; i < counts_.size(); ++i) {
    ASSIGN_OR_RETURN(ClusterRanks ranks, RanksOf(entry, i));
    if (number < ranks.count()) return ranks.KeyOf(number);
    number -= ranks.count();
  }
  return Status::Corruption("index '" + read_.index.name +
                            "': its counts are not those of its entries; run verify");
}

// Backward the entries fall, but the keys of one entry rise.
Result<Position> InOrder::PositionOf(uint64_t number) const {
  if (read_.backward) {
    ASSIGN_OR_RETURN(const uint64_t count, Count());
    number = count - 1 - number;
  }
  for (const format::KeyRange& range : read_.ranges) {
    ASSIGN_OR_RETURN(const uint64_t count, CountIn(range));
    if (number >= count) {
      number -= count;
      continue;
    }
    ASSIGN_OR_RETURN(Found found, Search(range, number));
    const format::KeyRange same = format::EqualRange(found.entry);
    uint64_t passed = number - found.before;  // Of the rows with the entry.
    if (read_.backward) {
      ASSIGN_OR_RETURN(const uint64_t rows, CountIn(same));
      passed = rows - 1 - passed;
    }
    if (passed == 0) {
      return Position{read_.backward ? *same.high : std::move(found.entry), std::nullopt};
    }
    ASSIGN_OR_RETURN(std::string key, KeyOf(found.entry, passed - 1));
    return Position{std::move(found.entry), std::move(key)};
  }
  return Status::Corruption("index '" + read_.index.name +
                            "': its counts are not those of its entries; run verify");
}

}  // namespace

Status SkipInOrder(ReadContext* context, const ReadInOrder& read, std::optional<Position>* position,
                   Skipped* skipped) {
  InOrder rows(context, read);
  ASSIGN_OR_RETURN(const bool are_counted, rows.Prepare(skipped));
  if (!are_counted) return {};
  ASSIGN_OR_RETURN(const uint64_t count, rows.Count());
  skipped->by_counts = std::min(count, skipped->left);
  skipped->is_all = count <= skipped->left;
  if (!skipped->is_all) {
    ASSIGN_OR_RETURN(*position, rows.PositionOf(skipped->left));
  }
  skipped->left = 0;
  return {};
}

}  // namespace tandem::engine
