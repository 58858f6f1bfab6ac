// Counting entries, or the rows of each value; the rest of an index that is found broken.
#include "engine/group/counted_groups.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "engine/predicate/key_ranges.h"
#include "engine/query/count.h"
#include "engine/query/value_range_iterator.h"
#include "engine/read/concatenating_iterator.h"
#include "format/registry/registered.h"
#include "index/entries.h"

namespace tandem::engine {
namespace {

using Kind = AggregateKind;

// Groups that a maker appends at a time.
constexpr size_t kGroupsMax = 64;
// A value with more entries is counted,
constexpr uint64_t kCountedMin = 64;
// and rows of others are read, those of this many entries at a time.
constexpr uint64_t kReadTogether = 4096;

// The entry of an index as the key of a group.
std::string GroupKeyOf(const format::IndexRecord& index, std::string_view entry) {
  std::string key(entry);
  if (index.columns.front().descending) format::InvertIndexKey(&key);
  return key;
}

// The condition that the column has the value of the group.
Result<BoundPredicate> IsOf(const format::IndexColumnRecord& column, const std::string& group) {
  std::string value = group;
  if (ComparesAsBytes(column.type)) {
    std::string_view key = group;
    ASSIGN_OR_RETURN(std::optional<std::string> text, format::DecodeIndexKey(column, &key));
    value = *std::move(text);
  }
  BoundNode node;
  node.kind = BoundNode::Kind::kLeaf;
  node.leaf.column = column;
  const ValueBound bound{std::move(value), /*inclusive=*/true};
  node.leaf.values = ValueSet({{bound, bound}});
  return BoundPredicate::Of(std::move(node));
}

/// Counts large values, and reads the rows of others.
class ValueGroups final : public GroupMaker {
 public:
  ValueGroups(std::shared_ptr<const GroupSpec> spec, const format::IndexRecord& index, Query query)
      : spec_(std::move(spec)),
        row_(*spec_),
        index_(index),
        query_(std::move(query)),
        predicate_(std::move(query_.context->predicate)) {}

  /// Begins with these ranges of entries. Errors: kCorruption, kIoError.
  Status Begin(KeyRanges ranges) {
    std::vector<ValueRangeIterator::Part> parts;
    std::vector<ValueRangeIterator::InMemory> in_memory;
    for (const Cluster& cluster : query_.plan.clusters) {
      for (const auto& memstore : cluster.memstores) {
        const std::optional<size_t> place = memstore->FindIndex(index_.id);
        if (place.has_value()) in_memory.push_back({memstore.get(), *place});
      }
      for (const FileSource& source : cluster.files) {
        ASSIGN_OR_RETURN(format::IndexSection * section, UsableSection(source.file, index_.id));
        if (section == nullptr) continue;  // Its rows are read for every range.
        parts.push_back({section->NewCursor(format::IndexPart::kCurrent),
                         [file = source.file, id = index_.id](const Status& status) {
                           return GoesOnWithoutIndex(file, id, status);
                         }});
      }
    }
    const bool backward = spec_->descending != index_.columns.front().descending;
    stepper_ = std::make_unique<ValueRangeIterator>(std::move(parts), std::move(in_memory),
                                                    std::move(ranges), backward, kCountedMin);
    return {};
  }

  Result<bool> Next(std::vector<Group>* groups) override {
    while (groups->empty()) {
      ASSIGN_OR_RETURN(const auto step, stepper_->Next(kReadTogether));
      if (!step.has_value()) return false;
      RETURN_IF_ERROR(step->is_large ? CountValue(step->keys, groups)
                                     : ReadRange(step->keys, groups));
    }
    return true;
  }

