// Ends of parts are found by decoding. A bound that is no key, such as that of all present values,
// lies between two values of the first column.
#include "engine/query/composite_order.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "index/key.h"

namespace tandem::engine {
namespace {

// The ends of the leading columns in the key that are whole.
std::vector<size_t> EndsOfColumns(const format::IndexRecord& index, std::string_view key) {
  std::vector<size_t> ends;
  std::string_view rest = key;
  for (const format::IndexColumnRecord& column : index.columns) {
    if (rest.empty() || !format::DecodeIndexKey(column, &rest).has_value()) break;
    ends.push_back(key.size() - rest.size());
  }
  return ends;
}

// The value of the first column that has keys on both sides of `key`; nullopt: `key` lies between
// two values.
std::optional<std::string> ValueAround(const format::IndexRecord& index, std::string_view key) {
  const std::vector<size_t> ends = EndsOfColumns(index, key);
  if (ends.empty() || ends[0] == key.size()) return std::nullopt;
  return std::string(key.substr(0, ends[0]));
}

// Whether a part is less than whole values of the first column.
bool IsWithinValue(const format::IndexRecord& index, const format::KeyRange& part) {
  return ValueAround(index, part.low).has_value() ||
         (part.high.has_value() && ValueAround(index, *part.high).has_value());
}

// The keys within one value of the first column, with another value, or without one.
class SameSuffixes {
 public:
  SameSuffixes(const format::IndexRecord& index, size_t first_end, KeyRanges* out)
      : index_(index), first_end_(first_end), out_(*out) {}

  void Add(const std::string& first, const format::KeyRange& range) {
    const std::string_view low = std::string_view(range.low).substr(first_end_);
    format::KeyRange moved{first + std::string(low), format::Successor(first)};
    if (EndsWithin(range)) moved.high = first + range.high->substr(first_end_);
    out_.push_back(std::move(moved));
    out_.push_back(format::StartingWith(first + Absent(1)));
    AddEdges(first, range.low);
    if (EndsWithin(range)) AddEdges(first, *range.high);
  }

 private:
  // Whether the range ends at a key of its own value.
  bool EndsWithin(const format::KeyRange& range) const {
    return range.high.has_value() && range.high->size() > first_end_ &&
           range.high->compare(0, first_end_, range.low, 0, first_end_) == 0;
  }
  std::string Absent(size_t column) const {
    std::string key;
    format::AppendAbsentKey(index_.columns[column], &key);
    return key;
  }
  // Entries that have the columns of the bound up to one, and leave out the next.
  void AddEdges(const std::string& first, const std::string& bound) {
    const std::vector<size_t> ends = EndsOfColumns(index_, bound);
    for (size_t column = 2; column < index_.columns.size() && column <= ends.size(); ++column) {
      const std::string known = bound.substr(first_end_, ends[column - 1] - first_end_);
      out_.push_back(format::StartingWith(first + known + Absent(column)));
    }
  }

  const format::IndexRecord& index_;
  const size_t first_end_;
  KeyRanges& out_;
};

}  // namespace

KeyRanges CutByFirstColumn(const format::IndexRecord& index, const format::KeyRange& range) {
  KeyRanges parts;
  if (index.columns.size() == 1) return {range};
  format::KeyRange rest = range;
  if (const std::optional<std::string> value = ValueAround(index, rest.low)) {
    const format::KeyRange all = format::StartingWith(*value);
    parts.push_back(Intersect(rest, all));
    if (!all.high.has_value() || (rest.high.has_value() && *rest.high <= *all.high)) return parts;
    rest.low = *all.high;
  }
  const std::optional<std::string> last =
      rest.high.has_value() ? ValueAround(index, *rest.high) : std::nullopt;
  if (last.has_value() && rest.low <= *last) {
    if (rest.low < *last) parts.push_back({rest.low, *last});
    rest.low = *last;
  }
  if (!IsEmpty(rest)) parts.push_back(std::move(rest));
  return parts;
}

AccessPath AccessInOrder(const format::IndexRecord& index, const format::KeyRange& range) {
  AccessPath access{.paths = {}, .exact = false};
  if (index.columns.size() == 1 || !IsWithinValue(index, range)) {
    access.paths.push_back({.index = &index, .ranges = {range}});
    return access;
  }
  const std::vector<size_t> ends = EndsOfColumns(index, range.low);
  const std::string first = range.low.substr(0, ends[0]);
  std::string absent;
  format::AppendAbsentKey(index.columns.front(), &absent);
  KeyRanges ranges;
  SameSuffixes suffixes(index, ends[0], &ranges);
  suffixes.Add(first, range);
  suffixes.Add(absent, range);
  access.paths.push_back({.index = &index,
                          .ranges = {format::StartingWith(first)},
                          .narrow = Unite(std::move(ranges)),
                          .columns = index.columns.size()});
  access.intersected.push_back({{.index = &index, .ranges = {range}}});
  return access;
}

}  // namespace tandem::engine
