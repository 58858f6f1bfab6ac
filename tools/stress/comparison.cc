// See comparison.h.
#include "tools/stress/comparison.h"

#include <limits>

#include "base/status_macros.h"
#include "tools/stress/finding.h"
#include "tools/tandem/format_text.h"

namespace tandem::stress {
namespace {

using test::ModelRead;
using test::ModelRow;
using tools::Format;

constexpr uint32_t kAllVersions = std::numeric_limits<uint32_t>::max();

ModelRead ModelReadOf(const ReadOptions& read) {
  // Nothing here has a time to live, so that the present does not matter.
  return {0, read.versions, read.columns, read.families, read.as_of, read.since};
}

/// The reads of one table at one point in time.
class Reads {
 public:
  Reads(const Moment& moment, const NamedPlan& table, uint64_t seed)
      : moment_(moment),
        table_(table.plan.options),
        name_(table.name),
        keys_(table.plan.keys),
        dice_(seed),
        generator_(&dice_, &table.plan) {}

  Status CompareGet();
  Status CompareMultiGet();
  Status CompareRange();
  Status CompareQuery();
  Status CompareOrder(const IndexOptions& index);

 private:
  ReadOptions NewRead();
  Status CompareCounts(const Predicate& predicate, const QueryOptions& query,
                       const std::string& where);
  std::string Where(std::string_view what) const {
    return Format("{}: {}{}", table_.name, what,
                  moment_.snapshot != nullptr ? " at a snapshot" : "");
  }