 private:
  Status CountValue(const format::KeyRange& value, std::vector<Group>* groups) {
    Group group{GroupKeyOf(index_, value.low), std::vector<Accumulator>(spec_->values.size())};
    ASSIGN_OR_RETURN(query_.context->predicate, IsOf(spec_->keys.front(), group.key));
    query_.plan.access = AccessPath{.paths = {}, .exact = true};
    query_.plan.access->paths.push_back({.index = &index_, .ranges = {value}});
    ASSIGN_OR_RETURN(const uint64_t rows, CountMatches(query_));
    if (rows == 0) return {};
    row_.AddCounted(group.key, rows, &group.values);
    groups->push_back(std::move(group));
    return {};
  }

  // A row counts if its present entry is in the range (rule 20).
  Status ReadRange(const format::KeyRange& range, std::vector<Group>* groups) {
    AccessPath access{.paths = {}, .exact = false};
    access.paths.push_back({.index = &index_, .ranges = {range}});
    query_.context->predicate = predicate_;
    ConcatenatingIterator chain(query_.context.get(), query_.plan.clusters, &access);
    std::vector<std::string> keys;
    std::string entry;
    while (true) {
      ASSIGN_OR_RETURN(const bool is_row, chain.Next());
      if (!is_row) break;
      const format::Cell* const put = FindNewest(index_.columns.front(), chain.visible());
      entry.clear();
      format::AppendEntry(index_, {&put, 1}, &entry);
      if (range.Contains(entry)) keys.push_back(GroupKeyOf(index_, entry));
    }
    std::ranges::sort(keys);
    if (spec_->descending) std::ranges::reverse(keys);
    for (auto first = keys.begin(); first != keys.end();) {
      const auto end =
          std::find_if(first, keys.end(), [&](const auto& key) { return key != *first; });
      Group group{*first, std::vector<Accumulator>(spec_->values.size())};
      row_.AddCounted(group.key, static_cast<uint64_t>(end - first), &group.values);
      groups->push_back(std::move(group));
      first = end;
    }
    return {};
  }

  const std::shared_ptr<const GroupSpec> spec_;
  const GroupedRow row_;
  const format::IndexRecord& index_;
  Query query_;
  const std::optional<BoundPredicate> predicate_;  // Of the query. Nullopt: every row.
  std::unique_ptr<ValueRangeIterator> stepper_;
};

/// Adds up the entries of each value.
class EntryGroups final : public GroupMaker {
 public:
  EntryGroups(std::shared_ptr<const GroupSpec> spec, const format::IndexRecord& index, Query query)
      : spec_(std::move(spec)),
        row_(*spec_),
        index_(index),
        backward_(spec_->descending != index.columns.front().descending),
        ranges_(query.plan.access->paths.front().ranges),
        query_(std::move(query)) {
    if (!backward_) std::ranges::reverse(ranges_);
  }

  /// Errors: kCorruption, kIoError.
  Status Begin() {
    for (const Cluster& cluster : query_.plan.clusters) {
      for (const FileSource& source : cluster.files) {
        ASSIGN_OR_RETURN(format::IndexSection * section, UsableSection(source.file, index_.id));
        if (section == nullptr) return Status::Corruption("an index was found broken meanwhile");
        parts_.push_back({section->NewCursor(format::IndexPart::kCurrent), source.file});
      }
    }
    return SeekRange();
  }

  // A section that is found broken is done without: the values that are left are counted as if the
  // file had none.
  Result<bool> Next(std::vector<Group>* groups) override {
    if (rest_ != nullptr) return rest_->Next(groups);
    RETURN_IF_ERROR(query_.context->CheckGoOn());
    const Status status = Append(groups);
    if (status.ok()) return !groups->empty();
    if (!is_broken_) return status;
    ASSIGN_OR_RETURN(rest_, MakeRest());
    if (!groups->empty()) return true;
    return rest_->Next(groups);
  }

 private:
  struct Part {
    std::unique_ptr<format::IndexValueCursor> cursor;
    format::StoreFile* file;
  };

