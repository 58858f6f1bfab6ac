// Counting entries, or the rows of each value; the rest of an index that is found broken.
#include "engine/group/counted_groups.h"

#include <algorithm>
#include <map>
#include <span>
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
// As many rows are decided in the time that a value is counted, and as many of its entries are
// counted in the time that a row is decided; kSharedEntriesPerDecided where files share rows.
constexpr uint64_t kDecidedPerValue = 4, kEntriesPerDecided = 256;

// The entry of an index as the key of a group.
std::string GroupKeyOf(const format::IndexRecord& index, std::string_view entry) {
  std::string key(entry);
  if (index.columns.front().descending) format::InvertIndexKey(&key);
  return key;
}

// The present entry of a row, from its visible cells.
void EntryOf(const format::IndexRecord& index, std::span<const format::Cell> cells,
             std::string* entry) {
  const format::Cell* const put = FindNewest(index.columns.front(), cells);
  entry->clear();
  format::AppendEntry(index, {&put, 1}, entry);
}

bool Contain(const KeyRanges& ranges, std::string_view entry) {
  return std::ranges::any_of(ranges, [&](const auto& range) { return range.Contains(entry); });
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
      EntryOf(index_, chain.visible(), &entry);
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

/// Adds up the entries of each value, and the rows that are decided.
class EntryGroups final : public GroupMaker {
 public:
  EntryGroups(std::shared_ptr<const GroupSpec> spec, const format::IndexRecord& index,
              std::vector<EntryCounts> counts, Query query)
      : spec_(std::move(spec)),
        row_(*spec_),
        index_(index),
        counts_(std::move(counts)),
        backward_(spec_->descending != index.columns.front().descending),
        ranges_(query.plan.access->paths.front().ranges),
        query_(std::move(query)) {
    if (!backward_) std::ranges::reverse(ranges_);
  }

  /// Errors: those of reading rows.
  Status Begin() {
    for (const Cluster& cluster : query_.plan.clusters) {
      for (const FileSource& source : cluster.files) {
        ASSIGN_OR_RETURN(format::IndexSection * section, UsableSection(source.file, index_.id));
        if (section == nullptr) return Status::Corruption("an index was found broken meanwhile");
        parts_.push_back({section->NewCursor(format::IndexPart::kCurrent), source.file, nullptr});
      }
    }
    size_t at = 0;
    for (const EntryCounts& counts : counts_) {
      for (const EntryCounts::File& file : counts.files()) parts_[at++].counted = file.counted;
    }
    RETURN_IF_ERROR(DecideRows());
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
    std::shared_ptr<const CountedEntries> counted;  // Null: all entries.

    // Those of the value that the cursor is at.
    uint64_t Count() const {
      const uint64_t first = cursor->entries_before(), count = cursor->count();
      return counted == nullptr ? count : counted->Count(first, first + count);
    }
  };
  struct Decided {
    std::string entry;
    int64_t rows = 0;  // To add.
  };

  Status DecideRows() {
    std::map<std::string, int64_t> rows;
    std::string entry;
    const auto visit = [&](const RowIterator& row, bool is_added) {
      EntryOf(index_, row.visible(), &entry);
      if (Contain(ranges_, entry)) rows[entry] += is_added ? 1 : -1;
      return Status();
    };
    for (const EntryCounts& counts : counts_) {
      RETURN_IF_ERROR(counts.ForEachDecided(ranges_, visit));
    }
    for (auto& [of, count] : rows) {
      if (count != 0) decided_.push_back({of, count});
    }
    if (!backward_) std::ranges::reverse(decided_);
    return {};
  }

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
    if (decided_.empty() || !ranges_.back().Contains(decided_.back().entry)) return next;
    const std::string& entry = decided_.back().entry;
    if (!next.has_value() || (backward_ ? entry > *next : entry < *next)) next = entry;
    return next;
  }

  // Takes the group of the entry, which is the next one, from the cursors as they stand.
  uint64_t TakeRows(std::string_view entry) {
    uint64_t rows = 0;
    for (const Part& part : parts_) {
      if (part.cursor->valid() && part.cursor->key() == entry) rows += part.Count();
    }
    if (!decided_.empty() && decided_.back().entry == entry) {
      rows += static_cast<uint64_t>(decided_.back().rows);
      decided_.pop_back();
    }
    return rows;
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
      const uint64_t rows = TakeRows(*key);
      if (rows > 0) {
        Group group{GroupKeyOf(index_, *key), std::vector<Accumulator>(spec_->values.size())};
        row_.AddCounted(group.key, rows, &group.values);
        groups->push_back(std::move(group));
      }
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
  const std::vector<EntryCounts> counts_;  // Empty: every entry is a row.
  const bool backward_;
  KeyRanges ranges_;  // Still to come, the next one last.
  Query query_;
  std::vector<Part> parts_;
  std::vector<Decided> decided_;  // Still to come, the next one last.
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

// Entries and values of all files.
struct Sizes {
  uint64_t entries = 0, values = 0;  // The most values that a file has.
  bool share_rows = false;           // Several files are in one cluster.

  // Whether counting each value costs less than reading the rows.
  bool AreValuesLarge() const { return entries / std::max<uint64_t>(values, 1) >= kCountedMin; }
  // Whether deciding that many rows costs less than counting each value.
  bool PaysToDecide(uint64_t rows) const {
    const uint64_t entries_per_decided = share_rows ? kSharedEntriesPerDecided : kEntriesPerDecided;
    return rows <= values * kDecidedPerValue + entries / entries_per_decided;
  }
};

Result<Sizes> SizesOf(const Query& query, const format::IndexRecord& index) {
  Sizes sizes;
  for (const Cluster& cluster : query.plan.clusters) {
    sizes.share_rows |= cluster.files.size() > 1;
    for (const FileSource& source : cluster.files) {
      ASSIGN_OR_RETURN(format::IndexSection * section, UsableSection(source.file, index.id));
      if (section == nullptr) return Sizes();  // It was found broken meanwhile.
      sizes.entries += section->summary().current_entries;
      sizes.values = std::max(sizes.values, section->summary().current_values);
    }
  }
  return sizes;
}

// For each cluster; empty if one of them has none, or if too many rows would be decided.
Result<std::vector<EntryCounts>> CountsOf(const format::IndexRecord& index, const Query& query,
                                          const Sizes& sizes) {
  std::vector<EntryCounts> counts;
  if (!MayCountEntries(index)) return counts;
  const KeyRanges& ranges = query.plan.access->paths.front().ranges;
  uint64_t decided = 0;
  for (const Cluster& cluster : query.plan.clusters) {
    std::string_view why;
    ASSIGN_OR_RETURN(std::optional<EntryCounts> here,
                     EntryCounts::Make(query.context.get(), cluster, index, sizes.entries, &why));
    if (!here.has_value()) return std::vector<EntryCounts>();
    ASSIGN_OR_RETURN(const uint64_t more, here->CountDecided(ranges));
    decided += more;
    if (!sizes.PaysToDecide(decided)) return std::vector<EntryCounts>();
    counts.push_back(*std::move(here));
  }
  return counts;
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

Result<GroupCount> HowToCount(const format::IndexRecord& index, const Query& query,
                              bool is_asked_for) {
  ASSIGN_OR_RETURN(const bool has_index, SourcesHave(query, index));
  if (!has_index) return GroupCount();
  const bool is_exact = std::ranges::all_of(query.plan.clusters, [](const Cluster& cluster) {
    return cluster.memstores.empty() &&
           std::ranges::all_of(cluster.files, [&cluster](const FileSource& source) {
             return EntriesAreRows(cluster, source);
           });
  });
  if (is_exact) return GroupCount{CountedBy::kEntries, {}};
  ASSIGN_OR_RETURN(const Sizes sizes, SizesOf(query, index));
  ASSIGN_OR_RETURN(std::vector<EntryCounts> counts, CountsOf(index, query, sizes));
  if (!counts.empty()) return GroupCount{CountedBy::kEntriesAndRows, std::move(counts)};
  const bool counts_values = is_asked_for || sizes.AreValuesLarge();
  return GroupCount{counts_values ? CountedBy::kValues : CountedBy::kNothing, {}};
}

uint64_t RowsOfSources(const Query& query) {
  uint64_t rows = 0;
  for (const Cluster& cluster : query.plan.clusters) {
    for (const FileSource& source : cluster.files) rows += source.high - source.low;
  }
  return rows;
}

Result<std::unique_ptr<GroupMaker>> CountGroups(std::shared_ptr<const GroupSpec> spec,
                                                const format::IndexRecord& index, GroupCount count,
                                                Query query) {
  if (count.by != CountedBy::kValues) {
    auto maker = std::make_unique<EntryGroups>(std::move(spec), index, std::move(count.entries),
                                               std::move(query));
    RETURN_IF_ERROR(maker->Begin());
    return std::unique_ptr<GroupMaker>(std::move(maker));
  }
  KeyRanges ranges = query.plan.access->paths.front().ranges;
  auto maker = std::make_unique<ValueGroups>(std::move(spec), index, std::move(query));
  RETURN_IF_ERROR(maker->Begin(std::move(ranges)));
  return std::unique_ptr<GroupMaker>(std::move(maker));
}

}  // namespace tandem::engine