  const Moment& moment_;
  const TableOptions& table_;
  const std::string& name_;  // In the database.
  const std::vector<std::string>& keys_;
  test::Dice dice_;
  test::Generator generator_;
};

ReadOptions Reads::NewRead() {
  ReadOptions read = generator_.NewRead();
  read.snapshot = moment_.snapshot;
  read.pieces = dice_.Chance(50);
  if (dice_.Chance(15)) read.as_of = static_cast<int64_t>(dice_.Below(3000));
  if (dice_.Chance(15)) read.since = static_cast<int64_t>(dice_.Below(3000));
  return read;
}

Status Reads::CompareGet() {
  const ReadOptions read = NewRead();
  const std::string& key = dice_.Pick(keys_);
  const std::string where = Where("get " + test::Shown(key));
  const auto row = moment_.engine->Get(read, name_, key);
  if (!row.has_value()) return In(where, row.error());
  const auto expected = moment_.model->Get(table_.name, key, ModelReadOf(read));
  std::optional<ModelRow> found;
  if (row->has_value()) found.emplace((*row)->view());
  return expected == found ? Status() : Mismatch(where, Describe(expected), Describe(found));
}

Status Reads::CompareMultiGet() {
  const ReadOptions read = NewRead();
  std::vector<std::string_view> keys(dice_.Below(12));
  for (std::string_view& key : keys) key = dice_.Pick(keys_);
  const auto rows = moment_.engine->MultiGet(read, name_, keys);
  if (!rows.has_value()) return In(Where("multi-get"), rows.error());
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::string key(keys[i]);
    const auto expected = moment_.model->Get(table_.name, key, ModelReadOf(read));
    std::optional<ModelRow> found;
    if ((*rows)[i].has_value()) found.emplace((*rows)[i]->view());
    if (expected == found) continue;
    return Mismatch(Where("multi-get of " + test::Shown(key)), Describe(expected), Describe(found));
  }
  return {};
}

Status Reads::CompareRange() {
  const ScanOptions scan = generator_.NewScan();
  const ReadOptions read = NewRead();
  const std::string where = Where(test::Describe(scan));
  const auto found = ReadAll(moment_.engine->Scan(read, name_, scan));
  if (!found.has_value()) return In(where, found.error());
  return SameRows(where, moment_.model->Scan(table_.name, scan, ModelReadOf(read)), *found);
}

Status Reads::CompareQuery() {
  const Predicate predicate = generator_.NewPredicate();
  const QueryOptions query = generator_.NewQuery(predicate);
  const ReadOptions read = NewRead();
  const std::string where = Where("query " + predicate.ToString() +
                                  (query.order_by.empty() ? "" : " order by " + query.order_by));
  const auto found = ReadAll(moment_.engine->Query(read, name_, predicate, query));
  // An index that is asked for by name may be unable to serve a predicate.
  const bool may_refuse = !query.use_index.empty() || !query.use_indexes.empty();
  if (may_refuse && found.status().code() == StatusCode::kInvalidArgument) return {};
  if (!found.has_value()) return In(where, found.error());
  RETURN_IF_ERROR(SameRows(
      where, moment_.model->Query(table_.name, predicate, query, ModelReadOf(read)), *found));
  return CompareCounts(predicate, query, where);
}

Status Reads::CompareCounts(const Predicate& predicate, const QueryOptions& query,
                            const std::string& where) {
  ReadOptions read;
  read.snapshot = moment_.snapshot;
  QueryOptions counted;
  counted.no_index = query.no_index;
  counted.use_indexes = query.use_indexes;
  const uint64_t expected = moment_.model->Count(table_.name, predicate, 0);
  const auto count = moment_.engine->Count(read, name_, predicate, counted);
  // The query was not refused, but it may have been one of ranges.
  const bool may_refuse = !query.use_indexes.empty() && !query.ranges.empty();
  if (may_refuse && count.status().code() == StatusCode::kInvalidArgument) return {};
  if (!count.has_value()) return In(where, count.error());
  if (*count != expected) {
    return Mismatch(where + ", counted", std::to_string(expected), std::to_string(*count));
  }
  const auto explained = moment_.engine->Explain(read, name_, predicate, counted);
  if (!explained.has_value()) return In(where, explained.error());
  if (explained->rows == expected) return {};
  return Mismatch(where + ", explained", std::to_string(expected) + " rows",
                  std::to_string(explained->rows));
}

Status Reads::CompareOrder(const IndexOptions& index) {
  if (!test::HasOrder(index)) return {};
  QueryOptions query;
  query.order_by = index.name;
  query.descending = dice_.Chance(50);
  ReadOptions read;
  read.snapshot = moment_.snapshot;
  const std::string where = Where("all rows by index " + index.name);
  const auto found = ReadAll(moment_.engine->Query(read, name_, {}, query));
  if (!found.has_value()) return In(where, found.error());
  return SameRows(where, moment_.model->Query(table_.name, {}, query, ModelReadOf(read)), *found);
}

}  // namespace

Status CompareTable(const Moment& moment, const NamedPlan& table, bool reverse) {
  ScanOptions scan;
  scan.reverse = reverse;
  ReadOptions read;
  read.snapshot = moment.snapshot;
  read.versions = kAllVersions;
  const std::string& known = table.plan.options.name;
  const std::string where = Format("{}: scan{}{}", known, reverse ? " in reverse" : "",
                                   moment.snapshot != nullptr ? " at a snapshot" : "");
  const auto found = ReadAll(moment.engine->Scan(read, table.name, scan));
  if (!found.has_value()) return In(where, found.error());
  return SameRows(where, moment.model->Scan(known, scan, ModelReadOf(read)), *found);
}

Status CompareReads(const Moment& moment, const NamedPlan& table, uint64_t seed) {
  Reads reads(moment, table, seed);
  for (int i = 0; i < 6; ++i) RETURN_IF_ERROR(reads.CompareGet());
  RETURN_IF_ERROR(reads.CompareMultiGet());
  for (int i = 0; i < 2; ++i) RETURN_IF_ERROR(reads.CompareRange());
  for (int i = 0; i < 3; ++i) RETURN_IF_ERROR(reads.CompareQuery());
  const std::vector<IndexOptions>& indexes = table.plan.options.indexes;
  return reads.CompareOrder(indexes[seed % indexes.size()]);
}

}  // namespace tandem::stress