  Status Move(Part* part, Status (*move)(format::IndexValueCursor&, const format::KeyRange&),
              const format::KeyRange& range) {
    const Status status = move(*part->cursor, range);
    if (!status.ok()) is_broken_ = GoesOnWithoutIndex(part->file, index_.id, status);
    return status;
  }

  Status SeekRange() {
    if (ranges_.empty()) return {};
    const auto seek =
        backward_ ? [](format::IndexValueCursor& cursor,
                       const format::KeyRange& range) { return cursor.SeekBefore(range.high); }
                  : [](format::IndexValueCursor& cursor, const format::KeyRange& range) {
                      return cursor.Seek(range.low);
                    };
    for (Part& part : parts_) RETURN_IF_ERROR(Move(&part, seek, ranges_.back()));
    return {};
  }

  // Requires: a range is left.
  std::optional<std::string> NextKey() const {
    std::optional<std::string> next;
    for (const Part& part : parts_) {
      if (!part.cursor->valid() || !ranges_.back().Contains(part.cursor->key())) continue;
      const std::string_view key = part.cursor->key();
      if (!next.has_value() || (backward_ ? key > *next : key < *next)) next = key;
    }
    return next;
  }

  Status Append(std::vector<Group>* groups) {
    const auto step = backward_ ? [](format::IndexValueCursor& cursor,
                                     const format::KeyRange&) { return cursor.Previous(); }
                                : [](format::IndexValueCursor& cursor, const format::KeyRange&) {
                                    return cursor.Next();
                                  };
    while (!ranges_.empty() && groups->size() < kGroupsMax) {
      const std::optional<std::string> key = NextKey();
      if (!key.has_value()) {
        ranges_.pop_back();
        RETURN_IF_ERROR(SeekRange());
        continue;
      }
      uint64_t rows = 0;
      for (const Part& part : parts_) {
        if (part.cursor->valid() && part.cursor->key() == *key) rows += part.cursor->count();
      }
      Group group{GroupKeyOf(index_, *key), std::vector<Accumulator>(spec_->values.size())};
      row_.AddCounted(group.key, rows, &group.values);
      groups->push_back(std::move(group));
      // Of the ranges what comes after the value, should a cursor fail.
      if (backward_) {
        ranges_.back().high = *key;
      } else {
        ranges_.back().low = *format::EqualRange(*key).high;
      }
      for (Part& part : parts_) {
        if (!part.cursor->valid() || part.cursor->key() != *key) continue;
        RETURN_IF_ERROR(Move(&part, step, ranges_.back()));
      }
    }
    return {};
  }

  Result<std::unique_ptr<GroupMaker>> MakeRest() {
    KeyRanges ranges = ranges_;
    if (!backward_) std::ranges::reverse(ranges);
    auto rest = std::make_unique<ValueGroups>(spec_, index_, std::move(query_));
    RETURN_IF_ERROR(rest->Begin(std::move(ranges)));
    return std::unique_ptr<GroupMaker>(std::move(rest));
  }

