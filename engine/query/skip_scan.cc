// A cursor finds the first entry of each prefix: it seeks what comes after all that start with it.
#include "engine/query/skip_scan.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "engine/query/composite_ranges.h"
#include "engine/source/candidates.h"
#include "format/coding.h"
#include "index/key.h"
#include "index/section.h"

namespace tandem::engine {
namespace {

/// The encoded values of an index's first column.
class FirstValues {
 public:
  explicit FirstValues(const format::IndexColumnRecord& column) : column_(column) {}

  /// False: there are too many.
  Result<bool> Add(format::IndexSection* section) {
    const std::unique_ptr<format::IndexValueCursor> cursor =
        section->NewCursor(format::IndexPart::kCurrent);
    RETURN_IF_ERROR(cursor->Seek({}));
    while (cursor->valid()) {
      std::string_view rest = cursor->key();
      RETURN_IF_ERROR(format::DecodeIndexKey(column_, &rest).status());
      std::string value(cursor->key().substr(0, cursor->key().size() - rest.size()));
      const std::optional<std::string> next = format::Successor(value);
      values_.insert(std::move(value));
      if (values_.size() > kSkippedValuesMax || ++lookups_ > kSkipLookupsMax) return false;
      if (!next.has_value()) return true;
      RETURN_IF_ERROR(cursor->Seek(*next));
    }
    return true;
  }
  const std::set<std::string>& values() const { return values_; }

 private:
  const format::IndexColumnRecord& column_;
  std::set<std::string> values_;
  size_t lookups_ = 0;
};

}  // namespace

bool IsOnSecondColumn(const format::IndexRecord& index, const BoundLeaf& leaf) {
  return index.columns.size() > 1 && !index.needs_order() && !leaf.is_row_key &&
         leaf.has_ranges() && !leaf.accepts_null &&
         format::HasSameValues(index.columns[1], leaf.column);
}

Result<std::optional<SkipRanges>> FindSkipRanges(const format::IndexRecord& index,
                                                 const BoundLeaf& leaf,
                                                 const std::vector<Cluster>& clusters,
                                                 const base::Cancellation& cancellation) {
  FirstValues first(index.columns[0]);
  for (const Cluster& cluster : clusters) {
    if (!cluster.in_order && !cluster.files.empty()) return std::optional<SkipRanges>();
    for (const FileSource& source : cluster.files) {
      RETURN_IF_ERROR(cancellation.Check());
      ASSIGN_OR_RETURN(format::IndexSection * section, UsableSection(source.file, index.id));
      if (section == nullptr) continue;  // All of its rows are candidates.
      const Result<bool> are_few = first.Add(section);
      if (!are_few.has_value() && GoesOnWithoutIndex(source.file, index.id, are_few.error())) {
        continue;
      }
      RETURN_IF_ERROR(are_few.status());
      if (!*are_few) return std::optional<SkipRanges>();
    }
  }
  const KeyRanges seconds = RangesOf(leaf, index.columns[1]);
  if (seconds.size() * first.values().size() > kCompositeRangesMax) {
    return std::optional<SkipRanges>();
  }
  SkipRanges skip{.ranges = {}, .first_values = first.values().size()};
  for (const std::string& value : first.values()) {
    for (const format::KeyRange& second : seconds) {
      format::KeyRange& range = skip.ranges.emplace_back(format::StartingWith(value));
      range.low += second.low;
      if (second.high.has_value()) range.high = value + *second.high;
    }
  }
  return std::optional(std::move(skip));
}

}  // namespace tandem::engine