  const std::shared_ptr<const GroupSpec> spec_;
  const GroupedRow row_;
  const format::IndexRecord& index_;
  const bool backward_;
  KeyRanges ranges_;  // Still to come, the next one last.
  Query query_;
  std::vector<Part> parts_;
  bool is_broken_ = false;
  std::unique_ptr<GroupMaker> rest_;
};

// Whether the index is there in all sources, and its current entries are all that the view sees.
Result<bool> SourcesHave(const Query& query, const format::IndexRecord& index) {
  for (const Cluster& cluster : query.plan.clusters) {
    if (!MemstoresHave(cluster, index)) return false;
    for (const FileSource& source : cluster.files) {
      if (!source.visible) return false;
      ASSIGN_OR_RETURN(format::IndexSection * section, UsableSection(source.file, index.id));
      if (section == nullptr) return false;
    }
  }
  return true;
}

// Whether values have so many entries that counting each costs less than reading the rows.
Result<bool> HasLargeValues(const Query& query, const format::IndexRecord& index) {
  uint64_t entries = 0, values = 1;
  for (const Cluster& cluster : query.plan.clusters) {
    for (const FileSource& source : cluster.files) {
      ASSIGN_OR_RETURN(format::IndexSection * section, UsableSection(source.file, index.id));
      if (section == nullptr) return false;
      entries += section->summary().current_entries;
      values = std::max(values, section->summary().current_values);
    }
  }
  return entries / values >= kCountedMin;
}

}  // namespace

bool CountsAlone(const GroupSpec& spec) {
  if (spec.keys.size() != 1) return false;
  return std::ranges::all_of(spec.values, [&spec](const GroupSpec::Value& value) {
    if (value.kind == Kind::kRows) return true;
    return value.kind != Kind::kSum && value.kind != Kind::kAverage &&
           format::HasSameValues(*value.column, spec.keys.front());
  });
}

const format::IndexRecord* IndexToCount(const GroupSpec& spec, const BoundPredicate& predicate) {
  const format::IndexColumnRecord& column = spec.keys.front();
  const BoundNode& root = predicate.root();
  const bool is_true = root.kind == BoundNode::Kind::kAnd && root.children.empty();
  const bool is_of_column = root.kind == BoundNode::Kind::kLeaf && !root.leaf.is_row_key &&
                            !root.leaf.accepts_null && !root.leaf.any_version &&
                            root.leaf.has_ranges() &&
                            format::HasSameValues(root.leaf.column, column);
  if (!is_true && !is_of_column) return nullptr;
  const auto serves = [&column](const format::IndexRecord& index) {
    return index.columns.size() == 1 && !index.needs_order() &&
           index.state != format::IndexState::kDropping &&
           format::HasSameValues(index.columns.front(), column) && !format::IsUnusable(index);
  };
  const auto found = std::ranges::find_if(spec.table->indexes, serves);
  return found == spec.table->indexes.end() ? nullptr : &*found;
}

Result<CountedBy> HowToCount(const format::IndexRecord& index, const Query& query,
                             bool is_asked_for) {
  ASSIGN_OR_RETURN(const bool has_index, SourcesHave(query, index));
  if (!has_index) return CountedBy::kNothing;
  const bool is_exact = std::ranges::all_of(query.plan.clusters, [](const Cluster& cluster) {
    return cluster.memstores.empty() &&
           std::ranges::all_of(cluster.files, [&cluster](const FileSource& source) {
             return EntriesAreRows(cluster, source);
           });
  });
  if (is_exact) return CountedBy::kEntries;
  if (is_asked_for) return CountedBy::kValues;
  ASSIGN_OR_RETURN(const bool has_large, HasLargeValues(query, index));
  return has_large ? CountedBy::kValues : CountedBy::kNothing;
}

uint64_t RowsOfSources(const Query& query) {
  uint64_t rows = 0;
  for (const Cluster& cluster : query.plan.clusters) {
    for (const FileSource& source : cluster.files) rows += source.high - source.low;
  }
  return rows;
}

Result<std::unique_ptr<GroupMaker>> CountGroups(std::shared_ptr<const GroupSpec> spec,
                                                const format::IndexRecord& index, CountedBy by,
                                                Query query) {
  if (by == CountedBy::kEntries) {
    auto maker = std::make_unique<EntryGroups>(std::move(spec), index, std::move(query));
    RETURN_IF_ERROR(maker->Begin());
    return std::unique_ptr<GroupMaker>(std::move(maker));
  }
  KeyRanges ranges = query.plan.access->paths.front().ranges;
  auto maker = std::make_unique<ValueGroups>(std::move(spec), index, std::move(query));
  RETURN_IF_ERROR(maker->Begin(std::move(ranges)));
  return std::unique_ptr<GroupMaker>(std::move(maker));
}

}  // namespace tandem::engine
